# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Filters from and to integers are SciPy's bit for bit: in each type, mode, order of bytes and layout."""

import itertools

import numpy as np
import pytest
import scipy.ndimage as theirs

from tessera import ndimage as ours

MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap"]
INTEGERS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
SHAPES = [(37,), (11, 14), (5, 6, 7), (3, 1, 4, 2), (1, 1), (2, 9)]


def image(rng, shape, code):
    """Of the type's whole range."""
    dtype = np.dtype(code)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def assert_same_bits(mine, other):
    assert mine.dtype == other.dtype and mine.shape == other.shape
    if mine.dtype.kind == "b":  # bytes of SciPy's may hold counts
        other = other.view(np.uint8) != 0
    np.testing.assert_array_equal(mine, other)


def both(name, *arguments, **options):
    assert_same_bits(getattr(ours, name)(*arguments, **options), getattr(theirs, name)(*arguments, **options))


def each_filter(rng, rank):
    """Names and arguments: weights of each kind of sum that SciPy has, with origins."""
    for length, kind in itertools.product((1, 2, 5, 8), ("any", "symmetric", "antisymmetric")):
        weights = rng.uniform(-1, 1, length)
        weights = {"any": weights, "symmetric": weights + weights[::-1], "antisymmetric": weights - weights[::-1]}[kind]
        shift = int(rng.integers(-(length // 2), (length - 1) // 2 + 1))
        yield "correlate1d", (weights,), {"axis": int(rng.integers(rank)), "origin": shift}
        yield "convolve1d", (weights,), {"axis": int(rng.integers(rank)), "origin": shift}
    extents = [int(n) for n in rng.integers(1, 5, rank)]
    shifts = [int(rng.integers(-(n // 2), (n - 1) // 2 + 1)) for n in extents]
    weights = rng.uniform(-1, 1, extents) * (rng.random(extents) < 0.7)
    yield "correlate", (weights,), {"origin": shifts}
    yield "convolve", (weights,), {"origin": shifts}
    for size in (1, 2, 3, 4, 9):
        yield "uniform_filter1d", (size,), {"axis": int(rng.integers(rank)), "origin": -(size // 2)}
        yield "uniform_filter", (size,), {}
    for order in range(4):
        yield "gaussian_filter1d", (1.3,), {"axis": int(rng.integers(rank)), "order": order}
    yield "gaussian_filter", (0.8,), {}
    yield "gaussian_filter", (2,), {"order": [1] * rank, "radius": 3}
    yield "sobel", (), {"axis": int(rng.integers(rank))}
    yield "prewitt", (), {"axis": int(rng.integers(rank))}
    yield "laplace", (), {}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("code", INTEGERS)
def test_integers(rng, code, mode):
    for shape, bytes_order in itertools.product(SHAPES, "<>"):
        array = image(rng, shape, code).astype(np.dtype(code).newbyteorder(bytes_order))
        for name, arguments, options in each_filter(rng, len(shape)):
            both(name, array, *arguments, mode=mode, cval=float(rng.integers(-3, 300)) / 2, **options)


@pytest.mark.parametrize("code", INTEGERS)
def test_layouts(rng, code):
    base = image(rng, (12, 20, 3), code)
    layouts = [base[::-1], base[:, ::2], np.asfortranarray(base), base.transpose(2, 0, 1), base[:, :, :1], base[5:5]]
    layouts += [np.broadcast_to(base[0], (4, 20, 3)), base[3, 4], base[::-2, ::-3, ::-1]]
    for array in layouts:
        for name, arguments, options in each_filter(rng, array.ndim):
            both(name, array, *arguments, **options)


@pytest.mark.parametrize("code", INTEGERS)
def test_long_rows_and_lines(rng, code):
    """Longer than what a pass does at once, and of a length that is not whole vectors."""
    for shape in ((1, 1500), (1500, 3), (1300,), (517, 70)):
        array = image(rng, shape, code)
        both("uniform_filter", array, 7)
        both("gaussian_filter", array, 3.0)
        both("correlate", array, rng.uniform(-1, 1, (3,) * len(shape)))
        both("correlate1d", array, rng.uniform(-1, 1, 1201), mode="wrap")


@pytest.mark.parametrize("result", [*INTEGERS[1:], "f4", "f8"])
@pytest.mark.parametrize("code", [*INTEGERS, "f4", "f8"])
def test_types_of_results(rng, code, result):
    """What lies between passes is of the result's type, and casts out of its range are C's."""
    if "f" in code and "f" in result:
        return  # by stencils: see test_ndimage.py
    if code[0] == "f":
        array = (rng.uniform(-1, 1, (9, 11)) * 10.0 ** rng.integers(0, 21, (9, 11))).astype(code)
        array[4, 5], array[8, 0], array[0, 10] = np.nan, np.inf, -np.inf
    else:
        array = image(rng, (9, 11), code)
    with np.errstate(all="ignore"):
        for name, arguments, options in each_filter(rng, 2):
            both(name, array, *arguments, output=np.dtype(result).type, **options)
            for order in "<>":
                kept = np.zeros((9, 22), np.dtype(result).newbyteorder(order))
                expected = kept.copy()
                assert getattr(ours, name)(array, *arguments, output=kept[:, ::2], **options).base is kept
                getattr(theirs, name)(array, *arguments, output=expected[:, ::2], **options)
                np.testing.assert_array_equal(kept, expected)


def test_means_keep_constants():
    for size in range(2, 12):
        for value in range(256):
            assert (ours.uniform_filter(np.full((3, 4), value, np.uint8), size) == value).all()
    for size in range(1, 64):
        for dtype in (np.float32, np.float64, np.complex128):
            assert (ours.uniform_filter1d(np.ones(70, dtype), size) == 1.0).all()
            assert (ours.uniform_filter(np.full((70, 3), 7, dtype), size) == 7.0).all()


def test_bool_counts_less_than_one():
    image_of_bool = np.array([True, False, True, True])
    assert not ours.correlate1d(image_of_bool, [0.25] * 3).any()
    result = ours.correlate1d(image_of_bool, [1, 1, 1])
    assert set(result.view(np.uint8).tolist()) <= {0, 1}


def test_above_2_to_the_53(rng):
    array = rng.integers(2**53, 2**63 - 1, (8, 9))
    for name, arguments, options in each_filter(rng, 2):
        both(name, array, *arguments, **options)
        both(name, array.astype(np.uint64) * 2, *arguments, **options)


def test_in_place_and_overlapping(rng):
    """As if the input were another array; SciPy does so where they are the same."""
    array = image(rng, (9, 10), "u1")
    for name, arguments, options in each_filter(rng, 2):
        same = array.copy()
        assert getattr(ours, name)(same, *arguments, output=same, **options) is same
        assert_same_bits(same, getattr(theirs, name)(array, *arguments, **options))
        frame = np.concatenate([array, array])
        getattr(ours, name)(frame[:9], *arguments, output=frame[2:11], **options)
        assert_same_bits(frame[2:11], getattr(theirs, name)(array, *arguments, **options))
