#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Says what got faster or slower between two JSON files of tessera-perf.

A row changed if |log(new / old)| > max(2 sqrt(cv_old^2 + cv_new^2), log(1 + floor)): the logarithm of a ratio of two
independent measurements has about that root as its standard deviation, so chance alone passes it in at most 5 % of the rows
(far fewer, as the values are medians). A few repetitions can agree by chance, so no row's cv counts as smaller than its
file's median cv; and below the floor a change is not worth a word: 2 %, or 10 % where shares of ceilings are compared (on
machines whose memory rate swings), for the ceiling's own spread is not in the file; 15 % where rates are divided by what
the peers of the same problem did (`--by peers`): measured in turns with ours, they show what clocks and neighbours did.

Exit code: 0 nothing of ours is slower, 1 something is (or fails now), 2 a file cannot be read.
"""

from __future__ import annotations

import argparse
import math
import statistics
from dataclasses import dataclass

import formatting as text
from model import Result, Row
from results import ResultError, fail, load, run

Key = tuple[str, ...]  # op, case, dtype, cache; of a row the subject, too
FASTER, SLOWER, SAME, BROKEN, MENDED = "faster", "SLOWER", "same", "FAILS NOW", "works now"
FLOORS = {"rate": 0.02, "ceiling": 0.10, "peers": 0.15}
MACHINE_MOVED = "Peers and ceilings moved beyond their spread: the machine, not the code, may have changed."


@dataclass(frozen=True)
class Change:
    old: Row
    new: Row
    metric: str  # "rate", "ceiling" or "speed"
    ratio: float | None  # new / old; above 1 is faster
    threshold: float  # of |log ratio|
    verdict: str

    @property
    def size(self) -> float:
        return math.inf if self.ratio is None else abs(math.log(self.ratio))


def _value(row: Row, metric: str) -> float | None:
    return row.ceiling if metric == "ceiling" else row.speed


def _metric(old: Row, new: Row, by: str) -> str:
    """Shares of a ceiling compare only where the same ceiling binds."""
    shares = old.ceiling and new.ceiling and old.binds == new.binds
    return "ceiling" if by == "ceiling" and shares else "rate" if old.rate and new.rate else "speed"


def typical_cv(result: Result) -> float:
    known = [row.cv for row in result.rows if row.cv is not None]
    return statistics.median(known) if known else 0.0


def _cv(row: Row, metric: str, least: float) -> float:
    return max(row.spread.get(metric, row.cv) or 0.0, least)


def change(old: Row, new: Row, by: str, least: tuple[float, float], floor: float, drift: float = 1.0) -> Change:
    if old.error or new.error:
        verdict = SAME if old.error and new.error else BROKEN if new.error else MENDED
        return Change(old, new, "speed", None, 0.0, verdict)
    metric = _metric(old, new, by)
    before, after = _value(old, metric), _value(new, metric)
    ratio = after / before / drift if before and after else None
    spread = 2 * math.hypot(_cv(old, metric, least[0]), _cv(new, metric, least[1]))
    threshold = max(spread, math.log1p(floor))
    if ratio is None or abs(math.log(ratio)) <= threshold:
        return Change(old, new, metric, ratio, threshold, SAME)
    return Change(old, new, metric, ratio, threshold, FASTER if ratio > 1 else SLOWER)


def peers_drift(old: dict[Key, Row], new: Result) -> dict[Key, float]:
    """Of each problem: new / old of its peers' speeds, their geometric mean."""
    logs: dict[Key, list[float]] = {}
    for row in new.rows:
        before = old.get(row.key)
        if before and not row.subject.ours and row.op != "ceiling" and before.speed and row.speed:
            logs.setdefault(row.key[:4], []).append(math.log(row.speed / before.speed))
    return {problem: math.exp(statistics.fmean(values)) for problem, values in logs.items()}


def changes(old: Result, new: Result, by: str = "auto", floor: float | None = None) -> list[Change]:
    """Of the rows that both files have, the largest first."""
    if by == "auto":
        by = "rate" if new.context.get("gpu") else "ceiling"
    floor = FLOORS[by] if floor is None else floor
    least = (typical_cv(old), typical_cv(new))
    before = {row.key: row for row in old.rows}
    drift = peers_drift(before, new) if by == "peers" else {}
    found = [change(before[row.key], row, by, least, floor, drift.get(row.key[:4], 1.0) if row.subject.ours else 1.0)
             for row in new.rows if row.key in before]
    return sorted(found, key=lambda item: (-item.size, item.new.name))


def only_in(result: Result, other: Result) -> list[Row]:
    known = {row.key for row in other.rows}
    return [row for row in result.rows if row.key not in known]


