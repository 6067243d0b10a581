# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Filters of floating-point arrays by the library's stencils: of any number of axes, of any framework."""

import functools
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arguments import MODES
from ._core import Taps, stencil

MOST_AXES = 3
_MOST_FUSED = 27  # taps of one pass in place of a pass along each axis
_REACH = 1024  # the farthest tap that the library takes
_LARGEST = {"f": float(np.finfo(np.float32).max), "d": float(np.finfo(np.float64).max)}


class Kernel:
    """Taps along some axes. `weights`: an axis for each of `axes`. `sparse`: those of at most 2^-52 are left out, so
    that NaN and Inf do not spread by them; they are in filters of several axes, and are not in passes along one."""

    __slots__ = ("axes", "bytes", "modes", "origins", "ready", "shape", "sparse", "weights")

    def __init__(
        self,
        axes: Sequence[int],
        weights: np.ndarray,
        modes: Sequence[str],
        origins: Sequence[int],
        sparse: bool = False,
    ):
        self.axes, self.modes, self.origins, self.sparse = tuple(axes), tuple(modes), tuple(origins), sparse
        self.weights, self.shape, self.bytes = weights, weights.shape, weights.tobytes()
        self.ready: dict = {}  # what was found out, by rank, type of elements and cval

    def refusal(self, char: str, cval: float) -> str | None:
        """Why stencils cannot do it on elements of float32 ("f") or float64 ("d"), or None."""
        key = (char, cval)
        if key not in self.ready:
            self._keep(key, self._refusal(char, cval))
        return self.ready.get(key, "cval: not a number")

    def _keep(self, key: tuple, value: Any) -> None:
        if len(self.ready) > 64:
            self.ready.clear()
        self.ready[key] = value

    def _refusal(self, char: str, cval: float) -> str | None:
        return _refusal(self.bytes, self.shape, self.origins, self.sparse, char) or (
            None
            if abs(cval) <= _LARGEST[char] or "constant" not in [MODES[mode] for mode in self.modes]
            else f"cval = {cval}: not a number that the elements' type has"
        )

    def run(self, part: Any, cval: float) -> Any:
        rank = part.ndim
        if rank <= MOST_AXES:
            key = (rank, cval)
            if key not in self.ready:
                self._keep(key, self._prepared(self.axes, rank, cval))
            taps, boundary = self.ready[key]
            return stencil(part, taps, boundary=boundary)
        part_shape, where = collapsed(part.shape, self.axes)
        if len(part_shape) > MOST_AXES:
            return _transposed(part, self, cval)
        taps, boundary = self._prepared(where, len(part_shape), cval)
        return reshaped(stencil(reshaped(part, part_shape), taps, boundary=boundary), part.shape)

    def _prepared(self, where: Sequence[int], rank: int, cval: float) -> tuple[Taps, Any]:
        taps = _taps_of(self.bytes, self.shape, self.origins, self.sparse, tuple(where), rank)
        return taps, _boundary_of(self.modes, cval, tuple(where), rank)


def too_many(axes: int) -> str | None:
    return f"a filter along {axes} axes at once: three is the most" if axes > MOST_AXES else None


