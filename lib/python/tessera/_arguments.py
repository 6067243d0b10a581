# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of the functions of tessera.ndimage: what SciPy takes, in one form, and the errors that it raises."""

import functools
import math
import numbers
import operator
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

MODES = {
    "reflect": "reflect",
    "grid-mirror": "reflect",
    "constant": "constant",
    "grid-constant": "constant",
    "nearest": "nearest",
    "mirror": "mirror",
    "wrap": "periodic",
    "grid-wrap": "periodic",
}


def as_array(input: Any) -> Any:
    """An array of NumPy, or one of another framework as it is."""
    if isinstance(input, np.ndarray) or not hasattr(input, "__dlpack__"):
        return np.asarray(input)
    return input


def weights_of(weights: Any) -> np.ndarray:
    """Of float64 or complex128, in the machine's byte order."""
    array = np.asarray(weights)
    if array.dtype.char == "d" and array.dtype.isnative:
        return array
    if array.dtype.kind == "c":
        return array.astype(np.complex128, copy=False)
    return array.astype(np.float64, copy=False)


def per_axis(value: Any, count: int) -> list:
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return values


def axis_of(axis: Any, rank: int) -> int:
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(axis, rank)
    return axis % rank


def axes_of(axes: Any, rank: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(rank))
    if np.isscalar(axes):
        return (axis_of(axes, rank),)
    if not isinstance(axes, Iterable):
        raise ValueError("axes must be an integer, iterable of integers, or None")
    found = [operator.index(axis) for axis in axes]
    for axis in found:
        if not -rank <= axis < rank:
            raise ValueError(f"specified axis: {axis} is out of range")
    found = [axis % rank for axis in found]
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return tuple(found)


def named(mode: Any) -> str:
    """A mode that can be a key of a cache, as a list cannot."""
    if not isinstance(mode, str):
        raise RuntimeError("boundary mode not supported")
    return mode


def modes_of(mode: Any, count: int) -> tuple[str, ...]:
    """One for each axis."""
    if isinstance(mode, str):
        return (mode,) * count
    return tuple(map(named, per_axis(mode, count)))


def mode_of(mode: Any) -> str:
    if named(mode) not in MODES:
        raise RuntimeError("boundary mode not supported")
    return MODES[mode]


def real_of(cval: Any) -> float:
    """As a C function of Python takes a double: unlike float(), no text."""
    return math.ldexp(cval, 0)


def parts_of(cval: Any) -> tuple[float, float]:
    """What lies beyond the real and the imaginary part of a complex image."""
    return real_of(np.real(cval)), real_of(np.imag(cval))


def origin_of(origin: Any, extent: int) -> int:
    if origin < -(extent // 2) or origin > (extent - 1) // 2:
        raise ValueError(
            "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2"
        )
    return operator.index(origin)


def mean_origin_of(origin: Any, extent: int) -> int:
    if extent // 2 + origin < 0 or extent // 2 + origin >= extent:
        raise ValueError("invalid origin")
    return operator.index(origin)


def refuse_real_output(output: Any, array: Any) -> None:
    """What SciPy looks at first where the input is complex."""
    if isinstance(array, np.ndarray) and array.dtype.kind == "c" and isinstance(output, (str, np.ndarray)):
        output_of(output, array, complex_result=True)


# --- The Gaussian ---


def gaussian(sigma: Any, order: Any, truncate: Any, radius: Any) -> np.ndarray:
    """exp(-x^2 / (2 sigma^2)) over its sum, times the polynomial that its derivative of that order has; mirrored."""
    extent = int(truncate * float(sigma) + 0.5) if radius is None else radius
    if not isinstance(extent, numbers.Integral) or extent < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    if order < 0:
        raise ValueError("order must be non-negative")
    order = 0 if order == 0 else operator.index(order)
    if type(sigma) in (float, int):
        return _gaussian(float(sigma), order, operator.index(extent))
    return _gaussian.__wrapped__(sigma, order, operator.index(extent))  # in sigma's own type, as SciPy does


@functools.lru_cache(maxsize=256)
def _gaussian(sigma: Any, order: int, extent: int) -> np.ndarray:
    x = np.arange(-extent, extent + 1)
    variance = sigma * sigma
    values = np.exp(-0.5 / variance * x**2)
    values = values / values.sum()
    if order > 0:
        # If a derivative is q(x) values(x), the next one is (q'(x) - x q(x) / sigma^2) values(x): a matrix of two
        # diagonals makes the coefficients of the one from the other's.
        step = np.diag(np.arange(order + 1)[1:], 1) + np.diag(np.ones(order) / -variance, -1)
        q = np.eye(order + 1)[0]
        for _ in range(order):
            q = step.dot(q)
        values = (x[:, None] ** np.arange(order + 1)).dot(q) * values
    return np.ascontiguousarray(values[::-1], np.float64)


# --- Where results go ---


def output_of(output: Any, array: np.ndarray, complex_result: bool = False) -> tuple[np.ndarray | None, np.dtype]:
    """The array that was given, and the type of the result. `complex_result`: a real type is an error or promoted."""
    if output is None:
        dtype = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")
        return None, np.promote_types(dtype, np.complex64) if complex_result else dtype
    if isinstance(output, (type, np.dtype)):
        dtype = np.dtype(output)
        if complex_result and dtype.kind != "c":
            warnings.warn("promoting specified output dtype to complex", stacklevel=4)
            dtype = np.promote_types(dtype, np.complex64)
        return None, dtype
    if isinstance(output, str):
        dtype = np.dtype(output)
        if complex_result and dtype.kind != "c":
            raise RuntimeError("output must have complex dtype")
        if not issubclass(dtype.type, np.number):
            raise RuntimeError("output must have numeric dtype")
        return None, dtype
    if not isinstance(output, np.ndarray):
        raise TypeError(f"output: a {type(output).__name__}; must be an array or a type of elements")
    if output.shape != array.shape:
        raise RuntimeError("output shape not correct")
    if complex_result and output.dtype.kind != "c":
        raise RuntimeError("output must have complex dtype")
    return output, output.dtype
