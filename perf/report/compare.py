#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Says what got faster or slower between two JSON files of tessera-perf.

Rows that were measured in several passes are judged by how far their passes lie apart. Of each pass the logarithm is
taken of the rate, of the share of the ceiling measured beside it (`--by ceiling`), or of the rate over the median
rate of the same problem's peers in the same pass (`--by peers`: what clocks and neighbours do, they do to all). A
row's change is the difference of the two files' means; its error follows from both files' variance between passes (a
few passes can agree by chance, so no row's counts as smaller than its file's median), and Student's t says how often
chance alone does as much. As many rows are looked at, those differ that Benjamini and Hochberg's procedure finds at 5
%: where nothing changed, all rows say "same" in 19 of 20 comparisons, and of those that do not at most 5 % are due to
chance.

A change of an algorithm shows in all its rows: the table of algorithms has the centre of its rows' changes (Hodges
and Lehmann's, which a few wild rows do not move), and its interval; all intervals together hold what they claim in 19
of 20 comparisons, as far as rows err independently. It sees far smaller changes than a row alone. Where rates or
shares of ceilings are compared, an algorithm differs only if its interval also lies beyond that of all the
operation's peers, whose code did not change. Changes below the floor, 2 %, are not worth a word. The methods and
their sources are in chance.py.

Rows of one pass (GPUs, whose clocks do not swing) changed if |log(new / old)| > max(2 sqrt(cv_old^2 + cv_new^2),
log(1 + floor)), where no row's cv counts as smaller than its file's median cv. Their values are medians, so that
chance alone passes this in far fewer than 5 % of the rows. Where shares of ceilings or rates over peers of a single
pass are compared, the floor is 10 or 15 %, for that spread is not in the file.

Exit code: 0 nothing of ours is slower, 1 something is (or fails now), 2 a file cannot be read.
"""

from __future__ import annotations

import argparse
import math
import statistics
from dataclasses import dataclass, replace

import formatting as text
from chance import centre, discoveries, t_quantile, t_tail
from model import Result, Row
from results import ResultError, fail, load, run

Key = tuple[str, ...]  # op, case, dtype, cache; of a row the subject, too
FASTER, SLOWER, SAME, BROKEN, MENDED, UNKNOWN = "faster", "SLOWER", "same", "FAILS NOW", "works now", "unknown"
FLOOR = 0.02
SINGLE_PASS_FLOORS = {"rate": FLOOR, "ceiling": 0.10, "peers": 0.15}
RISK = 0.05  # of a false alarm, for all rows together and for all algorithms together
MACHINE_MOVED = "Peers and ceilings moved beyond their spread: the machine, not the code, may have changed."


@dataclass(frozen=True)
class Change:
    old: Row
    new: Row
    by: str  # "rate", "ceiling", "peers" or "speed"
    ratio: float | None  # new / old; above 1 is faster
    threshold: float  # of |log ratio|: of passes, what the row alone exceeds by chance with probability RISK
    verdict: str
    tail: float | None = None  # probability of so large a change by chance; None for rows of one pass

    @property
    def size(self) -> float:
        return math.inf if self.ratio is None else abs(math.log(self.ratio))


@dataclass(frozen=True)
class Summary:
    """The changes of an algorithm's rows; ratios."""

    subject: str
    rows: int
    ratio: float
    low: float
    high: float
    unchanged: tuple[float, float] = (1.0, 1.0)  # how far code moved that did not change

    @property
    def verdict(self) -> str:
        above, below = max(1.0, self.unchanged[1]) * (1 + FLOOR), min(1.0, self.unchanged[0]) / (1 + FLOOR)
        return FASTER if self.low > above else SLOWER if self.high < below else SAME


def typical_cv(result: Result) -> float:
    return statistics.median([row.cv for row in result.rows if row.cv is not None] or [0.0])


def by_pass(result: Result, by: str, several: bool) -> dict[Key, list[float]]:
    """Of each row that has it: the logarithm of what is compared, in each pass, or of all samples of one pass."""
    metric = "ceiling" if by == "ceiling" else "speed"
    logs = {}
    for row in result.rows:
        values = row.passes.get(metric, []) if several else [getattr(row, metric) or row.speed or 0.0]
        if values and all(values):
            logs[row.key] = list(map(math.log, values))
    if by != "peers":
        return logs
    peers: dict[Key, list[Key]] = {}
    for row in result.rows:
        if row.subject.kind == "peer" and row.key in logs:
            peers.setdefault(row.key[:4], []).append(row.key)
    found = {}
    for key, values in logs.items():
        others = [logs[peer] for peer in peers.get(key[:4], []) if peer != key and len(logs[peer]) == len(values)]
        if others:
            found[key] = [value - statistics.median(at_once) for value, *at_once in zip(values, *others)]
    return found


