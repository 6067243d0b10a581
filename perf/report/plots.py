# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of the report, as inline SVG. Subjects differ by marker and label, never by colour alone: ours are
filled and in the colours of Okabe and Ito ("Color Universal Design", 2008), peers are hollow and black or grey."""

from __future__ import annotations

import io
import math
import re
from dataclasses import dataclass
from itertools import islice
from typing import Iterable, Iterator

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

import formatting as text
from model import RATE_UNITS, Group, Result, Row, Subject

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
PEER_COLOURS = ("#000000", "#777777")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
DASHES = ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)))
WIDTH = 7.2  # inches: the printable width of A4
ROWS_A_FIGURE = 26
INK, QUIET = "#1a1a1a", "#555555"

plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "tessera", "font.family": "DejaVu Sans", "font.size": 8.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": QUIET, "axes.linewidth": 0.7,
    "axes.labelcolor": INK, "axes.axisbelow": True, "text.color": INK, "grid.color": "#dddddd", "grid.linewidth": 0.6,
    "xtick.color": QUIET, "ytick.color": QUIET, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
    "lines.markersize": 5.5, "lines.linewidth": 1.4, "legend.frameon": False, "figure.dpi": 96,
})


@dataclass(frozen=True)
class Plot:
    title: str
    caption: str
    svg: str


class Styles:
    """One look a subject, the same in every figure of a file."""

    def __init__(self, rows: Iterable[Row]) -> None:
        subjects = list(dict.fromkeys(row.subject for row in rows if row.subject.kind != "ceiling"))
        self._one_backend = len({subject.backend for subject in subjects if subject.ours}) < 2
        self._looks = {}
        for ours in (True, False):
            for index, subject in enumerate(subject for subject in subjects if subject.ours == ours):
                self._looks[subject.text] = self._look(ours, index)

    @staticmethod
    def _look(ours: bool, index: int) -> dict[str, object]:
        colours = COLOURS if ours else PEER_COLOURS
        colour = colours[index % len(colours)]
        return {
            "color": colour,
            "marker": MARKERS[index % len(MARKERS)],
            "markeredgecolor": colour,
            "markerfacecolor": colour if ours else "white",
            "linestyle": "-" if ours else DASHES[index % len(DASHES)],
        }

    def of(self, subject: Subject) -> dict[str, object]:
        return self._looks[subject.text]

    def label(self, subject: Subject) -> str:
        return subject.plain if self._one_backend else subject.short


def chunks(items: list[Group], size: int) -> Iterator[list[Group]]:
    """Parts of nearly equal length, none longer than `size`."""
    parts = math.ceil(len(items) / size)
    iterator = iter(items)
    for part in range(parts):
        yield list(islice(iterator, len(items) // parts + (part < len(items) % parts)))


def to_svg(figure: Figure, name: str, description: str) -> str:
    """Inline SVG in the page's own font; identifiers carry the figure's name, since a page has many figures."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", pad_inches=0.04, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", "var(--font)", svg)
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def _rate_axis(axis: matplotlib.axis.Axis, unit: str) -> None:
    """Logarithmic, of values in 10^9 of the unit."""
    axis.set_major_formatter(FuncFormatter(lambda value, _position: text.tick(value * 1e9, unit)))
    axis.set_minor_locator(NullLocator())


def _plain(value: float, _position: int = 0) -> str:
    return f"{value:,.0f}".replace(",", text.THIN_SPACE) if value >= 1 else f"{value:g}"


def _log_axis(axis: matplotlib.axis.Axis) -> None:
    axis.set_major_formatter(FuncFormatter(_plain))
    axis.set_minor_locator(NullLocator())


def _spread_out(positions: list[float], gap: float) -> list[float]:
    """Moves labels apart, keeping their order and, as far as can be, their places."""
    order = sorted(range(len(positions)), key=positions.__getitem__)
    placed = [positions[index] for index in order]
    for _ in range(200):
        for low in range(len(placed) - 1):
            overlap = gap - (placed[low + 1] - placed[low])
            if overlap > 1e-9:
                placed[low] -= overlap / 2
                placed[low + 1] += overlap / 2
    result = [0.0] * len(positions)
    for index, place in zip(order, placed):
        result[index] = place
    return result


