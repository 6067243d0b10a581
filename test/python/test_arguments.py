# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that do not fit are refused by name, value and what they must be."""

import re

import numpy as np
import pytest
from known_calls import BadDlpack, Mine, system

import tessera
from tessera import taps


@pytest.mark.parametrize(
    "text, call",
    [
        ("matmul: b is missing; must be given", lambda: tessera.matmul(np.ones((2, 2)))),
        ("matmul: 3 arguments without a name; must be 2 at most: a, b", lambda: tessera.matmul(1, 2, 3)),
        ("matmul: there is no argument 'c'; must be one of a, b, out", lambda: tessera.matmul(1, 2, c=3)),
        ("matmul: a is given twice", lambda: tessera.matmul(1, a=2)),
        ("stencil: taps is missing", lambda: tessera.stencil(np.ones(3), steps=3)),
        ("taps = 5, an int: must be Taps", lambda: tessera.stencil(np.ones(3), 5)),
        ("steps = 1.5, a float: must be an integer", lambda: tessera.stencil(np.ones(3), tessera.Taps(1), steps=1.5)),
        ("Taps.add: offset is missing", lambda: tessera.Taps(1).add()),
        ("Taps.add: self = 5, an int: must be a Taps", lambda: tessera.Taps.add(5, (0,), 1.0)),
        ("GemmPlan: 4 arguments without a name; must be 3", lambda: tessera.GemmPlan(1, 2, 3, 4)),
        ("GemmPlan: there is no argument 'q'", lambda: tessera.GemmPlan(1, 2, 3, q=4)),
        ("m = None, a NoneType: must be an integer", lambda: tessera.GemmPlan(None, 2, 3)),
        ("trans_a = 1, an int: must be True or False", lambda: tessera.GemmPlan(1, 2, 3, trans_a=1)),
        ("value = 'x', a str: must be a real number or a SystemField", lambda: tessera.Expression("x")),
        ("info: 1 arguments without a name; must be 0 at most: none", lambda: tessera.info(1)),
        ("fields = 5, an int: must be a dict", lambda: tessera.SystemPlan(system(), 1).execute(5)),
        ("offset = 'ab', a str: must be a sequence with an integer", lambda: tessera.Taps(2).add("ab", 1.0)),
    ],
)
def test_calls_of_a_wrong_form(text, call):
    with pytest.raises(TypeError, match="^" + re.escape(text)):
        call()


def of_f64(**given):
    return tessera.GemmPlan(1, 1, 1, dtype="float64", **given)


def point(**given):
    made = tessera.StencilSystem((6, 6))
    made.inject(made.state("u"), **{"points": [(1, 1)], **given})


@pytest.mark.parametrize(
    "error, text, call",
    [
        (TypeError, "points[0][1] = 1.5, a float: must be an integer", lambda: point(points=[(1, 1.5)])),
        (ValueError, "points[0][0] = 1000000", lambda: point(points=[(10**400, 1)])),
        (TypeError, "points = 5, an int: must be an iterable of points", lambda: point(points=5)),
        (TypeError, "points[0] = 5, an int: must be a sequence of integers", lambda: point(points=[5])),
        (ValueError, "points[0] has 3 axes; the system has 2: must be as many", lambda: point(points=[(1, 2, 3)])),
        (TypeError, "weights[0] = 'x', a str: must be a real number", lambda: point(weights=["x"])),
        (ValueError, "weights[0] = 1000000", lambda: point(weights=[10**400])),
        (TypeError, "series[0] = 0.0, a float: must be an integer", lambda: point(series=[0.0])),
        (ValueError, "series[0] = 1180591620717411303424: must be an integer in", lambda: point(series=[2**70])),
        (TypeError, "boundary = ('constant', 1j): value = 1j, a complex: must be", lambda: boundary(("constant", 1j))),
        (ValueError, "value = 100000", lambda: boundary(("constant", 10**400))),
        (TypeError, "algorithm = 3, an int: must be text", lambda: tessera.matmul(*two(), algorithm=3)),
        (ValueError, r"algorithm = '\udc80': must be text without", lambda: tessera.matmul(*two(), algorithm="\udc80")),
        (ValueError, r"backend = '\udc80': must be text without", lambda: tessera.matmul(*two(), backend="\udc80")),
        (ValueError, r"memory = '\udc80': must be 'host'", lambda: tessera.GemmPlan(1, 1, 1, memory="\udc80")),
        (ValueError, r"bias = '\udc80': must be 'row'", lambda: tessera.GemmPlan(1, 1, 1, bias="\udc80")),
        (ValueError, r"dtype = '\udc80': must be float16", lambda: tessera.GemmPlan(1, 1, 1, dtype="\udc80")),
        (ValueError, "out_dtype = 'float32': must be float64, the", lambda: of_f64(out_dtype="float32")),
        (ValueError, r"name = '\udc80': must be text", lambda: tessera.StencilSystem((4,)).state("\udc80")),
        (ValueError, r"name = 'a\x00b': must be text", lambda: tessera.StencilSystem((4,)).state("a\0b")),
        (ValueError, "stream = -1: must be 0", lambda: tessera.GemmPlan(1, 1, 1, memory="device", stream=-1)),
        (ValueError, "stream = -1: must be None: the", lambda: tessera.matmul(*two(), stream=-1)),
        (TypeError, "__dlpack_device__() = None, a NoneType: must be", lambda: exported(None)),
        (TypeError, "a: __dlpack__() = 5, an int: must be a", lambda: exported((1, 0), 5)),
        (ValueError, "alpha = 100000", lambda: tessera.matmul(*two(), alpha=10**400)),
        (TypeError, "alpha = np.complex64(1j), a numpy", lambda: tessera.matmul(*two(), alpha=np.complex64(1j))),
        (ValueError, "steps = 2147483648000000000000: must be an integer", lambda: steps(2147483648 * 10**12)),
        (TypeError, "sm_limit = 1.5, a float: must be an", lambda: tessera.matmul(*two(), sm_limit=1.5)),
        (ValueError, "sm_limit = -1: must be at least 0", lambda: tessera.GemmPlan(1, 1, 1, sm_limit=-1)),
        (ValueError, "rank = 2147483648: must be an integer in [-21", lambda: tessera.Taps(2**31)),
    ],
)
def test_bad_values(error, text, call):
    with pytest.raises(error, match=re.escape(text)):
        call()


def test_what_cannot_be_shown():
    class Shy:
        def __repr__(self):
            raise Mine

    for value, text in ((Shy(), "a Shy"), (10**5000, "an int")):
        with pytest.raises((TypeError, ValueError), match=f"^alpha = {text}(, a Shy)?: must be "):
            tessera.matmul(*two(), alpha=value)


def two():
    return np.ones((2, 2)), np.ones((2, 2))


def exported(device, capsule=None):
    tessera.matmul(BadDlpack(device, capsule), two()[0])


def boundary(value):
    tessera.stencil(np.ones((3, 3)), taps.laplacian(2), boundary=value)


def steps(value):
    tessera.stencil(np.ones((3, 3)), taps.laplacian(2), steps=value)
