# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Any call of any filter against SciPy's: the same bits of integers, sums within their bounds, the same errors."""

import warnings

import numpy as np
import pytest
import scipy.ndimage as theirs
from conftest import ALL, SEED
from differences import check_known, table
from filter_calls import Call, calls
from hypothesis import HealthCheck, given, seed, settings

from tessera import ndimage as ours

BATCHES, EXAMPLES = (100, 1000) if ALL else (1, 400)
EPSILON = 2.0**-52  # SciPy leaves out taps of no more than this, and takes weights so close as symmetric


def outcome(call: Call, library):
    """(input, frame, output, result) or the error. SciPy warns where types are converted: that is no error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call.run(library)
        except Exception as error:  # noqa: BLE001: the error is the result
            return error


def kind_of(error: Exception) -> type:
    """The class of Python's own that an error is of: what a program catches."""
    return next(base for base in type(error).__mro__ if base.__module__ == "builtins")


# --- How far two sums may be apart ---


def finite_size(array: np.ndarray) -> np.ndarray:
    """The absolute values; those of complex numbers are bounded by both parts."""
    size = abs(array.real.astype(np.float64)) + (abs(array.imag.astype(np.float64)) if array.dtype.kind == "c" else 0)
    return np.where(np.isfinite(size), size, 0.0)


def separable_passes(call: Call, rank: int):
    """(axis, |weights|, mode, origin) of each pass along one axis, or None for weights of several axes."""
    options = call.options
    if call.name in ("correlate", "convolve"):
        return None
    mode, axis = options["mode"], options.get("axis", 0)
    axes = options.get("axes")
    if "axes" in options:
        axes = range(rank) if axes is None else [axes] if isinstance(axes, int) else axes
        axes = [a % rank for a in axes]
    elif call.name in ("sobel", "prewitt"):
        axes = [axis % rank, *(a for a in range(rank) if a != axis % rank)]
        mode = [mode] * rank if isinstance(mode, str) else mode
        smooth = [1.0, 2.0, 1.0] if call.name == "sobel" else [1.0] * 3
        return [(a, np.array(smooth if i else [1.0, 0.0, 1.0]), mode[a], 0) for i, a in enumerate(axes)]
    else:
        axes = [axis]

    def each(key, default=None):
        value = options.get(key, default)
        return list(value) if isinstance(value, (list, tuple)) else [value] * len(axes)

    modes, origins = each("mode"), each("origin", 0)
    if call.name == "laplace":
        return [(a, np.array([1.0, 2.0, 1.0]), m, 0) for a, m in zip(axes, modes)]
    if call.name.startswith("uniform"):
        return [(a, np.full(n, 1.0 / n), m, o) for a, n, m, o in zip(axes, each("size"), modes, origins) if n > 1]
    if call.name.startswith("gaussian"):
        kernels = [
            gaussian_size(s, o, options["truncate"], r) if s > 1e-15 else None
            for s, o, r in zip(each("sigma"), each("order"), each("radius"))
        ]
        return [(a, w, m, 0) for a, w, m in zip(axes, kernels, modes) if w is not None]
    weights = finite_size(np.asarray(weights_of(call)))
    origin = origins[0]
    if call.name == "convolve1d":
        weights, origin = weights[::-1], -origin - (1 if len(weights) % 2 == 0 else 0)
    return [(axes[0], weights, modes[0], origin)]


def gaussian_size(sigma, order, truncate, radius):
    """The absolute weights, as SciPy shows them of an image that is 1 at one point."""
    radius = int(truncate * float(sigma) + 0.5) if radius is None else radius
    impulse = np.zeros(2 * radius + 1)
    impulse[radius] = 1.0
    return abs(theirs.gaussian_filter1d(impulse, sigma, order=order, radius=radius, mode="constant")[::-1])


def weights_of(call: Call):
    weights = call.options["weights"]
    return weights.make() if hasattr(weights, "make") else np.asarray(weights)


