# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What a file means: for each family of problems the backend and the algorithms to take on that machine, and how far
they are from the ceiling and from the peers."""

from __future__ import annotations

import statistics
from collections import Counter

import formatting as text
import noise
from model import OPS, Group, Result

HEAD = ("problems", "take", "algorithms", "of the ceiling", "beside the best peer", "chosen by itself", "cases")


def family_of(group: Group) -> str:
    """What the suite calls problems of its kind; in files of before that, their operation."""
    return next((row.family for row in group.rows if row.family), OPS[group.op])


def _backend(groups: list[Group]) -> str:
    """The one that is fastest on average where all were measured."""
    names = dict.fromkeys(name for group in groups for name in group.backends)
    logs: dict[str, list[float]] = {name: [] for name in names}
    for group in groups:
        parts = {part.backends[0]: part.best_ours for part in group.by_backend() if part.best_ours}
        if len(parts) == len(names):
            for name, row in parts.items():
                logs[name].append(row.speed / group.best_ours.speed)
    return max(names, key=lambda name: statistics.geometric_mean(logs[name]) if logs[name] else 0.0)


def _cells(family: str, groups: list[Group]) -> tuple[str, ...]:
    """Of one family in one place, in the order of HEAD."""
    known = [group for group in groups if not noise.is_doubtful(noise.of_share(group.best_ours))]
    noisy = len(groups) - len(known)
    cases = str(len(groups)) + (f", {noisy} too noisy" if noisy else "")
    if not known:
        return (family, "too noisy to say", *[text.NONE] * 4, cases)
    backend = _backend(known)
    algorithms: Counter[str] = Counter()  # how often each is the fastest
    shares, ratios, automatic = [], [], []  # of the ceiling, to the best peer, of the fastest algorithm's rate
    for group in known:
        part = next((part for part in group.by_backend() if part.backends == [backend]), group)
        if not (best := part.best_ours):
            continue
        algorithms[best.subject.name] += 1
        shares += [best.ceiling] if best.ceiling else []
        ratios += [ratio] if (ratio := noise.quoted_ratio(part, best)) else []
        if part.automatic and not noise.is_doubtful(noise.of_ratio(part.automatic, best)):
            automatic.append(part.automatic_share)
    names = ", ".join(f"{name} ({count})" if len(algorithms) > 1 else name for name, count in algorithms.most_common())
    ranges = text.ranged(shares, _percent), text.ranged(ratios, text.ratio)
    return (family, backend, names, *ranges, _automatic(automatic), cases)


def advise(result: Result) -> list[tuple[str, ...]]:
    """A row of cells for each family of problems in each place, in the order of HEAD; nothing where the machine was not
    idle."""
    if noise.is_busy(result):
        return []
    families: dict[str, list[Group]] = {}
    for op in ("gemm", "stencil", "system"):
        for group in result.groups(op):
            if group.best_ours:
                families.setdefault(family_of(group) + (f", {group.place}" if group.place else ""), []).append(group)
    return [_cells(family, groups) for family, groups in families.items()]


def _percent(value: float) -> str:
    return f"{text.percent(value)} %"


def _automatic(shares: list[float]) -> str:
    if not shares:
        return text.NONE
    share = statistics.geometric_mean(shares)
    return f"{_percent(share)} of it" + ("" if share >= text.GOOD_SHARE else ": force one")


KEY = (
    "The fastest backend of each family of problems; its algorithms, with the number of cases in which each is the "
    "fastest; their rate as a share of the ceiling that binds and over that of the fastest peer, as geometric mean and "
    "range; and what the backend's own choice reaches. Cases whose figures may be off by more than "
    f"{100 * noise.DOUBTFUL:.0f} % are too noisy to conclude from."
)
