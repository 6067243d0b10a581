# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Products beside others of the same file: with ordered sums beside those without, triangles beside all of D, complex
ones beside cuBLAS's."""

from __future__ import annotations

import re

import figures as of
import formatting as text
from model import Row

ORDERED = "h200-ordered"
TRIANGLES, COMPLEX = "h200-triangles", "h200-complex"
WITH_SYRK = ("f32", "f64")
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


def seconds_of_peers(name: str) -> dict[tuple[str, str], float]:
    """(case, dtype) -> the fastest peer's, out of the cache."""
    peers = ((group, group.best_peer) for group in of.baseline(name).groups("gemm") if group.cache == "cold")
    return {(group.case, group.dtype): peer.seconds for group, peer in peers if peer}


def triangles() -> str:
    """A line a size: all of D over one triangle and over both, and what cuBLAS's syrk takes over one triangle."""
    ours, peers = automatic(TRIANGLES), seconds_of_peers(TRIANGLES)
    sizes = sorted({int(re.split("_", case)[0]) for case, _ in ours})

    def cells(n: int, dtype: str) -> list[str]:
        if (f"{n}_NT", dtype) not in ours:
            return [text.NONE] * (2 if dtype in WITH_SYRK else 1)
        whole, lower, both = (ours[f"{n}_NT{part}", dtype].seconds for part in ("", "_lower", "_mirrored"))
        found = [f"{text.ratio(whole / lower)}, {text.ratio(whole / both)}"]
        return found + ([text.ratio(peers[f"{n}_NT_lower", dtype] / lower)] if dtype in WITH_SYRK else [])

    dtypes = ("bf16", "f16", "bf16x6", *WITH_SYRK)
    heads = [head for dtype in dtypes for head in ([dtype, f"cuBLAS, {dtype}"] if dtype in WITH_SYRK else [dtype])]
    return text.table(["n = k", *heads], [[str(n), *(cell for dtype in dtypes for cell in cells(n, dtype))]
                                         for n in sizes])


def complex_products() -> str:
    """A line a case: what cuBLAS's Cgemm or Zgemm takes over ours."""
    ours, peers = automatic(COMPLEX), seconds_of_peers(COMPLEX)
    dtypes = ("c64", "c64+bf16x6", "c64+f16x3", "c128")
    cases = sorted({case for case, _ in ours}, key=lambda case: (int(re.split("_", case)[0]), case))

    def cell(case: str, dtype: str) -> str:
        return text.ratio(peers[case, dtype] / ours[case, dtype].seconds) if (case, dtype) in ours else text.NONE
    return text.table(["m = n = k", *dtypes], [[case.replace("_", " "), *(cell(case, dtype) for dtype in dtypes)]
                                             for case in cases])