def _label_ends(axes: Axes, lines: list[tuple[Line2D, str]]) -> None:
    """Names each line at its right end, in the axes' margin."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [to_axes.transform((line.get_xdata()[-1], line.get_ydata()[-1])) for line, _ in lines]
    height = axes.get_position().height * axes.figure.get_figheight() * 72
    for (line, label), (x, y), place in zip(lines, ends, _spread_out([end[1] for end in ends], 10.5 / height)):
        colour = line.get_color()
        axes.plot([x, 1.05], [y, place], transform=axes.transAxes, clip_on=False, color=colour, linewidth=0.6, zorder=1)
        axes.plot(1.05, place, transform=axes.transAxes, clip_on=False, color=colour, marker=line.get_marker(),
                  markerfacecolor=line.get_markerfacecolor())
        axes.text(1.075, place, label, transform=axes.transAxes, va="center", fontsize=8)


def square_size(case: str) -> int | None:
    """4096 of `4096`, `4096^3`, `square-4096`, `nn_4096x4096x4096`; none for other shapes, transposes and batches."""
    if match := re.search(r"(\d+)x(\d+)x(\d+)", case):
        size, rest = match[1], case.replace(match[0], "", 1)
        if len({match[1], match[2], match[3]}) > 1:
            return None
    elif match := re.search(r"(\d+)(\^3)?", case):
        size, rest = match[1], case.replace(match[0], "", 1)
    else:
        return None
    words = set(re.split(r"[-_.:=]+", rest.lower()))
    return int(size) if words <= {"", "nn", "n", "square", "cube", "gemm"} else None


def _binding(ceilings: list[Row], rows: list[Row]) -> list[Row]:
    """Those that bind a row of the figure, each in its fastest form; else the highest."""
    found = {}
    for row in sorted((row for row in ceilings if row.place == rows[0].place), key=lambda row: row.speed or 0):
        found[row.case.removesuffix("_streaming")] = row
    bound = {row.binds.removesuffix(" in cache") for row in rows}
    return [row for name, row in found.items() if name in bound] or list(found.values())[-1:]


def where(item: Row | Group) -> tuple[str, str, str]:
    """What a figure has in common."""
    return (item.place, item.dtype, item.cache)


def where_text(place: str, dtype: str, cache: str) -> str:
    return f"{dtype}, cache {cache}" + (f", {place}" if place else "")


def _compute_ceilings(result: Result, rows: list[Row]) -> list[Row]:
    return _binding([row for row in result.of("ceiling") if row.rate and row.dtype == rows[0].dtype], rows)


def _memory_ceilings(result: Result, rows: list[Row]) -> list[Row]:
    """A hot row's ceiling depends on its footprint: rates beyond the caches are no roof for it."""
    return _binding([row for row in result.of("ceiling") if row.traffic and row.cache == rows[0].cache], rows)


def scaling(result: Result, styles: Styles, prefix: str) -> list[Plot]:
    """Rate against size of the square GEMMs, a figure a dtype and cache state."""
    plots = []
    squares = [row for row in result.of("gemm") if row.rate and square_size(row.case)]
    for at in dict.fromkeys(map(where, squares)):
        rows = [row for row in squares if where(row) == at]
        sizes = sorted({square_size(row.case) for row in rows})
        if len(sizes) < 3:
            continue
        # Sizes beside a power of two would be a second line.
        if len(powers := [size for size in sizes if math.log2(size).is_integer()]) > 2:
            sizes, rows = powers, [row for row in rows if square_size(row.case) in powers]
        figure, axes = plt.subplots(figsize=(WIDTH - 1.7, 2.75))
        axes.set(xscale="log", yscale="log", xlabel="m = n = k")
        lines = []
        for subject in dict.fromkeys(row.subject for row in rows):
            points = sorted((square_size(row.case), row.rate) for row in rows if row.subject == subject)
            line, = axes.plot(*zip(*points), **styles.of(subject), zorder=3 if subject.ours else 2)
            lines.append((line, styles.label(subject)))
        for peak in _compute_ceilings(result, rows):
            lines.append((axes.axhline(peak.rate, color=QUIET, linewidth=0.9), f"{peak.case} (ceiling)"))
            lines[-1][0].set_data([sizes[0], sizes[-1]], [peak.rate, peak.rate])
            lines[-1][0].set_transform(axes.transData)
        shown = sizes
        axes.set_xticks(shown, [str(size) for size in shown], rotation=0 if len(shown) < 9 else 45)
        axes.xaxis.set_minor_locator(NullLocator())
        _rate_axis(axes.yaxis, RATE_UNITS["gemm"])
        axes.grid(True)
        _label_ends(axes, lines)
        title = f"Square GEMM, {where_text(*at)}"
        plots.append(Plot(title, "Rate against size. Filled markers: Tessera; hollow: peers; plain line: ceiling.",
                          to_svg(figure, f"{prefix}-s{len(plots)}", title)))
    return plots