def change(old: Row, new: Row, by: str, values: tuple[list[float], list[float]], least: tuple[float, ...],
           floor: float) -> Change:
    """`least`: what the row's variance between passes, or its cv in one, counts as in each file at least. Of passes
    the verdict says the direction alone; settled() has the last word."""
    difference = statistics.fmean(values[1]) - statistics.fmean(values[0])
    beyond, tail = math.log1p(floor), None
    if freedom := sum(len(logs) - 1 for logs in values):
        variances = (max(statistics.variance(logs), lowest) / len(logs) for logs, lowest in zip(values, least))
        error = math.sqrt(sum(variances))
        tail = t_tail(difference / error, freedom) if error else float(difference == 0)
        threshold = t_quantile(RISK, freedom) * error
    else:
        spread = math.hypot(*(max(row.cv or 0.0, lowest) for row, lowest in zip((old, new), least)))
        threshold = beyond = max(2 * spread, beyond)
    verdict = SAME if abs(difference) <= beyond else FASTER if difference > 0 else SLOWER
    return Change(old, new, by, math.exp(difference), threshold, verdict, tail)


def settled(found: list[Change]) -> list[Change]:
    """Verdicts in the light of how many rows there are."""
    judged = [item for item in found if item.tail is not None]
    real = dict(zip(map(id, judged), discoveries([item.tail for item in judged], RISK)))
    return [item if real.get(id(item), True) else replace(item, verdict=SAME) for item in found]


def changes(old: Result, new: Result, by: str = "auto", floor: float | None = None) -> list[Change]:
    """Of the rows that both files have, the largest first."""
    if by == "auto":
        by = "rate" if new.context.get("gpu") else "ceiling"
    before = {row.key: row for row in old.rows}
    several = all(any(row.passes for row in result.rows) for result in (old, new))
    logs = tuple(by_pass(result, by, several) for result in (old, new))
    if several:
        least = tuple(statistics.median(map(statistics.variance, found.values())) if found else 0.0 for found in logs)
    else:
        least = (typical_cv(old), typical_cv(new))
    if floor is None:
        floor = FLOOR if several else SINGLE_PASS_FLOORS[by]

    def compared(one: Row, other: Row) -> Change:
        key = other.key
        if one.error or other.error:
            verdict = SAME if one.error and other.error else BROKEN if other.error else MENDED
            return Change(one, other, "speed", None, 0.0, verdict)
        same = by != "ceiling" or (one.ceiling and one.binds) == (other.ceiling and other.binds)
        if key not in logs[0] or key not in logs[1] or not same:
            return Change(one, other, "speed", None, 0.0, UNKNOWN)
        return change(one, other, by, (logs[0][key], logs[1][key]), least, floor)

    found = [compared(before[row.key], row) for row in new.rows if row.key in before]
    found = [item for ours in (True, False)
             for item in settled([item for item in found if item.new.subject.ours == ours])]
    return sorted(found, key=lambda item: (-item.size if item.verdict != UNKNOWN else 0.0, item.new.name))


def _logs(found: list[Change], kind: str) -> dict[tuple[str, str], list[float]]:
    """Of each operation and algorithm, or peer: its rows' changes."""
    logs: dict[tuple[str, str], list[float]] = {}
    for item in found:
        if item.new.subject.kind == kind and item.new.op != "overhead" and item.ratio:
            name = item.new.subject.text if kind == "peer" else f"{item.new.subject.backend} {item.new.subject.name}"
            logs.setdefault((item.new.op, name), []).append(math.log(item.ratio))
    return logs


def _summaries(logs: dict[tuple[str, str], list[float]], unchanged: dict[str, tuple[float, float]]) -> list[Summary]:
    """Of those with enough rows for an interval."""
    found = []
    for (op, name), values in sorted(logs.items()):
        ratio, low, high = map(math.exp, centre(values, RISK / len(logs)))
        if low > 0:
            found.append(Summary(f"{op} {name}", len(values), ratio, low, high, unchanged.get(op, (1.0, 1.0))))
    return found


def summaries(found: list[Change], kind: str = "tessera") -> list[Summary]:
    """Of our algorithms, or of the peers ("peer"). Where ours are not divided by the peers, the interval of all the
    operation's peers shows what the machine did."""
    unchanged: dict[str, tuple[float, float]] = {}
    if kind == "tessera" and not any(item.by == "peers" for item in found):
        peers = _logs(found, "peer")
        for op in {op for op, _ in peers}:
            together = [value for key, values in peers.items() if key[0] == op for value in values]
            _, low, high = map(math.exp, centre(together, RISK))
            unchanged[op] = (low, high)
    return _summaries(_logs(found, kind), unchanged)


def only_in(result: Result, other: Result) -> list[Row]:
    known = {row.key for row in other.rows}
    return [row for row in result.rows if row.key not in known]


