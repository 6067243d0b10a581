# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from conftest import unit

import tessera

X, ONE = np.ones((4, 5)), tessera.taps.identity(1)
MODES = {"periodic": "wrap", "nearest": "edge", "reflect": "symmetric", "mirror": "reflect", "constant": "constant"}


def expected(array, taps, mode, value=0.0):
    """One step in higher precision by numpy.pad, and the documented bound."""
    reach = 3
    wide = array.astype(np.longdouble)
    options = {"constant_values": value} if mode == "constant" else {}
    padded = np.pad(wide, reach, mode=MODES[mode], **options)
    total, size = np.zeros_like(wide), np.zeros_like(wide)
    for offset, coefficient in taps:
        part = padded[tuple(slice(reach + o, reach + o + n) for o, n in zip(offset, array.shape))]
        rounded = np.longdouble(array.dtype.type(coefficient))
        total, size = total + rounded * part, size + abs(rounded * part)
    return total, (len(taps) + 2) * unit(array.dtype) * size


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(17,), (9, 12), (6, 7, 8), (4, 1, 5)])
@pytest.mark.parametrize("mode", list(MODES))
def test_modes(rng, dtype, shape, mode):
    if min(shape) < 4 and mode in ("mirror", "reflect", "periodic"):
        pytest.skip("numpy.pad goes round a short axis in another way")
    array = rng.uniform(-1, 1, shape).astype(dtype)
    taps = tessera.taps.identity(len(shape)) + 0.1 * tessera.taps.laplacian(len(shape), 4)
    boundary = ("constant", 0.5) if mode == "constant" else mode
    result = tessera.stencil(array, taps, boundary=boundary)
    exact, bound = expected(array, taps, mode, 0.5)
    assert (abs(result - exact) <= bound).all()


def test_views_and_out(rng):
    taps = tessera.taps.laplacian(2)
    frame = rng.uniform(-1, 1, (20, 30))
    for view in (frame[2:9, 3:13], frame[::2, ::3], frame.T, frame[::-1], frame[:, ::-1]):
        exact, bound = expected(np.ascontiguousarray(view), taps, "nearest")
        assert (abs(tessera.stencil(view, taps, boundary="nearest") - exact) <= bound).all()
        whole = np.full((view.shape[0], 2 * view.shape[1]), 7.0)
        target = whole[:, ::2]
        assert tessera.stencil(view, taps, boundary="nearest", out=target) is target
        assert (abs(target - exact) <= bound).all()
        assert (whole[:, 1::2] == 7.0).all(), "written beside the output"


def test_boundary_per_axis_and_side(rng):
    array = rng.uniform(-1, 1, (6, 7))
    taps = tessera.taps.box(2, 1)
    mixed = tessera.stencil(array, taps, boundary=("periodic", ("nearest", ("constant", 2.0))))
    exact, bound = expected(np.pad(array, ((0, 0), (0, 0))), taps, "nearest")
    padded = np.pad(np.pad(array, ((1, 1), (0, 0)), mode="wrap"), ((0, 0), (1, 0)), mode="edge")
    padded = np.pad(padded, ((0, 0), (0, 1)), constant_values=2.0)
    mean = sum(padded[i : i + 6, j : j + 7] for i in range(3) for j in range(3)) / 9
    np.testing.assert_allclose(mixed, mean, rtol=0, atol=11 * 2.0**-53 * 2)
    assert exact.shape == bound.shape


def test_steps_are_steps(rng):
    array = rng.uniform(-1, 1, (30, 40)).astype(np.float32)
    taps = tessera.taps.identity(2) + 0.1 * tessera.taps.laplacian(2)
    one = array
    for _ in range(5):
        one = tessera.stencil(one, taps, boundary="reflect")
    five = tessera.stencil(array, taps, boundary="reflect", steps=5)
    np.testing.assert_allclose(five, one, rtol=0, atol=5 * 7 * 2.0**-24 * 2)
    plan = tessera.StencilPlan((30, 40), taps, boundary="reflect", steps=5)
    assert (plan.execute(array) == five).all() and "steps=5" in str(plan)


