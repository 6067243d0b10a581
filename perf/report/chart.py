# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The pages' charts as SVG: a line a set of cases, with a dot for each case, and its slowest case as a number. Written
by the standard library alone, so that the same figures give the same file on any machine."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import Iterator

COLOURS = ("#0072B2", "#D55E00")  # of a section's first and second type
INK, QUIET, GRID = "#1a1a1a", "#555555", "#dddddd"
WIDTH, LABELS, VALUES = 760, 290, 104  # in pixels: of all, of the labels at the left, of the values at the right
COLUMNS = (WIDTH - 54, WIDTH - 8)  # where the values of the two types end
LINE, TOP, BOTTOM = 24, 78, 44
TICKS = (0.5, 0.7, 1, 2, 3, 5, 10, 20, 30, 50, 100)


@dataclass(frozen=True)
class Line:
    label: str
    values: dict[str, list[float]] = field(default_factory=dict)  # dtype -> a ratio a case


@dataclass(frozen=True)
class Section:
    """Lines of the same one or two types, below a heading that names them."""

    title: str
    dtypes: tuple[str, ...]
    lines: list[Line]


def _text(x: float, y: float, words: str, colour: str = INK, size: int = 13, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}" font-size="{size}">{escape(words)}</text>'


class Axis:
    """A logarithmic axis of ratios."""

    def __init__(self, sections: list[Section]) -> None:
        lines = [line for section in sections for line in section.lines]
        values = [value for line in lines for found in line.values.values() for value in found]
        self.low, self.high = min(0.7, *values) / 1.06, max(2.0, *values) * 1.06
        self.ticks = [tick for tick in TICKS if self.low <= tick <= self.high]

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return LABELS + share * (WIDTH - LABELS - VALUES)


def _marks(axis: Axis, y: float, values: list[float], colour: str) -> list[str]:
    ends = f'x1="{axis.at(min(values)):.1f}" x2="{axis.at(max(values)):.1f}" y1="{y:.1f}" y2="{y:.1f}"'
    bar = [f'<line {ends} stroke="{colour}" stroke-opacity="0.4"/>'] if len(values) > 1 else []
    return bar + [f'<circle cx="{axis.at(value):.1f}" cy="{y:.1f}" r="3.2" fill="{colour}" fill-opacity="0.8"/>'
                  for value in values]


def _line(axis: Axis, y: float, dtypes: tuple[str, ...], line: Line) -> Iterator[str]:
    yield _text(LABELS - 14, y + 4, line.label, anchor="end")
    for dtype, colour, dy, x in zip(dtypes, COLOURS, (-4, 4), COLUMNS):
        if values := line.values.get(dtype):
            yield from _marks(axis, y + dy, values, colour)
            slowest = min(values)
            yield _text(x, y + 4, f"{slowest:.2f}" if slowest < 9.95 else f"{slowest:.0f}", colour, 12, "end")


def _section(axis: Axis, y: float, section: Section) -> Iterator[str]:
    yield _text(16, y + 6, section.title, QUIET)
    for dtype, colour, x in zip(section.dtypes, COLOURS, COLUMNS):
        yield _text(x, y + 6, dtype, colour, 12, "end")
    for index, line in enumerate(section.lines, 1):
        yield from _line(axis, y + LINE * index, section.dtypes, line)


def draw(title: str, subtitle: str, axis_label: str, sections: list[Section]) -> str:
    axis = Axis(sections)
    bottom = TOP + LINE * sum(len(section.lines) + 1 for section in sections)
    height = bottom + BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
             f'viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" role="img" '
             f'aria-label="{escape(title)}">',
             f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
             _text(16, 26, title, size=16), _text(16, 46, subtitle, QUIET, 12)]
    for tick in axis.ticks:
        x = axis.at(tick)
        colour = QUIET if tick == 1 else GRID
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{bottom}" stroke="{colour}"/>')
        parts.append(_text(x, bottom + 16, f"{tick:g}×", QUIET, 12, "middle"))
    parts += [_text(axis.at(1) + 5, TOP - 8, "faster than the peer →", QUIET, 11),
              _text(COLUMNS[1], TOP - 8, "slowest case", QUIET, 11, "end")]
    y = TOP + LINE * 0.5
    for section in sections:
        parts += _section(axis, y, section)
        y += LINE * (len(section.lines) + 1)
    parts.append(_text(16, bottom + 36, axis_label, QUIET, 12))
    return "\n".join([*parts, "</svg>", ""])
