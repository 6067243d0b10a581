# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear filters with the names, arguments and results of scipy.ndimage.

Arrays of NumPy of any real or complex type are taken. Results of integers, and integers as results, are SciPy's bit for
bit. float32 and float64 are filtered in their own type; float32 is summed in float32, where SciPy sums in float64:
(weights + 2) * 2**-24 * sum(|weight| * |value|) is the most that a pass differs. Arrays of PyTorch, CuPy and others are
of a floating type, and stay on their device. docs/python.md lists what differs.
"""

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arguments import (
    as_array,
    axes_of,
    axis_of,
    gaussian,
    mean_origin_of,
    modes_of,
    named,
    origin_of,
    output_of,
    parts_of,
    per_axis,
    real_of,
    refuse_real_output,
    weights_of,
)
from ._filters import Along, Box, Laplacian, Means, apply, placed

__all__ = [
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "laplace",
    "prewitt",
    "sobel",
    "uniform_filter",
    "uniform_filter1d",
]

def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int | Sequence[int] = 0,
    *,
    axes: int | Sequence[int] | None = None,
) -> Any:
    """Correlation with weights of as many axes as the input, or as `axes` names: in the order of the input's axes."""
    return _weighted(input, weights, output, mode, cval, origin, axes, mirrored=False)


def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int | Sequence[int] = 0,
    *,
    axes: int | Sequence[int] | None = None,
) -> Any:
    """Convolution: correlation with mirrored weights."""
    return _weighted(input, weights, output, mode, cval, origin, axes, mirrored=True)


def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> Any:
    """Correlation along one axis."""
    weights = weights_of(weights)
    if weights.dtype.kind == "c":
        return _complex_weights(correlate1d, input, weights.conj(), output, cval, axis=axis, mode=mode, origin=origin)
    array = as_array(input)
    if output is not None:
        refuse_real_output(output, array)
    if weights.ndim != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    axis = axis_of(axis, array.ndim)
    shift = origin_of(origin, weights.shape[0])
    return apply(_along(weights.tobytes(), axis, named(mode), shift), array, output, cval, promotes=True)


def convolve1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> Any:
    """Convolution along one axis."""
    weights = np.asarray(weights)[::-1]
    if weights.ndim != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    if weights.dtype.kind == "c":
        weights = weights.conj()  # which correlate1d undoes
    mirrored = -origin - (1 if weights.shape[0] % 2 == 0 else 0)
    return correlate1d(input, weights, axis, output, mode, cval, mirrored)


def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Any:
    """A Gaussian of standard deviation sigma, in points, or its derivative of that order, along one axis."""
    return correlate1d(input, gaussian(sigma, order, truncate, radius), axis, output, mode, cval, 0)


def gaussian_filter(
    input: Any,
    sigma: float | Sequence[float],
    order: int | Sequence[int] = 0,
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
) -> Any:
    """A Gaussian along each axis; one of sigma below 1e-15 is left out."""
    array = as_array(input)
    axes = axes_of(axes, array.ndim)
    plain = type(sigma) in (float, int) and type(order) is int and type(mode) is str and type(truncate) is float
    if axes and plain and (radius is None or type(radius) is int) and sigma > 1e-15:
        return apply(_gaussian_along(axes, float(sigma), order, mode, truncate, radius), array, output, cval)
    count = len(axes)
    orders, sigmas = per_axis(order, count), per_axis(sigma, count)
    modes, radii = per_axis(mode, count), per_axis(radius, count)
    steps = [
        (axis, gaussian(s, o, truncate, r), m, 0)
        for axis, s, o, m, r in zip(axes, sigmas, orders, modes, radii)
        if s > 1e-15
    ]
    return apply(Along(steps), array, output, cval)


def uniform_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> Any:
    """The mean of `size` points along one axis."""
    array = as_array(input)
    axis = axis_of(axis, array.ndim)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    shift = mean_origin_of(origin, size)
    return apply(Means([(axis, operator.index(size), mode, shift)]), array, output, cval, promotes=True)


def uniform_filter(
    input: Any,
    size: int | Sequence[int] = 3,
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0.0,
    origin: int | Sequence[int] = 0,
    *,
    axes: int | Sequence[int] | None = None,
) -> Any:
    """The mean of a box."""
    array = as_array(input)
    axes = axes_of(axes, array.ndim)
    if axes and type(size) is type(origin) is int and type(mode) is str and size > 1:
        return apply(_means(axes, size, mode, origin), array, output, cval, promotes=True)
    count = len(axes)
    sizes, origins, modes = per_axis(size, count), per_axis(origin, count), per_axis(mode, count)
    steps = [
        (axis, int(extent), one, mean_origin_of(shift, int(extent)))
        for axis, extent, shift, one in zip(axes, sizes, origins, modes)
        if extent > 1
    ]
    return apply(Means(steps), array, output, cval, promotes=True)


def sobel(
    input: Any, axis: int = -1, output: Any = None, mode: str | Sequence[str] = "reflect", cval: float = 0.0
) -> Any:
    """The difference along an axis, smoothed by 1 2 1 along the others."""
    return _gradient(input, axis, output, mode, cval, (1.0, 2.0, 1.0))


def prewitt(
    input: Any, axis: int = -1, output: Any = None, mode: str | Sequence[str] = "reflect", cval: float = 0.0
) -> Any:
    """The difference along an axis, smoothed by 1 1 1 along the others."""
    return _gradient(input, axis, output, mode, cval, (1.0, 1.0, 1.0))


