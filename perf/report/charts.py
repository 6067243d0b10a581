# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures with a line a case: bars of rates, and ratios to the best peer."""

from __future__ import annotations

import math
from typing import Iterator

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

import formatting as text
from model import OPS, RATE_UNITS, Group, Result
from plots import COLOURS, INK, QUIET, ROWS_A_FIGURE, WIDTH, Plot, Styles, chunks, to_svg, where, where_text

OURS, THEIRS = COLOURS[0], COLOURS[1]


def _parts(groups: list[Group]) -> Iterator[tuple[str, list[Group]]]:
    """A figure's worth of cases at a time, with a title for each."""
    for at in dict.fromkeys(map(where, groups)):
        parts = list(chunks([group for group in groups if where(group) == at], ROWS_A_FIGURE))
        for index, part in enumerate(parts):
            place = f" ({index + 1} of {len(parts)})" if len(parts) > 1 else ""
            yield where_text(*at) + place, part


def _case_axis(axes: Axes, groups: list[Group]) -> None:
    axes.set_yticks(range(len(groups)), [group.case for group in groups])
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _bar(axes: Axes, y: int, group: Group, styles: Styles) -> None:
    best = group.best_ours
    if best and best.rate:
        axes.barh(y, best.rate, height=0.62, color=OURS, alpha=0.35, linewidth=0)
    for row in sorted(group.rows, key=lambda row: row.subject.ours):
        if row.rate:
            axes.plot(row.rate, y, **(styles.of(row.subject) | {"linestyle": "none"}), zorder=3)
    bound = next((row for row in (best, group.best_peer) if row and row.ceiling), None)
    if bound:
        limit = bound.rate / bound.ceiling
        axes.plot([limit, limit], [y - 0.4, y + 0.4], color=INK, linewidth=1.8, solid_capstyle="butt")
    notes = (text.significant(best.rate), f"{text.percent(best.ceiling)} %" if best.ceiling else "",
             styles.label(best.subject)) if best else ("", "", "none of ours")
    for x, alignment, note in zip((1.11, 1.22, 1.25), ("right", "right", "left"), notes):
        axes.text(x, y, note, transform=axes.get_yaxis_transform(), va="center", ha=alignment, fontsize=8)


def _bar_legend(axes: Axes, groups: list[Group], styles: Styles) -> None:
    subjects = dict.fromkeys(row.subject for group in groups for row in group.rows if row.rate)
    handles: list[object] = [Patch(color=OURS, alpha=0.35, linewidth=0, label="best of ours")]
    if any(row.ceiling for group in groups for row in group.rows):
        handles.append(
            Line2D([], [], color=INK, marker="|", markersize=9, markeredgewidth=1.8, linestyle="none", label="ceiling")
        )
    for subject in sorted(subjects, key=lambda subject: not subject.ours):
        handles.append(Line2D([], [], **(styles.of(subject) | {"linestyle": "none"}), label=styles.label(subject)))
    drop = 0.42 / axes.get_position().height / axes.figure.get_figheight()
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -drop), ncols=4, fontsize=8, handletextpad=0.4,
                columnspacing=1.4, borderaxespad=0)


def bars(result: Result, styles: Styles, prefix: str, op: str = "stencil") -> list[Plot]:
    """Rates from zero, a line a case: the best of ours as a bar, every subject as a marker, the ceiling as a stroke."""
    plots = []
    groups = [group for group in result.groups(op) if any(row.rate for row in group.rows)]
    for name, part in _parts(groups):
        figure, axes = plt.subplots(figsize=(WIDTH - 2.6, 0.5 + 0.23 * len(part)))
        for y, group in enumerate(part):
            _bar(axes, y, group, styles)
        _case_axis(axes, part)
        axes.set_xlim(left=0)
        axes.set_xlabel(RATE_UNITS[op])
        axes.grid(True, axis="x")
        _bar_legend(axes, part, styles)
        title = f"{OPS[op]}, {name}"
        plots.append(
            Plot(
                title,
                f"{RATE_UNITS[op]}; at the right the best of ours, its per cent of the binding ceiling, its "
                "algorithm. Filled markers: Tessera; hollow: peers.",
                to_svg(figure, f"{prefix}-b{len(plots)}", title),
            )
        )
    return plots


def _ratio_line(axes: Axes, y: int, group: Group, styles: Styles) -> None:
    best, peer = group.best_ours, group.best_peer
    value = group.ratio(best)
    ahead = value >= 1
    axes.plot([1, value], [y, y], color=OURS if ahead else THEIRS, linewidth=1.6, zorder=2)
    axes.plot(value, y, marker=">" if ahead else "<", color=OURS if ahead else THEIRS, markersize=6, zorder=3)
    for part in group.by_backend():
        if part.automatic and part.automatic is not best:
            axes.plot(group.ratio(part.automatic), y, marker="d", color=INK, markersize=4, zorder=4)
    note = f"{text.ratio(value)}  {styles.label(best.subject)} / {styles.label(peer.subject)}"
    axes.text(1.02, y, note, transform=axes.get_yaxis_transform(), va="center", fontsize=8,
              fontweight="bold" if ahead else "normal")


def ratios(result: Result, styles: Styles, prefix: str, op: str = "gemm") -> list[Plot]:
    """The best of ours over the best peer, on a logarithmic axis, a line a case."""
    plots = []
    groups = [group for group in result.groups(op) if group.ratio(group.best_ours)]
    for name, part in _parts(groups):
        figure, axes = plt.subplots(figsize=(WIDTH - 3.1, 0.5 + 0.2 * len(part)))
        for y, group in enumerate(part):
            _ratio_line(axes, y, group, styles)
        _case_axis(axes, part)
        shown = [group.ratio(row) for group in part for row in group.rows if row.automatic or row is group.best_ours]
        low, high = min(0.5, *shown) / 1.1, max(2.0, *shown) * 1.1
        axes.set(xscale="log", xlim=(low, high), xlabel="best of ours / best peer")
        ticks = [value for value in _nice_ticks() if low <= value <= high]
        axes.set_xticks(ticks, [f"{value:g}×" for value in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.axvline(1, color=QUIET, linewidth=1)
        axes.grid(True, axis="x")
        title = f"{OPS[op]} beside the best peer, {name}"
        plots.append(
            Plot(
                title,
                "▶ right of the line: ours is faster; ◀ left of it: the peer is; "
                "◆ an automatic choice that is not the best.",
                to_svg(figure, f"{prefix}-q{len(plots)}", title),
            )
        )
    return plots


def _nice_ticks() -> list[float]:
    return [digit * math.pow(10, exponent) for exponent in range(-4, 4) for digit in (1, 2, 5)]