def _roof(axes: Axes, compute: list[Row], memory: list[Row], low: float, high: float) -> None:
    top = max((row.rate for row in compute), default=math.inf)
    x = np.geomspace(low, high, 200)
    for row in memory:
        y = np.minimum(row.traffic * x, top)
        rising = row.traffic * x <= top
        axes.plot(x[rising], y[rising], color=INK, linewidth=1.1)
    names = "\n".join(f"╱ {row.case} {text.traffic(row)}" for row in memory)
    axes.text(0.015, 0.98, names, transform=axes.transAxes, va="top", fontsize=8, linespacing=1.4)
    steepest = max((row.traffic for row in memory), default=None)
    for row in compute:
        start = row.rate / steepest if steepest else low
        axes.plot([max(start, low), high], [row.rate, row.rate], color=INK, linewidth=1.1)
        axes.annotate(f"{row.case} {text.rate(row)}", (high, row.rate), (0, 3), fontsize=8,
                      textcoords="offset points", ha="right", va="bottom")


def _name_lowest(axes: Axes, rows: list[Row], count: int = 4) -> None:
    """The cases that are farthest below their ceilings; one where several share a place."""
    ours = sorted((row for row in rows if row.subject.ours and row.ceiling), key=lambda row: row.ceiling)
    places = {
        (round(5 * math.log10(row.rate)), round(5 * math.log10(row.rate / row.traffic))): row for row in reversed(ours)
    }
    for row in sorted(places.values(), key=lambda row: row.ceiling)[:count]:
        axes.annotate(
            row.case, (row.rate / row.traffic, row.rate), (5, -3), textcoords="offset points", fontsize=7, va="top"
        )


def roofline(result: Result, styles: Styles, prefix: str) -> list[Plot]:
    """The best of ours and the best peer of each GEMM below the measured ceilings, a figure a dtype and cache state."""
    plots = []
    groups = [group for group in result.groups("gemm") if any(row.rate and row.traffic for row in group.rows)]
    for at in dict.fromkeys(map(where, groups)):
        best = [row for group in groups if where(group) == at
                for row in (group.best_peer, group.best_ours) if row and row.rate and row.traffic]
        compute, memory = (_compute_ceilings(result, best), _memory_ceilings(result, best)) if best else ([], [])
        if not compute and not memory:
            continue
        figure, axes = plt.subplots(figsize=(WIDTH - 0.6, 2.9))
        axes.set(xscale="log", yscale="log", xlabel="FLOP per byte of compulsory traffic")
        for subject in dict.fromkeys(row.subject for row in sorted(best, key=lambda row: not row.subject.ours)):
            points = [(row.rate / row.traffic, row.rate) for row in best if row.subject == subject]
            axes.plot(
                *zip(*points),
                **(styles.of(subject) | {"linestyle": "none"}),
                label=styles.label(subject),
                alpha=0.9,
                zorder=4 if subject.ours else 3,
            )
        intensities = [row.rate / row.traffic for row in best]
        _roof(axes, compute, memory, min(intensities) / 1.6, max(intensities) * 1.6)
        _name_lowest(axes, best)
        _log_axis(axes.xaxis)
        _rate_axis(axes.yaxis, RATE_UNITS["gemm"])
        axes.grid(True)
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.2), ncols=3, fontsize=8, handletextpad=0.3, borderaxespad=0)
        title = f"Roofline of GEMM, {where_text(*at)}"
        plots.append(
            Plot(
                title,
                "A marker a case: the fastest algorithm of Tessera (filled) and the fastest peer (hollow).",
                to_svg(figure, f"{prefix}-r{len(plots)}", title),
            )
        )
    return plots
