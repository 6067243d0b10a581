# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures with a line a case: bars of rates, and ratios to the best peer."""

from __future__ import annotations

from typing import Callable, Iterator

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

import formatting as text
import noise
from model import OPS, Group, Result
from plots import COLOURS, INK, QUIET, ROWS_A_FIGURE, WIDTH, Plot, Styles, chunks, to_svg, where, where_text

OURS, THEIRS = COLOURS[0], COLOURS[1]
TICKS = 7  # labels that have room on an axis


def _parts(groups: list[Group], doubt: Callable[[Group], float | None]) -> Iterator[tuple[str, list[Group], str]]:
    """A figure's worth of cases at a time, with a title for each, and with what is said of the cases that are too
    doubtful to be drawn."""
    for at in dict.fromkeys(map(where, groups)):
        here = [group for group in groups if where(group) == at]
        known = [group for group in here if not noise.is_doubtful(doubt(group))]
        left_out = f" Left out as too noisy: {len(here) - len(known)}." if len(known) < len(here) else ""
        parts = list(chunks(known, ROWS_A_FIGURE))
        for index, part in enumerate(parts):
            place = f" ({index + 1} of {len(parts)})" if len(parts) > 1 else ""
            yield where_text(*at) + place, part, left_out


def _case_axis(axes: Axes, groups: list[Group]) -> None:
    axes.set_yticks(range(len(groups)), [group.case for group in groups])
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _bar(axes: Axes, y: int, group: Group, styles: Styles) -> None:
    best = group.best_ours
    if best and best.ceiling:
        axes.barh(y, 100 * best.ceiling, height=0.62, color=OURS, alpha=0.35, linewidth=0)
    for row in sorted(group.rows, key=lambda row: row.subject.ours):
        if row.ceiling:
            axes.plot(100 * row.ceiling, y, **(styles.of(row.subject) | {"linestyle": "none"}), zorder=3)
    notes = (text.rate(best), f"{text.percent(best.ceiling)} % {best.binds}", styles.label(best.subject)) if best else (
        "", "", "none of ours")
    for x, alignment, note in zip((1.33, 1.36, 1.62), ("right", "left", "left"), notes):
        axes.text(x, y, note, transform=axes.get_yaxis_transform(), va="center", ha=alignment, fontsize=8)


def _bar_legend(axes: Axes, groups: list[Group], styles: Styles) -> None:
    subjects = dict.fromkeys(row.subject for group in groups for row in group.rows if row.ceiling)
    handles: list[object] = [Patch(color=OURS, alpha=0.35, linewidth=0, label="best of ours")]
    for subject in sorted(subjects, key=lambda subject: not subject.ours):
        handles.append(Line2D([], [], **(styles.of(subject) | {"linestyle": "none"}), label=styles.label(subject)))
    drop = 0.42 / axes.get_position().height / axes.figure.get_figheight()
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -drop), ncols=4, fontsize=8, handletextpad=0.4,
                columnspacing=1.4, borderaxespad=0)


def bars(result: Result, styles: Styles, prefix: str, op: str = "stencil") -> list[Plot]:
    """Shares of the ceiling that binds, a line a case: the best of ours as a bar, every subject as a marker. A rate of
    each case's own would squeeze all others where one is high."""
    plots = []
    groups = [group for group in result.groups(op) if any(row.ceiling for row in group.rows)]
    for name, part, left_out in _parts(groups, lambda group: noise.of_share(group.best_ours)):
        figure, axes = plt.subplots(figsize=(WIDTH - 3.4, 0.5 + 0.23 * len(part)))
        for y, group in enumerate(part):
            _bar(axes, y, group, styles)
        _case_axis(axes, part)
        most = max(100 * row.ceiling for group in part for row in group.rows if row.ceiling)
        axes.set_xlim(0, max(105, 1.05 * most))
        axes.axvline(100, color=INK, linewidth=1.2)
        axes.set_xlabel("% of the ceiling that binds")
        axes.grid(True, axis="x")
        _bar_legend(axes, part, styles)
        title = f"{OPS[op]}, {name}"
        plots.append(
            Plot(
                title,
                "At the right the best of ours: its rate, its share of the ceiling and which that is, its algorithm. "
                f"Filled markers: Tessera; hollow: peers.{left_out}",
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
    """The best of ours over the best peer, on a logarithmic axis, a line a case; none where the machine was not
    idle."""
    plots = []
    if noise.is_busy(result):
        return plots
    groups = [group for group in result.groups(op) if group.ratio(group.best_ours)]
    for name, part, left_out in _parts(groups, lambda group: noise.of_ratio(group.best_ours, group.best_peer)):
        figure, axes = plt.subplots(figsize=(WIDTH - 3.1, 0.5 + 0.2 * len(part)))
        for y, group in enumerate(part):
            _ratio_line(axes, y, group, styles)
        _case_axis(axes, part)
        shown = [group.ratio(row) for group in part for row in group.rows if row.automatic or row is group.best_ours]
        low, high = min(0.5, *shown) / 1.1, max(2.0, *shown) * 1.1
        axes.set(xscale="log", xlim=(low, high), xlabel="best of ours / best peer")
        ticks = ratio_ticks(low, high)
        axes.set_xticks(ticks, [f"{value:g}×" for value in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.axvline(1, color=QUIET, linewidth=1)
        axes.grid(True, axis="x")
        title = f"{OPS[op]} beside the best peer, {name}"
        plots.append(
            Plot(
                title,
                "▶ right of the line: ours is faster; ◀ left of it: the peer is; "
                f"◆ an automatic choice that is not the best.{left_out}",
                to_svg(figure, f"{prefix}-q{len(plots)}", title),
            )
        )
    return plots


def ratio_ticks(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: as many as have room for their labels beside each other."""
    for step, digits in ((1, (1, 2, 5)), (1, (1,)), (2, (1,)), (3, (1,))):
        ticks = [digit * 10.0**power for power in range(-9, 10) if power % step == 0 for digit in digits]
        shown = [tick for tick in ticks if low <= tick <= high]
        if len(shown) <= TICKS:
            break
    return shown
