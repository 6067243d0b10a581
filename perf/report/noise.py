# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""How well a figure is known, and which figures are too doubtful to quote.

A figure is a median. Its interval holds the median that endless measuring would find with 95 % probability: samples
that are exchangeable lie above or below it as coins fall, so their order tells (H. David and H. Nagaraja, "Order
Statistics", 3rd ed., section 7.1). Fewer than six cannot promise as much; their whole range is taken. What is
exchangeable are the passes over the suite, whose medians stand in the file: samples of one pass share the clock and
the neighbours of that minute.
"""

from __future__ import annotations

import math
import statistics

import formatting as text
from model import Group, Result, Row

DOUBTFUL = 0.25  # a figure that may be off by more than that is in no headline and no chart
ABOVE = 1.05  # of a ceiling: what is above it says that the ceiling was disturbed
BUSY = 0.5  # of a file's rows: where more are doubtful, the machine was not idle
_COVERAGE = 0.95
# Half the width of that interval of a median of n normal samples: 1.96 sqrt(pi / 2) / sqrt(n) standard deviations.
_NORMAL = 1.96 * math.sqrt(math.pi / 2)


def interval(values: list[float]) -> tuple[float, float]:
    ordered, cut, beyond = sorted(values), 0, 0.0
    for at in range(len(ordered) // 2):
        beyond += math.comb(len(ordered), at) * 0.5 ** len(ordered)  # that the median lies below ordered[at]
        if 2 * beyond > 1 - _COVERAGE:
            break
        cut = at
    return ordered[cut], ordered[-1 - cut]


def doubt(values: list[float]) -> float:
    """The larger factor by which the interval's ends differ from the median, less 1."""
    low, high = interval(values)
    middle = statistics.median(values)
    return max(high / middle, middle / low) - 1


def of_row(row: Row | None) -> float | None:
    """Of the row's own speed; None where there is one sample."""
    if row is None or row.seconds is None:
        return None
    if row.interval:
        low, high = row.interval
        return max(high / row.seconds, row.seconds / low) - 1
    if passes := row.passes.get("speed"):
        return doubt(passes)
    return _NORMAL * row.cv / math.sqrt(row.repetitions) if row.cv is not None and row.repetitions > 1 else None


def of_share(row: Row) -> float | None:
    """Of the row's share of its ceiling, which was measured beside each sample. More than all of it cannot be."""
    if (row.ceiling or 0.0) > ABOVE:
        return math.inf
    passes = row.passes.get("ceiling")
    return doubt(passes) if passes else of_row(row)


def of_ratio(one: Row | None, other: Row | None) -> float | None:
    """Of the ratio of two speeds. Both rows took turns, so that what disturbed a pass disturbed both of them."""
    if one is other:
        return 0.0
    passes = [row.passes.get("speed") if row else None for row in (one, other)]
    if all(passes) and len(passes[0]) == len(passes[1]):
        return doubt([a / b for a, b in zip(*passes)])
    known = [value for row in (one, other) if (value := of_row(row)) is not None]
    return math.prod(1 + value for value in known) - 1 if known else None


def is_doubtful(value: float | None) -> bool:
    """What was measured once has no interval, and is shown with its one repetition."""
    return value is not None and value > DOUBTFUL


def quoted_ratio(group: Group, row: Row | None) -> float | None:
    """The row's speed over the best peer's, unless that is doubtful."""
    return None if is_doubtful(of_ratio(row, group.best_peer)) else group.ratio(row)


def automatic_shares(result: Result, op: str) -> dict[str, list[float]]:
    """backend -> how its automatic choices stand beside the best of its algorithms, a figure a case that is not
    doubtful."""
    found: dict[str, list[float]] = {}
    for group in result.groups(op):
        for part in group.by_backend():
            share = part.automatic_share
            if share and not is_doubtful(of_ratio(part.automatic, part.best_ours)):
                found.setdefault(part.backends[0], []).append(share)
    return found


def automatic(result: Result, op: str) -> list[str]:
    """A sentence for each backend on how its automatic choices stand; none where the machine was not idle."""
    shares = {} if is_busy(result) else automatic_shares(result, op)
    return [f"{text.automatic(backend, found)}." for backend, found in shares.items()]


def _doubtful_shares(result: Result) -> tuple[int, int]:
    """How many rows have a doubtful share of their ceiling, and of how many."""
    rows = [row for row in result.rows if row.ceiling and not row.error]
    return sum(is_doubtful(of_share(row)) for row in rows), len(rows)


def is_busy(result: Result) -> bool:
    """Whether so much ran beside the suite that nothing is concluded from the file."""
    doubtful, rows = _doubtful_shares(result)
    return doubtful > BUSY * rows


def cautions(result: Result) -> list[str]:
    """What makes a file's figures doubtful: what its context says, and that the machine was not idle."""
    doubtful, rows = _doubtful_shares(result)
    busy = (f"The machine was not idle: in {doubtful} of {rows} rows the share of the ceiling may be off by more than "
            f"{100 * DOUBTFUL:.0f} %. What is not marked may have been held up all the time, so nothing is concluded "
            "from this run. Measure again on an idle machine.")
    return text.cautions(result.context) + ([busy] if is_busy(result) else [])
