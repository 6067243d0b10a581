# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The pages' charts as SVG: a line a set of cases, with its geometric mean as a dot and its range as a bar. Written by
the standard library alone, so that the same figures give the same file on any machine."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from html import escape

COLOURS = {"f32": "#0072B2", "f64": "#D55E00"}
INK, QUIET, GRID = "#1a1a1a", "#555555", "#dddddd"
WIDTH, LABELS, VALUES = 760, 270, 84  # in pixels: of all, of the labels at the left, of the values at the right
LINE, TOP, BOTTOM = 26, 78, 44
TICKS = (0.5, 0.7, 1, 2, 3, 5, 10, 20, 30, 50, 100)


@dataclass(frozen=True)
class Line:
    label: str
    values: dict[str, list[float]] = field(default_factory=dict)  # dtype -> a ratio a case; none of a heading


def _text(x: float, y: float, words: str, colour: str = INK, size: int = 13, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}" font-size="{size}">{escape(words)}</text>'


class Axis:
    """A logarithmic axis of ratios."""

    def __init__(self, lines: list[Line]) -> None:
        values = [value for line in lines for found in line.values.values() for value in found]
        self.low, self.high = min(0.7, *values) / 1.06, max(2.0, *values) * 1.06
        self.ticks = [tick for tick in TICKS if self.low <= tick <= self.high]

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return LABELS + share * (WIDTH - LABELS - VALUES)


def _marks(axis: Axis, y: float, values: list[float], colour: str) -> list[str]:
    low, high, centre = min(values), max(values), statistics.geometric_mean(values)
    mark = f'<circle cx="{axis.at(centre):.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if len(values) == 1:
        return [mark]
    return [f'<line x1="{axis.at(low):.1f}" x2="{axis.at(high):.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" '
            f'stroke-width="3" stroke-opacity="0.4" stroke-linecap="round"/>', mark]


def _line(axis: Axis, index: int, line: Line) -> list[str]:
    y = TOP + LINE * (index + 0.5)
    if not line.values:
        return [_text(16, y + 6, line.label, QUIET)]
    drawn = [_text(LABELS - 14, y + 4, line.label, anchor="end")]
    right = WIDTH - VALUES + 40
    for (dtype, colour), dy, x in zip(COLOURS.items(), (-4, 4), (right, right + 38)):
        if values := line.values.get(dtype):
            drawn += _marks(axis, y + dy, values, colour)
            centre = statistics.geometric_mean(values)
            drawn.append(_text(x, y + 4, f"{centre:.2f}" if centre < 9.95 else f"{centre:.0f}", colour, 12, "end"))
    return drawn


def draw(title: str, subtitle: str, axis_label: str, lines: list[Line]) -> str:
    axis = Axis(lines)
    bottom = TOP + LINE * len(lines)
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
    parts.append(_text(axis.at(1) + 5, TOP - 8, "faster than the peer →", QUIET, 11))
    for (dtype, colour), x in zip(COLOURS.items(), (WIDTH - VALUES + 40, WIDTH - VALUES + 78)):
        parts.append(_text(x, TOP - 8, dtype, colour, 12, "end"))
    for index, line in enumerate(lines):
        parts += _line(axis, index, line)
    parts.append(_text(16, bottom + 36, axis_label, QUIET, 12))
    return "\n".join([*parts, "</svg>", ""])
