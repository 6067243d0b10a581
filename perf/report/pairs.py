# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Products beside others of the same file: with ordered sums beside those without, triangles beside all of D."""

from __future__ import annotations

import re

import figures as of
import formatting as text
from model import Row

ORDERED = "h200-ordered"
TRIANGLES = {"h200-triangles-narrow": ("bf16", "f16"), "h200-triangles": ("bf16x6", "f32", "f64")}
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


def triangles() -> str:
    """A line a size: all of D over one triangle and over both, and what cuBLAS's syrk takes over one triangle."""
    rows: dict[str, list[str]] = {}
    heads = []
    for name, dtypes in TRIANGLES.items():
        ours = automatic(name)
        peers = {(group.case, group.dtype): group.best_peer for group in of.baseline(name).groups("gemm")}
        for dtype in dtypes:
            sizes = sorted({int(re.split("_", case)[0]) for case, kind in ours if kind == dtype})
            with_peer = any(peers.get((f"{n}_NT_lower", dtype)) for n in sizes)
            heads += [dtype, *([f"cuBLAS, {dtype}"] if with_peer else [])]
            for n in sizes:
                whole, lower, both = (ours[f"{n}_NT{part}", dtype].seconds for part in ("", "_lower", "_mirrored"))
                cells = rows.setdefault(str(n), [])
                cells += [text.NONE] * (len(heads) - 1 - with_peer - len(cells))
                cells.append(f"{text.ratio(whole / lower)}, {text.ratio(whole / both)}")
                if with_peer:
                    cells.append(text.ratio(peers[f"{n}_NT_lower", dtype].seconds / lower))
    return text.table(["n = k", *heads], [[n, *rows[n], *[text.NONE] * (len(heads) - len(rows[n]))]
                                         for n in sorted(rows, key=int)])
