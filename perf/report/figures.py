# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures that the pages quote, from the committed baselines.

Cases are put into named sets, each case into exactly one. What is quoted of a case is its automatic choice: what a
program gets that forces nothing.
"""

from __future__ import annotations

import functools
import math
import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import formatting as text
import noise
from model import Group, Result
from results import ResultError, load

BASELINES = Path(__file__).parent.parent / "baselines"
DTYPES = ("f32", "f64")
NARROW = ("bf16", "f16", "bf16->f32")
PARTS = ("bf16x6", "f16x3", "tf32")
# The files of the H100, by operation, and the beginnings of the Xeon's, by how many threads ran.
H100 = {"gemm": "h100-gemm", "stencil": "h100-stencil", "system": "h100-system"}
XEONS = {"1 thread": "xeon-1-thread-quick", "2 threads": "xeon-2-threads", "16 threads": "xeon-16-threads-quick"}
# Those of products alone.
EPYCS = {"Zen 4, 2 threads": "epyc-2-threads"}
HOSTS = {f"Xeon, {title}": name for title, name in XEONS.items()} | EPYCS


@dataclass(frozen=True)
class Set:
    """Cases that are summed up in one line."""

    title: str
    pattern: str  # of the whole name of a case


# Of the H100. Sizes are m x n x k.
GPU_GEMM = (
    Set("squares of 16 to 128", "16|32|64|128"),
    Set("squares of 256 and 512", "256|512"),
    Set("squares of 1024 to 16384", "1024|2048|4096(_NT|_TN|_TT)?|8192|16384"),
    Set("odd sizes, padded rows (127 to 4097)", r"127|1000|4095|4097|\d+_ld\+\d+"),
    Set("1, 16 or 64 rows or columns (k = 8192)", "(1|16|64)x8192x8192|8192x(1|16|64)x8192"),
    Set("other rectangles", "128x128x65536|8192x8192x64|2048x8192x1024|512x32000x4096"),
    Set("batches of 4 to 16", r"(4|8|16)_batch\d+"),
    Set("batches of 32 to 256", r"(32|64|128|256)_batch\d+"),
)
# Of the types of 16 bits, and of f32 with arithmetic that is less exact than strict.
GPU_NARROW = (
    Set("squares of 256 and 512", "256|512"),
    Set("squares of 1024 and 2048", "1024|2048"),
    Set("squares of 4096 to 16384", "4096(_NT|_TN|_TT)?|8192|16384(_TN)?"),
    Set("1000 and 3000 (rows of no whole lines)", "1000|3000"),
    Set("2047, 4095, 4097 (odd rows)", "2047|4095|4097"),
    Set("1, 16 or 64 rows or columns (k = 8192)", "(1|16|64)x8192x8192(_NT)?|8192x16x8192"),
    Set("other rectangles", "8192x8192x64|512x32000x4096"),
    Set("batches of 128", r"128_batch\d+"),
    Set("bias and relu (1024, 4096)", r"\d+_bias_relu"),
    Set("bias and gelu by tanh (1024 to 8192)", r"\d+_bias_gelu_tanh"),
    Set("bias and silu (1024 to 8192)", r"\d+_bias_silu"),
)
GPU_PARTS = (
    Set("squares of 1024 and 2048", "1024|2048"),
    Set("squares from 4096 on", "4096|8192|16384"),
    Set("4096 and 8192, TN", "(4096|8192)_TN"),
    Set("4095 and 4097", "4095|4097"),
)
GPU_SWEEPS = (
    Set("1D, radius 1 to 4, 2²⁸", r"1d_\w+_r\d_2\^28_(fixed|periodic)"),
    Set("2D stars, radius 1 to 4, 16384²", r"2d_star_r\d_16384\^2_(fixed|periodic)"),
    Set("2D boxes, radius 1 and 2, 16384²", r"2d_box_r[12]_16384\^2_fixed"),
    Set("2D box, radius 3 (49 points)", r"2d_box_r3_16384\^2_fixed"),
    Set("3D star, radius 1, 768³", r"3d_star_r1_768\^3_(fixed|periodic)"),
    Set("3D star, radius 2 to 4, 768³", r"3d_star_r[234]_768\^3_fixed"),
    Set("3D box, radius 1 (27 points)", r"3d_box_r1_768\^3_(fixed|periodic)"),
    Set("1 to 2 million points",
        r"1d_star_r4_1000003_fixed|2d_star_r1_(1021|1024)\^2_fixed|3d_star_r1_(101|128)\^3_fixed"),
)
GPU_STEPS = (
    Set("1D stars, 2²⁰ and 2²⁸", r"1d_star_r[14]_2\^(20|28)_(fixed|periodic)_steps\d+"),
    Set("2D star, radius 1, 16384²", r"2d_star_r1_16384\^2_(fixed|periodic)_steps\d+"),
    Set("2D star, radius 1, 8192², 12 steps", r"2d_star_r1_8192\^2_fixed_steps12"),
    Set("2D star r 2, 2D box r 1", r"2d_(star_r2|box_r1)_16384\^2_fixed_steps\d+"),
    Set("2D box, radius 2 (25 points), 16384²", r"2d_box_r2_16384\^2_fixed_steps\d+"),
    Set("7 points, 512³", r"3d_star_r1_512\^3_(fixed|periodic)_steps\d+"),
    Set("3D box, radius 1, 512³", r"3d_box_r1_512\^3_fixed_steps\d+"),
    Set("2D star, radius 1, 1024²", r"2d_star_r1_1024\^2_fixed_steps\d+"),
    Set("3D star, radius 1, 128³", r"3d_star_r1_128\^3_fixed_steps\d+"),
)
# Of the Xeon: sizes differ with the number of threads that was measured.
CPU_GEMM = (
    Set("squares of 16 to 128", "16|32|64|128"),
    Set("squares of 256 to 4096", "256|512|1024|2048|4096"),
    Set("odd, padded or transposed", r"127|1000|2047|\d+_ld\+\d+|1024_(NT|TN|TT)"),
    Set("rectangles", r"\d+x\d+x\d+"),
    Set("batches of 4 to 256", r"\d+_batch\d+"),
)
CPU_SWEEPS = (
    Set("1D, radius 1 to 4", r"1d_(derivative|star)_r\d_.*"),
    Set("2D stars, radius 1 to 4", r"2d_star_.*"),
    Set("2D boxes, radius 1 to 3", r"2d_box_.*"),
    Set("3D stars, radius 1 to 4", r"3d_star_.*"),
    Set("3D box, radius 1 (27 points)", r"3d_box_r1_.*"),
)
CPU_STEPS = (
    Set("1D and 2D", r"[12]d_.*"),
    Set("3D", r"3d_.*"),
)
# Of the Python package, on hosts and devices.
PYTHON_HOSTS = {"1 thread": "epyc-python-1-thread", "2 threads": "epyc-python-2-threads"}
PYTHON_DEVICES = {"H100": "h100-python"}
PYTHON = (
    Set("products of 8 × 8: what a call costs", r"matmul_8(_out)?"),
    Set("products of 64 to 256", r"matmul_(64|256)(_out)?"),
    Set("products of 1024 to 2048", r"matmul_(1024|2048)(_out)?"),
    Set("products of 4096 and 8192", r"matmul_(4096|8192)(_out)?"),
    Set("filters of 64² and 32³", r"[a-z]+_(64x64|32x32x32)"),
    Set("filters of 512²", r"[a-z]+_512x512"),
    Set("filters of 1024² and 128³", r"[a-z]+_(1024x1024|128x128x128)"),
    Set("filters of 4096² and 256³", r"[a-z]+_(4096x4096|256x256x256)"),
    Set("`correlate`, random weights, 5 to 31 wide", r"correlate_random_\d+_.*"),
    Set("`correlate`, Gaussian weights, 5 to 31 wide", r"correlate_gaussian_\d+_.*"),
    Set("OpenCV's sums, 5 to 11 wide (f64: 7)", r"filter2d_\d+_.*"),
    Set("OpenCV's transforms, 15 and 31 wide (f64: from 11)", r"filter2d_by_transforms_\d+_.*"),
)


@functools.cache
def baseline(name: str) -> Result:
    return load(BASELINES / f"{name}.json")


def steps(case: str) -> int:
    found = re.search(r"_steps(\d+)$", case)
    return int(found[1]) if found else 1


@functools.cache
def groups(name: str, op: str, many_steps: bool = False, cache: str = "") -> list[Group]:
    """The cases of a baseline whose automatic choice was measured beside a peer."""
    found = [part for group in baseline(name).groups(op) for part in group.by_backend()]
    return [group for group in found if (steps(group.case) > 1) == many_steps and cache in ("", group.cache)]


def members(found: list[Group], chosen: Set, *dtypes: str) -> list[Group]:
    """Of the types in turn."""
    wanted = [group for dtype in dtypes for group in found
              if group.dtype == dtype and re.fullmatch(chosen.pattern, group.case)]
    for group in wanted:
        if not group.automatic:
            name = "/".join((group.op, group.case, group.dtype, group.cache))
            raise ResultError(f"{name}: no row is marked as the automatic choice")
    return wanted


def ratios(found: list[Group], chosen: Set, *dtypes: str) -> list[float]:
    """The automatic choice's rate over that of the best peer, a figure a case that is not doubtful."""
    return [ratio for group in members(found, chosen, *dtypes) if (ratio := noise.quoted_ratio(group, group.automatic))]


