# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the functions of tessera.ndimage have in common: passes over an array, and the checks of arguments."""

import functools
import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._core import Taps, stencil

_MODES = {
    "reflect": "reflect",
    "grid-mirror": "reflect",
    "constant": "constant",
    "grid-constant": "constant",
    "nearest": "nearest",
    "mirror": "mirror",
    "wrap": "periodic",
    "grid-wrap": "periodic",
}
MOST_AXES = 3
_MOST_FUSED = 27  # taps of one pass in place of a pass along each axis


def weighted(
    input: Any, weights: np.ndarray, output: Any, mode: str, cval: float, origin: Any, axes: Any, mirrored: bool
) -> Any:
    """Correlation, or convolution, with weights of several axes. The same filter is prepared once."""
    array = as_array(input)
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    if not isinstance(origin, int):
        origin = tuple(origin) if isinstance(origin, (Sequence, np.ndarray)) else origin
    if axes is not None:
        axes = tuple(axes) if isinstance(axes, (Sequence, np.ndarray)) else axes
    sweep = _prepared(weights.tobytes(), weights.shape, mode, float(cval), origin, axes, array.ndim, mirrored)
    return finish(array, output, sweep)


@functools.lru_cache(maxsize=256)
def _prepared(
    values: bytes, extents: tuple, mode: str, cval: float, origin: Any, axes: Any, rank: int, mirrored: bool
) -> Any:
    weights = np.frombuffer(values).reshape(extents)
    given = axes_of(axes, rank)
    if weights.ndim != len(given) or 0 in extents:
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({len(given)})")
    ordered = sorted(given)
    origins = per_axis(origin, len(given), "origin")
    if len(given) < rank:  # else SciPy takes them in the order of the input's axes, whatever axes says
        origins = [origins[given.index(axis)] for axis in ordered]
    if mirrored:
        weights = np.flip(weights)
        origins = [-shift - (1 if extent % 2 == 0 else 0) for extent, shift in zip(extents, origins)]
    for extent, shift in zip(extents, origins):
        check_origin(shift, extent)
    _mode_of(mode)
    modes = [mode] * len(ordered)
    return lambda part: _sweep(part, ordered, weights, modes, cval, origins)


def separable(array: Any, filters: list, cval: float, output: Any) -> Any:
    """A filter along each of some axes: in one pass where there are few taps in all and it is the same."""
    if not filters:
        return finish(array, output, lambda part: part)
    names = [_mode_of(mode) for _, _, mode, _ in filters]
    taps = math.prod(weights.shape[0] for _, weights, _, _ in filters)
    # A constant beyond one axis is filtered along the others in one pass, and is not in several.
    same = cval == 0.0 or "constant" not in names
    if taps <= _MOST_FUSED and same and len(filters) <= MOST_AXES:
        ordered = sorted(filters, key=lambda entry: entry[0])
        weights = functools.reduce(np.multiply.outer, (entry[1] for entry in ordered))
        axes, _, modes, origins = zip(*ordered)
        return single_pass(array, axes, weights, modes, cval, origins, output)

    def run(part: Any) -> Any:
        for axis, weights, mode, origin in filters:
            part = _sweep(part, (axis,), weights, [mode], cval, [origin])
        return part

    return finish(array, output, run)


def single_pass(
    array: Any, axes: Sequence[int], weights: np.ndarray, modes: Sequence[str], cval: float, origins: Any, output: Any
) -> Any:
    for mode in modes:
        _mode_of(mode)
    return finish(array, output, lambda part: _sweep(part, axes, weights, modes, cval, origins))


def _sweep(part: Any, axes: Sequence[int], weights: np.ndarray, modes: Any, cval: float, origins: Any) -> Any:
    """One stencil on an array of any number of axes."""
    if 0 in part.shape:
        return part
    shape, where = _collapsed(part, axes)
    if len(axes) > MOST_AXES:
        raise ValueError(f"a filter along {len(axes)} axes at once: the library takes three axes")
    if len(shape) > MOST_AXES:
        return _sweep_slices(part, axes, weights, modes, cval, origins)
    taps = _taps_of(weights.tobytes(), weights.shape, tuple(origins), tuple(where), len(shape))
    boundary = _boundary_of(tuple(modes), float(cval), tuple(where), len(shape))
    if len(shape) == part.ndim:
        return stencil(part, taps, boundary=boundary)
    return stencil(part.reshape(shape), taps, boundary=boundary).reshape(part.shape)


@functools.lru_cache(maxsize=256)
def _boundary_of(modes: tuple[str, ...], cval: float, where: tuple[int, ...], rank: int) -> Any:
    """What stencil() takes: one entry for all axes where they are alike, since that is told sooner."""
    entries: list[Any] = [None] * rank
    for axis, mode in zip(where, modes):
        name = _MODES[mode]
        entries[axis] = ("constant", cval) if name == "constant" else name
    known = {entry for entry in entries if entry is not None}
    if len(known) == 1:
        return known.pop()
    return [entry or "nearest" for entry in entries]


