# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of filters at the edge of what they may be: SciPy's result, or its error."""

import numpy as np
import pytest
import scipy.ndimage as theirs

from tessera import ndimage as ours

ONE_AXIS = {
    "correlate1d": [1.0, 2.0],
    "convolve1d": [1.0, 2.0],
    "gaussian_filter1d": 1.0,
    "uniform_filter1d": 3,
}
SEVERAL_AXES = {
    "correlate": [[1.0, 2.0]],
    "convolve": [[1.0, 2.0]],
    "gaussian_filter": 1.0,
    "uniform_filter": 3,
    "laplace": None,
}
FILTERS = ONE_AXIS | SEVERAL_AXES | {"sobel": None, "prewitt": None}
IMAGE = np.round(np.random.default_rng(5).uniform(0, 9, (4, 5)), 2)


def run(library, name, image, **options):
    arguments = () if FILTERS[name] is None else (FILTERS[name],)
    return getattr(library, name)(image, *arguments, **options)


def unaligned(array):
    raw = np.frombuffer(b" " + array.tobytes(), array.dtype, array.size, 1).reshape(array.shape)
    assert not raw.flags.aligned
    return raw


def same_error(name, image, error, **options):
    """Both libraries raise it, and nothing derived from it."""
    for library in (ours, theirs):
        with pytest.raises(error) as told:
            run(library, name, image, **options)
        assert told.type is error, library.__name__


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("mode", ["constant", "reflect"])
@pytest.mark.parametrize("dtype", [float, np.float32, np.uint8, bool])
def test_cval_that_is_no_number(name, mode, dtype):
    for cval in ("a", "1.5", b"1", None, [1.0], np.ones(1), 1j):
        same_error(name, IMAGE.astype(dtype), TypeError, cval=cval, mode=mode)
    same_error(name, IMAGE.astype(dtype), OverflowError, cval=10**400, mode=mode)


@pytest.mark.parametrize("name", FILTERS)
def test_cval_of_complex_images(name):
    for cval in ("a", "1.5", b"1"):
        same_error(name, IMAGE.astype(complex), ValueError, cval=cval)
    for cval in (None, [1.0]):
        same_error(name, IMAGE.astype(complex), TypeError, cval=cval)
    same_error(name, IMAGE.astype(complex), OverflowError, cval=10**400)


def test_cval_of_complex_weights():
    for cval, error in (("1.5", TypeError), (None, TypeError), (10**400, OverflowError), (1j, ValueError)):
        for library in (ours, theirs):
            with pytest.raises(error):
                library.correlate1d(np.ones(3), [1j, 2.0], cval=cval)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128, np.uint16, np.int64])
def test_unaligned(name, dtype):
    image = IMAGE.astype(dtype)
    mine = run(ours, name, unaligned(image))
    np.testing.assert_array_equal(mine, run(ours, name, image))
    output = np.zeros(2 * image.nbytes + 1, np.uint8)[1 : image.nbytes + 1].view(dtype).reshape(image.shape)
    assert run(ours, name, unaligned(image), output=output) is output
    np.testing.assert_array_equal(output, mine)
    if np.dtype(dtype).kind in "iu":
        np.testing.assert_array_equal(mine, run(theirs, name, unaligned(image)))


