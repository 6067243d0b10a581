#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws one self-contained HTML page, without scripts, from one or several JSON files of tessera-perf. Needs the
standard library alone."""

from __future__ import annotations

import argparse
import statistics
from html import escape
from pathlib import Path

import advice
import formatting as text
import groups
import noise
import plots
from model import OPS, RATE_UNITS, Group, Result, Row
from plots import Plot, Styles
from results import ResultError, fail, load, run

BEST, AUTOMATIC, PEER, FAILED, NOISY = "★", "◆", "○", "✗", "≈"
SUMMED_UP = ("gemm", "stencil", "system", "overhead")
TITLE = "Tessera: measured performance"


def _element(tag: str, content: str, css: str = "") -> str:
    return f'<{tag} class="{css}">{content}</{tag}>' if css else f"<{tag}>{content}</{tag}>"


def _number(value: str) -> str:
    return _element("td", value, "num")


def _list(items: list[str], css: str) -> str:
    return _element("ul", "".join(_element("li", item) for item in items), css)


def _table(head: list[str], bodies: list[str], css: str = "") -> str:
    """`head`: titles, those of numbers with a # before."""
    cells = "".join(_element("th", name.removeprefix("#"), "num" if name[:1] == "#" else "") for name in head)
    return _element("table", f"<thead><tr>{cells}</tr></thead>" + "\n".join(bodies), css)


def _figures(found: list[Plot]) -> str:
    figures = (f"<figure><strong>{escape(plot.title)}</strong>{plot.svg}"
               f"<figcaption>{escape(plot.caption)}</figcaption></figure>" for plot in found)
    return _element("div", "\n".join(figures), "figures") if found else ""


def _ceiling(row: Row) -> str:
    if row.ceiling is None:
        return _number(text.NONE) + "<td></td>"
    width = 100 * min(max(row.ceiling, 0.0), 1.0)
    meter = f'<span class="meter"><i style="width:{width:.0f}%"></i></span>'
    return _number(text.percent(row.ceiling, 1) + meter) + _element("td", escape(row.binds))


def _doubt(row: Row) -> str:
    few = f' <span title="repetitions">({row.repetitions})</span>' if row.repetitions < 3 else ""
    value = noise.of_row(row)
    return _element("td", text.percent(value, 1) + few, "num doubtful" if noise.is_doubtful(value) else "num")


def _ratio(group: Group, row: Row) -> str:
    quoted = noise.quoted_ratio(group, row)
    value = text.ratio(group.ratio(row))
    return _number(value if quoted or value == text.NONE else f'<span class="doubtful">{NOISY} {value}</span>')


def _accuracy(row: Row) -> str:
    """The largest error, and the share of elements that are not the nearest number."""
    share = "" if row.misrounded is None else f' <span title="misrounded">({text.percent(row.misrounded, 1)} %)</span>'
    return _number(groups.ulps(row.ulps) + share)


def _mark(group: Group, row: Row) -> str:
    if row.error:
        return FAILED
    if row.subject.kind == "peer":
        return PEER
    return (BEST if row is group.best_ours else "") + (AUTOMATIC if row.automatic else "")


def _row(group: Group, row: Row, head: str, peers: bool, accuracy: bool) -> str:
    css = "failed" if row.error else "best" if row is group.best_ours else row.subject.kind
    cells = _element("td", _mark(group, row), "mark") + _element("td", escape(row.subject.short), "subject")
    values = text.values(row)
    if row.error:
        cells += f'<td colspan="{len(values) + 3 + peers + accuracy}">failed: {escape(row.error)}</td>'
    else:
        cells += "".join(map(_number, values)) + _ceiling(row) + (_ratio(group, row) if peers else "") + _doubt(row)
        cells += _accuracy(row) if accuracy else ""
    return f'<tr class="{css}">{head}{cells}</tr>'


