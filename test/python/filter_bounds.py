# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""How far the results of a filter of tessera.ndimage and of SciPy may be apart: bounds of their roundings."""

import numpy as np
import scipy.ndimage as theirs
from filter_calls import WITH_AXES, Call

EPSILON = 2.0**-52  # SciPy leaves out taps of no more than this, and takes weights so close as symmetric


def finite_size(array: np.ndarray) -> np.ndarray:
    """The absolute values; those of complex numbers are bounded by both parts."""
    parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    sizes = [abs(part.astype(np.float64)) for part in parts]
    return sum(np.where(np.isfinite(size), size, 0.0) for size in sizes)


def as_list(value, count: int) -> list:
    return list(value) if isinstance(value, (list, tuple)) else [value] * count


def axes_of(call: Call, rank: int) -> list[int]:
    """The axes along which a filter goes, in its order."""
    options = call.options
    if call.name in WITH_AXES:
        axes = options.get("axes")
        return [axis % rank for axis in (range(rank) if axes is None else [axes] if isinstance(axes, int) else axes)]
    axis = options["axis"] % rank
    return [axis, *(a for a in range(rank) if a != axis)] if call.name in ("sobel", "prewitt") else [axis]


def separable_passes(call: Call, rank: int):
    """(axis, |weights|, mode, origin) of each pass along one axis, or None for weights of several axes."""
    options = call.options
    if call.name in ("correlate", "convolve"):
        return None
    axes = axes_of(call, rank)
    if call.name in ("sobel", "prewitt"):
        modes = as_list(options["mode"], rank)
        smooth = [1.0, 2.0, 1.0] if call.name == "sobel" else [1.0] * 3
        return [(a, np.array(smooth if i else [1.0, 0.0, 1.0]), modes[a], 0) for i, a in enumerate(axes)]
    modes, origins = as_list(options["mode"], len(axes)), as_list(options.get("origin", 0), len(axes))
    if call.name == "laplace":
        return [(a, np.array([1.0, 2.0, 1.0]), m, 0) for a, m in zip(axes, modes)]
    if call.name.startswith("uniform"):
        sizes = [int(size) for size in as_list(options["size"], len(axes))]
        every = call.name == "uniform_filter1d"  # the other leaves sizes of 1 out
        rows = zip(axes, sizes, modes, origins)
        return [(a, np.full(n, 1.0 / n), m, o) for a, n, m, o in rows if n > 1 or every]
    if call.name.startswith("gaussian"):
        settings = (as_list(options[key], len(axes)) for key in ("sigma", "order", "radius"))
        every = call.name == "gaussian_filter1d"  # the other leaves sigmas of 1e-15 or less out
        rows = zip(axes, modes, *settings)
        return [(a, gaussian_size(s, o, options["truncate"], r), m, 0) for a, m, s, o, r in rows if s > 1e-15 or every]
    weights, origin = finite_size(weights_of(call)), origins[0]
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


def size_of_cval(cval) -> float:
    return float(finite_size(np.asarray(cval))) if isinstance(cval, (int, float, complex, np.number)) else 0.0


def of_weights(call: Call, size: np.ndarray, cval: float):
    """Weights of several axes: the filter of sizes, the roundings of a sum, the sum of |weights|, SciPy's slack."""
    weights = finite_size(weights_of(call))
    options = {"mode": call.options["mode"], "axes": axes_of(call, size.ndim), "cval": cval}
    options["origin"] = call.options.get("origin", 0)
    filtered = getattr(theirs, call.name)
    slack = EPSILON * filtered(size, np.ones_like(weights), **options)
    return filtered(size, weights, **options), weights.size + 2, float(weights.sum()), slack


def of_passes(call: Call, size: np.ndarray, cval: float, passes):
    """The same of passes along one axis each: of their sum (laplace), or one after the other."""

    def along(array, weights, axis, mode, origin):
        return theirs.correlate1d(array, weights, axis, mode=mode, cval=cval, origin=origin)

    if call.name == "laplace" and passes:
        total = sum(along(size, weights, axis, mode, origin) for axis, weights, mode, origin in passes)
        return total, 5 * len(passes) + 3, 4.0 * len(passes), 0.0
    total, slack, scale = size, 0.0, 1.0
    for axis, weights, mode, origin in passes:
        slack = EPSILON * along(total, np.ones_like(weights), axis, mode, origin)
        total = along(total, weights, axis, mode, origin)
        scale *= max(1.0, weights.sum())
    counts = [len(weights) for _, weights, _, _ in passes]
    if call.name.startswith("uniform"):
        slack = slack + running_sums(size, cval, passes)
    return total, max(sum(counts) + 2 * len(counts), int(np.prod(counts)) + 2), scale, slack


def bound(call: Call, result: np.ndarray) -> np.ndarray:
    """The most that both libraries' roundings come to at each point.

    A sum of n products rounds each of them n + 2 times at most: its weight, itself, n sums. Passes one after the other
    and one pass in place of several have no more than the sum of n + 2, or their product and 2, times the filter of
    the absolute values. SciPy sums in float64 and rounds what each pass stores.
    """
    array = call.input.make()
    size, cval = finite_size(array), size_of_cval(call.options["cval"])
    passes = separable_passes(call, array.ndim)
    terms = of_weights(call, size, cval) if passes is None else of_passes(call, size, cval, passes)
    total, roundings, scale, slack = terms
    narrow = any(dtype.char in "fF" for dtype in (array.dtype, result.dtype))
    roundings = 2 * roundings + max(1, len(passes or ())) + (array.dtype.kind == "c")  # the sum of two parts' products
    denormal = np.finfo(np.float32 if narrow else np.float64).smallest_subnormal * scale
    return 1.01 * (2.0**-24 if narrow else 2.0**-53) * roundings * total + slack + roundings * denormal


def running_sums(size: np.ndarray, cval: float, passes) -> float:
    """SciPy's mean of n points goes along a line of N points by adding the next value and subtracting the last one.

    Two sums a point, whose terms are no larger than the largest value M and whose result is no larger than n M: the
    error of the sum grows by 2^-53 (2 + n) M a point, beside 2^-53 n n M of the first sum; the mean's is 1 / n of it.
    """
    most = max(float(size.max(initial=0.0)), abs(cval))
    return sum(1.01 * 2.0**-53 * ((2 + len(w)) * (size.shape[a] + 1) / len(w) + len(w)) * most for a, w, _, _ in passes)