def laplace(
    input: Any,
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0.0,
    *,
    axes: int | Sequence[int] | None = None,
) -> Any:
    """The sum of the second differences along the axes."""
    array = as_array(input)
    axes = axes_of(axes, array.ndim)
    modes = modes_of(mode, len(axes)) if axes else ()  # without axes SciPy does not look at them
    return apply(_laplacian(axes, modes), array, output, cval)


def _gradient(input: Any, axis: int, output: Any, mode: Any, cval: float, smooth: tuple[float, ...]) -> Any:
    array = as_array(input)
    axis = axis_of(axis, array.ndim)
    return apply(_gradient_along(axis, modes_of(mode, array.ndim), smooth), array, output, cval)


# What is the same in each call is prepared once. Keys are integers, names and bytes: 1.0 is not 1.


@functools.lru_cache(maxsize=256)
def _along(values: bytes, axis: int, mode: str, origin: int) -> Along:
    return Along([(axis, np.frombuffer(values), mode, origin)])


@functools.lru_cache(maxsize=64)
def _gaussian_along(
    axes: tuple[int, ...], sigma: float, order: int, mode: str, truncate: float, radius: int | None
) -> Along:
    weights = gaussian(sigma, order, truncate, radius)
    return Along([(axis, weights, mode, 0) for axis in axes])


@functools.lru_cache(maxsize=64)
def _means(axes: tuple[int, ...], size: int, mode: str, origin: int) -> Means:
    shift = mean_origin_of(origin, size)
    return Means([(axis, size, mode, shift) for axis in axes])


@functools.lru_cache(maxsize=64)
def _gradient_along(axis: int, modes: tuple[str, ...], smooth: tuple[float, ...]) -> Along:
    steps = [(axis, np.array([-1.0, 0.0, 1.0]), modes[axis], 0)]
    steps += [(other, np.array(smooth), one, 0) for other, one in enumerate(modes) if other != axis]
    return Along(steps)


@functools.lru_cache(maxsize=64)
def _laplacian(axes: tuple[int, ...], modes: tuple[str, ...]) -> Laplacian:
    return Laplacian(axes, modes)


def _weighted(
    input: Any, weights: Any, output: Any, mode: str, cval: Any, origin: Any, axes: Any, mirrored: bool
) -> Any:
    array, weights = as_array(input), weights_of(weights)
    if weights.dtype.kind == "c":
        call = convolve if mirrored else correlate
        weights = weights if mirrored else weights.conj()
        return _complex_weights(call, array, weights, output, cval, mode=mode, origin=origin, axes=axes)
    if output is not None:
        refuse_real_output(output, array)
    if type(origin) is not int:
        origin = tuple(map(operator.index, origin)) if np.iterable(origin) else operator.index(origin)
    given = axes_of(axes, array.ndim)
    one_mode = mode if isinstance(mode, str) else "reflect"  # SciPy looks at weights and origins first
    box = _box(weights.tobytes(), weights.shape, one_mode, origin, given, array.ndim, mirrored)
    if one_mode is not mode:
        raise RuntimeError("A sequence of modes is not supported")
    return apply(box, array, output, cval, promotes=True)


@functools.lru_cache(maxsize=256)
def _box(
    values: bytes, extents: tuple, mode: str, origin: Any, given: tuple[int, ...], rank: int, mirrored: bool
) -> Box:
    weights = np.frombuffer(values).reshape(extents)
    if weights.ndim != len(given) or 0 in extents:
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({len(given)})")
    origins = per_axis(origin, len(given))
    if len(given) < rank:  # else SciPy takes them in the order of the input's axes, whatever axes says
        shifts = dict(zip(given, origins))
        origins = [shifts.get(axis, 0) for axis in range(rank)]
        weights = np.expand_dims(weights, tuple(axis for axis in range(rank) if axis not in given))
    if mirrored:
        weights = np.flip(weights)
        origins = [-shift - (1 if extent % 2 == 0 else 0) for extent, shift in zip(weights.shape, origins)]
    origins = [origin_of(shift, extent) for extent, shift in zip(weights.shape, origins)]
    return Box(weights.copy(order="C"), mode, origins)


def _complex_weights(call: Any, input: Any, weights: np.ndarray, output: Any, cval: Any, **options: Any) -> Any:
    """By filters of real weights: of the real part, and of the imaginary one where the input has it."""
    array = as_array(input)
    if not isinstance(array, np.ndarray):
        raise TypeError("weights: complex numbers; for arrays of other frameworks than NumPy they must be real")
    target, dtype = output_of(output, array, complex_result=True)
    if array.dtype.kind != "c" and np.iscomplexobj(cval):
        raise ValueError("Cannot provide a complex-valued cval when the input is real.")
    result = np.empty(array.shape, np.complex64 if dtype.char == "F" else np.complex128)
    part = result.real.dtype
    beyond, aside = parts_of(cval) if array.dtype.kind == "c" else (real_of(cval), 0.0)
    result.real = call(array.real, weights.real, output=part, cval=beyond, **options)
    result.imag = call(array.real, weights.imag, output=part, cval=beyond, **options)
    if array.dtype.kind == "c":
        result.real -= call(array.imag, weights.imag, output=part, cval=aside, **options)
        result.imag += call(array.imag, weights.real, output=part, cval=aside, **options)
    return placed(result, target, dtype)
