# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Each function and method of the package with arguments that are right, and objects that are wrong."""

import inspect

import numpy as np

import tessera
from tessera import ndimage, taps


class Mine(Exception):
    """Raised by arguments: it is the caller's own, and passes as it is."""


class Raising:
    def __index__(self):
        raise Mine

    def __float__(self):
        raise Mine

    def __iter__(self):
        raise Mine

    def __len__(self):
        raise Mine


class BadDlpack:
    def __init__(self, device, capsule=None):
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        return self.capsule


class BadStream:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def system():
    made = tessera.StencilSystem((6, 6), "float64")
    u = made.state("u", levels=2)
    made.update(u, u[-1] + 0.5 * u)
    made.inject(u, [(2, 2)])
    made.record(u, [(3, 3)])
    return made


def arguments_of_matmul():
    x = np.ones((4, 4))
    rest = dict.fromkeys(("bias", "activation", "compute", "dtype", "backend", "algorithm", "effort", "stream"))
    return {"a": x, "b": np.ones((4, 4)), "out": np.ones((4, 4)), "alpha": 1.0, "beta": 0.5, **rest}


def arguments_of_stencil():
    rest = dict.fromkeys(("out", "backend", "algorithm", "effort", "stream"))
    return {"input": np.ones((4, 5)), "taps": taps.laplacian(2), "boundary": "fixed", "steps": 1, **rest}


def arguments_of_plan(**own):
    return {**own, **dict.fromkeys(("backend", "algorithm", "effort", "stream")), "memory": "host"}


def arguments_of_points():
    return {"points": [(1, 1), (2, 3)], "weights": [1.0, 0.5], "series": [0, 0], "stage": 0}


def on_field(method):
    """A method of a system, which takes one of its fields first."""

    def call(**given):
        made = tessera.StencilSystem((6, 6), "float64")
        u = made.state("u", levels=2)
        given = {"field": u, **({"value": 0.5 * u} if method == "update" else {}), **given}
        return getattr(made, method)(**given)

    return call


def execute_system(fields, injected, recorded, first_step, u=None):
    fields = {"u": u} if u is not None else fields
    return tessera.SystemPlan(system(), 2).execute(
        fields, injected=injected, recorded=recorded, first_step=first_step
    )


def image():
    return np.ones((5, 6))


# Of each function: how it is called, and arguments that are right.
CALLS = {
    "matmul": (tessera.matmul, arguments_of_matmul),
    "stencil": (tessera.stencil, arguments_of_stencil),
    "Taps": (tessera.Taps, lambda: {"rank": 2, "terms": []}),
    "Taps.add": (lambda **given: tessera.Taps(2).add(**given), lambda: {"offset": (0, 1), "coefficient": 1.0}),
    "taps.identity": (taps.identity, lambda: {"rank": 2}),
    "taps.derivative": (
        taps.derivative,
        lambda: {"rank": 2, "axis": 0, "order": 1, "accuracy": 2, "spacing": 1.0},
    ),
    "taps.laplacian": (taps.laplacian, lambda: {"rank": 2, "accuracy": 2, "spacing": 1.0}),
    "taps.box": (taps.box, lambda: {"rank": 2, "radius": 1}),
    "taps.gaussian": (taps.gaussian, lambda: {"rank": 2, "sigma": 1.0, "radius": 2}),
    "taps.from_dense": (taps.from_dense, lambda: {"weights": np.ones((3, 3))}),
    "GemmPlan": (
        tessera.GemmPlan,
        lambda: arguments_of_plan(
            **{"m": 4, "n": 4, "k": 4, "dtype": "float64", "out_dtype": None, "batch": 1, "trans_a": False},
            **{"trans_b": False, "bias": None, "activation": None, "compute": None},
        ),
    ),
    "GemmPlan.execute": (
        lambda **given: tessera.GemmPlan(4, 4, 4, dtype="float64").execute(**given),
        lambda: {"a": np.ones((4, 4)), "b": np.ones((4, 4)), "out": None, "alpha": 1.0, "beta": 0.0, "bias": None},
    ),
    "StencilPlan": (
        tessera.StencilPlan,
        lambda: arguments_of_plan(
            extents=(4, 5), taps=taps.laplacian(2), dtype="float64", boundary="fixed", steps=1
        ),
    ),
    "StencilPlan.execute": (
        lambda **given: tessera.StencilPlan((4, 5), taps.laplacian(2), dtype="float64").execute(**given),
        lambda: {"input": np.ones((4, 5)), "out": None},
    ),
    "StencilSystem": (tessera.StencilSystem, lambda: {"extents": (4, 5), "dtype": "float64"}),
    "StencilSystem.state": (
        lambda **given: tessera.StencilSystem((4, 5)).state(**given),
        lambda: {"name": "u", "levels": 1, "boundary": "fixed", "dtype": None},
    ),
    "StencilSystem.array": (
        lambda **given: tessera.StencilSystem((4, 5)).array(**given),
        lambda: {"name": "u", "boundary": "fixed", "dtype": None},
    ),
    "StencilSystem.profile": (
        lambda **given: tessera.StencilSystem((4, 5)).profile(**given),
        lambda: {"name": "u", "axis": 0, "dtype": None},
    ),
    "StencilSystem.field": (lambda **given: system().field(**given), lambda: {"name": "u"}),
    "StencilSystem.update": (
        on_field("update"),
        lambda: {"field": ..., "value": ..., "stage": 0, "low": (0, 0), "high": (3, 3)},
    ),
    "StencilSystem.inject": (on_field("inject"), lambda: {"field": ..., **arguments_of_points()}),
    "StencilSystem.record": (on_field("record"), lambda: {"field": ..., **arguments_of_points()}),
    "SystemPlan": (tessera.SystemPlan, lambda: arguments_of_plan(system=system(), steps=2)),
    "SystemPlan.execute": (
        execute_system,
        lambda: {
            "fields": {"u": [np.zeros((6, 6)), np.zeros((6, 6))]},
            "u": None,  # what the dict has
            "injected": [np.zeros((2, 1))],
            "recorded": [np.zeros((2, 1))],
            "first_step": 0,
        },
    ),
    "Expression": (tessera.Expression, lambda: {"value": 1.0}),
    "SystemField.__getitem__": (
        lambda level: system().field("u")[level],
        lambda: {"level": -1},
    ),
    "SystemField.at": (lambda **given: system().field("u").at(**given), lambda: {"offset": (0, 1)}),
    "SystemField.under": (lambda **given: system().field("u").under(**given), lambda: {"taps": taps.box(2, 1)}),
    "positive_part": (tessera.positive_part, lambda: {"field": system().field("u")}),
    "negative_part": (tessera.negative_part, lambda: {"field": system().field("u")}),
    "reciprocal": (tessera.reciprocal, lambda: {"field": system().field("u")}),
    "info": (tessera.info, dict),
    "reload_environment": (tessera.reload_environment, dict),
}
FILTERS = {
    name: getattr(ndimage, name)
    for name in sorted(vars(ndimage))
    if inspect.isfunction(getattr(ndimage, name))
    and not name.startswith("_")
    and getattr(ndimage, name).__module__ == ndimage.__name__
}
GOOD_OF_FILTERS = {
    "input": image,
    "weights": lambda: [0.25, 0.5, 0.25],
    "sigma": lambda: 1.0,
    "axis": lambda: -1,
    "size": lambda: 3,
    "axes": lambda: None,
}
