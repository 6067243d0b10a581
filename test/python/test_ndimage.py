# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Every function against SciPy's: the same results within the bounds of sums, and the same errors."""

import itertools

import numpy as np
import pytest
import scipy.ndimage as theirs
from conftest import unit

from tessera import ndimage as ours

MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap"]
SHAPES = [(31,), (12, 17), (6, 7, 9), (3, 4, 5, 6), (1, 9), (2, 2)]


def assert_same(ours_result, theirs_result, *, size, operations, dtype):
    """Both round at most once an operation; `size` bounds the sum of the absolute values."""
    assert ours_result.dtype == theirs_result.dtype and ours_result.shape == theirs_result.shape
    bound = 2 * operations * unit(dtype) * size
    np.testing.assert_allclose(ours_result.astype(float), theirs_result.astype(float), rtol=0, atol=bound)


def both(name, *arguments, size, operations, dtype, **options):
    assert_same(
        getattr(ours, name)(*arguments, **options),
        getattr(theirs, name)(*arguments, **options),
        size=size,
        operations=operations,
        dtype=dtype,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", MODES)
def test_correlate_and_convolve(rng, dtype, shape, mode):
    array = rng.uniform(-1, 1, shape).astype(dtype)
    for extents in itertools.islice(itertools.product((1, 2, 3, 4), repeat=len(shape)), 5, None, 7):
        weights = rng.uniform(-1, 1, extents)
        origin = [int(rng.integers(-(n // 2), (n - 1) // 2 + 1)) for n in extents]
        for name in ("correlate", "convolve"):
            both(
                name, array, weights, mode=mode, cval=0.7, origin=origin,
                size=abs(weights).sum(), operations=weights.size + 3, dtype=dtype,
            )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", MODES)
def test_along_one_axis(rng, dtype, shape, mode):
    array = rng.uniform(-1, 1, shape).astype(dtype)
    for axis, length in itertools.product(range(-len(shape), len(shape)), (1, 2, 5, 8)):
        weights = rng.uniform(-1, 1, length)
        origin = int(rng.integers(-(length // 2), (length - 1) // 2 + 1))
        for name in ("correlate1d", "convolve1d"):
            both(
                name, array, weights, axis=axis, mode=mode, cval=-0.3, origin=origin,
                size=abs(weights).sum(), operations=length + 3, dtype=dtype,
            )  # fmt: skip
        both("uniform_filter1d", array, length, axis=axis, mode=mode, cval=0.4, size=1, operations=400, dtype=dtype)
        for order in (0, 1, 2, 3):
            both(
                "gaussian_filter1d", array, 1.3, axis=axis, order=order, mode=mode, cval=0.4, truncate=3.0,
                size=4, operations=20, dtype=dtype,
            )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cval", [0.0, 0.6])
def test_along_all_axes(rng, dtype, shape, mode, cval):
    array = rng.uniform(-1, 1, shape).astype(dtype)
    rank, common = len(shape), {"mode": mode, "cval": cval, "dtype": dtype}
    for sigma in (0.3, 0.8, 2.0, 0.0):
        both("gaussian_filter", array, sigma, size=1, operations=40 * rank, **common)
    both("gaussian_filter", array, 1.1, order=[1] + [0] * (rank - 1), size=2, operations=40 * rank, **common)
    both("gaussian_filter", array, 1.0, radius=2, size=1, operations=40 * rank, **common)
    for size in (1, 2, 3, 5):
        both("uniform_filter", array, size, size=1, operations=400 * rank, **common)
    for axis in range(rank):
        both("sobel", array, axis=axis, size=2 * 4.0 ** (rank - 1), operations=30, **common)
        both("prewitt", array, axis=axis, size=2 * 3.0 ** (rank - 1), operations=30, **common)
    if rank <= 3:
        both("laplace", array, size=4.0 * rank, operations=12, **common)


def test_laplace_of_many_axes(rng):
    both("laplace", rng.uniform(-1, 1, (1,) * 14 + (3, 4)), size=4.0 * 16, operations=64, dtype=np.float64)
    with pytest.raises(TypeError, match="more than 16 axes"):
        ours.laplace(np.ones((1,) * 32))  # 3^32 weights would take 15 PB


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 2), (2, 1), (-1,), ()])
def test_axes(rng, axes):
    array = rng.uniform(-1, 1, (6, 7, 8))
    common = {"axes": axes, "size": 4.0 * 3, "operations": 60, "dtype": np.float64}
    both("gaussian_filter", array, 0.9, **common)
    both("laplace", array, **common)
    assert_same(
        ours.uniform_filter(array, 3, axes=axes), theirs.uniform_filter(array, 3, axes=axes),
        size=1, operations=100, dtype=np.float64,
    )  # fmt: skip
    if axes:
        weights = rng.uniform(-1, 1, (3,) * len(axes))
        both("correlate", array, weights, axes=axes, size=9, operations=12, dtype=np.float64)


def test_modes_per_axis(rng):
    array = rng.uniform(-1, 1, (8, 9))
    modes = ["wrap", "constant"]
    for name, arguments in (("gaussian_filter", (1.0,)), ("uniform_filter", (3,)), ("sobel", ()), ("laplace", ())):
        both(name, array, *arguments, mode=modes, cval=0.2, size=8, operations=60, dtype=np.float64)


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.int64, np.bool_, np.float16, np.complex64, np.complex128])
def test_other_types(rng, dtype):
    array = (rng.uniform(0, 100, (9, 10)) + (1j if np.issubdtype(dtype, np.complexfloating) else 0)).astype(dtype)
    if dtype == np.float16:
        array = array.astype(np.float32)
    weights = np.array([[0.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 0.0]])
    mine, other = ours.correlate(array, weights), theirs.correlate(array, weights)
    assert mine.dtype == other.dtype
    np.testing.assert_allclose(mine, other, rtol=1e-6 if dtype == np.complex64 else 1e-12)


def test_output(rng):
    array = rng.uniform(-1, 1, (9, 10))
    weights = rng.uniform(-1, 1, (3, 3))
    exact = theirs.correlate(array, weights)
    for dtype in (np.float32, "float64", np.dtype(np.int32)):
        assert ours.correlate(array, weights, output=dtype).dtype == np.dtype(dtype)
    frame = np.zeros((9, 20))
    out = frame[:, ::2]
    assert ours.correlate(array, weights, output=out) is out
    assert_same(out, exact, size=9, operations=12, dtype=np.float64)
    assert (frame[:, 1::2] == 0).all()
    same = array.copy()
    ours.correlate(same, weights, output=same)
    assert_same(same, exact, size=9, operations=12, dtype=np.float64)


@pytest.mark.parametrize(
    "call",
    [
        lambda n, x: n.correlate(x, np.ones(3)),
        lambda n, x: n.correlate(x, np.ones((3, 3)), mode="round"),
        lambda n, x: n.correlate(x, np.ones((3, 3)), mode=["wrap", "wrap"]),
        lambda n, x: n.gaussian_filter(x, 9.0, mode="round"),
        lambda n, x: n.correlate(x, np.ones((3, 3)), origin=2),
        lambda n, x: n.correlate(x, np.ones((3, 3)), origin=[0, 0, 0]),
        lambda n, x: n.correlate1d(x, np.ones((3, 3))),
        lambda n, x: n.correlate1d(x, np.ones(3), axis=2),
        lambda n, x: n.correlate1d(x, np.ones(3), origin=-2),
        lambda n, x: n.correlate(x, np.ones((3, 3)), output=np.zeros((3, 3))),
        lambda n, x: n.uniform_filter1d(x, 0),
        lambda n, x: n.uniform_filter(x, 3, origin=2),
        lambda n, x: n.gaussian_filter(x, 1.0, order=-1),
        lambda n, x: n.gaussian_filter(x, [1.0, 2.0, 3.0]),
        lambda n, x: n.gaussian_filter1d(x, 1.0, radius=-1),
        lambda n, x: n.sobel(x, axis=5),
        lambda n, x: n.laplace(x, axes=(0, 0)),
    ],
)
def test_same_errors(call):
    array = np.ones((5, 6))
    with pytest.raises(Exception) as other:
        call(theirs, array)
    with pytest.raises(other.type):
        call(ours, array)
