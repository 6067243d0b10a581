# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What filters are given by others: swapped bytes, complex numbers, NaN, huge windows and weights, arrays of no axes as
arguments, other frameworks' types. SciPy is the reference."""

import concurrent.futures
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.ndimage as theirs
from conftest import unit

from tessera import ndimage as ours

EVERY_FILTER = [
    ("correlate", (np.arange(9.0).reshape(3, 3),)),
    ("convolve", (np.arange(9.0).reshape(3, 3),)),
    ("correlate1d", ([1.0, 2.0, 4.0],)),
    ("convolve1d", ([1.0, 2.0, 4.0],)),
    ("gaussian_filter", (0.9,)),
    ("gaussian_filter1d", (0.9,)),
    ("uniform_filter", (3,)),
    ("uniform_filter1d", (3,)),
    ("sobel", ()),
    ("prewitt", ()),
    ("laplace", ()),
]


def close(mine, other, size=100.0):
    assert mine.dtype == other.dtype and mine.shape == other.shape
    if mine.dtype.kind in "biu":
        return np.testing.assert_array_equal(mine, other)
    bound = 64 * unit(mine.real.dtype.newbyteorder("=")) * size
    np.testing.assert_allclose(mine, other, rtol=0, atol=bound)


@pytest.mark.parametrize("code", [">f8", ">f4", ">i2", ">i8", ">f2"])
def test_weights_in_the_other_byte_order(code):
    weights = np.array([1.0, 2.0, 4.0]).astype(code)
    assert (ours.correlate1d(np.ones(5), weights) == 7).all()
    assert (ours.convolve1d(np.ones(5), weights) == 7).all()
    assert (ours.correlate(np.ones((5, 1)), weights[:, None]) == 7).all()
    assert (ours.convolve(np.ones((5, 1)), weights[:, None]) == 7).all()


@pytest.mark.parametrize(("name", "arguments"), EVERY_FILTER)
@pytest.mark.parametrize("code", [">f4", ">f8", ">i4", ">c8", ">c16"])
def test_results_are_in_the_machines_byte_order(rng, name, arguments, code):
    array = rng.uniform(-9, 9, (6, 7)).astype(code)
    result, other = getattr(ours, name)(array, *arguments), getattr(theirs, name)(array, *arguments)
    assert result.dtype.isnative and other.dtype.isnative
    close(result, other, 2000)
    swapped = getattr(ours, name)(array, *arguments, output=np.dtype(code))
    assert swapped.dtype.str == code
    close(swapped.astype(result.dtype), result, 2000)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.complex64, np.bool_])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: ours.gaussian_filter(x, 0),
        lambda x: ours.gaussian_filter(x, 2.0, axes=()),
        lambda x: ours.gaussian_filter1d(x, 1.0, radius=0),
        lambda x: ours.uniform_filter(x, 1),
        lambda x: ours.uniform_filter(x, 3, axes=()),
        lambda x: ours.uniform_filter1d(x, 1),
        lambda x: ours.laplace(x, axes=()),
        lambda x: ours.correlate(x, [[1.0]]),
        lambda x: ours.correlate1d(x, [1.0]),
    ],
)
def test_results_are_of_their_own(rng, dtype, call):
    array = rng.uniform(0, 9, (5, 6)).astype(dtype)
    for view in (array, array[:0], array.T, array[:, :1]):
        before, result = view.copy(), call(view)
        assert not np.may_share_memory(result, view)
        result[...] = 1
        np.testing.assert_array_equal(view, before)


# --- Complex numbers ---


@pytest.mark.parametrize("mode", ["constant", "reflect", "grid-constant"])
@pytest.mark.parametrize("cval", [0.5, 1.5 - 2.0j, 0.0, 3])
@pytest.mark.parametrize(("name", "arguments"), EVERY_FILTER)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_constants(rng, name, arguments, dtype, cval, mode):
    array = (rng.uniform(-1, 1, (6, 7)) + 1j * rng.uniform(-1, 1, (6, 7))).astype(dtype)
    mine = getattr(ours, name)(array, *arguments, cval=cval, mode=mode)
    close(mine, getattr(theirs, name)(array, *arguments, cval=cval, mode=mode))


def test_complex_constant_of_a_real_image_is_refused():
    for name, arguments in EVERY_FILTER:
        with pytest.raises(TypeError):
            getattr(ours, name)(np.ones((4, 5)), *arguments, cval=1j)