def shares(found: list[Group], chosen: Set, *dtypes: str) -> list[float]:
    """Of the rate of a copy; doubtful ones are left out."""
    rows = [group.automatic for group in members(found, chosen, *dtypes)]
    return [row.ceiling for row in rows if row.ceiling and not noise.is_doubtful(noise.of_share(row))]


def sweeps(found: list[Group], chosen: Set, *dtypes: str) -> list[float]:
    """The automatic choice's rate over that of single sweeps at the rate of a copy on the H100, a figure a case."""
    return [group.automatic.rate / copy_rate(H100["stencil"], group.dtype)
            for group in members(found, chosen, *dtypes) if group.automatic.rate]


def quoted(group: Group) -> bool:
    """Whether pages sum it up in one figure: 16 bits, tf32 and products with a bias have tables of their own."""
    return group.dtype in DTYPES and "_bias_" not in group.case


def by_peer(name: str, op: str) -> dict[str, list[float]]:
    """peer -> the automatic choice's rate over its rate, a figure a case; of all that is quoted, in the order of the
    file."""
    found: dict[str, list[float]] = {}
    for group in (part for whole in baseline(name).groups(op) for part in whole.by_backend()):
        if not quoted(group):
            continue
        for row in group.rows:
            if group.automatic and row.subject.kind == "peer" and row.rate:
                found.setdefault(row.subject.name, []).append(group.automatic.rate / row.rate)
    return found


