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
    made.update(u, u[-1] + 0.5 * u, low=(3, 0), high=(6, 6))
    made.inject(u, [(2, 2)])
    made.record(u, [(3, 3)])
    return made


def arguments_of_matmul():
    x = np.ones((4, 4))
    rest = dict.fromkeys(("bias", "compute", "sums", "triangle", "dtype", "backend", "algorithm", "effort", "stream"))
    rest |= {"activation": "relu", "aux": np.ones((4, 4)), "conjugate_a": False, "conjugate_b": False}
    return {"a": x, "b": np.ones((4, 4)), "out": np.ones((4, 4)), "alpha": 1.0, "beta": 0.5, "sm_limit": 0, **rest}


def arguments_of_activation_gradient():
    own = {"gradient": np.ones((4, 5)), "aux": np.ones((4, 5)), "activation": "gelu"}
    return {**own, "out": np.ones((4, 5)), "bias_gradient": np.ones(5), "backend": None, "stream": None}


def arguments_of_stencil():
    rest = dict.fromkeys(("out", "backend", "algorithm", "effort", "stream"))
    own = {"input": np.ones((4, 5)), "taps": taps.laplacian(2), "boundary": "fixed", "steps": 1, "sm_limit": 0}
    return {**own, **rest}


def arguments_of_plan(**own):
    return {**own, **dict.fromkeys(("backend", "algorithm", "effort", "stream")), "memory": "host", "sm_limit": 0}


def arguments_of_points():
    return {"points": [(1, 1), (2, 3)], "weights": [1.0, 0.5], "series": [0, 0], "stage": 0}


# Objects that change, or that are used again and again.
OBJECTS = {
    "Taps": lambda: tessera.Taps(2, [((0, 0), 1.0)]),
    "GemmPlan": lambda: tessera.GemmPlan(4, 4, 4, dtype="float64"),
    "PreparedMatrix": lambda: tessera.prepare(np.ones((4, 5))),
    "StencilPlan": lambda: tessera.StencilPlan((4, 5), taps.laplacian(2), dtype="float64"),
    "StencilSystem": system,
    "SystemPlan": lambda: tessera.SystemPlan(system(), 2),
}


def method(owner, name):
    """A call of a method of a new object, or of the one that it is given."""

    def call(of=None, **given):
        made = OBJECTS[owner]() if of is None else of
        if name in ("update", "inject", "record"):
            u = made.field("u")
            given = {"field": u, **({"value": 0.5 * u} if name == "update" else {}), **given}
        if owner == "SystemPlan" and (u := given.pop("u")) is not None:
            given["fields"] = {"u": u}
        return getattr(made, name)(**given)

    return call


def image():
    return np.ones((5, 6))


# Of each function: how it is called, and arguments that are right.
CALLS = {
    "matmul": (tessera.matmul, arguments_of_matmul),
    "activation_gradient": (tessera.activation_gradient, arguments_of_activation_gradient),
    "stencil": (tessera.stencil, arguments_of_stencil),
    "Taps": (tessera.Taps, lambda: {"rank": 2, "terms": []}),
    "Taps.add": (method("Taps", "add"), lambda: {"offset": (0, 1), "coefficient": 1.0}),
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
            **{"m": 4, "n": 4, "k": 4, "dtype": "float64", "dtype_b": None, "out_dtype": None, "batch": 1},
            **{"trans_a": False, "trans_b": False, "bias": None, "activation": None, "compute": None, "sums": None},
            **{"triangle": None, "prepared": None},
        ),
    ),
    "prepare": (
        tessera.prepare,
        lambda: {
            **{"b": np.ones((4, 5)), "rows": 8},
            **dict.fromkeys(("dtype_a", "compute", "sums", "backend", "algorithm", "stream")),
        },
    ),
    "PreparedMatrix.free": (method("PreparedMatrix", "free"), dict),
    "GemmPlan.execute": (
        method("GemmPlan", "execute"),
        lambda: {
            **{name: np.ones((4, 4)) for name in ("a", "b", "out")},
            **{"alpha": 1.0, "beta": 0.0, "bias": None},
        },
    ),
    "StencilPlan": (
        tessera.StencilPlan,
        lambda: arguments_of_plan(
            extents=(4, 5), taps=taps.laplacian(2), dtype="float64", boundary="fixed", steps=1
        ),
    ),
    "StencilPlan.execute": (
        method("StencilPlan", "execute"),
        lambda: {"input": np.ones((4, 5)), "out": np.ones((4, 5))},
    ),
    "StencilSystem": (tessera.StencilSystem, lambda: {"extents": (4, 5), "dtype": "float64"}),
    "StencilSystem.state": (
        method("StencilSystem", "state"),
        lambda: {"name": "s", "levels": 1, "boundary": "fixed", "dtype": None},
    ),
    "StencilSystem.array": (
        method("StencilSystem", "array"),
        lambda: {"name": "a", "boundary": "fixed", "dtype": None},
    ),
    "StencilSystem.profile": (
        method("StencilSystem", "profile"),
        lambda: {"name": "p", "axis": 0, "dtype": None},
    ),
    "StencilSystem.field": (method("StencilSystem", "field"), lambda: {"name": "u"}),
    "StencilSystem.update": (
        method("StencilSystem", "update"),
        lambda: {"field": ..., "value": ..., "stage": 0, "low": (0, 0), "high": (3, 3)},
    ),
    "StencilSystem.inject": (method("StencilSystem", "inject"), lambda: {"field": ..., **arguments_of_points()}),
    "StencilSystem.record": (method("StencilSystem", "record"), lambda: {"field": ..., **arguments_of_points()}),
    "SystemPlan": (tessera.SystemPlan, lambda: arguments_of_plan(system=system(), steps=2)),
    "SystemPlan.execute": (
        method("SystemPlan", "execute"),
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
