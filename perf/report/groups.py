#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of products beside their peers, from JSON files of tessera-perf: a line for each group, type and cache state.

What counts of ours is the automatic choice. It is compared with the fastest peer at equal accuracy, which adds up no
parts of sums in 16 bits, and with the fastest of all. Nothing is averaged over several groups. Needs the standard
library alone.
"""

from __future__ import annotations

import argparse
import re
import statistics
from dataclasses import dataclass

import formatting as text
import noise
from model import Group, Result, Row
from results import ResultError, fail, load, run

# Title -> pattern of the whole name of a case; the first that matches has it. Tokens are rows: the first number.
GROUPS = {
    "attention, batches": r"layers_.*_batch\d+(_.*)?",
    "layers, 1 to 32 tokens": r"layers_(1|16|32)(x.*|_.*)?",
    "layers, 64 to 333 tokens": r"layers_(64|197|256|333)(x.*|_.*)?",
    "layers, 1024 to 8192 tokens": r"layers_(1024|4096|8192)(x.*|_.*)?",
    "random, rows of whole 16 bytes": r"random-aligned_.*",
    "random, other rows": r"random-odd_.*",
    "squares 1024, 2048": "1024|2048",
    "squares 1000, 3000": "1000|3000",
}
# Only beside these are the squares worth a table: they are in most files.
NAMED = ("attention", "layers", "random")
HEAD = ("group", "dtype", "cache", "cases", "equal accuracy", "worst", "which", "all peers", "worst", "which",
        "error, ulps", "misrounded %", "error of peers, equal", "all")
KEY = ("Our automatic choice over the fastest peer: geometric mean and worst case of each group. At equal accuracy: of "
       "the peers that add up no parts of sums in 16 bits. Cases: compared, of those that ran. Errors: the largest, in "
       "units in the last place of the result's type, and the share of elements that are not the nearest number.")


def group_of(case: str) -> str | None:
    return next((title for title, pattern in GROUPS.items() if re.fullmatch(pattern, case)), None)


@dataclass(frozen=True)
class Ratios:
    """Of one group, beside one choice of peers."""

    found: dict[str, float]  # by case
    errors: list[float]  # of the peers, in ulps

    @property
    def cells(self) -> tuple[str, str, str]:
        if not self.found:
            return (text.NONE,) * 3
        worst = min(self.found, key=lambda case: self.found[case])
        return (text.ratio(statistics.geometric_mean(self.found.values())), text.ratio(self.found[worst]), worst)

    @property
    def error(self) -> str:
        return ulps(max(self.errors, default=None))


def ulps(value: float | None) -> str:
    return text.NONE if value is None else f"{value:.3g}"


def _ratios(parts: list[Group], accurate: bool) -> Ratios:
    """Without what is too noisy to compare."""
    found, errors = {}, []
    for part in parts:
        ours = part.automatic
        peer = part.best_accurate_peer if accurate else part.best_peer
        if ours and peer and not noise.is_doubtful(noise.of_ratio(ours, peer)):
            found[part.case] = ours.speed / peer.speed
            errors += [peer.ulps] if peer.ulps is not None else []
    return Ratios(found, errors)


def _largest(rows: list[Row], figure: str) -> float | None:
    return max((value for row in rows if (value := getattr(row, figure)) is not None), default=None)


def _line(title: str, dtype: str, cache: str, parts: list[Group]) -> list[str]:
    accurate, all_peers = _ratios(parts, True), _ratios(parts, False)
    compared = len(accurate.found)
    cases = str(compared) if compared == len(parts) else f"{compared} of {len(parts)}"
    ours = [part.automatic for part in parts if part.automatic]
    return [title, dtype, cache, cases, *accurate.cells, *all_peers.cells, ulps(_largest(ours, "ulps")),
            text.percent(_largest(ours, "misrounded"), 2), accurate.error, all_peers.error]


def lines(result: Result) -> list[list[str]]:
    """Those of HEAD; none where no group ran."""
    found: dict[tuple[str, str, str, str], list[Group]] = {}
    for group in result.groups("gemm"):
        for part in group.by_backend():
            if (title := group_of(group.case)) and part.backends:
                backend = f" ({part.backends[0]})" if len(group.backends) > 1 else ""
                found.setdefault((title, backend, group.dtype, group.cache), []).append(part)
    if not any(title.startswith(NAMED) for title, *_ in found):
        return []
    order = list(GROUPS)
    lines_in_order = sorted(found.items(), key=lambda item: order.index(item[0][0]))
    return [_line(title + backend, dtype, cache, parts) for (title, backend, dtype, cache), parts in lines_in_order]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULT.json")
    options = parser.parse_args(arguments)
    try:
        for path in options.results:
            result = load(path)
            if not (found := lines(result)):
                raise ResultError(f"{path}: holds none of the groups layers, random-aligned and random-odd")
            print(f"{path}: {text.machine(result.context)}, {text.revision(result.context)}, "
                  f"seed {result.context.get('seed', 'none')}\n\n{text.table(HEAD, found)}\n")
    except ResultError as error:
        fail(error)
    return 0


if __name__ == "__main__":
    run(main)