def warnings(old: Result, new: Result, found: list[Change]) -> list[str]:
    keys = [key for key in (old.context | new.context) if key not in text.RUN_KEYS]
    differing = [key for key in keys if str(old.context.get(key, "")) != str(new.context.get(key, ""))]
    said = [f"{key} differs: {old.context.get(key) or 'none'} -> {new.context.get(key) or 'none'}" for key in differing]
    moved = [item for item in found if not item.new.subject.ours]
    if sum(item.verdict != SAME for item in moved) > max(1, 0.05 * len(moved)):
        said.append(MACHINE_MOVED)
    return said


def _cells(item: Change) -> tuple[str, ...]:
    if item.ratio is None:
        return (item.new.name, item.old.error and "failed" or "", item.new.error and "failed" or "", "", "", item.verdict)
    shown = [_shown(row, item.metric) for row in (item.old, item.new)]
    return (item.new.name, *shown, f"{item.ratio:.3f}", f"±{100 * math.expm1(item.threshold):.1f} %", item.verdict)


def _shown(row: Row, metric: str) -> str:
    if metric == "ceiling":
        return text.percent(row.ceiling, 1) + " %"
    if row.op == "overhead" or not (row.rate or row.traffic):
        return text.duration(row.seconds)
    return text.significant(row.rate or row.traffic)


# "chance": the change that the spread alone may cause.
HEAD = ("row", "old", "new", "new/old", "chance", "verdict")


def _as_text(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(HEAD, *rows)]
    return ["  ".join(cell.rjust(width) if 0 < index < 5 else cell.ljust(width)
                      for index, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in (HEAD, *rows)]


def _as_markdown(rows: list[tuple[str, ...]]) -> list[str]:
    lines = [f"| {' | '.join(HEAD)} |", "|---|--:|--:|--:|--:|---|"]
    for name, *cells, verdict in rows:
        cells.append(f"**{verdict}**" if verdict in (SLOWER, BROKEN, FASTER) else verdict)
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return lines


def summary(found: list[Change]) -> str:
    ours = [item for item in found if item.new.subject.ours]
    counts = ", ".join(f"{sum(item.verdict == verdict for item in ours)} {verdict.lower()}"
                       for verdict in (SLOWER, FASTER, SAME, BROKEN, MENDED) if any(item.verdict == verdict for item in ours))
    logs = [math.log(item.ratio) for item in ours if item.ratio]
    mean = f"; geometric mean new/old {math.exp(statistics.fmean(logs)):.3f}" if logs else ""
    if all(item.verdict == SAME for item in ours):
        return f"no difference beyond the spread in {len(ours)} rows of ours{mean}"
    return f"{len(ours)} rows of ours: {counts}{mean}"


def describe(old: Result, new: Result, found: list[Change], markdown: bool, everything: bool) -> str:
    shown = [item for item in found if everything or item.verdict != SAME]
    lines = [f"old: {old.path.name}: {text.revision(old.context)}, {text.machine(old.context)}",
             f"new: {new.path.name}: {text.revision(new.context)}, {text.machine(new.context)}"]
    lines += [f"WARNING: {warning}" for warning in warnings(old, new, found)]
    if markdown:
        lines = [part for line in lines for part in (line, "")]
    if shown:
        lines += ["", *(_as_markdown if markdown else _as_text)([_cells(item) for item in shown])]
    for result, other, where in ((old, new, "old"), (new, old, "new")):
        if rows := only_in(result, other):
            lines += ["", f"only in the {where} file:", *([""] if markdown else [])]
            lines += [f"- `{row.name}`" if markdown else f"  {row.name}" for row in rows]
    return "\n".join([*lines, "", summary(found)])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD.json")
    parser.add_argument("new", metavar="NEW.json")
    parser.add_argument("--by", choices=("auto", "rate", "ceiling", "peers"), default="auto",
                        help="compare rates, or shares of the ceilings measured beside the rows, or rates divided by "
                             "the change of the same problem's peers; auto: rates where NEW names a GPU, else ceilings")
    parser.add_argument("--floor", type=float, metavar="PERCENT",
                        help="smaller changes are none (default: 2, by ceiling 10, by peers 15)")
    parser.add_argument("--all", action="store_true", help="list the rows without a change, too")
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown")
    parser.add_argument("--allow-slower", action="store_true", help="exit with 0 though something got slower")
    options = parser.parse_args(arguments)
    try:
        old, new = load(options.old), load(options.new)
        found = changes(old, new, options.by, None if options.floor is None else options.floor / 100)
        if not found:
            raise ResultError(f"{options.old} and {options.new} have no row in common")
    except ResultError as error:
        fail(error)
    print(describe(old, new, found, options.markdown, options.all))
    worse = any(item.verdict in (SLOWER, BROKEN) and item.new.subject.ours for item in found)
    return int(worse and not options.allow_slower)


if __name__ == "__main__":
    run(main)