def _group(group: Group, peers: bool, accuracy: bool) -> str:
    rows = sorted(group.rows, key=lambda row: -(row.speed or 0))
    names = (group.case + (f" · {group.place}" if group.place else ""), group.dtype, group.cache)
    head = "".join(f'<{tag} rowspan="{len(rows)}">{escape(name)}</{tag}>'
                   for tag, name in zip(("th", "td", "td"), names))
    lines = [_row(group, row, "" if index else head, peers, accuracy) for index, row in enumerate(rows)]
    return _element("tbody", "\n".join(lines))


def _rows(result: Result, op: str) -> str:
    """Every row of the operation."""
    found = result.groups(op)
    peers = any(group.best_peer for group in found)
    accuracy = any(row.ulps is not None for row in result.of(op))
    values = ["#rate", "#traffic"] if op in RATE_UNITS else ["#time"]
    head = ["case", "dtype", "cache", "", "subject", *values, "#of ceiling<small>%</small>", "which<br>binds",
            *["#ratio to<br>best peer"] * peers, "#±<small>%</small>",
            *["#largest error<br><small>ulps (misrounded)</small>"] * accuracy]
    return _table(head, [_group(group, peers, accuracy) for group in found])


def _groups(result: Result) -> str:
    """Products by group, where groups ran."""
    found = groups.lines(result)
    if not found:
        return ""
    rows = [_element("tr", "".join(_element("td", escape(cell), "" if name in ("group", "dtype", "cache", "which") else
                                            "num") for name, cell in zip(groups.HEAD, cells))) for cells in found]
    return _table(list(groups.HEAD), [_element("tbody", "\n".join(rows))]) + _element("p", escape(groups.KEY), "key")


def _ceilings(result: Result) -> str:
    rows = []
    for row in result.of("ceiling"):
        names = "".join(_element("td", escape(value)) for value in (row.case, row.subject.name, row.dtype, row.cache))
        values = (f'<td colspan="3">failed: {escape(row.error)}</td>' if row.error
                  else _number(text.rate(row)) + _number(text.traffic(row)) + _doubt(row))
        rows.append(_element("tr", names + values, "failed" if row.error else ""))
    head = ["ceiling", "place", "dtype", "cache", "#compute", "#memory", "#±<small>%</small>"]
    return _table(head, [_element("tbody", "\n".join(rows))])


def _advice(result: Result) -> str:
    """What it means, before all else."""
    found = advice.advise(result)
    if not found:
        return ""
    rows = [_element("tr", "".join(_element("td" if index else "th", escape(cell))
                                   for index, cell in enumerate(cells))) for cells in found]
    table = _table(list(advice.HEAD), [_element("tbody", "\n".join(rows))], "advice")
    return f'<h3>What to take here</h3>{table}{_element("p", escape(advice.KEY), "key")}'


def _sentence(result: Result, op: str) -> str:
    """How many cases, how they stand beside the peers, what failed."""
    cases = result.groups(op)
    compared = [group for group in cases if group.ratio(group.best_ours)]
    ratios = [value for group in compared if (value := noise.quoted_ratio(group, group.best_ours))]
    sentence = f"<b>{OPS[op]}</b>: {len(cases)} cases"
    if (noisy := len(compared) - len(ratios)) and not noise.is_busy(result):
        sentence += f"; {NOISY} left out of what follows, as too noisy to compare with a peer: {noisy}"
    if noise.is_busy(result):
        sentence += "; the machine was not idle, so they are not summed up"
    elif ratios:
        ahead = sum(value >= 1 for value in ratios)
        mean = ("their ratios by group are below" if op == "gemm" and groups.lines(result) else
                f"geometric mean of the ratios: {text.ratio(statistics.geometric_mean(ratios))}")
        sentence += (f"; compared with a peer: {len(ratios)}, of which the best of ours is as fast or faster in "
                     f"{ahead} ({mean})")
    elif op != "overhead" and not noisy:
        ours = any(group.best_ours for group in cases)
        sentence += f"; {'no peer' if ours else 'nothing of ours'} was measured, so there are no ratios"
    if failed := sum(bool(row.error) for row in result.of(op)):
        sentence += f"; <b>{FAILED} {failed} {'rows' if failed > 1 else 'row'} failed</b>"
    return sentence + "."


