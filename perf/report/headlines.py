# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the README says of speed, and what the performance page says of where it is lacking. A group of cases is quoted
by its slowest and its fastest case: a mean of cases that are won and cases that are lost would hide both."""

from __future__ import annotations

import re
import textwrap
from typing import Callable, Iterable, Iterator

import figures as of
import formatting as text
import noise
from results import ResultError

GEMM, STENCIL, SYSTEM = of.H100.values()
GOOD_COPY = 0.9  # of a copy's rate: a sweep below it is named
GOOD_STEPS = 1.1  # of the rate of sweeps at a copy's rate: steps below it share no pass to speak of
GOOD_CEILING = 0.5  # of the Xeon's sweeps
LINE = 119
Found = tuple[str, str, list[float]]  # of a group: its title, the type, a figure a case


def _range(values: Iterable[float], digits: int = 2) -> str:
    low, high = (text.factor(value, digits) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _by_title(sets: tuple[of.Set, ...], title: str) -> of.Set:
    return next(chosen for chosen in sets if chosen.title == title)


def _products(sets: tuple[of.Set, ...], title: str, *dtypes: str) -> list[float]:
    return of.ratios(of.groups(GEMM, "gemm", cache="cold"), _by_title(sets, title), *dtypes)


def _bullet(words: str) -> str:
    return "\n".join(textwrap.wrap(f"- {words}", LINE, subsequent_indent="  ", break_on_hyphens=False))


# --- README ---


def _errors(dtype: str) -> list[float]:
    """The automatic choices' largest error over that of the most exact peer, a figure a case."""
    found = []
    for group in of.groups(GEMM, "gemm", cache="cold"):
        if group.dtype == dtype and group.automatic:
            peers = [row.max_error for row in group.rows if not row.subject.ours and row.max_error]
            found.append(group.automatic.max_error / min(peers))
    return found


def parts() -> str:
    six, three = ([ratio for chosen in of.GPU_PARTS for ratio in _products(of.GPU_PARTS, chosen.title, dtype)]
                  for dtype in ("bf16x6", "f16x3"))
    errors = _errors("bf16x6") + _errors("f16x3")
    if max(errors) > 1:
        raise ResultError(f"{GEMM}: bf16x6 or f16x3 errs more than a peer in f32 does")
    return (f"**f32 at f32's accuracy from the tensor cores**: {_range(six, 1)} (`bf16x6`) and {_range(three, 1)} "
            f"(`f16x3`, whose bound is normwise) times cuBLAS's rate in f32, with {_range(errors)} of its largest "
            "error.")


def many_steps() -> str:
    many = of.groups(STENCIL, "stencil", True, "cold")
    flat, deep = (of.sweeps(many, _by_title(of.GPU_STEPS, title), *of.DTYPES)
                  for title in ("2D star, radius 1, 16384²", "7 points, 512³"))
    return (f"**Many steps of a stencil in one pass over memory**: {_range(flat, 1)} (5 points, 2D) and "
            f"{_range(deep, 1)} (7 points, 3D) times what is possible where each step reads and writes the field.")


def waves() -> str:
    found = [group for group in of.groups(SYSTEM, "system", False, "cold")
             if re.fullmatch(r"wave_.*_(384|512|768)\^3", group.case)]
    shares = [group.automatic.ceiling for group in found]
    ratios = [ratio for group in found if (ratio := noise.quoted_ratio(group, group.automatic))]
    return (f"**Waves described at run time, at the rate of memory**: {of.percents(shares)} of the speed of a "
            f"copy, {_range(ratios)} times that of a kernel with the equation compiled in.")


def rounding() -> str:
    case = "enqueue_gemm_1023"
    rows = [row for row in of.baseline(STENCIL).of("overhead") if row.case == case and row.dtype == "bf16"]
    wrong = {row.subject.ours for row in rows if row.error.startswith("wrong result")}
    if wrong != {False} or any(row.error for row in rows if row.subject.ours):
        raise ResultError(f"{STENCIL}: {case} in bf16 no longer tells Tessera's products from the peers'")
    return ("**bf16 that is rounded once**, after sums in f32. At size 1023 cuBLAS and cuBLASLt err by more than that "
            f"allows; Tessera's {sum(row.subject.ours for row in rows)} algorithms do not.")


def facts() -> str:
    return "\n".join(map(_bullet, (parts(), many_steps(), waves(), rounding())))


def _slowest(count: int) -> str:
    """The groups of products that lose most, each by its worst type."""
    worst: dict[str, tuple[float, str]] = {}
    for title, dtype, values in short_products():
        worst[title] = min(worst.get(title, (1.0, "")), (min(values), dtype))
    return "; ".join(f"{title} {ratio:.2f} ({dtype})"
                     for title, (ratio, dtype) in sorted(worst.items(), key=lambda item: item[1])[:count])


