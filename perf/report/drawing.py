# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What all charts are drawn with: scales, marks and text as SVG, written by the standard library alone, so that the
same figures give the same file on any machine. Lengths are in pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe, Ito: Color Universal Design, 2008
INK, QUIET, GRID = "#1a1a1a", "#555555", "#dddddd"
TICKS = 7  # labels that have room on an axis


@dataclass(frozen=True)
class Scale:
    """Where a value lies on an axis."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = True

    def at(self, value: float) -> float:
        share = (math.log(value / self.low) / math.log(self.high / self.low) if self.logarithmic
                 else (value - self.low) / (self.high - self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round numbers, as many as have room for their labels beside each other."""
        if not self.logarithmic:
            step = next(step for step in (20, 50, 200, 1000, 10**9) if self.high < TICKS * step)
            return [float(tick) for tick in range(0, TICKS * step, step) if tick <= self.high]
        for step, digits in ((1, (1, 2, 5)), (1, (1,)), (2, (1,)), (3, (1,))):
            ticks = [digit * 10.0**power for power in range(-9, 10) if power % step == 0 for digit in digits]
            shown = [tick for tick in ticks if self.low <= tick <= self.high]
            if len(shown) <= TICKS:
                break
        return shown


def _place(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.1f}"


def text(x: float, y: float, words: str, colour: str = INK, size: int = 13, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}" font-size="{size}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = GRID, **more: object) -> str:
    """`more`: attributes, with _ for -."""
    ends = f'x1="{_place(x1)}" x2="{_place(x2)}" y1="{_place(y1)}" y2="{_place(y2)}"'
    return f'<line {ends} stroke="{colour}"{_attributes(more)}/>'


def _attributes(more: dict[str, object]) -> str:
    return "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())


def curve(points: list[tuple[float, float]], colour: str, **more: object) -> str:
    at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{at}" fill="none" stroke="{colour}"{_attributes(more)}/>'


def dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}" fill-opacity="0.8"/>'


def mark(x: float, y: float, shape: tuple[int, float], colour: str, filled: bool = True, size: float = 4.2) -> str:
    """A regular polygon: its corners, and the degrees that it is turned by."""
    corners, turn = shape
    angles = [math.radians(turn - 90 + 360 * corner / corners) for corner in range(corners)]
    points = " ".join(f"{x + size * math.cos(angle):.1f},{y + size * math.sin(angle):.1f}" for angle in angles)
    return f'<polygon points="{points}" fill="{colour if filled else "#ffffff"}" stroke="{colour}"/>'


def svg(width: int, height: int, title: str, parts: list[str]) -> str:
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" role="img" '
            f'aria-label="{escape(title)}">')
    return "\n".join([head, *parts, "</svg>", ""])