def _sweep_slices(part: Any, axes: Sequence[int], weights: np.ndarray, modes: Any, cval: float, origins: Any) -> Any:
    """The same for each slice along the first axis that is not filtered."""
    free = next(axis for axis in range(part.ndim) if axis not in axes)
    left = [axis - (1 if axis > free else 0) for axis in axes]
    result = np.empty_like(part)
    for source, target in zip(np.moveaxis(part, free, 0), np.moveaxis(result, free, 0)):
        target[...] = _sweep(source, left, weights, modes, cval, origins)
    return result


def _collapsed(part: Any, axes: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """The shape with axes joined that are not filtered, where there are more than three; and where the others are."""
    if part.ndim <= MOST_AXES:
        return part.shape, axes
    shape: list[int] = []
    where = dict.fromkeys(axes, 0)
    open_group = False
    for axis, extent in enumerate(part.shape):
        if axis in where:
            where[axis] = len(shape)
            shape.append(extent)
            open_group = False
        elif open_group:
            shape[-1] *= extent
        else:
            shape.append(extent)
            open_group = True
    return tuple(shape), [where[axis] for axis in axes]


@functools.lru_cache(maxsize=256)
def _taps_of(
    values: bytes, shape: tuple[int, ...], origins: tuple[int, ...], where: tuple[int, ...], rank: int
) -> Taps:
    weights = np.frombuffer(values).reshape(shape)
    taps = Taps(rank)
    for index in np.ndindex(*shape):
        offset = [0] * rank
        for axis, place, extent, origin in zip(where, index, shape, origins):
            offset[axis] = place - extent // 2 - int(origin)
        taps.add(offset, float(weights[index]))
    return taps


def finish(array: Any, output: Any, run: Any) -> Any:
    """Runs a filter in a type that the library has, and puts the result where SciPy would."""
    if not isinstance(array, np.ndarray):
        result = run(array)
        if output is None:
            return result
        output[...] = result
        return output
    target, dtype = _output_of(output, array)
    if array.dtype.char in "fd":  # float32, float64
        return _placed(run(array), target, dtype)
    if array.dtype.kind == "c":
        result = finish(array.real, None, run) + 1j * finish(array.imag, None, run)
        return _placed(result, target, dtype)
    return _placed(run(array.astype(np.float64)), target, dtype)


def _placed(result: np.ndarray, target: np.ndarray | None, dtype: np.dtype) -> np.ndarray:
    if result.dtype != dtype:
        result = result.astype(dtype)
    if target is None:
        return result
    target[...] = result
    return target


def _output_of(output: Any, array: np.ndarray) -> tuple[np.ndarray | None, np.dtype]:
    if output is None:
        return None, array.dtype
    if isinstance(output, (type, np.dtype, str)):
        return None, np.dtype(output)
    if not isinstance(output, np.ndarray):
        raise TypeError(f"output: a {type(output).__name__}; must be an array or a type of elements")
    if output.shape != array.shape:
        raise RuntimeError("output shape not correct")
    return output, output.dtype


# --- Arguments ---


def as_array(input: Any) -> Any:
    if isinstance(input, np.ndarray) or not hasattr(input, "__dlpack__"):
        return np.asarray(input)
    return input


def weights_of(weights: Any) -> np.ndarray:
    array = np.asarray(weights)
    if array.dtype.kind == "c":
        raise TypeError("weights: complex numbers; must be real")
    return array if array.dtype.char == "d" else array.astype(np.float64)


def per_axis(value: Any, count: int, name: str) -> list:
    if isinstance(value, (str, int, float)) or not isinstance(value, (Sequence, np.ndarray)):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise RuntimeError(f"sequence argument must have length equal to input rank ({name})")
    return values


def axis_of(axis: Any, rank: int) -> int:
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(axis, rank)
    return axis % rank


def axes_of(axes: Any, rank: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(rank))
    if isinstance(axes, numbers.Integral):
        axes = (axes,)
    found = tuple(axis_of(axis, rank) for axis in axes)
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return found


def _mode_of(mode: Any) -> str:
    if not isinstance(mode, str) or mode not in _MODES:
        raise RuntimeError("boundary mode not supported")
    return _MODES[mode]


def check_origin(origin: int, extent: int) -> None:
    if not -(extent // 2) <= origin <= (extent - 1) // 2:
        raise ValueError(
            "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2"
        )


@functools.lru_cache(maxsize=256)
def gaussian(sigma: float, order: int, truncate: float, radius: int | None) -> np.ndarray:
    """exp(-x^2 / (2 sigma^2)) over its sum, times the polynomial that its derivative of that order has."""
    if order < 0:
        raise ValueError("order must be non-negative")
    extent = int(truncate * sigma + 0.5) if radius is None else radius
    if not isinstance(extent, numbers.Integral) or extent < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    x = np.arange(-extent, extent + 1)
    phi = np.exp(-0.5 / (sigma * sigma) * x**2)
    phi /= phi.sum()
    # If the derivative is q(x) phi(x), the next one is (q'(x) - x q(x) / sigma^2) phi(x).
    q = np.polynomial.Polynomial([1.0])
    for _ in range(order):
        q = q.deriv() - np.polynomial.Polynomial([0.0, 1.0 / (sigma * sigma)]) * q
    return np.ascontiguousarray((q(x) * phi)[::-1])