def test_infinity_stays_in_its_part():
    array = np.ones((5, 5), complex)
    array[2, 2] = complex(1.0, np.inf)
    for name, arguments in EVERY_FILTER:
        result, other = getattr(ours, name)(array, *arguments), getattr(theirs, name)(array, *arguments)
        assert np.isfinite(result.real).all() and np.isfinite(other.real).all()


@pytest.mark.parametrize(("name", "arguments"), EVERY_FILTER)
def test_complex_into_real_output(name, arguments):
    array = np.ones((5, 6), complex)
    for module in (ours, theirs):
        for output in (np.zeros((5, 6)), "float32"):
            with pytest.raises(RuntimeError, match="output must have complex dtype"):
                getattr(module, name)(array, *arguments, output=output)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        results = []
        for module in (ours, theirs):
            try:
                results.append(getattr(module, name)(array, *arguments, output=np.float32).dtype)
            except RuntimeError as error:
                results.append(str(error))
    assert results[0] == results[1]
    assert len(told) in (0, 2)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64, np.float64, np.int16])
def test_complex_weights(rng, dtype):
    array = (rng.uniform(-9, 9, (6, 7)) + (1j if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    weights = rng.uniform(-1, 1, (2, 3)) + 1j * rng.uniform(-1, 1, (2, 3))
    for name in ("correlate", "convolve"):
        close(getattr(ours, name)(array, weights), getattr(theirs, name)(array, weights))
        mine = getattr(ours, name + "1d")(array, weights[0], axis=0, origin=1)
        close(mine, getattr(theirs, name + "1d")(array, weights[0], axis=0, origin=1))


# --- NaN and weights of zero ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_how_far_nan_spreads(dtype, value):
    array = np.ones((7, 7), dtype)
    array[3, 3] = value
    cross = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 1e-17]])
    calls = [("correlate", (cross,)), ("convolve", (cross,)), ("laplace", ()), ("sobel", ()), ("prewitt", ())]
    calls += [("correlate1d", ([1.0, 0.0, 2.0],)), ("gaussian_filter", (0.5,)), ("gaussian_filter", (1.0, 1))]
    for name, arguments in calls:
        mine, other = getattr(ours, name)(array, *arguments), getattr(theirs, name)(array, *arguments)
        np.testing.assert_array_equal(np.isnan(mine), np.isnan(other), err_msg=name)
    assert np.isnan(ours.laplace(np.where(np.eye(5) * (np.arange(5) == 2), np.nan, 1.0))).sum() == 5
    solid = np.ones((5, 5, 5), dtype)
    solid[2, 2, 2] = value
    np.testing.assert_array_equal(np.isfinite(ours.laplace(solid)), np.isfinite(theirs.laplace(solid)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 9, 10, 49, 100, 1023, 2047])
@pytest.mark.parametrize("special", ["none", "zeros", "tiny", "huge", "infinite"])
def test_means_are_rounded_quotients(rng, dtype, size, special):
    x = (rng.uniform(-1, 1, 6000) * 2.0 ** rng.integers(-20, 20, 6000)).astype(dtype)
    limits = np.finfo(dtype)
    if special == "zeros":
        x[: 3 * size] = -0.0
    elif special != "none":
        x[::600] = {"tiny": limits.smallest_subnormal, "huge": limits.max / 4096, "infinite": -np.inf}[special]
    if special == "tiny":
        x[2000:5000] = limits.smallest_subnormal * rng.integers(-9, 9, 3000)
    sums = x[: x.size - size + 1].copy()
    for place in range(1, size):
        sums += x[place : place + sums.size]
    before = size // 2
    mean = ours.uniform_filter1d(x, size)[before : before + sums.size]
    quotient = sums / dtype(size)
    normal = ~(np.abs(quotient) < limits.smallest_normal) | (quotient == 0)
    assert mean[normal].tobytes() == quotient[normal].tobytes()
    assert (np.abs(mean[~normal] - quotient[~normal]) <= limits.smallest_subnormal).all()


def test_nan_stays_in_its_window_of_a_mean():
    array = np.ones(20)
    array[7] = np.nan
    assert np.isnan(ours.uniform_filter1d(array, 5)).sum() == 5  # SciPy's running sum never gets rid of it


