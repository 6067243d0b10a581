# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of the report. Subjects differ by mark and label, never by colour alone: ours are filled and coloured,
peers are hollow and black or grey."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Callable, Iterable, Iterator

import formatting as text
import noise
from drawing import COLOURS, GRID, INK, QUIET, Scale, curve, line, mark, svg
from drawing import text as words
from model import OPS, RATE_UNITS, Group, Result, Row, Subject

OURS, THEIRS = COLOURS[0], COLOURS[1]
PEER_COLOURS = ("#000000", "#777777")
SQUARE, UP, DIAMOND, LEFT, RIGHT = (4, 45), (3, 0), (4, 0), (3, 270), (3, 90)  # see drawing.mark()
SHAPES = ((24, 0), SQUARE, UP, DIAMOND, (3, 180), (5, 0), (6, 30), LEFT, RIGHT, (5, 180))
DASHES = ("6 3", "2 2", "6 2 1 2", "9 2")
WIDTH, CASES, LINE = 720, 215, 19  # of a figure, of its labels at the left, of a case
ROWS_A_FIGURE = 26
NOTE, SMALL = 11, 10  # sizes of letters


@dataclass(frozen=True)
class Plot:
    title: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Look:
    colour: str
    shape: tuple[int, float]
    filled: bool
    dash: str

    def at(self, x: float, y: float) -> str:
        return mark(x, y, self.shape, self.colour, self.filled)


class Styles:
    """One look a subject, the same in every figure of a file."""

    def __init__(self, rows: Iterable[Row]) -> None:
        subjects = list(dict.fromkeys(row.subject for row in rows if row.subject.kind != "ceiling"))
        self._one_backend = len({subject.backend for subject in subjects if subject.ours}) < 2
        self._looks: dict[str, Look] = {}
        for ours, colours in ((True, COLOURS), (False, PEER_COLOURS)):
            for index, subject in enumerate(subject for subject in subjects if subject.ours == ours):
                self._looks[subject.text] = Look(colours[index % len(colours)], SHAPES[index % len(SHAPES)], ours,
                                                 "none" if ours else DASHES[index % len(DASHES)])

    def of(self, subject: Subject) -> Look:
        return self._looks[subject.text]

    def label(self, subject: Subject) -> str:
        return subject.plain if self._one_backend else subject.short


def _where(item: Row | Group) -> tuple[str, str, str]:
    """What a figure has in common."""
    return (item.place, item.dtype, item.cache)


def _where_text(place: str, dtype: str, cache: str) -> str:
    return f"{dtype}, cache {cache}" + (f", {place}" if place else "")


