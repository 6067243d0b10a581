# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML of the report: no scripts, nothing fetched from elsewhere."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path

import charts
import formatting as text
import plots
from model import OPS, RATE_UNITS, Group, Result, Row
from plots import Plot, Styles

BEST, AUTOMATIC, PEER, FAILED = "★", "◆", "○", "✗"


def _element(tag: str, content: str, css: str = "") -> str:
    return f'<{tag} class="{css}">{content}</{tag}>' if css else f"<{tag}>{content}</{tag}>"


def _number(value: float | None, places: int) -> str:
    return _element("td", text.aligned(text.significant(value), places), "num")


def _places(rows: list[Row]) -> tuple[int, int]:
    """Decimals of the columns of rates and of traffic."""
    return (min(max((text.decimals(text.significant(row.rate)) for row in rows), default=0), 3),
            min(max((text.decimals(text.significant(row.traffic)) for row in rows), default=0), 3))


def _figures(found: list[Plot]) -> str:
    if not found:
        return ""
    figures = (
        f"<figure><strong>{escape(plot.title)}</strong>{plot.svg}"
        f"<figcaption>{escape(plot.caption)}</figcaption></figure>"
        for plot in found
    )
    return _element("div", "\n".join(figures), "figures")


def _ceiling(row: Row) -> str:
    if row.ceiling is None:
        return _element("td", text.NONE, "num") + "<td></td>"
    width = 100 * min(max(row.ceiling, 0.0), 1.0)
    meter = f'<span class="meter"><i style="width:{width:.0f}%"></i></span>'
    return _element("td", text.percent(row.ceiling, 1) + meter, "num") + _element("td", escape(row.binds))


def _spread(row: Row) -> str:
    few = f' <span title="repetitions">({row.repetitions})</span>' if row.repetitions < 3 else ""
    return _element("td", text.percent(row.cv, 1) + few, "num")


def _mark(group: Group, row: Row) -> str:
    if row.error:
        return FAILED
    if row.subject.kind == "peer":
        return PEER
    return (BEST if row is group.best_ours else "") + (AUTOMATIC if row.automatic else "")


def _row(group: Group, row: Row, places: tuple[int, int] | None, peers: bool) -> str:
    """`places`: decimals of rate and traffic; None where the time is shown instead."""
    css = "failed" if row.error else "best" if row is group.best_ours else row.subject.kind
    cells = _element("td", _mark(group, row), "mark") + _element("td", escape(row.subject.short), "subject")
    columns = (4 if places else 3) + peers + 1
    if row.error:
        return f'<tr class="{css}">HEAD{cells}<td colspan="{columns}">failed: {escape(row.error)}</td></tr>'
    cells += (
        _number(row.rate, places[0]) + _number(row.traffic, places[1])
        if places
        else _element("td", text.duration(row.seconds), "num")
    )
    cells += _ceiling(row)
    if peers:
        cells += _element("td", text.ratio(group.ratio(row)), "num")
    return f'<tr class="{css}">HEAD{cells}{_spread(row)}</tr>'


def _group(group: Group, places: tuple[int, int] | None, peers: bool) -> str:
    rows = sorted(group.rows, key=lambda row: -(row.speed or 0))
    head = "".join(
        f'<{tag} rowspan="{len(rows)}">{escape(value)}</{tag}>'
        for tag, value in (
            ("th", group.case + (f" · {group.place}" if group.place else "")),
            ("td", group.dtype),
            ("td", group.cache),
        )
    )
    lines = [
        _row(group, row, places, peers).replace("HEAD", "" if index else head, 1) for index, row in enumerate(rows)
    ]
    return "<tbody>" + "\n".join(lines) + "</tbody>"


def _table(result: Result, op: str) -> str:
    groups = result.groups(op)
    places = _places(result.of(op)) if op in RATE_UNITS else None
    peers = any(group.best_peer for group in groups)
    values = '<th class="num">time</th>' if places is None else (
        f'<th class="num">rate<small>{RATE_UNITS[op]}</small></th><th class="num">traffic<small>GB/s</small></th>')
    ratio = '<th class="num">ratio to<br>best peer</th>' if peers else ""
    head = (f'<tr><th>case</th><th>dtype</th><th>cache</th><th></th><th>subject</th>{values}<th class="num">of ceiling'
            f'<small>%</small></th><th>which<br>binds</th>{ratio}<th class="num">spread<small>%</small></th></tr>')
    body = "\n".join(_group(group, places, peers) for group in groups)
    return f"<table><thead>{head}</thead>{body}</table>"


def _ceilings(result: Result) -> str:
    head = (
        "<tr><th>ceiling</th><th>place</th><th>dtype</th><th>cache</th>"
        '<th class="num">compute<small>GFLOP/s</small></th>'
        '<th class="num">memory<small>GB/s</small></th><th class="num">spread<small>%</small></th></tr>'
    )
    rows, places = [], _places(result.of("ceiling"))
    for row in result.of("ceiling"):
        names = "".join(_element("td", escape(value)) for value in (row.case, row.subject.name, row.dtype, row.cache))
        if row.error:
            rows.append(f'<tr class="failed">{names}<td colspan="3">failed: {escape(row.error)}</td></tr>')
        else:
            rows.append(
                f"<tr>{names}{_number(row.rate or None, places[0])}"
                f"{_number(row.traffic or None, places[1])}{_spread(row)}</tr>"
            )
    return f"<table><thead>{head}</thead><tbody>" + "\n".join(rows) + "</tbody></table>"