@pytest.mark.parametrize("shape", [(40,), (17, 19), (7, 8, 9)])
@pytest.mark.parametrize("sigma, radius", [(0.6, None), (1.3, None), (1.3, 2)])
def test_gaussian_is_scipys(rng, shape, sigma, radius):
    ndimage = pytest.importorskip("scipy.ndimage")
    array = rng.uniform(-1, 1, shape)
    taps = tessera.taps.gaussian(len(shape), sigma, radius)
    width = 2 * (radius or int(4 * sigma + 0.5)) + 1
    assert len(taps) == width ** len(shape)
    result = tessera.stencil(array, taps, boundary="reflect")
    # A weight of one axis is off by 16 roundings and as many as there are weights, on both sides; and each sum by one
    # a term. The weights add up to 1, and no value is beyond 1.
    bound = (2 * len(shape) * (16 + width) + width ** len(shape) + len(shape) * width) * 2.0**-53
    assert abs(result - ndimage.gaussian_filter(array, sigma, truncate=4, radius=radius)).max() <= bound


def test_taps():
    taps = tessera.Taps(2)
    taps.add((0, 1), 2.0)
    taps.add((0, 1), 1.0)
    assert list(taps) == [((0, 1), 3.0)] and len(taps) == 1 and taps.rank == 2
    assert list(-taps * 2 - taps) == [((0, 1), -9.0)]
    dense = tessera.taps.from_dense(np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]))
    assert list(dense) == [((-1, 0), 1.0), ((0, -1), 2.0), ((0, 1), 3.0)]
    assert eval(repr(dense), {"Taps": tessera.Taps}).__repr__() == repr(dense)
    assert list(tessera.Taps(1, [([2], 1), (np.array([-1]), np.float32(0.5))])) == [((-1,), 0.5), ((2,), 1.0)]
    assert len(tessera.Taps(3)) == 0


@pytest.mark.parametrize(
    "error, text, call",
    [
        (TypeError, "taps = .*, a numpy.ndarray: must be Taps", lambda t: tessera.stencil(X, np.ones((3, 3)))),
        (TypeError, "taps = .*, a list: must be Taps", lambda t: tessera.stencil(X, [((0, 1), 1.0)])),
        (TypeError, "taps = .*: must be Taps: .*from_dense", lambda t: tessera.StencilPlan((4, 5), np.ones((3, 3)))),
        (TypeError, "taps = .*, a float: must be", lambda t: tessera.StencilSystem((4, 5)).state("u").under(1.0)),
        (ValueError, "have rank 1, the system has 2", lambda t: tessera.StencilSystem((4, 5)).state("u").under(ONE)),
        (TypeError, "steps = .*, a float: must be an integer", lambda t: tessera.stencil(X, t, steps=2.0)),
        (TypeError, "extents = .*, an int: must be a sequence", lambda t: tessera.StencilPlan(4, t)),
        (TypeError, r"extents\[1\] = .*, a float: must be an integer", lambda t: tessera.StencilPlan((4, 5.0), t)),
        (TypeError, "rank = .* a numpy.ndarray: must be .*from_dense", lambda t: tessera.Taps(np.ones((3, 3)))),
        (ValueError, "rank = 4: must be 1, 2 or 3", lambda t: tessera.Taps(4)),
        (ValueError, "rank = 4294967296: must be an integer in", lambda t: tessera.Taps(2**32)),
        (ValueError, "rank = 18446744073709551616: must be an integer in", lambda t: tessera.Taps(2**64)),
        (TypeError, "terms = 1.0, a float: must be a list of pairs", lambda t: tessera.Taps(2, 1.0)),
        (TypeError, r"terms\[0\] = .*: must be a pair \(offset, coeff", lambda t: tessera.Taps(2, np.ones((3, 3)))),
        (TypeError, r"terms\[1\]: offset = .*, an int: must be", lambda t: tessera.Taps(2, [((0, 0), 1), (0, 1)])),
        (ValueError, r"offset = \(0, 1, 2\): must have 2 axes, as the taps", lambda t: t.add((0, 1, 2), 1.0)),
        (TypeError, "offset = .*, an int: must be a sequence with an integer", lambda t: t.add(1, 1.0)),
        (TypeError, r"offset\[1\] = .*, a float: must be an integer", lambda t: t.add((0, 0.5), 1.0)),
        (TypeError, "coefficient = .*, a str: must be a real number", lambda t: t.add((0, 1), "1")),
        (TypeError, "coefficient = .*, a complex: must be a real number", lambda t: t.add((0, 1), 1j)),
        (TypeError, "rank = .*, a tuple: must be an integer", lambda t: tessera.taps.laplacian((4, 5))),
        (TypeError, "rank = .*, a str: must be", lambda t: tessera.taps.identity("2")),
        (TypeError, "axis = .*, a str: must be", lambda t: tessera.taps.derivative(2, "x", 1)),
        (TypeError, "radius = .*, a tuple: must be", lambda t: tessera.taps.box(2, (1, 1))),
        (TypeError, "sigma = .*, a tuple: must be a real number", lambda t: tessera.taps.gaussian(2, (1.0, 2.0))),
        (TypeError, "radius = .*, a float: must be", lambda t: tessera.taps.gaussian(2, 1.0, 3.0)),
        (ValueError, "accuracy", lambda t: tessera.taps.laplacian(2, 3)),
        (TypeError, "weights = .*, a list: must be an array", lambda t: tessera.taps.from_dense([[0.0, 1.0]])),
        (TypeError, "weights: of int64; must be float64", lambda t: tessera.taps.from_dense(np.array([0, 1, 0]))),
        (TypeError, "weights: of float32; must be", lambda t: tessera.taps.from_dense(np.ones(3, "float32"))),
    ],
)
def test_taps_that_are_wrong_are_named(error, text, call):
    taps = tessera.taps.laplacian(2)
    before = list(taps)
    with pytest.raises(error, match=text):
        call(taps)
    assert list(taps) == before


