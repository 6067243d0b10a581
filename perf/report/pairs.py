# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Products beside others of the same file: with ordered sums beside those without."""

from __future__ import annotations

import re

import figures as of
import formatting as text
from model import Row

ORDERED = "h200-ordered"
ROWS = {"1024, 4096": "1024|4096", "64, 197, 512": "64|197|512", "1, 16, 32": "1|16|32"}


def automatic(name: str) -> dict[tuple[str, str], Row]:
    """(case, dtype) -> what was chosen, out of the cache."""
    chosen = ((group, group.automatic) for group in of.baseline(name).groups("gemm") if group.cache == "cold")
    return {(group.case, group.dtype): row for group, row in chosen if row}


def ordered_ratios(rows: dict[tuple[str, str], Row], pattern: str, dtype: str) -> dict[str, float]:
    """Case without order -> its time over that with order, of products of so many rows."""
    found = {}
    for (case, kind), row in rows.items():
        other = rows.get((f"{case}_ordered", kind))
        if kind == dtype and other and re.fullmatch(pattern, re.split("[x_]", case)[0]):
            found[case.removesuffix("_NT")] = row.seconds / other.seconds
    return found


def ordered() -> str:
    """A line for each group of m: mean, the least and which."""
    def cell(ratios: dict[str, float]) -> str:
        worst = min(ratios, key=lambda case: ratios[case])
        return f"{text.ratio(sum(ratios.values()) / len(ratios))} ({text.ratio(ratios[worst])}: {worst})"

    dtypes, rows = ("f32", "f64", "bf16x6"), automatic(ORDERED)
    return text.table(["m", *dtypes], [[title, *(cell(ordered_ratios(rows, pattern, dtype)) for dtype in dtypes)]
                                       for title, pattern in ROWS.items()])
