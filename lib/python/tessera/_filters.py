# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of filter, and where each runs.

Floating-point arrays are filtered by the library's stencils in their own type, and means of NumPy's by a pass of its
own. Integers, to or from, and what stencils cannot do are filtered by passes in SciPy's arithmetic."""

import math
from typing import Any

import numpy as np

from . import _passes, _stencils
from ._arguments import MODES, mode_of, output_of, parts_of, real_of
from ._stencils import Kernel

_PASSES = frozenset("?bBhHiIlLqQfd")  # NumPy's letters of the types that passes take
_MOST_ROWS = 32  # of a window over which a mean of several axes is one pass


class Along:
    """Weights along an axis, and another, and so on. steps: axis, weights, mode, origin."""

    def __init__(self, steps: list):
        self.steps = steps
        self.kernels = [Kernel((axis,), weights, (mode,), (origin,)) for axis, weights, mode, origin in steps]
        for _, _, mode, _ in steps:
            mode_of(mode)
        self.fused = _stencils.fused(self.kernels)

    def refusal(self, char: str, cval: float) -> str | None:
        for kernel in self.kernels:
            if refusal := kernel.refusal(char, cval):
                return refusal
        return None

    def floats(self, part: Any, cval: float) -> Any:
        # A constant beyond one axis is filtered along the others in one pass, and is not in several.
        same = cval == 0.0 or all(MODES[kernel.modes[0]] != "constant" for kernel in self.kernels)
        for kernel in self.fused if same else self.kernels:
            part = kernel.run(part, cval)
        return part

    def exact(self, source: np.ndarray, result: np.ndarray, cval: float, logical: bool) -> None:
        _passes.in_turn(_passes.correlate_along, source, result, self.steps, cval)


class Box:
    """Weights of as many axes as the array."""

    def __init__(self, weights: np.ndarray, mode: str, origins: list[int]):
        mode_of(mode)
        self.weights, self.mode, self.origins = weights, mode, origins
        self.steps = [weights]
        self.zero = not _stencils.counts(weights).any()
        if weights.ndim > 0:
            wide = [axis for axis, extent in enumerate(weights.shape) if extent > 1] or [0]
            narrow = weights.reshape([weights.shape[axis] for axis in wide])
            self.kernel = Kernel(wide, narrow, [mode] * len(wide), [origins[axis] for axis in wide], sparse=True)

    def refusal(self, char: str, cval: float) -> str | None:
        return self.kernel.refusal(char, cval) if self.weights.ndim > 0 else "an array without axes"

    def floats(self, part: Any, cval: float) -> Any:
        if self.zero:  # NaN and Inf are not weighed
            return _stencils.zeros_like(part)
        return self.kernel.run(part, cval)

    def exact(self, source: np.ndarray, result: np.ndarray, cval: float, logical: bool) -> None:
        _passes.correlate_box(source, result, self.weights, self.mode, self.origins, cval)


class Means:
    """The mean along an axis, and another, and so on. steps: axis, extent, mode, origin."""

    def __init__(self, steps: list):
        self.steps = steps
        self.windows: dict = {}  # of each pass, by rank
        for _, _, mode, _ in steps:
            mode_of(mode)

    def refusal(self, char: str, cval: float) -> str | None:
        return None

    def floats(self, part: Any, cval: float) -> Any:
        if isinstance(part, np.ndarray):
            if not part.flags.aligned:
                part = part.copy()
            if part.ndim not in self.windows:
                self.windows[part.ndim] = [_passes.mean_windows(part.ndim, group) for group in _groups(self.steps)]
            for windows in self.windows[part.ndim]:
                source, part = part, np.empty(part.shape, part.dtype)
                _passes.mean_of_floats(source, part, windows, cval)
            return part
        half = str(part.dtype).endswith("float16")  # a sum would not fit, and lose what the quotient has
        kernels = []
        for axis, extent, mode, origin in self.steps:
            kernels.append(Kernel((axis,), np.full(extent, 1.0 / extent if half else 1.0), (mode,), (origin,)))
            if refusal := kernels[-1].refusal("f", 0.0):
                raise ValueError(refusal)
        # The mean of a constant is the constant: what lies beyond is the same in one pass and in several.
        for kernel in _stencils.fused(kernels):
            part = kernel.run(part, cval)
            if not half:
                part = part / math.prod(kernel.shape)
        return part

    def exact(self, source: np.ndarray, result: np.ndarray, cval: float, logical: bool) -> None:
        _passes.in_turn(_passes.mean_along, source, result, self.steps, cval)


class Laplacian:
    """The sum of the second differences along some axes."""

    def __init__(self, axes: tuple[int, ...], modes: list[str]):
        second = np.array([1.0, -2.0, 1.0])
        self.steps = [(axis, second, mode, 0) for axis, mode in zip(axes, modes)]
        for mode in modes:
            mode_of(mode)
        self.too_many = _stencils.too_many(len(axes))  # whose weights would take 3^n elements
        if self.too_many is None:
            weights = np.zeros((3,) * len(axes))
            for number in range(len(axes)):
                line = [1] * len(axes)
                line[number] = slice(None)
                weights[tuple(line)] += second
            self.kernel = Kernel(axes, weights, modes, [0] * len(axes), sparse=True)

    def refusal(self, char: str, cval: float) -> str | None:
        return self.too_many or self.kernel.refusal(char, cval)

    def floats(self, part: Any, cval: float) -> Any:
        return self.kernel.run(part, cval)

    def exact(self, source: np.ndarray, result: np.ndarray, cval: float, logical: bool) -> None:
        _passes.correlate_along(source, result, self.steps[0], cval)
        if len(self.steps) == 1:
            return
        other = np.empty_like(result)
        for step in self.steps[1:]:
            _passes.correlate_along(source, other, step, cval)
            if logical:  # the sum of two truth values
                np.logical_or(result, other, out=result, casting="unsafe")
            else:
                np.add(result, other, out=result)