@pytest.mark.parametrize("name", ["correlate", "convolve"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("weights", [[0.0], [0.0, 1e-17, 0.0], [np.nan, 0.0], [0j]])
def test_weights_that_are_all_zero(name, dtype, weights):
    image = np.array([np.nan, 1.0, np.inf, -2.0], dtype)
    for array, shape in ((image, -1), (np.array([image, image]), (1, -1)), (np.array([image, image]).T, (-1, 1))):
        mine, other = (getattr(module, name)(array, np.reshape(weights, shape)) for module in (ours, theirs))
        np.testing.assert_array_equal(mine, other)
        assert mine.dtype == other.dtype and not mine.any() and mine.flags.c_contiguous


def test_weights_that_are_all_zero_of_other_frameworks():
    jax = pytest.importorskip("jax")
    result = ours.correlate(jax.numpy.asarray([np.nan, 1.0]), [0.0])
    assert isinstance(result, jax.Array)
    np.testing.assert_array_equal(np.asarray(result), [0.0, 0.0])


@pytest.mark.filterwarnings("ignore:promoting specified output dtype")
@pytest.mark.parametrize("name", ["correlate", "convolve"])
@pytest.mark.parametrize("output", [None, bool, np.uint8, float])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float64, np.complex128])
def test_results_without_axes(name, output, dtype):
    for weight in (0.0, 1.0, 0.5):
        try:
            other = getattr(theirs, name)(np.array(1, dtype), np.array(weight), output=output)
        except RuntimeError:
            with pytest.raises(RuntimeError):
                getattr(ours, name)(np.array(1, dtype), np.array(weight), output=output)
            continue
        mine = getattr(ours, name)(np.array(1, dtype), np.array(weight), output=output)
        assert type(mine) is np.ndarray and mine.dtype == other.dtype and mine == other


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("mode", [["wrap"], {}, 5, None, "bad"])
def test_modes_that_are_none(name, mode):
    same_error(name, IMAGE, RuntimeError, mode=mode)
    if name not in ("correlate", "convolve", *ONE_AXIS):
        same_error(name, IMAGE, RuntimeError, mode=["reflect", mode])


@pytest.mark.parametrize("name", SEVERAL_AXES)
def test_axes_that_are_not_there(name):
    for axes, text in (((5,), "5"), ((-3,), "-3"), ((0, 2), "2"), ([2, 0], "2")):
        for library in (ours, theirs):
            with pytest.raises(ValueError, match=f"specified axis: {text} is out of range") as told:
                run(library, name, IMAGE, axes=axes)
            assert told.type is ValueError
    for axes in ((1.5,), (5, 1.5), np.array(1), "a"):
        same_error(name, IMAGE, TypeError, axes=axes)
    for axes in ((0, 0), (1, -1), 1.5):
        same_error(name, IMAGE, TypeError if axes == 1.5 else ValueError, axes=axes)


@pytest.mark.parametrize("dtype", [float, np.uint8, bool, complex])
@pytest.mark.parametrize("mode", [["wrap"] * 3, "bad", 5, [["wrap"]]])
def test_laplace_without_axes(dtype, mode):
    image = IMAGE.astype(dtype)
    for library in (ours, theirs):
        np.testing.assert_array_equal(library.laplace(image, axes=(), mode=mode), image)
        np.testing.assert_array_equal(library.laplace(image[0, 0].reshape(()), mode=mode), image[0, 0])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gaussian_filter", {"sigma": 1.0, "order": -1}),
        ("gaussian_filter", {"sigma": 1.0, "radius": -1}),
        ("gaussian_filter", {"sigma": 1.0, "mode": "bad"}),
        ("uniform_filter", {"size": 3, "origin": 5}),
        ("uniform_filter", {"size": 3, "mode": "bad"}),
    ],
)
def test_filters_without_axes(name, options):
    """What no pass takes is not looked at."""
    for library in (ours, theirs):
        np.testing.assert_array_equal(getattr(library, name)(IMAGE, axes=(), **options), IMAGE)
        with pytest.raises((ValueError, RuntimeError)):
            getattr(library, name)(IMAGE, **options)


def test_weights_without_axes():
    for library in (ours, theirs):
        for weights in (1.0, 1j, np.array(2)):
            with pytest.raises(IndexError):
                library.convolve1d(np.ones(3), weights)
            with pytest.raises(RuntimeError, match="no filter weights given"):
                library.correlate1d(np.ones(3), weights)
        for weights in ([], [[1.0]]):
            with pytest.raises(RuntimeError, match="no filter weights given"):
                library.convolve1d(np.ones(3), weights)