def _legend(y: float, subjects: Iterable[Subject], styles: Styles) -> list[str]:
    """Ours first. From y on, four and 16 pixels a line."""
    parts = []
    for index, subject in enumerate(sorted(dict.fromkeys(subjects), key=lambda subject: not subject.ours)):
        x, at = 12 + index % 4 * (WIDTH / 4), y + 16 * (index // 4)
        parts += [styles.of(subject).at(x, at - 4), words(x + 9, at, styles.label(subject), INK, SMALL)]
    return parts


# --- A line a case ---


def _parts(groups: list[Group], doubt: Callable[[Group], float | None]) -> Iterator[tuple[str, list[Group], str]]:
    """A figure's worth of cases at a time, in parts of nearly equal length, with a title for each, and with what is
    said of the cases that are too doubtful to be drawn."""
    for at in dict.fromkeys(map(_where, groups)):
        here = [group for group in groups if _where(group) == at]
        known = [group for group in here if not noise.is_doubtful(doubt(group))]
        left_out = f" Left out as too noisy: {len(here) - len(known)}." if len(known) < len(here) else ""
        parts = math.ceil(len(known) / ROWS_A_FIGURE)
        for part in range(parts):
            place = f" ({part + 1} of {parts})" if parts > 1 else ""
            first, last = (len(known) * number // parts for number in (part, part + 1))
            yield _where_text(*at) + place, known[first:last], left_out


def _case_figure(title: str, groups: list[Group], axis: Scale, labels: Callable[[float], str], caption: str, one: float,
                 draw: Callable[[float, Group], list[str]], legend: Callable[[float], list[str]]) -> str:
    """`one`: the value at which a line goes through all cases."""
    bottom = 8 + LINE * len(groups)
    parts = []
    for tick in axis.ticks():
        x = axis.at(tick)
        parts += [line(x, 4, x, bottom), words(x, bottom + 14, labels(tick), QUIET, SMALL, "middle")]
    parts += [line(axis.at(one), 4, axis.at(one), bottom, INK, stroke_width=1.2),
              words(axis.start, bottom + 30, caption, QUIET, SMALL)]
    for index, group in enumerate(groups):
        y = 8 + LINE * (index + 0.5)
        parts += [words(CASES - 8, y + 4, group.case, INK, NOTE, "end"), *draw(y, group)]
    below = legend(bottom + 50)
    return svg(WIDTH, bottom + 42 + 16 * math.ceil(len(below) / 8), title, [*parts, *below])


def bars(result: Result, styles: Styles, op: str) -> list[Plot]:
    """Shares of the ceiling that binds, a line a case: the best of ours as a bar, every subject as a mark. A rate of
    each case's own would squeeze all others where one is high."""
    plots = []
    groups = [group for group in result.groups(op) if any(row.ceiling for row in group.rows)]
    for name, part, left_out in _parts(groups, lambda group: noise.of_share(group.best_ours)):
        shown = [row for group in part for row in group.rows if row.ceiling]
        axis = Scale(0, max(105.0, *(105 * row.ceiling for row in shown)), CASES, 470, logarithmic=False)

        def draw(y: float, group: Group) -> list[str]:
            best = group.best_ours
            drawn = [line(axis.start, y, axis.at(100 * best.ceiling), y, OURS, stroke_width=12, stroke_opacity=0.35)
                     ] if best and best.ceiling else []
            drawn += [styles.of(row.subject).at(axis.at(100 * row.ceiling), y)
                      for row in sorted(group.rows, key=lambda row: row.subject.ours) if row.ceiling]
            notes = (text.rate(best), f"{text.percent(best.ceiling)} % {best.binds}", styles.label(best.subject)
                     ) if best else ("", "", "none of ours")
            return drawn + [words(x, y + 4, note, INK, SMALL, anchor)
                            for x, anchor, note in zip((548, 554, 628), ("end", "start", "start"), notes)]

        title = f"{OPS[op]}, {name}"
        plots.append(Plot(
            title, "Bars, and at the right, the best of ours: its rate, its share of the ceiling and which that is, "
            f"its algorithm. Filled marks: Tessera; hollow: peers.{left_out}",
            _case_figure(title, part, axis, lambda tick: f"{tick:g}", "% of the ceiling that binds", 100, draw,
                         lambda y: _legend(y, (row.subject for row in shown), styles))))
    return plots


def ratios(result: Result, styles: Styles, op: str = "gemm") -> list[Plot]:
    """The best of ours over the best peer, on a logarithmic axis, a line a case; none where the machine was not
    idle."""
    plots: list[Plot] = []
    if noise.is_busy(result):
        return plots
    groups = [group for group in result.groups(op) if group.ratio(group.best_ours)]
    for name, part, left_out in _parts(groups, lambda group: noise.of_ratio(group.best_ours, group.best_peer)):
        shown = [group.ratio(row) for group in part for row in group.rows if row.automatic or row is group.best_ours]
        axis = Scale(min(0.5, *shown) / 1.1, max(2.0, *shown) * 1.1, CASES, 490)

        def draw(y: float, group: Group) -> list[str]:
            best, value = group.best_ours, group.ratio(group.best_ours)
            colour, arrow = (OURS, RIGHT) if value >= 1 else (THEIRS, LEFT)
            drawn = [line(axis.at(1), y, axis.at(value), y, colour, stroke_width=1.6),
                     mark(axis.at(value), y, arrow, colour)]
            drawn += [mark(axis.at(group.ratio(part.automatic)), y, DIAMOND, INK, size=3) for part in group.by_backend()
                      if part.automatic and part.automatic is not best]
            note = f"{text.ratio(value)}  {styles.label(best.subject)} / {styles.label(group.best_peer.subject)}"
            return [*drawn, words(500, y + 4, note, INK, SMALL)]

        title = f"{OPS[op]} beside the best peer, {name}"
        plots.append(Plot(title, "▶ right of the line: ours is faster; ◀ left of it: the peer is; "
                          f"◆ an automatic choice that is not the best.{left_out}",
                          _case_figure(title, part, axis, lambda tick: f"{tick:g}×", "best of ours / best peer", 1,
                                       draw, lambda _: [])))
    return plots


# --- Rates against sizes ---


def square_size(case: str) -> int | None:
    """4096 of `4096`; none of other shapes, transposes and batches."""
    return int(case) if case.isdigit() else None


def _peaks(result: Result, rows: list[Row]) -> list[Row]:
    """The ceilings of computing that bind a row of the figure; else the highest."""
    found = sorted((row for row in result.of("ceiling") if row.rate and row.dtype == rows[0].dtype
                    and row.place == rows[0].place), key=lambda row: row.rate)
    bound = {row.binds for row in rows}
    return [row for row in found if row.case in bound] or found[-1:]


def _rates_figure(title: str, sizes: list[int], rows: list[Row], peaks: list[Row], styles: Styles) -> str:
    """On two logarithmic axes: a curve a subject, a line a ceiling."""
    top, bottom = 10, 250
    rates = [row.rate for row in rows + peaks]
    x = Scale(sizes[0] / 1.15, sizes[-1] * 1.15, 90, 700)
    y = Scale(min(rates) / 1.3, max(rates) * 1.3, bottom, top)
    parts = [words(x.start, bottom + 34, "m = n = k", QUIET, SMALL)]
    for tick in y.ticks():
        label = text.tick(tick * 1e9, RATE_UNITS["gemm"])
        parts += [line(x.start, y.at(tick), x.end, y.at(tick)), words(84, y.at(tick) + 4, label, QUIET, SMALL, "end")]
    for size in sizes:
        parts += [line(x.at(size), top, x.at(size), bottom),
                  words(x.at(size), bottom + 16, str(size), QUIET, SMALL, "middle")]
    subjects = list(dict.fromkeys(row.subject for row in rows))
    for subject in subjects:
        look = styles.of(subject)
        points = [(x.at(size), y.at(rate)) for size, rate in sorted((int(row.case), row.rate) for row in rows
                                                                    if row.subject == subject)]
        parts += [curve(points, look.colour, stroke_width=1.4, stroke_dasharray=look.dash),
                  *(look.at(*point) for point in points)]
    for peak in peaks:
        level = y.at(peak.rate)
        parts += [line(x.at(sizes[0]), level, x.end, level, INK),
                  words(x.end, level - 4, f"{peak.case} {text.rate(peak)}", INK, SMALL, "end")]
    legend = _legend(bottom + 52, subjects, styles)
    return svg(WIDTH, bottom + 42 + 16 * math.ceil(len(legend) / 8), title, [*parts, *legend])


def scaling(result: Result, styles: Styles) -> list[Plot]:
    """Rate against size of the square GEMMs, a figure a dtype and cache state."""
    plots = []
    squares = [row for row in result.of("gemm") if row.rate and square_size(row.case)]
    for at in dict.fromkeys(map(_where, squares)):
        rows = [row for row in squares if _where(row) == at]
        sizes = sorted({int(row.case) for row in rows})
        # Sizes beside a power of two would be a second line.
        if len(powers := [size for size in sizes if math.log2(size).is_integer()]) > 2:
            sizes, rows = powers, [row for row in rows if int(row.case) in powers]
        if len(sizes) > 2:
            title = f"Square GEMM, {_where_text(*at)}"
            plots.append(Plot(title, "Rate against size. Filled marks: Tessera; hollow: peers; plain line: ceiling.",
                              _rates_figure(title, sizes, rows, _peaks(result, rows), styles)))
    return plots