@pytest.mark.parametrize(
    "error, text, call",
    [
        (ValueError, "axes", lambda x, t: tessera.stencil(np.ones((2, 2, 2, 2)), t)),
        (ValueError, "rank 2", lambda x, t: tessera.stencil(np.ones(3), t)),
        (ValueError, "scipy's and NumPy's wrap is periodic; must", lambda x, t: tessera.stencil(x, t, boundary="wrap")),
        (ValueError, "'linear_ramp': nothing here", lambda x, t: tessera.stencil(x, t, boundary="linear_ramp")),
        (ValueError, "'halo': it is for arrays with", lambda x, t: tessera.stencil(x, t, boundary="halo")),
        (ValueError, "boundary = 'nosuch': must be one", lambda x, t: tessera.stencil(x, t, boundary="nosuch")),
        (ValueError, "entries", lambda x, t: tessera.stencil(x, t, boundary=["periodic"])),
        (ValueError, "no value", lambda x, t: tessera.stencil(x, t, boundary=("nearest", 1.0))),
        (ValueError, "steps", lambda x, t: tessera.stencil(x, t, steps=-1)),
        (ValueError, "shape", lambda x, t: tessera.stencil(x, t, out=np.ones((3, 3)))),
        (TypeError, "out is of", lambda x, t: tessera.stencil(x, t, out=np.ones((4, 5), np.float32))),
        (TypeError, "int64", lambda x, t: tessera.stencil(x.astype(np.int64), t)),
    ],
)
def test_errors(error, text, call):
    with pytest.raises(error, match=text):
        call(np.ones((4, 5)), tessera.taps.laplacian(2))


def test_plan_says_what_differs():
    plan = tessera.StencilPlan((60, 80), tessera.taps.laplacian(2))
    right = np.ones((60, 80), "float32")
    with pytest.raises(ValueError, match=r"input has shape \(80, 60\); the plan takes \(60, 80\)"):
        plan.execute(right.T)
    with pytest.raises(TypeError, match="input is of float64; the plan takes float32"):
        plan.execute(right.astype("float64"))
    text = r"input has the strides \(1, 60\), in elements; the plan takes \(80, 1\), which is C order"
    with pytest.raises(ValueError, match=text):
        plan.execute(np.asfortranarray(right))
    assert plan.execute(right).shape == (60, 80)