def bound(call: Call, result: np.ndarray) -> np.ndarray:
    """The most that both libraries' roundings come to at each point.

    A pass of n weights rounds each product n + 2 times at most: its weight, itself, n sums. Passes one after the other
    and one pass in place of several have no more than the sum of n + 2, or their product and 2, times the filter of
    the absolute values. SciPy sums in float64 and rounds what each pass stores.
    """
    array = call.input.make()
    size = finite_size(array)
    cval = call.options["cval"]
    cval = float(finite_size(np.asarray(cval))) if isinstance(cval, (int, float, complex, np.number)) else 0.0
    passes = separable_passes(call, array.ndim)
    narrow = any(t.char in "fF" for t in (array.dtype, result.dtype))
    unit = 2.0**-24 if narrow else 2.0**-53
    if passes is None:
        weights = finite_size(weights_of(call))
        options = {key: call.options.get(key) for key in ("mode", "axes")}
        options["origin"] = call.options.get("origin", 0)
        filtered = getattr(theirs, call.name)
        total = filtered(size, weights, cval=cval, **options)
        roundings, scale = weights.size + 2, weights.sum()
        slack = EPSILON * filtered(size, np.ones_like(weights), cval=cval, **options)
    elif call.name == "laplace":
        total = sum((theirs.correlate1d(size, w, a, mode=m, cval=cval) for a, w, m, _ in passes), np.zeros_like(size))
        roundings, slack, scale = 5 * len(passes) + 3, 0.0, 4.0 * len(passes)
    else:
        total, slack, scale = size, 0.0, 1.0
        for axis, weights, mode, origin in passes:
            slack = EPSILON * theirs.correlate1d(total, np.ones_like(weights), axis, mode=mode, cval=cval, origin=origin)
            total = theirs.correlate1d(total, weights, axis, mode=mode, cval=cval, origin=origin)
            scale *= max(1.0, weights.sum())
        counts = [len(weights) for _, weights, _, _ in passes]
        roundings = max(sum(counts) + 2 * len(counts), np.prod(counts, dtype=int) + 2 if counts else 0)
        if call.name.startswith("uniform"):
            slack = slack + running_sums(size, cval, passes)
    if array.dtype.kind == "c":
        roundings += 1  # of the sum of two parts' products
    stored = 1 if passes is None else max(1, len(passes))
    denormal = np.finfo(np.float32 if narrow else np.float64).smallest_subnormal * scale
    roundings = 2 * roundings + stored
    return 1.01 * unit * roundings * total + slack + roundings * denormal


def running_sums(size: np.ndarray, cval: float, passes) -> float:
    """SciPy's mean of n points goes along a line of N points by adding the next value and subtracting the last one.

    Two sums a point, whose terms are no larger than the largest value M and whose result is no larger than n M: the
    error of the sum grows by 2^-53 (2 + n) M a point, beside 2^-53 n n M of the first sum; the mean's is 1 / n of it.
    """
    most = max(float(size.max(initial=0.0)), abs(cval))
    return sum(1.01 * 2.0**-53 * ((2 + len(w)) * (size.shape[a] + 1) / len(w) + len(w)) * most for a, w, _, _ in passes)


# --- Comparison ---


def exact(result: np.ndarray) -> bool:
    return result.dtype.kind in "iub"


def compare(call: Call, mine: np.ndarray, other: np.ndarray) -> None:
    assert mine.shape == other.shape, f"shape {mine.shape}, SciPy's {other.shape}"
    assert mine.dtype == other.dtype, f"type {mine.dtype.str}, SciPy's {other.dtype.str}"
    if exact(other):
        np.testing.assert_array_equal(mine, other)
        return
    if not other.size:
        return
    limit = bound(call, other)
    for part in ("real", "imag") if other.dtype.kind == "c" else ("real",):
        x, y = getattr(mine, part).astype(np.float64), getattr(other, part).astype(np.float64)
        number = np.isfinite(y)
        np.testing.assert_array_equal(np.isfinite(x), number, "finite where SciPy's is")
        np.testing.assert_array_equal(x[~number], y[~number])
        with np.errstate(all="ignore"):
            worst = np.max(np.where(number, abs(x - y) - limit, -1.0))
        assert worst <= 0.0, f"{part}: beyond the bound by {worst}:\n{x}\nSciPy's:\n{y}\nbound:\n{limit}"


def explained(call: Call) -> str | None:
    """The id of the difference that a call meets, if any."""
    return None


def check(call: Call) -> None:
    other, mine = outcome(call, theirs), outcome(call, ours)
    if explained(call):
        return
    if isinstance(other, Exception) or isinstance(mine, Exception):
        failed = [value if isinstance(value, Exception) else None for value in (mine, other)]
        if None in failed:
            raise AssertionError(f"raised {mine!r}" if failed[0] else f"nothing raised; SciPy: {other!r}")
        assert kind_of(mine) is kind_of(other), f"raised {mine!r}; SciPy: {other!r}"
        return
    array, frame, output, result = mine
    compare(call, result, other[3])
    if isinstance(output, np.ndarray):
        assert result is output, "the result is not the output"
    else:
        assert not np.may_share_memory(result, array), "the result is the input's memory"
        assert result.flags.writeable
    if call.output == "view":
        assert (frame[..., 1:] == other[1][..., 1:]).all(), "written beside the output"
    if call.output != "input":
        np.testing.assert_array_equal(array, call.input.make(), "the input has changed")


@pytest.mark.parametrize("batch", range(BATCHES))
def test_any_call(batch):
    @seed(SEED + batch)
    @settings(
        max_examples=EXAMPLES, database=None, deadline=None, print_blob=False,
        suppress_health_check=list(HealthCheck), report_multiple_bugs=True,
    )  # fmt: skip
    @given(calls())
    def run(call):
        check(call)

    run()


DIFFERENCES: dict[str, Call] = {}


def test_table():
    """Each row of the table is a difference that some test expects, and each expected difference has a row."""
    check_known(DIFFERENCES)
    assert table(), "no table of differences"
