# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML of the report: no scripts, nothing fetched from elsewhere."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path

import advice
import charts
import formatting as text
import noise
import plots
from model import OPS, RATE_UNITS, Group, Result, Row
from plots import Plot, Styles

BEST, AUTOMATIC, PEER, FAILED, NOISY = "★", "◆", "○", "✗", "≈"


def _element(tag: str, content: str, css: str = "") -> str:
    return f'<{tag} class="{css}">{content}</{tag}>' if css else f"<{tag}>{content}</{tag}>"


def _number(value: str) -> str:
    return _element("td", value, "num")


def _table_of(head: str, body: str, css: str = "") -> str:
    return _element("table", f"<thead>{head}</thead>{body}", css)


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


def _doubt(row: Row) -> str:
    few = f' <span title="repetitions">({row.repetitions})</span>' if row.repetitions < 3 else ""
    value = noise.of_row(row)
    return _element("td", text.percent(value, 1) + few, "num doubtful" if noise.is_doubtful(value) else "num")


def _ratio(group: Group, row: Row) -> str:
    quoted = noise.quoted_ratio(group, row)
    value = text.ratio(group.ratio(row))
    return _number(value if quoted or value == text.NONE else f'<span class="doubtful">{NOISY} {value}</span>')


def _mark(group: Group, row: Row) -> str:
    if row.error:
        return FAILED
    if row.subject.kind == "peer":
        return PEER
    return (BEST if row is group.best_ours else "") + (AUTOMATIC if row.automatic else "")


def _row(group: Group, row: Row, rated: bool, peers: bool) -> str:
    """`rated`: rate and traffic are shown, else the time."""
    css = "failed" if row.error else "best" if row is group.best_ours else row.subject.kind
    cells = _element("td", _mark(group, row), "mark") + _element("td", escape(row.subject.short), "subject")
    columns = (4 if rated else 3) + peers + 1
    if row.error:
        return f'<tr class="{css}">HEAD{cells}<td colspan="{columns}">failed: {escape(row.error)}</td></tr>'
    shown = (text.rate(row), text.traffic(row)) if rated else (text.duration(row.seconds),)
    cells += "".join(map(_number, shown))
    cells += _ceiling(row)
    if peers:
        cells += _ratio(group, row)
    return f'<tr class="{css}">HEAD{cells}{_doubt(row)}</tr>'


def _group(group: Group, rated: bool, peers: bool) -> str:
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
        _row(group, row, rated, peers).replace("HEAD", "" if index else head, 1) for index, row in enumerate(rows)
    ]
    return "<tbody>" + "\n".join(lines) + "</tbody>"


def _table(result: Result, op: str) -> str:
    groups = result.groups(op)
    rated = op in RATE_UNITS
    peers = any(group.best_peer for group in groups)
    values = '<th class="num">rate</th><th class="num">traffic</th>' if rated else '<th class="num">time</th>'
    ratio = '<th class="num">ratio to<br>best peer</th>' if peers else ""
    head = (f'<tr><th>case</th><th>dtype</th><th>cache</th><th></th><th>subject</th>{values}<th class="num">of ceiling'
            f'<small>%</small></th><th>which<br>binds</th>{ratio}<th class="num">±<small>%</small></th></tr>')
    return _table_of(head, "\n".join(_group(group, rated, peers) for group in groups))


def _ceilings(result: Result) -> str:
    head = (
        "<tr><th>ceiling</th><th>place</th><th>dtype</th><th>cache</th>"
        '<th class="num">compute</th><th class="num">memory</th><th class="num">±<small>%</small></th></tr>'
    )
    rows = []
    for row in result.of("ceiling"):
        names = "".join(_element("td", escape(value)) for value in (row.case, row.subject.name, row.dtype, row.cache))
        if row.error:
            rows.append(f'<tr class="failed">{names}<td colspan="3">failed: {escape(row.error)}</td></tr>')
        else:
            rows.append(f"<tr>{names}{_number(text.rate(row))}{_number(text.traffic(row))}{_doubt(row)}</tr>")
    return _table_of(head, "<tbody>" + "\n".join(rows) + "</tbody>")


