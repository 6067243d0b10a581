# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The pages' charts: a line a set of cases, with a dot for each case, and its slowest case as a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator

from drawing import COLOURS, GRID, QUIET, Scale, dot, line, svg, text
from formatting import factor

WIDTH, LABELS, VALUES = 760, 290, 104  # of all, of the labels at the left, of the values at the right
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


def axis_of(sections: list[Section]) -> Scale:
    """A logarithmic axis of ratios."""
    lines = [line for section in sections for line in section.lines]
    values = [value for line in lines for found in line.values.values() for value in found]
    return Scale(min(0.7, *values) / 1.06, max(2.0, *values) * 1.06, LABELS, WIDTH - VALUES)


def _marks(axis: Scale, y: float, values: list[float], colour: str) -> Iterator[str]:
    if len(values) > 1:
        yield line(axis.at(min(values)), y, axis.at(max(values)), y, colour, stroke_opacity=0.4)
    yield from (dot(axis.at(value), y, colour) for value in values)


def _line(axis: Scale, y: float, dtypes: tuple[str, ...], of_line: Line) -> Iterator[str]:
    yield text(LABELS - 14, y + 4, of_line.label, anchor="end")
    for dtype, colour, dy, x in zip(dtypes, COLOURS, (-4, 4), COLUMNS):
        if values := of_line.values.get(dtype):
            yield from _marks(axis, y + dy, values, colour)
            yield text(x, y + 4, factor(min(values)), colour, 12, "end")


def _section(axis: Scale, y: float, section: Section) -> Iterator[str]:
    yield text(16, y + 6, section.title, QUIET)
    for dtype, colour, x in zip(section.dtypes, COLOURS, COLUMNS):
        yield text(x, y + 6, dtype, colour, 12, "end")
    for index, of_line in enumerate(section.lines, 1):
        yield from _line(axis, y + LINE * index, section.dtypes, of_line)


def draw(title: str, subtitle: str, axis_label: str, sections: list[Section]) -> str:
    axis = axis_of(sections)
    bottom = TOP + LINE * sum(len(section.lines) + 1 for section in sections)
    height = bottom + BOTTOM
    parts = [f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
             text(16, 26, title, size=16), text(16, 46, subtitle, QUIET, 12)]
    for tick in (tick for tick in TICKS if axis.low <= tick <= axis.high):
        x = axis.at(tick)
        parts.append(line(x, TOP - 4, x, bottom, QUIET if tick == 1 else GRID))
        parts.append(text(x, bottom + 16, f"{tick:g}×", QUIET, 12, "middle"))
    parts += [text(axis.at(1) + 5, TOP - 8, "faster than the peer →", QUIET, 11),
              text(COLUMNS[1], TOP - 8, "slowest case", QUIET, 11, "end")]
    y = TOP + LINE * 0.5
    for section in sections:
        parts += _section(axis, y, section)
        y += LINE * (len(section.lines) + 1)
    return svg(WIDTH, height, title, [*parts, text(16, bottom + 36, axis_label, QUIET, 12)])
