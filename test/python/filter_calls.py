# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of the filters that hypothesis draws: every argument in every form, one of them wrong now and then."""

import dataclasses
from typing import Any

import numpy as np
from hypothesis import strategies as st

INTEGERS = ["b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "?"]
FLOATS = ["f", "d"]
COMPLEX = ["F", "D"]
MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap"]
NAMES = [
    "correlate", "convolve", "correlate1d", "convolve1d", "gaussian_filter", "gaussian_filter1d", "uniform_filter",
    "uniform_filter1d", "sobel", "prewitt", "laplace",
]  # fmt: skip
ONE_AXIS = {"correlate1d", "convolve1d", "gaussian_filter1d", "uniform_filter1d", "sobel", "prewitt"}
WITH_AXES = {"correlate", "convolve", "gaussian_filter", "uniform_filter", "laplace"}
LAYOUTS = ["packed", "fortran", "gaps", "mirrored", "turned", "read-only", "unaligned", "broadcast"]
CONTENTS = ["small", "one value", "uniform", "wide", "special"]


@dataclasses.dataclass
class Array:
    """An array that can be made again and again."""

    values: np.ndarray
    layout: str

    def make(self) -> np.ndarray:
        v = self.values
        last = v.ndim - 1
        if self.layout == "fortran":
            return np.array(v, order="F")
        if self.layout == "gaps" and v.ndim:
            return np.repeat(v, 3, axis=last)[..., ::3]
        if self.layout == "mirrored" and v.ndim:
            flip = (slice(None, None, -1),) * v.ndim
            return v[flip].copy()[flip]
        if self.layout == "turned" and v.ndim > 1:
            return np.swapaxes(np.swapaxes(v, 0, last).copy(), 0, last)
        if self.layout == "unaligned":
            raw = np.zeros(v.nbytes + 1, np.uint8)[1:].view(v.dtype).reshape(v.shape)
            raw[...] = v
            return raw
        if self.layout == "broadcast" and v.ndim and v.shape[0]:
            return np.broadcast_to(v[:1].copy(), v.shape)
        v = v.copy()
        v.flags.writeable = self.layout != "read-only"
        return v

    def __repr__(self) -> str:
        values = self.make()
        text = np.array2string(values, separator=", ", threshold=300, floatmode="unique")
        return f"np.array({text}, {values.dtype.str!r}) ({self.layout}, shape {values.shape})"


@dataclasses.dataclass
class Call:
    """A filter and its arguments; `output` is made for each of the two libraries."""

    name: str
    input: Array
    options: dict[str, Any]
    output: str = "none"  # or type, string, array, view, input, shifted (one row from the input)
    output_type: str = "d"
    output_shape: tuple[int, ...] = ()

    def run(self, library) -> Any:
        """The input, the frame around the output or None, and the result."""
        array = self.input.make()
        options = {key: value.make() if isinstance(value, Array) else value for key, value in self.options.items()}
        dtype, frame = np.dtype(self.output_type), None
        if self.output == "type":
            options["output"] = dtype.type
        elif self.output == "string":
            options["output"] = dtype.str
        elif self.output == "array":
            options["output"] = frame = np.full(self.output_shape, 7).astype(dtype)
        elif self.output == "view":
            frame = np.full((*self.output_shape, 2), 7).astype(dtype)
            options["output"] = frame[..., 0]
        elif self.output == "input":
            options["output"] = array
        elif self.output == "shifted":
            frame = np.empty((array.shape[0] + 1, *array.shape[1:]), array.dtype)
            frame[:-1], array, options["output"] = array, frame[:-1], frame[1:]
        positional = [options.pop(key) for key in ("weights", "sigma", "size") if key in options]
        result = getattr(library, self.name)(array, *positional, **options)
        return array, frame, options.get("output"), result


def contents(rng, kind: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if kind == "one value":
            return np.full(shape, rng.integers(0, min(info.max, 1000), endpoint=True)).astype(dtype)
        least, most = (info.min, info.max) if kind in ("wide", "special") else (max(info.min, -9), 9)
        return rng.integers(least, most, shape, dtype.newbyteorder("="), endpoint=True).astype(dtype)
    values = rng.uniform(-1, 1, shape)
    if kind == "small":
        values = np.round(9 * values)
    elif kind == "one value":
        values = np.full(shape, values.flat[0] if values.size else 0.0)
    elif kind == "wide":
        values = values * 10.0 ** rng.integers(-6, 7, shape)
    elif kind == "special":
        chosen = rng.integers(0, 12, shape)
        for place, value in enumerate((np.nan, np.inf, -np.inf, -0.0)):
            values = np.where(chosen == place, value, values)
    if dtype.kind == "c":
        other = contents(rng, kind, shape, np.dtype("d"))
        values, real = np.empty(shape, complex), values
        values.real, values.imag = real, other
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(dtype)


@st.composite
def arrays(draw, types, shape, kinds=CONTENTS):
    dtype = np.dtype(draw(st.sampled_from(types)))
    if draw(st.integers(0, 5)) == 5:
        dtype = dtype.newbyteorder()
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = np.asarray(contents(rng, draw(st.sampled_from(kinds)), shape, dtype))
    return Array(values, draw(st.sampled_from(LAYOUTS)))


@st.composite
def weights(draw, shape):
    kind = draw(st.sampled_from(["any", "any", "any", "even", "odd", "list", "special"]))
    kinds = ["small", "uniform"] if kind != "special" else CONTENTS
    types = ["d", "d", "f", "i", "b"] + (["F", "D"] if draw(st.integers(0, 9)) == 9 else [])
    array = draw(arrays(types, shape, kinds))
    flipped = array.values[(slice(None, None, -1),) * len(shape)]
    if array.values.dtype.kind != "i" and kind == "even":
        array.values = array.values + flipped
    elif array.values.dtype.kind != "i" and kind == "odd":
        array.values = array.values - flipped
    return array.values.tolist() if kind == "list" else array


def drawn_axes(draw, rank):
    """None, or some axes in any order, from either end."""
    if draw(st.integers(0, 2)) or rank == 0:
        return None
    count = draw(st.integers(0, rank))
    axes = draw(st.permutations(range(rank)))[:count]
    axes = [axis - rank if draw(st.booleans()) else axis for axis in axes]
    return axes[0] if count == 1 and draw(st.booleans()) else tuple(axes)


def one_or_each(draw, strategy, count):
    """A value for all axes, or a sequence with one for each."""
    if draw(st.integers(0, 2)):
        return draw(strategy)
    values = [draw(strategy) for _ in range(count)]
    return tuple(values) if draw(st.booleans()) else values


def count_of(axes, rank) -> int:
    return rank if axes is None else 1 if isinstance(axes, int) else len(axes)


def origin_of(draw, extent):
    return draw(st.integers(-(extent // 2), (extent - 1) // 2)) if draw(st.booleans()) else 0


def of_each(draw, name, options, rank):
    """The options that one filter alone has."""
    axes = options.get("axes")
    count = count_of(axes, rank)
    if name in ("correlate", "convolve"):
        extents = tuple(draw(st.integers(1, 4 if count < 3 else 3)) for _ in range(count))
        options["weights"] = draw(weights(extents))
        if draw(st.booleans()):
            options["origin"] = [origin_of(draw, extent) for extent in extents]
    elif name in ("correlate1d", "convolve1d"):
        extent = draw(st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 9, 30]))
        options["weights"] = draw(weights((extent,)))
        options["origin"] = origin_of(draw, extent)
    elif name.startswith("gaussian"):
        sigma, order = st.sampled_from([0.3, 1.0, 0.0, 2, 1e-16, 1.7, 6.0]), st.sampled_from([0, 0, 0, 1, 2, 3])
        radius = st.sampled_from([None, None, 0, 1, 3])
        many = name == "gaussian_filter"
        for key, strategy in (("sigma", sigma), ("order", order), ("radius", radius)):
            options[key] = one_or_each(draw, strategy, count) if many else draw(strategy)
        options["truncate"] = draw(st.sampled_from([4.0, 2.0, 0.5]))
    elif name == "uniform_filter":
        options["size"] = one_or_each(draw, st.sampled_from([1, 2, 3, 4, 5, 6, 25]), count)
        sizes = options["size"] if not isinstance(options["size"], int) else [options["size"]] * count
        options["origin"] = [origin_of(draw, size) for size in sizes]
    elif name == "uniform_filter1d":
        options["size"] = draw(st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 9, 41]))
        options["origin"] = origin_of(draw, options["size"])


WRONG = {
    "axis": [7, -6, None, "x"],
    "axes": [(0, 0), (5,), -9, 0.5, "x"],
    "mode": ["round", "", None, 3, ["wrap"] * 5],
    "origin": [5, -5, [0] * 6],
    "size": [0, -1, [3] * 6, 2.5],
    "sigma": [-1.0, [1.0] * 6],
    "order": [-1, [0] * 6],
    "radius": [-1, 1.0, 1.5],
    "weights": [[], [[[[[1.0]]]]]],
    "cval": [1j],
    "truncate": [0.0, -1.0],
}

PLAIN = {"mode": "reflect", "origin": 0, "size": 3, "sigma": 1.0, "order": 0, "radius": None}


def spoil(draw, call):
    """Replaces one argument by one that may be wrong. Of two wrong ones any may be told, so the others are plain."""
    none = call.options.get("axes") == ()  # of no axis no mode is looked at
    given = [key for key in call.options if key in WRONG and not (none and key == "mode")]
    key = draw(st.sampled_from([*given, "output"]))
    call.output = "array" if key == "output" else "none"
    if key == "output":
        call.output_shape = (*call.output_shape, 2)
        call.output_type = call.input.values.dtype.str
        return
    if key in ("axis", "axes"):  # there are as many values as axes, so a sequence may be wrong, too
        for other in set(call.options) & PLAIN.keys():
            call.options[other] = PLAIN[other]
    call.options[key] = draw(st.sampled_from(WRONG[key]))


def drawn_shape(draw) -> tuple[int, ...]:
    """Mostly a few points, so that windows reach beyond both ends; now and then rows of some vectors' length."""
    rank = draw(st.sampled_from([1, 2, 2, 3, 3, 4, 0]))
    if rank == 2 and draw(st.integers(0, 99)) == 99:
        return 130, 259
    extents = st.sampled_from([5, 1, 2, 3, 4, 7, 8, 0] if rank < 4 else [3, 1, 2, 4])
    last = st.sampled_from([5, 1, 2, 3, 4, 7, 8, 0, 19, 37, 70])
    return tuple(draw(last if axis == rank - 1 and rank < 4 else extents) for axis in range(rank))


@st.composite
def calls(draw, names=NAMES):
    name = draw(st.sampled_from(names))
    shape = drawn_shape(draw)
    rank = len(shape)
    array = draw(arrays(INTEGERS + 4 * FLOATS + COMPLEX, shape))
    options: dict[str, Any] = {}
    if name in ONE_AXIS:
        options["axis"] = draw(st.integers(-rank, rank - 1)) if rank else 0
    if name in WITH_AXES:
        options["axes"] = drawn_axes(draw, rank)
    of_each(draw, name, options, rank)
    several = name not in ("correlate", "convolve") and not name.endswith("1d")
    count = rank if name in ("sobel", "prewitt") else count_of(options.get("axes"), rank)
    modes = st.sampled_from(MODES)
    options["mode"] = one_or_each(draw, modes, count) if several else draw(modes)
    options["cval"] = draw(st.sampled_from([0.0, 0.0, 1, -2.5, np.float32(0.7), np.nan, np.inf]))
    if array.values.dtype.kind == "c" and draw(st.booleans()):
        options["cval"] = draw(st.sampled_from([1j, 2.5 - 1.5j]))
    call = Call(name, array, options, output_shape=shape)
    call.output = draw(st.sampled_from(["none", "none", "none", "type", "string", "array", "view", "input", "shifted"]))
    if call.output == "shifted" and (not rank or not shape[0]):
        call.output = "none"
    same = np.dtype(array.values.dtype)
    other = np.dtype(draw(st.sampled_from(INTEGERS + 3 * FLOATS + COMPLEX)))
    call.output_type = draw(st.sampled_from([same.str, same.str, other.str, other.newbyteorder().str]))
    if draw(st.integers(0, 9)) == 9 and rank:
        spoil(draw, call)
    if not rank and name in ONE_AXIS:
        call.output = "none"  # there is no axis to name: an error already
    return call
