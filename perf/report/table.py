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


def _bold(value: str, wanted: bool) -> str:
    return f"**{value}**" if wanted else value


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
    return [row.subject.name, text.values(row)[0], _bold(percent, share < text.GOOD_SHARE), _ratio(group, row)]


def _group(group: Group) -> list[str]:
    """The best of ours and the automatic choice beside the best peer; what failed is said, not left out."""
    best, peer = group.best_ours, group.best_peer
    if best:
        ceiling = text.NONE if best.ceiling is None else f"{text.percent(best.ceiling)} % {best.binds}".strip()
        ours = [*text.values(best), ceiling, best.subject.short]
    else:
        failed = any(row.error and row.subject.ours for row in group.rows)
        ours = [text.NONE] * (3 if group.op in RATE_UNITS else 2) + [
            f"{group.backends[0]} failed" if failed else text.NONE]
    theirs = [text.values(peer)[0], peer.subject.name] if peer else [text.NONE, text.NONE]
    chosen = _automatic(group) if group.op in RATE_UNITS else []
    case = f"{group.case} {group.place}".strip()
    return [case, group.dtype, group.cache, *ours, *theirs, _ratio(group, best), *chosen]


def _table(result: Result, op: str) -> list[str]:
    rated = op in RATE_UNITS
    head = ["case", "dtype", "cache", *(["rate", "traffic"] if rated else ["time"]), "of ceiling", "best of ours",
            "peer's rate" if rated else "peer's time", "best peer", "ratio"]
    head += ["automatic", "its rate", "of the best", "its ratio"] if rated else []
    said = [line for sentence in noise.automatic(result, op) for line in (sentence, "")]
    groups = [part for group in result.groups(op) for part in group.by_backend()]
    return [f"### {OPS[op]}", "", *said, text.table(head, map(_group, groups)), ""]


def _ceilings(result: Result) -> list[str]:
    rows = [[f"{row.case} {row.place}".strip(), row.dtype, row.cache,
             *(("failed", "") if row.error else (text.rate(row), text.traffic(row)))] for row in result.of("ceiling")]
    return ["### Ceilings", "", text.table(["ceiling", "dtype", "cache", "compute", "memory"], rows), ""]


def _advice(result: Result) -> list[str]:
    found = advice.advise(result)
    table = text.table(advice.HEAD, found)
    return ["### What to take here", "", table, "", advice.KEY, ""] if found else []


def render(result: Result, op: str | None = None) -> str:
    facts = "; ".join(f"{title} {value}" for title, value in text.facts(result.context))
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