def _summary(result: Result) -> str:
    items = []
    for op in SUMMED_UP:
        if result.of(op):
            items += [_sentence(result, op), *(f"{AUTOMATIC} {escape(said)}" for said in noise.automatic(result, op))]
    if above := sum((row.ceiling or 0) > noise.ABOVE for row in result.rows):
        items.append(f"{above} rows are above 105 % of their ceiling: something disturbed the measuring of the "
                     "ceilings.")
    if not result.of("ceiling"):
        items.append("No ceilings are in the file: there are no shares of them.")
    return _list(items, "summary")


def _left_out(result: Result) -> str:
    items = [escape(f"{reason}: {', '.join(names[:8])}") + f" and {len(names) - 8} more" * (len(names) > 8)
             for reason, names in result.left_out.items()]
    return "<h3>Left out</h3>" + _list(items, "key") if items else ""


def _plots(result: Result, op: str) -> list[Plot]:
    styles = Styles(result.rows)
    beside = plots.ratios(result, styles) + plots.scaling(result, styles) if op == "gemm" else []
    return beside + (plots.bars(result, styles, op) if op != "overhead" else [])


def _section(result: Result, index: int) -> str:
    context = result.context
    said = (text.revision(context), str(context.get("date", "no date")), result.path.name)
    facts = (f"<div><dt>{escape(title)}</dt><dd>{escape(value)}</dd></div>" for title, value in text.facts(context))
    parts = [f"<h2>{escape(text.machine(context))}</h2>", _element("p", " · ".join(map(escape, said)), "sub"),
             *(_element("div", f"Caution: {escape(caution)}", "caution") for caution in noise.cautions(result)),
             _advice(result), "<h3>What was measured, and where</h3>", _element("p", _KEY, "key"), _summary(result),
             _element("dl", "".join(facts), "facts")]
    for op in SUMMED_UP:
        if result.of(op):
            parts += [f'<h3 id="f{index}-{op}">{OPS[op]}</h3>', _groups(result) if op == "gemm" else "",
                      _figures(_plots(result, op)), _rows(result, op)]
    if result.of("ceiling"):
        parts += [f'<h3 id="f{index}-ceiling">{OPS["ceiling"]}</h3>', _ceilings(result)]
    return "\n".join([f'<section class="file" id="f{index}">', *parts, _left_out(result), "</section>"])


def _contents(results: list[Result]) -> str:
    items = []
    for index, result in enumerate(results):
        links = " · ".join(f'<a href="#f{index}-{op}">{OPS[op]}</a>'
                           for op in (*SUMMED_UP, "ceiling") if result.of(op))
        items.append(f'<a href="#f{index}">{escape(text.machine(result.context))}</a>, '
                     f"{escape(text.revision(result.context))}: {links}")
    return _element("nav", _list(items, ""))


_KEY = (
    f"{BEST} and bold: the fastest of ours; {AUTOMATIC} what its backend chooses by itself; {PEER} a peer; "
    f"{FAILED} failed. Rates are medians over the repetitions; the median of endless measuring lies within ± with 95 % "
    "probability (the number of repetitions stands beside it where it is below three). "
    f"{NOISY}: may be off by more than {100 * noise.DOUBTFUL:.0f} %, and is in no chart and no sum. Traffic is "
    "compulsory: each operand once. A ratio above 1 is faster than the fastest peer on the same case, dtype and cache "
    "state, in the same run."
)


def render(results: list[Result]) -> str:
    css = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    sections = "\n".join(_section(result, index) for index, result in enumerate(results))
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{TITLE}</title>\n<style>\n{css}</style></head>\n<body>\n<h1>{TITLE}</h1>\n"
            f"{_contents(results)}\n{sections}\n</body></html>\n")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULT.json")
    parser.add_argument("-o", "--output", default="report.html", metavar="PAGE", help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        results = [load(path) for path in options.results]
        Path(options.output).write_text(render(results), encoding="utf-8")
    except (ResultError, OSError) as error:
        fail(error)
    print(f"{options.output}: {sum(len(result.rows) for result in results)} rows from {len(results)} file(s)")
    return 0


if __name__ == "__main__":
    run(main)