def _advice(result: Result) -> str:
    """What it means, before all else."""
    found = advice.advise(result)
    if not found:
        return ""
    head = "".join(_element("th", title) for title in advice.HEAD)
    rows = "\n".join(
        "<tr>" + "".join(_element("td" if index else "th", escape(cell))
                         for index, cell in enumerate(advice.cells(item))) + "</tr>"
        for item in found
    )
    table = _table_of(f"<tr>{head}</tr>", f"<tbody>{rows}</tbody>", "advice")
    return f'<h3>What to take here</h3>{table}{_element("p", escape(advice.KEY), "key")}'


def _summary(result: Result) -> str:
    """A sentence an operation: how many cases, how they stand beside the peers, what failed."""
    items = []
    for op in ("gemm", "stencil", "system", "overhead"):
        groups = result.groups(op)
        if not groups:
            continue
        compared = [group for group in groups if group.ratio(group.best_ours)]
        ratios = [value for group in compared if (value := noise.quoted_ratio(group, group.best_ours))]
        sentence = f"<b>{OPS[op]}</b>: {len(groups)} cases"
        if (noisy := len(compared) - len(ratios)) and not noise.is_busy(result):
            sentence += f"; {NOISY} left out of what follows, as too noisy to compare with a peer: {noisy}"
        if noise.is_busy(result):
            sentence += "; the machine was not idle, so they are not summed up"
        elif ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            ahead = sum(value >= 1 for value in ratios)
            sentence += (f"; compared with a peer: {len(ratios)}, of which the best of ours is as fast or faster in "
                         f"{ahead} (geometric mean of the ratios: {text.ratio(mean)})")
        elif op != "overhead" and not noisy:
            ours = any(group.best_ours for group in groups)
            sentence += f"; {'no peer' if ours else 'nothing of ours'} was measured, so there are no ratios"
        if failed := sum(bool(row.error) for row in result.of(op)):
            sentence += f"; <b>{FAILED} {failed} {'rows' if failed > 1 else 'row'} failed</b>"
        items.append(_element("li", sentence + "."))
        items += [_element("li", f"{AUTOMATIC} {escape(text.automatic(backend, shares))}.")
                  for backend, shares in noise.automatic_shares(result, op).items() if not noise.is_busy(result)]
    if above := sum((row.ceiling or 0) > noise.ABOVE for row in result.rows):
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
        *(_element("div", f"Caution: {escape(caution)}", "caution") for caution in noise.cautions(result)),
        _advice(result),
        "<h3>What was measured, and where</h3>",
        _element("p", _KEY, "key"),
        _summary(result),
        _element("dl", facts, "facts"),
    ]
    figures = {"gemm": lambda: charts.ratios(result, styles, prefix) + plots.scaling(result, styles, prefix)
               + plots.roofline(result, styles, prefix), "stencil": lambda: charts.bars(result, styles, prefix),
               "system": lambda: charts.bars(result, styles, f"{prefix}-systems", "system")}
    for op in ("gemm", "stencil", "system", "overhead"):
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
    f"{FAILED} failed. Rates are medians over the repetitions; the median of endless measuring lies within ± with 95 % "
    "probability (the number of repetitions stands beside it where it is below three). "
    f"{NOISY}: may be off by more than {100 * noise.DOUBTFUL:.0f} %, and is in no chart and no sum. Traffic is "
    "compulsory: each operand once. A ratio above 1 is faster than the fastest peer on the same case, dtype and cache "
    "state, in the same run."
)


def render(results: list[Result]) -> str:
    css = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
    sections = "\n".join(_section(result, index) for index, result in enumerate(results))
    title = "Tessera: measured performance"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title>\n<style>\n{css}</style></head>\n<body>\n<h1>{title}</h1>\n"
        f"{_contents(results)}\n{sections}\n</body></html>\n"
    )