def algorithms(found: list[Group], chosen: Set) -> str:
    """The names of the automatic choices, in the order of the file."""
    names = [group.automatic.subject.name for group in members(found, chosen, *DTYPES)]
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names)) or text.NONE


def copy_rate(name: str, dtype: str) -> float:
    """Points per second, in units of 10^9, of a sweep that moves compulsory traffic as fast as a copy does."""
    ceilings = baseline(name).of("ceiling")
    copies = [row.traffic for row in ceilings if row.case.startswith("copy") and row.traffic]
    if not copies:
        raise ResultError(f"{name}: no copy was measured")
    return max(copies) / (2 * {"f32": 4, "f64": 8}[dtype])


def mean(values: list[float]) -> float:
    return statistics.geometric_mean(values)


median = statistics.median


def times(values: list[float], centre_of: Callable[[list[float]], float] = mean) -> str:
    """Geometric mean or median, and the range where there are several: `1.01 (0.97–1.03)`."""
    return text.ranged(values, text.factor, centre_of)


def percents(values: list[float]) -> str:
    """The range, `98–100 %`."""
    if not values:
        return text.NONE
    low, high = (math.floor(100 * value + 0.5) for value in (min(values), max(values)))
    return f"{low} %" if low == high else f"{low}–{high} %"