def _groups(steps: list) -> list[list]:
    """What is one pass: where many rows are summed for each, a pass before saves the most of them."""
    if len(steps) < 3 or math.prod(extent for _, extent, _, _ in steps[:-1]) <= _MOST_ROWS:
        return [steps]
    return [steps[:1], *_groups(steps[1:])]


# --- Where a filter runs ---


def apply(filter: Any, array: Any, output: Any, cval: Any, promotes: bool = False) -> Any:
    """Runs a filter on an array and puts the result where SciPy would. `promotes`: SciPy turns a real type of `output`
    into a complex one where the array is complex, and refuses it elsewhere."""
    if not isinstance(array, np.ndarray):
        return _foreign(filter, array, output, cval)
    dtype = array.dtype
    if output is None and dtype.char in "fd" and dtype.isnative and filter.steps and array.size > 0:
        cval = cval if type(cval) is float else real_of(cval)  # what most calls are
        if array.itemsize in array.strides and filter.refusal(dtype.char, cval) is None:
            result = filter.floats(array, cval)
            return result if array.ndim <= 3 else placed(result, None, dtype)
    kind = dtype.kind
    target, dtype = output_of(output, array, kind == "c" and promotes)
    if not filter.steps:
        return placed(array, target, dtype, fresh=False)
    if kind != "c":
        return _real(filter, array, target, dtype, real_of(cval))
    if dtype.kind != "c":
        raise RuntimeError("output must have complex dtype")
    result = np.empty(array.shape, np.complex64 if dtype.char == "F" else np.complex128)
    for part, place, beyond in zip((array.real, array.imag), (result.real, result.imag), parts_of(cval)):
        _real(filter, part, place, place.dtype, beyond)
    return placed(result, target, dtype)


def _real(filter: Any, array: np.ndarray, target: np.ndarray | None, dtype: np.dtype, cval: float) -> np.ndarray:
    source = _taken(array)
    work = dtype if dtype.isnative else dtype.newbyteorder("=")
    if 0 in array.shape and (dtype.kind != "c" or isinstance(filter, Box)):
        return placed(np.empty(array.shape, dtype), target, dtype)
    if work.char not in _PASSES:
        if not _convertible(work):
            raise RuntimeError(f"array type {dtype!r} not supported")
        work = np.dtype(np.float64)
    integers = source.dtype.kind in "biu" or work.kind in "biu"
    if integers or filter.refusal(wider := "d" if "d" in source.dtype.char + work.char else "f", cval):
        return _exact(filter, source, target, dtype, work, cval)
    if source.dtype.char != wider:
        source = source.astype(wider)
    elif source.itemsize not in source.strides and not isinstance(filter, Means):
        source = source.copy()  # a stencil over elements with gaps takes longer than this
    return placed(filter.floats(source, cval), target, dtype)


def _exact(
    filter: Any, source: np.ndarray, target: np.ndarray | None, dtype: np.dtype, work: np.dtype, cval: float
) -> np.ndarray:
    """By passes. What they write must not be what they read."""
    logical = work.char == "?"  # counted in bytes, as SciPy does
    direct = target is not None and target.dtype == work and target.flags.behaved and not logical
    if direct and not np.may_share_memory(source, target):
        filter.exact(source, target, cval, False)
        return target
    result = np.empty(source.shape, np.uint8 if logical else work)
    filter.exact(source, result, cval, logical)
    if logical:
        result = np.asarray(result != 0)  # without axes that is a scalar
    return placed(result, target, dtype)


def _taken(array: np.ndarray) -> np.ndarray:
    """In the machine's byte order, aligned, of a type that the passes take."""
    dtype = array.dtype
    if dtype.char in _PASSES:
        if dtype.isnative and array.flags.aligned:
            return array
        return array.astype(dtype.newbyteorder("="))
    if not _convertible(dtype):
        raise RuntimeError(f"array type {dtype!r} not supported")
    return array.astype(np.float64)


def _convertible(dtype: np.dtype) -> bool:
    """float16, longdouble, and types that other packages registered, as bfloat16."""
    return dtype.kind == "f" or dtype.isbuiltin == 2


def placed(result: np.ndarray, target: np.ndarray | None, dtype: np.dtype, fresh: bool = True) -> np.ndarray:
    if target is not None:
        target[...] = result
        return target
    if result.dtype == dtype and fresh and result.flags.c_contiguous:
        return result
    return result.astype(dtype, order="C")


# --- Arrays of other frameworks ---


def _foreign(filter: Any, array: Any, output: Any, cval: Any) -> Any:
    cval = real_of(cval)
    if not filter.steps or 0 in array.shape:
        result = _stencils.copied(array)
    else:
        char = "d" if str(array.dtype).endswith("float64") else "f"
        if refusal := filter.refusal(char, cval):
            raise ValueError(f"{refusal}; arrays of NumPy have no such limit")
        result = filter.floats(array, cval)
    if output is None:
        return result
    if isinstance(output, (type, np.dtype, str)) or type(output).__name__ == "dtype":
        return _stencils.cast(result, output)
    if tuple(output.shape) != tuple(array.shape):
        raise RuntimeError("output shape not correct")
    if not hasattr(output, "__setitem__") or type(output).__module__.partition(".")[0] in ("jax", "jaxlib"):
        raise TypeError("output: arrays of JAX never change; leave it out and take the result")
    output[...] = result
    return output
