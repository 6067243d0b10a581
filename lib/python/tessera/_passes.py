# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes over arrays of NumPy in SciPy's arithmetic: elements converted to float64, sums in SciPy's order, and each
result cast as C does. What filters of integers are made of, and those that the library's stencils cannot do."""

import functools
import os
from typing import Any

import numpy as np

from ._arguments import mode_of
from ._core import passes

_NUMBERS = {"nearest": 0, "periodic": 1, "reflect": 2, "mirror": 3, "constant": 4}
_PLAIN, _LAST_FIRST, _SYMMETRIC, _ANTISYMMETRIC = range(4)
_EPSILON = float(np.finfo(np.float64).eps)


@functools.lru_cache(maxsize=1)
def threads() -> int:
    """As many as the library's own."""
    for name in ("TESSERA_NUM_THREADS", "OMP_NUM_THREADS"):
        first = os.environ.get(name, "").split(",")[0].strip()
        if first.isdigit() and int(first) > 0:
            return int(first)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def window_of(extent: int, origin: int, mode: str) -> tuple[int, int, int]:
    return extent, extent // 2 + origin, _NUMBERS[mode_of(mode)]


def windows_of(rank: int, entries: Any) -> list[tuple[int, int, int]]:
    """One for each axis; those without an entry have a window of one point. entries: axis, extent, origin, mode."""
    windows = [(1, 0, 0)] * rank
    for axis, extent, origin, mode in entries:
        windows[axis] = window_of(extent, origin, mode)
    return windows


def correlate_along(source: np.ndarray, result: np.ndarray, step: tuple, cval: float) -> None:
    axis, weights, mode, origin = step
    weights = np.ascontiguousarray(weights)
    windows = windows_of(source.ndim, [(axis, weights.shape[0], origin, mode)])
    passes.weighted(source, result, windows, weights, _order_of(weights.tobytes()), cval, threads())


def correlate_box(source: np.ndarray, result: np.ndarray, weights: np.ndarray, mode: str, origins: Any, cval: float):
    """weights: of as many axes as the arrays."""
    entries = zip(range(source.ndim), weights.shape, origins, [mode] * source.ndim)
    windows = windows_of(source.ndim, entries)
    passes.weighted(source, result, windows, np.ascontiguousarray(weights), _PLAIN, cval, threads())


def mean_along(source: np.ndarray, result: np.ndarray, step: tuple, cval: float) -> None:
    axis, extent, mode, origin = step
    passes.running_mean(source, result, axis, windows_of(source.ndim, [(axis, extent, origin, mode)]), cval, threads())


def mean_windows(rank: int, steps: list) -> list[tuple[int, int, int]]:
    return windows_of(rank, [(axis, extent, origin, mode) for axis, extent, mode, origin in steps])


def mean_of_floats(source: np.ndarray, result: np.ndarray, windows: list, cval: float) -> None:
    """Along several axes at once, in the arrays' type."""
    passes.box_mean(source, result, windows, cval, threads())


def in_turn(one: Any, source: np.ndarray, result: np.ndarray, steps: list, cval: float) -> None:
    """Pass after pass. What lies between is stored in the result's type, as SciPy does."""
    other = np.empty_like(result) if len(steps) > 1 else None
    for left, step in zip(reversed(range(len(steps))), steps):
        target = result if left % 2 == 0 else other
        one(source, target, step, cval)
        source = target


@functools.lru_cache(maxsize=256)
def _order_of(values: bytes) -> int:
    """The order of the sum that SciPy takes for such weights of a pass."""
    weights = np.frombuffer(values)
    count = weights.shape[0]
    if count % 2 == 0:
        return _LAST_FIRST
    low, high = weights[: count // 2][::-1], weights[count // 2 + 1 :]
    with np.errstate(invalid="ignore"):
        if not (np.abs(high - low) > _EPSILON).any():
            return _SYMMETRIC
        if not (np.abs(high + low) > _EPSILON).any():
            return _ANTISYMMETRIC
    return _LAST_FIRST