def _summary(result: Result) -> str:
    """A sentence an operation: how many cases, how they stand beside the peers, what failed."""
    items = []
    for op in ("gemm", "stencil", "overhead"):
        groups = result.groups(op)
        if not groups:
            continue
        ratios = [value for group in groups if (value := group.ratio(group.best_ours))]
        sentence = f"<b>{OPS[op]}</b>: {len(groups)} cases"
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            ahead = sum(value >= 1 for value in ratios)
            sentence += (f"; {len(ratios)} have a peer, and in {ahead} of them the best of ours is as fast or faster "
                         f"(geometric mean of the ratios: {text.ratio(mean)})")
        elif op != "overhead":
            ours = any(group.best_ours for group in groups)
            sentence += f"; {'no peer' if ours else 'nothing of ours'} was measured, so there are no ratios"
        if failed := sum(bool(row.error) for row in result.of(op)):
            sentence += f"; <b>{FAILED} {failed} {'rows' if failed > 1 else 'row'} failed</b>"
        items.append(_element("li", sentence + "."))
        items += [_element("li", f"{AUTOMATIC} {escape(text.automatic(backend, shares))}.")
                  for backend, shares in result.automatic_shares(op).items()]
    if above := sum((row.ceiling or 0) > 1.05 for row in result.rows):
        items.append(
            f"<li>{above} rows are above 105 % of their ceiling: "
            "something disturbed the measuring of the ceilings.</li>"
        )
    if not result.of("ceiling"):
        items.append("<li>No ceilings are in the file: there are no rooflines.</li>")
    return _element("ul", "".join(items), "summary")


def _left_out(result: Result) -> str:
    if not result.left_out:
        return ""
    items = []
    for reason, names in result.left_out.items():
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        items.append(_element("li", f"{escape(reason)}: {escape(', '.join(names[:8]))}{more}"))
    return f"<h3>Left out</h3>{_element('ul', ''.join(items), 'key')}"


def _section(result: Result, index: int) -> str:
    context, prefix = result.context, f"f{index}"
    styles = Styles(result.rows)
    facts = "".join(
        f"<div><dt>{escape(title)}</dt><dd>{escape(value)}</dd></div>" for title, value in text.facts(context)
    )
    parts = [
        f'<section class="file" id="{prefix}"><h2>{escape(text.machine(context))}</h2>',
        _element(
            "p",
            " · ".join(map(escape, (text.revision(context), str(context.get("date", "no date")), result.path.name))),
            "sub",
        ),
        *(_element("div", f"Caution: {escape(caution)}", "caution") for caution in text.cautions(context)),
        _element("dl", facts, "facts"),
        _summary(result),
    ]
    figures = {"gemm": lambda: charts.ratios(result, styles, prefix) + plots.scaling(result, styles, prefix)
               + plots.roofline(result, styles, prefix), "stencil": lambda: charts.bars(result, styles, prefix)}
    for op in ("gemm", "stencil", "overhead"):
        if result.of(op):
            found = figures[op]() if op in figures else []
            parts += [f'<h3 id="{prefix}-{op}">{OPS[op]}</h3>', _figures(found), _table(result, op)]
    if result.of("ceiling"):
        parts += [f'<h3 id="{prefix}-ceiling">{OPS["ceiling"]}</h3>', _ceilings(result)]
    parts += [_left_out(result)]
    if result.ignored:
        parts.append(
            _element("p", f"Left out, for their names are not ours: {escape(', '.join(result.ignored))}.", "key")
        )
    return "\n".join(parts) + "</section>"


def _contents(results: list[Result]) -> str:
    items = []
    for index, result in enumerate(results):
        links = " · ".join(f'<a href="#f{index}-{op}">{OPS[op]}</a>' for op in OPS if result.of(op))
        items.append(f'<li><a href="#f{index}">{escape(text.machine(result.context))}</a>, '
                     f"{escape(text.revision(result.context))}: {links}</li>")
    return "<nav><ul>" + "".join(items) + "</ul></nav>"


_KEY = (
    f"{BEST} and bold: the fastest of ours; {AUTOMATIC} what its backend chooses by itself; {PEER} a peer; "
    f"{FAILED} failed. Rates are medians over the repetitions, the spread is their coefficient of variation (with the "
    "number of repetitions where it is below three). Traffic is compulsory: each operand once. A ratio above 1 is "
    "faster than the fastest peer on the same case, dtype and cache state, in the same run."
)


def render(results: list[Result]) -> str:
    css = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    sections = "\n".join(_section(result, index) for index, result in enumerate(results))
    title = "Tessera: measured performance"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title>\n<style>\n{css}</style></head>\n<body>\n<h1>{title}</h1>\n"
        f"{_element('p', _KEY, 'key')}\n{_contents(results)}\n{sections}\n</body></html>\n"
    )
