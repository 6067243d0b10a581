# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear filters with the names, arguments and results of scipy.ndimage.

Arrays of NumPy of any real or complex type are taken: float32 and float64 are filtered as they are, others in float64
and then converted, as SciPy does. Arrays of PyTorch, CuPy and others are of a floating type, and stay on their device.
float32 is summed in float32, where SciPy sums in float64: (weights + 2) * 2**-24 * sum(|weight| * |value|) is the most
that a pass differs.
"""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._filters import (
    MOST_AXES,
    as_array,
    axes_of,
    axis_of,
    check_origin,
    finish,
    gaussian,
    per_axis,
    separable,
    single_pass,
    weighted,
    weights_of,
)

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
    return weighted(input, weights_of(weights), output, mode, cval, origin, axes, mirrored=False)


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
    return weighted(input, weights_of(weights), output, mode, cval, origin, axes, mirrored=True)


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
    array = as_array(input)
    weights = weights_of(weights)
    if weights.ndim != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    check_origin(origin, weights.shape[0])
    return single_pass(array, (axis_of(axis, array.ndim),), weights, [mode], cval, [origin], output)


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
    weights = weights_of(weights)
    if weights.ndim != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    check_origin(origin, weights.shape[0])
    mirrored = -origin - (1 if weights.shape[0] % 2 == 0 else 0)
    return correlate1d(input, weights[::-1], axis, output, mode, cval, mirrored)


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
    weights = gaussian(float(sigma), order, truncate, radius)
    return correlate1d(input, weights, axis, output, mode, cval, 0)


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
    count = len(axes)
    sigmas, orders = per_axis(sigma, count, "sigma"), per_axis(order, count, "order")
    modes, radii = per_axis(mode, count, "mode"), per_axis(radius, count, "radius")
    filters = [
        (axis, gaussian(float(s), o, truncate, r), m, 0)
        for axis, s, o, m, r in zip(axes, sigmas, orders, modes, radii)
        if s > 1e-15
    ]
    return separable(array, filters, cval, output)


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
    if size < 1:
        raise RuntimeError("incorrect filter size")
    if (size // 2 + origin < 0) or (size // 2 + origin >= size):
        raise ValueError("invalid origin")
    return correlate1d(input, np.full(size, 1.0 / size), axis, output, mode, cval, origin)


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
    count = len(axes)
    sizes, origins = per_axis(size, count, "size"), per_axis(origin, count, "origin")
    modes = per_axis(mode, count, "mode")
    filters = []
    for axis, extent, shift, one in zip(axes, sizes, origins, modes):
        extent = operator.index(extent)
        if extent > 1:
            if (extent // 2 + shift < 0) or (extent // 2 + shift >= extent):
                raise ValueError("invalid origin")
            filters.append((axis, np.full(extent, 1.0 / extent), one, shift))
    return separable(array, filters, cval, output)


def sobel(
    input: Any, axis: int = -1, output: Any = None, mode: str | Sequence[str] = "reflect", cval: float = 0.0
) -> Any:
    """The difference along an axis, smoothed by 1 2 1 along the others."""
    return _gradient(input, axis, output, mode, cval, [1.0, 2.0, 1.0])


def prewitt(
    input: Any, axis: int = -1, output: Any = None, mode: str | Sequence[str] = "reflect", cval: float = 0.0
) -> Any:
    """The difference along an axis, smoothed by 1 1 1 along the others."""
    return _gradient(input, axis, output, mode, cval, [1.0, 1.0, 1.0])


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
    modes = per_axis(mode, len(axes), "mode")
    if not axes:
        return finish(array, output, lambda part: part)
    if len(axes) > MOST_AXES:
        raise ValueError(f"laplace along {len(axes)} axes: three is the most; name them by axes")
    weights = np.zeros((3,) * len(axes))
    for index in range(len(axes)):
        for place in (0, 2):
            at = [1] * len(axes)
            at[index] = place
            weights[tuple(at)] = 1.0
        weights[(1,) * len(axes)] -= 2.0
    return single_pass(array, axes, weights, modes, cval, [0] * len(axes), output)


def _gradient(input: Any, axis: int, output: Any, mode: Any, cval: float, smooth: list[float]) -> Any:
    array = as_array(input)
    axis = axis_of(axis, array.ndim)
    modes = per_axis(mode, array.ndim, "mode")
    filters = [(axis, np.array([-1.0, 0.0, 1.0]), modes[axis], 0)]
    filters += [(other, np.array(smooth), modes[other], 0) for other in range(array.ndim) if other != axis]
    return separable(array, filters, cval, output)