@functools.lru_cache(maxsize=256)
def _refusal(
    values: bytes, shape: tuple[int, ...], origins: tuple[int, ...], sparse: bool, char: str
) -> str | None:
    weights = np.frombuffer(values)
    if sparse:
        weights = weights[counts(weights)]
    if refusal := too_many(len(shape)):
        return refusal
    for extent, origin in zip(shape, origins):
        if max(extent // 2 + origin, extent - 1 - extent // 2 - origin) > _REACH:
            return f"a window of {extent} points along an axis: {_REACH} on each side is the most"
    if not (np.abs(weights) <= _LARGEST[char]).all():
        return "weights: not numbers that the elements' type has"
    return None


def fused(kernels: list[Kernel]) -> list[Kernel]:
    """One kernel along all axes in place of one along each, where there are few taps."""
    if len(kernels) < 2 or len(kernels) > MOST_AXES:
        return kernels
    if math.prod(kernel.shape[0] for kernel in kernels) > _MOST_FUSED:
        return kernels
    ordered = sorted(kernels, key=lambda kernel: kernel.axes)
    product = _product(tuple((k.axes[0], k.bytes, k.modes[0], k.origins[0]) for k in ordered))
    return kernels if product.refusal("f", 0.0) else [product]


@functools.lru_cache(maxsize=256)
def _product(parts: tuple[tuple[int, bytes, str, int], ...]) -> Kernel:
    axes, weights, modes, origins = zip(*parts)
    return Kernel(axes, functools.reduce(np.multiply.outer, map(np.frombuffer, weights)), modes, origins)


@functools.lru_cache(maxsize=256)
def _boundary_of(modes: tuple[str, ...], cval: float, where: tuple[int, ...], rank: int) -> Any:
    """What stencil() takes: one entry for all axes where they are alike, since that is told sooner."""
    entries: list[Any] = [None] * rank
    for axis, mode in zip(where, modes):
        name = MODES[mode]
        entries[axis] = ("constant", cval) if name == "constant" else name
    known = {entry for entry in entries if entry is not None}
    if len(known) == 1:
        return known.pop()
    return [entry or "nearest" for entry in entries]


@functools.lru_cache(maxsize=256)
def _taps_of(
    values: bytes, shape: tuple[int, ...], origins: tuple[int, ...], sparse: bool, where: tuple[int, ...], rank: int
) -> Taps:
    weights = np.frombuffer(values).reshape(shape)
    taps = Taps(rank)
    for index in np.argwhere(counts(weights)).tolist() if sparse else np.ndindex(*shape):
        offset = [0] * rank
        for axis, place, extent, origin in zip(where, index, shape, origins):
            offset[axis] = place - extent // 2 - origin
        taps.add(offset, float(weights[tuple(index)]))
    return taps


def counts(weights: np.ndarray) -> np.ndarray:
    return np.abs(weights) > np.finfo(np.float64).eps


def collapsed(extents: Sequence[int], axes: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """The shape with axes joined that are not filtered, and where the others are."""
    shape: list[int] = []
    where = dict.fromkeys(axes, 0)
    open_group = False
    for axis, extent in enumerate(extents):
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


def _transposed(part: Any, kernel: Kernel, cval: float) -> Any:
    """With the axes that are not filtered brought together in front, where they can be joined."""
    order = [axis for axis in range(part.ndim) if axis not in kernel.axes] + list(kernel.axes)
    first = part.ndim - len(kernel.axes)
    moved = Kernel(range(first, part.ndim), kernel.weights, kernel.modes, kernel.origins, kernel.sparse)
    if len(kernel.axes) == MOST_AXES:  # no axis is left for the others: one after the other
        return permuted(_one_by_one(permuted(part, order), moved, cval), np.argsort(order).tolist())
    return permuted(moved.run(permuted(part, order), cval), np.argsort(order).tolist())


def _one_by_one(part: Any, kernel: Kernel, cval: float) -> Any:
    slices = reshaped(part, (-1, *part.shape[-MOST_AXES:]))
    inner = Kernel(range(MOST_AXES), kernel.weights, kernel.modes, kernel.origins, kernel.sparse)
    results = [inner.run(slices[number], cval) for number in range(slices.shape[0])]
    space = namespace_of(part)
    stacked = space.stack(results)
    return reshaped(stacked, part.shape)


# --- Arrays of any framework ---


def namespace_of(array: Any) -> Any:
    """The module that has its functions."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    return sys.modules[type(array).__module__.partition(".")[0]]


def reshaped(array: Any, shape: Sequence[int]) -> Any:
    if hasattr(array, "reshape"):
        return array.reshape(shape)
    return namespace_of(array).reshape(array, tuple(shape))


def permuted(array: Any, order: Sequence[int]) -> Any:
    for name in ("permute", "transpose"):  # PyTorch; NumPy, CuPy, JAX
        if hasattr(array, name):
            return getattr(array, name)(tuple(order))
    return namespace_of(array).permute_dims(array, tuple(order))


def copied(array: Any) -> Any:
    for name in ("clone", "copy"):  # PyTorch; NumPy, CuPy, JAX
        if hasattr(array, name):
            return getattr(array, name)()
    return namespace_of(array).asarray(array, copy=True)


def zeros_like(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return np.zeros(array.shape, array.dtype)  # in C order, as other results
    return namespace_of(array).zeros_like(array)


def cast(array: Any, dtype: Any) -> Any:
    """dtype: of NumPy, a name, or one of the framework."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = str(dtype).rpartition(".")[2]
    if hasattr(array, "astype"):
        return array.astype(name)
    space = namespace_of(array)
    kind = getattr(space, name)
    return array.to(kind) if hasattr(array, "to") else space.astype(array, kind)