# --- Windows and weights that stencils cannot do ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_long_windows(rng, dtype):
    array = rng.uniform(-1, 1, (3, 300)).astype(dtype)
    close(ours.gaussian_filter1d(array, 257.0), theirs.gaussian_filter1d(array, 257.0))
    close(ours.gaussian_filter(array, 300), theirs.gaussian_filter(array, 300))
    for size in (2049, 2051, 5000):
        close(ours.uniform_filter1d(array, size), theirs.uniform_filter1d(array, size))
        weights = rng.uniform(-1, 1, size) / size
        for origin in (0, size // 2 - 1):
            close(
                ours.correlate1d(array, weights, origin=origin, mode="wrap"),
                theirs.correlate1d(array, weights, origin=origin, mode="wrap"),
            )
    box = rng.uniform(-1, 1, (3, 2051)) / 2051
    close(ours.correlate(array, box), theirs.correlate(array, box))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weight", [np.inf, -np.inf, np.nan, 1e39, 1e308])
def test_weights_that_float32_does_not_have(rng, dtype, weight):
    array = rng.uniform(1, 2, (5, 6)).astype(dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            ours.correlate1d(array, [1.0, weight, 2.0]), theirs.correlate1d(array, [1.0, weight, 2.0]), rtol=1e-15
        )
        kernel = np.array([[1.0, 2.0], [weight, 1e-300]])
        np.testing.assert_allclose(ours.correlate(array, kernel), theirs.correlate(array, kernel), rtol=1e-6)


@pytest.mark.parametrize("cval", [np.inf, np.nan, 1e39, -1e300])
@pytest.mark.parametrize(("name", "arguments"), [entry for entry in EVERY_FILTER if "uniform" not in entry[0]])
def test_constants_that_float32_does_not_have(rng, name, arguments, cval):
    array = rng.uniform(-1, 1, (5, 6)).astype(np.float32)
    with np.errstate(all="ignore"):
        mine = getattr(ours, name)(array, *arguments, mode="constant", cval=cval)
        other = getattr(theirs, name)(array, *arguments, mode="constant", cval=cval)
    inside = np.s_[2:-2, 2:-2]
    close(mine[inside], other[inside])
    np.testing.assert_array_equal(np.isnan(mine), np.isnan(other))


def test_weights_whose_products_float32_does_not_have(rng):
    array = rng.uniform(-1, 1, (5, 6)).astype(np.float32)
    with np.errstate(all="ignore"):
        mine, other = (module.gaussian_filter(array * 1e-20, 1e-10, order=2) for module in (ours, theirs))
    np.testing.assert_allclose(mine, other, rtol=1e-6)


def test_four_axes(rng):
    array = rng.uniform(-1, 1, (3, 4, 5, 6))
    weights = rng.uniform(-1, 1, (3, 2, 3, 2))
    close(ours.correlate(array, weights), theirs.correlate(array, weights))
    close(ours.laplace(array), theirs.laplace(array))
    for axes in ((1, 3), (0, 2), (0, 1, 3), (3, 0)):
        weights = rng.uniform(-1, 1, (3,) * len(axes))
        close(ours.correlate(array, weights, axes=axes), theirs.correlate(array, weights, axes=axes))


# --- Arguments ---


def outcome(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except Exception as error:
        return type(error)


def same(mine, other):
    """Two errors of one type, or two arrays."""
    return mine is other if isinstance(mine, type) or isinstance(other, type) else np.allclose(mine, other)


def test_equal_numbers_of_another_type_are_another_argument():
    array = np.ones((6, 7))
    for _ in range(2):
        for radius in (1, 1.0, True, np.array(1)):
            mine, other = (outcome(m.gaussian_filter1d, array, 1.0, radius=radius) for m in (ours, theirs))
            assert same(mine, other), radius
            mine, other = (outcome(m.gaussian_filter, array, 1.0, radius=radius) for m in (ours, theirs))
            assert same(mine, other), radius
        for origin in (1, 1.0):
            mine, other = (outcome(m.correlate, array, np.ones((3, 3)), origin=origin) for m in (ours, theirs))
            assert same(mine, other), origin
            mine, other = (outcome(m.uniform_filter, array, 3, origin=origin) for m in (ours, theirs))
            assert same(mine, other), origin
        for axes in (1, 1.0, (0, 1), (0, 1.0)):
            mine, other = (outcome(m.laplace, array, axes=axes) for m in (ours, theirs))
            assert same(mine, other), axes


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_numbers_in_arrays_without_axes(rng, dtype):
    array = rng.uniform(0, 99, (7, 8)).astype(dtype)
    zero = np.array
    weights = np.ones((3, 3))
    calls = [
        ("gaussian_filter", (zero(1.2),), {"order": zero(1), "truncate": zero(3.0), "cval": zero(2.0)}),
        ("gaussian_filter1d", (zero(1.2),), {"order": zero(1), "axis": zero(0), "mode": "constant", "cval": zero(2.0)}),
        ("gaussian_filter", ([zero(1.2), zero(2)],), {}),
        ("uniform_filter", (zero(3),), {"origin": zero(1), "mode": "constant", "cval": zero(7.0)}),
        ("uniform_filter1d", (zero(3),), {"origin": zero(-1)}),
        ("correlate", (weights,), {"origin": zero(1), "cval": zero(3), "mode": "constant"}),
        ("correlate1d", (weights[0],), {"origin": zero(1)}),
        ("convolve", (weights,), {"origin": [zero(1), zero(0)]}),
        ("correlate", (zero(2.0),), {"axes": ()}),
    ]
    for name, arguments, options in calls:
        mine, other = (getattr(module, name)(array, *arguments, **options) for module in (ours, theirs))
        close(mine.astype(float), other.astype(float), 1000)
    for module in (ours, theirs):
        assert module.correlate(np.array(5, dtype), np.array(2.0)) == 10


def test_types_that_scipy_refuses(rng):
    for refused in (np.array(["a", "b"]), np.array([1, None]), np.zeros(3, "M8[s]"), np.zeros(3, "i4,i4")):
        with pytest.raises(RuntimeError, match="not supported"):
            ours.correlate1d(refused, [1.0])
        assert issubclass(outcome(theirs.correlate1d, refused, [1.0]), Exception)
    for output in (object, "bool", np.dtype("M8[s]")):
        for module in (ours, theirs):
            with pytest.raises(RuntimeError):
                module.correlate1d(np.ones(3), [1.0], output=output)
    array = rng.uniform(-1, 1, (5, 6))
    exact = theirs.gaussian_filter(array.astype(np.float16).astype(np.float64), 1.0)
    for dtype in (np.float16, np.longdouble):
        assert ours.gaussian_filter(array.astype(np.float16).astype(dtype), 1.0).dtype == dtype
    assert abs(ours.gaussian_filter(array.astype(np.float16), 1.0) - exact).max() < 2 * unit(np.float16)


# --- Other frameworks ---


def test_jax(rng):
    jax = pytest.importorskip("jax")
    array = rng.uniform(-1, 1, (3, 5, 4, 6)).astype(np.float32)
    given = jax.numpy.asarray(array)
    calls = [
        ("gaussian_filter", (1.0,), {"axes": (1, 3)}),
        ("uniform_filter", (3,), {"axes": (1, 3)}),
        ("uniform_filter", (3,), {"mode": "constant", "cval": 0.5}),
        ("correlate", (rng.uniform(-1, 1, (3, 3)),), {"axes": (1, 3)}),
        ("correlate", (rng.uniform(-1, 1, (3, 3, 3)),), {"axes": (0, 1, 3)}),
        ("laplace", (), {"axes": (3, 1)}),
        ("gaussian_filter", (0.0,), {}),
    ]
    for name, arguments, options in calls:
        result = getattr(ours, name)(given, *arguments, **options)
        assert isinstance(result, jax.Array)
        close(np.asarray(result), getattr(theirs, name)(array, *arguments, **options))
    for output in (np.float16, "float16", np.dtype(np.float16), jax.numpy.float16):
        assert ours.laplace(given[0], output=output).dtype == np.float16
    kept = np.zeros((5, 4, 6), np.float32)
    assert ours.laplace(given[0], output=kept) is kept
    close(kept, theirs.laplace(array[0]))
    with pytest.raises(TypeError, match="never change"):
        ours.laplace(given[0], output=given[0])
    with pytest.raises(RuntimeError, match="shape"):
        ours.laplace(given[0], output=kept[1:])
    for call in (
        lambda: ours.gaussian_filter1d(given, 300.0),
        lambda: ours.uniform_filter(given, 5000),
        lambda: ours.correlate1d(given, [1e39]),
    ):
        with pytest.raises(ValueError, match="weights|a window of"):
            call()


# --- Threads and processes ---

FORKS = """
import os
import numpy as np
from tessera import ndimage
image = np.arange(1400 * 1400, dtype=np.uint16).reshape(1400, 1400)
before = ndimage.uniform_filter(image, 5)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(ndimage.uniform_filter(image, 5), before) else 1)
assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(ndimage.uniform_filter(image, 5), before)
"""


def test_in_the_child_of_a_fork():
    environment = {**os.environ, "TESSERA_NUM_THREADS": "3"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], env=environment, check=True, timeout=120)


def test_in_several_threads(rng):
    image = rng.integers(0, 60000, (900, 800)).astype(np.uint16)
    expected = theirs.gaussian_filter(image, 2.0)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: ours.gaussian_filter(image, 2.0), range(24)):
            np.testing.assert_array_equal(result, expected)
