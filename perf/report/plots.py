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


def bars(result: Result, styles: Styles, op: str = "stencil") -> list[Plot]:
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


# --- Rates on two logarithmic axes ---


class Rates:
    """A figure of rates, in 10^9 of a unit, with round numbers at its axes."""

    TOP, BOTTOM = 10, 250

    def __init__(self, x: list[float], rates: list[float], right: int, caption: str) -> None:
        self.x = Scale(min(x) / 1.15, max(x) * 1.15, 90, right)
        self.y = Scale(min(rates) / 1.3, max(rates) * 1.3, self.BOTTOM, self.TOP)
        self.parts = [words(self.x.start, self.BOTTOM + 34, caption, QUIET, SMALL)]
        for tick in self.y.ticks():
            y, label = self.y.at(tick), text.tick(tick * 1e9, RATE_UNITS["gemm"])
            self.parts += [line(self.x.start, y, right, y), words(84, y + 4, label, QUIET, SMALL, "end")]

    def label_x(self, ticks: Iterable[float]) -> None:
        for tick in ticks:
            x = self.x.at(tick)
            self.parts += [line(x, self.TOP, x, self.BOTTOM), words(x, self.BOTTOM + 16, f"{tick:g}", QUIET, SMALL,
                                                                    "middle")]

    def at(self, x: float, rate: float) -> tuple[float, float]:
        return self.x.at(x), self.y.at(rate)

    def level(self, ceiling: Row, begin: float) -> None:
        """A ceiling of rates, from a place on."""
        end = self.at(self.x.high, ceiling.rate)
        self.parts += [line(*self.at(begin, ceiling.rate), *end, INK),
                       words(end[0], end[1] - 4, f"{ceiling.case} {text.rate(ceiling)}", INK, SMALL, "end")]

    def svg(self, title: str, legend: list[str]) -> str:
        return svg(WIDTH, self.BOTTOM + 42 + 16 * math.ceil(len(legend) / 8), title, [*self.parts, *legend])


def square_size(case: str) -> int | None:
    """4096 of `4096`; none of other shapes, transposes and batches."""
    return int(case) if case.isdigit() else None


def _binding(ceilings: list[Row], rows: list[Row]) -> list[Row]:
    """Those that bind a row of the figure, each in its fastest form; else the highest."""
    found = {}
    for row in sorted((row for row in ceilings if row.place == rows[0].place), key=lambda row: row.speed or 0):
        found[row.case.removesuffix("_streaming")] = row
    bound = {row.binds.removesuffix(" in cache") for row in rows}
    return [row for name, row in found.items() if name in bound] or list(found.values())[-1:]


def _compute_ceilings(result: Result, rows: list[Row]) -> list[Row]:
    return _binding([row for row in result.of("ceiling") if row.rate and row.dtype == rows[0].dtype], rows)


def _memory_ceilings(result: Result, rows: list[Row]) -> list[Row]:
    """A hot row's ceiling depends on its footprint: rates beyond the caches are no roof for it."""
    return _binding([row for row in result.of("ceiling") if row.traffic and row.cache == rows[0].cache], rows)


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
        if len(sizes) < 3:
            continue
        peaks = _compute_ceilings(result, rows)
        figure = Rates(sizes, [row.rate for row in rows + peaks], 700, "m = n = k")
        figure.label_x(sizes)
        subjects = list(dict.fromkeys(row.subject for row in rows))
        for subject in subjects:
            look = styles.of(subject)
            points = [figure.at(*point) for point in sorted((int(row.case), row.rate) for row in rows
                                                            if row.subject == subject)]
            figure.parts += [curve(points, look.colour, stroke_width=1.4, stroke_dasharray=look.dash),
                             *(look.at(*point) for point in points)]
        for peak in peaks:
            figure.level(peak, sizes[0])
        title = f"Square GEMM, {_where_text(*at)}"
        plots.append(Plot(title, "Rate against size. Filled marks: Tessera; hollow: peers; plain line: ceiling.",
                          figure.svg(title, _legend(figure.BOTTOM + 52, subjects, styles))))
    return plots


def _roof(figure: Rates, compute: list[Row], memory: list[Row]) -> None:
    low, high = figure.x.low, figure.x.high
    top = max((row.rate for row in compute), default=math.inf)
    for index, row in enumerate(memory):
        end = min(high, top / row.traffic)
        begin = min(max(low, figure.y.low / row.traffic), end)
        figure.parts += [line(*figure.at(begin, row.traffic * begin), *figure.at(end, row.traffic * end), INK),
                         words(figure.x.start + 6, figure.TOP + 14 + 14 * index, f"╱ {row.case} {text.traffic(row)}",
                               INK, SMALL)]
    steepest = max((row.traffic for row in memory), default=None)
    for row in compute:
        figure.level(row, min(max(row.rate / steepest, low), high) if steepest else low)


def _lowest(rows: list[Row], count: int = 4) -> list[Row]:
    """The cases that are farthest below their ceilings; one where several share a place."""
    ours = sorted((row for row in rows if row.subject.ours and row.ceiling), key=lambda row: -row.ceiling)
    places = {(round(5 * math.log10(row.rate)), round(5 * math.log10(row.rate / row.traffic))): row for row in ours}
    return sorted(places.values(), key=lambda row: row.ceiling)[:count]


def roofline(result: Result, styles: Styles) -> list[Plot]:
    """The best of ours and the best peer of each GEMM below the measured ceilings, a figure a dtype and cache state."""
    plots = []
    groups = [group for group in result.groups("gemm") if any(row.rate and row.traffic for row in group.rows)]
    for at in dict.fromkeys(map(_where, groups)):
        best = [row for group in groups if _where(group) == at
                for row in (group.best_peer, group.best_ours) if row and row.rate and row.traffic]
        compute, memory = (_compute_ceilings(result, best), _memory_ceilings(result, best)) if best else ([], [])
        if not compute and not memory:
            continue
        figure = Rates([row.rate / row.traffic for row in best], [row.rate for row in best + compute], 700,
                       "FLOP per byte of compulsory traffic")
        figure.label_x(figure.x.ticks())
        _roof(figure, compute, memory)
        figure.parts += [styles.of(row.subject).at(*figure.at(row.rate / row.traffic, row.rate))
                         for row in sorted(best, key=lambda row: row.subject.ours)]
        for row in _lowest(best):
            x, y = figure.at(row.rate / row.traffic, row.rate)
            figure.parts.append(words(x + 6, y + 10, row.case, INK, 9))
        title = f"Roofline of GEMM, {_where_text(*at)}"
        legend = _legend(figure.BOTTOM + 52, (row.subject for row in best), styles)
        plots.append(Plot(title, "A mark a case: the fastest algorithm of Tessera (filled) and the fastest peer "
                          "(hollow).", figure.svg(title, legend)))
    return plots