def warnings(old: Result, new: Result, found: list[Change]) -> list[str]:
    keys = [key for key in (old.context | new.context) if key not in text.RUN_KEYS]
    differing = [key for key in keys if str(old.context.get(key, "")) != str(new.context.get(key, ""))]
    said = [f"{key} differs: {old.context.get(key) or 'none'} -> {new.context.get(key) or 'none'}" for key in differing]
    moved = [item for item in found if not item.new.subject.ours and item.verdict != UNKNOWN]
    if (sum(item.verdict != SAME for item in moved) > max(1, 0.05 * len(moved))
            or any(item.verdict != SAME for item in summaries(found, "peer"))):
        said.append(MACHINE_MOVED)
    return said


def _cells(item: Change) -> tuple[str, ...]:
    rows = (item.old, item.new)
    if item.ratio is None:
        shown = (_shown(row, "speed") if item.verdict == UNKNOWN else row.error and "failed" for row in rows)
        return (item.new.name, *shown, "", "", item.verdict)
    return (item.new.name, *(_shown(row, item.by) for row in rows), f"{item.ratio:.3f}",
            f"±{100 * math.expm1(item.threshold):.1f} %", item.verdict)


def _shown(row: Row, by: str) -> str:
    if by == "ceiling" and row.ceiling:
        return text.percent(row.ceiling, 1) + " %"
    return text.duration(row.seconds) if row.op == "overhead" else text.speed(row)


# "chance": the change that the spread alone may cause.
HEAD = ("row", "old", "new", "new/old", "chance", "verdict")
ALGORITHMS = ("algorithm", "rows", "new/old", "from", "to", "verdict")


def _summary_cells(item: Summary) -> tuple[str, ...]:
    values = (f"{value:.3f}" for value in (item.ratio, item.low, item.high))
    return (item.subject, str(item.rows), *values, item.verdict)


def _as_text(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    lines = ([cell.rjust(width) if 0 < index < 5 else cell.ljust(width)
              for index, (cell, width) in enumerate(zip(row, widths))] for row in (head, *rows))
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _as_markdown(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return text.table(head, [(f"`{name}`", *cells, f"**{verdict}**" if verdict in (SLOWER, BROKEN, FASTER) else verdict)
                             for name, *cells, verdict in rows])


def summary(found: list[Change]) -> str:
    ours = [item for item in found if item.new.subject.ours]
    counts = {verdict: sum(item.verdict == verdict for item in ours)
              for verdict in (SLOWER, FASTER, SAME, UNKNOWN, BROKEN, MENDED)}
    logs = [math.log(item.ratio) for item in ours if item.ratio]
    mean = f"; geometric mean new/old {math.exp(statistics.fmean(logs)):.3f}" if logs else ""
    algorithms = [f"{item.subject} {item.verdict} ({item.ratio:.3f})" for item in summaries(found)
                  if item.verdict != SAME]
    if counts[SAME] + counts[UNKNOWN] == len(ours) and not algorithms:
        unknown = f", {counts[UNKNOWN]} unknown" if counts[UNKNOWN] else ""
        return f"no difference beyond the spread in {counts[SAME]} rows of ours{unknown}{mean}"
    told = ", ".join(f"{count} {verdict.lower()}" for verdict, count in counts.items() if count)
    return "; ".join([f"{len(ours)} rows of ours: {told}{mean}", *algorithms])


def describe(old: Result, new: Result, found: list[Change], markdown: bool, everything: bool) -> str:
    shown = [item for item in found if everything or item.verdict not in (SAME, UNKNOWN)]
    table = _as_markdown if markdown else _as_text
    lines = [f"old: {old.path.name}: {text.revision(old.context)}, {text.machine(old.context)}",
             f"new: {new.path.name}: {text.revision(new.context)}, {text.machine(new.context)}"]
    lines += [f"WARNING: {warning}" for warning in warnings(old, new, found)]
    if markdown:
        lines = [part for line in lines for part in (line, "")]
    if shown:
        lines += ["", table(HEAD, [_cells(item) for item in shown])]
    if algorithms := [*summaries(found), *summaries(found, "peer")]:
        lines += ["", table(ALGORITHMS, [_summary_cells(item) for item in algorithms])]
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
                             "those of the same problem's peers; auto: rates where NEW names a GPU, else ceilings")
    parser.add_argument("--floor", type=float, metavar="PERCENT",
                        help="smaller changes are none (default: 2; of files of one pass by ceiling 10, by peers 15)")
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
    worse = (any(item.verdict in (SLOWER, BROKEN) and item.new.subject.ours for item in found)
             or any(item.verdict == SLOWER for item in summaries(found)))
    return int(worse and not options.allow_slower)


if __name__ == "__main__":
    run(main)