def readme() -> str:
    f32, f64 = (_range(_products(of.GPU_GEMM, "squares of 1024 to 16384", dtype)) for dtype in of.DTYPES)
    bf16 = _range(_products(of.GPU_NARROW, "squares of 4096 to 16384", "bf16"))
    small = _range(_products(of.GPU_GEMM, "batches of 4 to 16", *of.DTYPES), 1)
    odd = _range(_products(of.GPU_NARROW, "2047, 4095, 4097 (odd rows)", "bf16", "f16"), 1)
    cold, hot = (of.groups(STENCIL, "stencil", cache=cache) for cache in ("cold", "hot"))
    line, plane, deep = (of.shares(cold, _by_title(of.GPU_SWEEPS, title), *of.DTYPES) for title in (
        "1D, radius 1 to 4, 2²⁸", "2D stars, radius 1 to 4, 16384²", "3D star, radius 1, 768³"))
    cached = of.ratios(hot, _by_title(of.GPU_SWEEPS, "1 to 2 million points"), *of.DTYPES)
    return "\n".join(map(_bullet, (
        f"Squares from 1024 on: {f32} (f32), {f64} (f64), from 4096 on {bf16} (bf16) times cuBLAS. Batches of sizes 4 "
        f"to 16: {small} times; odd rows in 16 bits: {odd} times.",
        f"One sweep of a 1D or 2D star: {of.percents(line + plane)} of the rate of a copy; of 7 points in 3D: "
        f"{of.percents(deep)}; of a field in the cache: {_range(cached)} times a kernel with the taps compiled in.",
        f"Slowest beside cuBLAS: {_slowest(3)}. [All figures, and what falls short](docs/performance.md)")))


# --- What falls short ---


def short_products() -> Iterator[Found]:
    """Groups with a case below a good share of the better of cuBLAS and cuBLASLt."""
    cold = of.groups(GEMM, "gemm", cache="cold")
    for sets, dtypes in ((of.GPU_GEMM, of.DTYPES), (of.GPU_NARROW, of.NARROW), (of.GPU_PARTS, of.PARTS)):
        yield from _short(sets, dtypes, lambda chosen, dtype: of.ratios(cold, chosen, dtype), text.GOOD_SHARE)


def _short(sets: tuple[of.Set, ...], dtypes: tuple[str, ...], figure: Callable[[of.Set, str], list[float]],
           least: float) -> Iterator[Found]:
    for chosen in sets:
        for dtype in dtypes:
            if (values := figure(chosen, dtype)) and min(values) < least:
                yield chosen.title, dtype, values


def _slow(values: list[float]) -> str:
    return f"{min(values):.2f}"


def _named(found: Iterable[Found], show: Callable[[list[float]], str]) -> str:
    """Each group once, with the figure of each of its types."""
    groups: dict[str, list[str]] = {}
    for title, dtype, values in found:
        groups.setdefault(title, []).append(f"{show(values)} ({dtype})")
    return "; ".join(f"{title}: {', '.join(shown)}" for title, shown in groups.items())


def _slow_sweeps() -> tuple[str, str]:
    """Below a copy's rate, and slower than a kernel with the taps compiled in."""
    cold, hot = (of.groups(STENCIL, "stencil", cache=cache) for cache in ("cold", "hot"))
    slow = _short(of.GPU_SWEEPS, of.DTYPES, lambda chosen, dtype: of.shares(cold, chosen, dtype), GOOD_COPY)
    beaten = [(title + place, dtype, values) for found, place in ((cold, ""), (hot, " in the cache"))
              for title, dtype, values in
              _short(of.GPU_SWEEPS, of.DTYPES, lambda chosen, dtype, at=found: of.ratios(at, chosen, dtype), 0.995)]
    return _named(slow, of.percents), _named(beaten, _slow)


def _xeon(op: str, sets: tuple[of.Set, ...], figure: Callable[[list[of.Group], of.Set, str], list[float]],
          least: float) -> str:
    """Each group by the host for which its slowest case is slowest."""
    found = []
    for chosen in sets:
        slowest = [(value, threads) for threads, name in (of.HOSTS if op == "gemm" else of.XEONS).items()
                   for value in figure(of.groups(f"{name}-{op}", op, cache="cold"), chosen, *of.DTYPES)]
        value, threads = min(slowest)
        found += [(chosen.title, threads, [value])] if value < least else []
    return _named(found, _slow)


def falls_short() -> str:
    many = of.groups(STENCIL, "stencil", True, "cold")
    poor_steps = _short(of.GPU_STEPS, of.DTYPES, lambda chosen, dtype: of.sweeps(many, chosen, dtype),
                        GOOD_STEPS)
    low, beaten = _slow_sweeps()
    good = f"{text.GOOD_SHARE:.2f}"
    return "\n".join(map(_bullet, (
        f"**Products on the H100**, below {good} of the better of cuBLAS and cuBLASLt, the slowest case of each group: "
        f"{_named(short_products(), _slow)}.",
        f"**Sweeps on the H100**, below {100 * GOOD_COPY:.0f} % of a copy's rate: {low}. Slower than the kernel: "
        f"{beaten}.",
        f"**Many steps on the H100**, below {GOOD_STEPS} times sweeps at a copy's rate: "
        f"{_named(poor_steps, _slow)}.",
        f"**Products on processors**, below {good} of the best library: "
        f"{_xeon('gemm', of.CPU_GEMM, of.ratios, text.GOOD_SHARE)}.",
        f"**Sweeps on the Xeon**, below {GOOD_CEILING:g} of their ceiling: "
        f"{_xeon('stencil', of.CPU_SWEEPS, of.shares, GOOD_CEILING)}.")))
