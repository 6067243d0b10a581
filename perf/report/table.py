#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints Markdown tables of every row of a JSON file of tessera-perf: the report's tables, for a terminal or a
message."""

from __future__ import annotations

import argparse

import advice
import formatting as text
import noise
from model import OPS, RATE_UNITS, Group, Result, Row
from results import ResultError, fail, load, run


def _ceiling(row: Row) -> str:
    return f"{text.percent(row.ceiling)} % {row.binds}".strip() if row.ceiling is not None else text.NONE


def _bold(value: str, wanted: bool) -> str:
    return f"**{value}**" if wanted else value


def _values(row: Row) -> list[str]:
    """Rate and traffic, or the time."""
    return [text.rate(row), text.traffic(row)] if row.op in RATE_UNITS else [text.duration(row.seconds)]


def _ratio(group: Group, row: Row | None) -> str:
    """Bold where ours is faster; in brackets where it is too noisy to say."""
    ratio = group.ratio(row)
    if ratio and not noise.quoted_ratio(group, row):
        return f"({text.ratio(ratio)})"
    return _bold(text.ratio(ratio), ratio is not None and ratio >= 1)


def _automatic(group: Group) -> list[str]:
    """What a user gets who forces nothing."""
    row, share = group.automatic, group.automatic_share
    if not row:
        return [text.NONE] * 4
    percent = f"{text.percent(share)} %"
    return [row.subject.name, _values(row)[0], _bold(percent, share < text.GOOD_SHARE), _ratio(group, row)]


def _group(group: Group) -> str:
    """The best of ours and the automatic choice beside the best peer; what failed is said, not left out."""
    best, peer = group.best_ours, group.best_peer
    if best:
        ours = [*_values(best), _ceiling(best), best.subject.short]
    else:
        failed = any(row.error and row.subject.ours for row in group.rows)
        ours = [text.NONE] * (3 if group.op in RATE_UNITS else 2) + [
            f"{group.backends[0]} failed" if failed else text.NONE
        ]
    theirs = [_values(peer)[0], peer.subject.name] if peer else [text.NONE, text.NONE]
    chosen = _automatic(group) if group.op in RATE_UNITS else []
    cells = (
        f"{group.case} {group.place}".strip(),
        group.dtype,
        group.cache,
        *ours,
        *theirs,
        _ratio(group, best),
        *chosen,
    )
    return f"| {' | '.join(cells)} |"


def _table(result: Result, op: str) -> list[str]:
    rated = op in RATE_UNITS
    values = ["rate", "traffic"] if rated else ["time"]
    theirs = "peer's rate" if rated else "peer's time"
    head = ["case", "dtype", "cache", *values, "of ceiling", "best of ours", theirs, "best peer", "ratio"]
    marks = ["---"] * 3 + ["--:"] * (len(values) + 1) + ["---", "--:", "---", "--:"]
    if rated:
        head += ["automatic", "its rate", "of the best", "its ratio"]
        marks += ["---", "--:", "--:", "--:"]
    shown = {} if noise.is_busy(result) else noise.automatic_shares(result, op)
    said = [line for backend, shares in shown.items()
            for line in (f"{text.automatic(backend, shares)}.", "")]
    lines = [_group(part) for group in result.groups(op) for part in group.by_backend()]
    return [f"### {OPS[op]}", "", *said, f"| {' | '.join(head)} |", f"|{'|'.join(marks)}|", *lines, ""]


def _ceilings(result: Result) -> list[str]:
    lines = ["### Ceilings", "", "| ceiling | dtype | cache | compute | memory |", "|---|---|---|--:|--:|"]
    for row in result.of("ceiling"):
        rates = ("failed", "") if row.error else (text.rate(row), text.traffic(row))
        name = f"{row.case} {row.place}".strip()
        lines.append(f"| {name} | {row.dtype} | {row.cache} | {rates[0]} | {rates[1]} |")
    return [*lines, ""]


def _advice(result: Result) -> list[str]:
    found = advice.advise(result)
    if not found:
        return []
    lines = (advice.HEAD, ["---"] * len(advice.HEAD), *map(advice.cells, found))
    return ["### What to take here", "", *(f"| {' | '.join(line)} |" for line in lines), "", advice.KEY, ""]


def render(result: Result, op: str | None = None) -> str:
    facts = "; ".join(f"{title} {value}" for title, value in text.facts(result.context) if title != "Host")
    lines = [f"## {text.machine(result.context)}", "", *(f"Caution: {caution}\n" for caution in noise.cautions(result))]
    lines += [] if op else _advice(result)
    lines += [f"{text.revision(result.context)}. {facts}.", ""]
    for name in (op,) if op else OPS:
        if result.of(name):
            lines += _ceilings(result) if name == "ceiling" else _table(result, name)
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", metavar="RESULT.json")
    parser.add_argument("--op", choices=tuple(OPS), help="one operation's table alone")
    options = parser.parse_args(arguments)
    try:
        print(render(load(options.result), options.op))
    except ResultError as error:
        fail(error)
    return 0


if __name__ == "__main__":
    run(main)
