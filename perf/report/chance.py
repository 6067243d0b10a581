# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What chance alone may do: three textbook methods, in as much generality as compare.py needs."""

from __future__ import annotations

import math
import statistics


def t_tail(t: float, freedom: int) -> float:
    """Probability that Student's t of that many degrees of freedom is farther from 0 than `t` (M. Abramowitz and I.
    Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4)."""
    angle = math.atan(abs(t) / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom, 2):
        term *= math.cos(angle) ** 2 * (k - 1) / k
        total += term
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return max(0.0, 1.0 - inside)


def t_quantile(tail: float, freedom: int) -> float:
    """The t beyond which, on both sides, `tail` of the probability lies."""
    low, high = 0.0, 1.0
    while t_tail(high, freedom) > tail:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, freedom) > tail else (low, middle)
    return high


def discoveries(tails: list[float], rate: float) -> list[bool]:
    """Which of many tests found something, such that of all that did, a share of `rate` at most is due to chance, on
    average; where none has anything to find, all stay silent with probability 1 - rate (Y. Benjamini and Y. Hochberg,
    "Controlling the false discovery rate", J. Royal Statistical Society B 57, 1995; holds for tests that err
    together: Y. Benjamini and D. Yekutieli, Annals of Statistics 29, 2001)."""
    ordered = sorted(tails)
    limit = max((tail for rank, tail in enumerate(ordered, 1) if tail <= rate * rank / len(tails)), default=-1.0)
    return [tail <= limit for tail in tails]


def centre(values: list[float], tail: float) -> tuple[float, float, float]:
    """The centre of what is spread about it symmetrically, and an interval that misses it with probability `tail` at
    most: the median of all means of two, and those means that the signed-rank test accepts (J. Hodges and E. Lehmann,
    Annals of Mathematical Statistics 34, 1963; exact, and a few wild values do not move it). The interval is infinite
    where there are too few values for it."""
    means = sorted((one + other) / 2 for index, one in enumerate(values) for other in values[index:])
    ways = [1] + [0] * len(means)  # in which signs give each sum of ranks
    for rank in range(1, len(values) + 1):
        for total in range(len(means), rank - 1, -1):
            ways[total] += ways[total - rank]
    cut, seen = 0, 0
    while seen + ways[cut] <= tail / 2 * 2 ** len(values):
        seen += ways[cut]
        cut += 1
    low, high = (means[cut - 1], means[-cut]) if cut else (-math.inf, math.inf)
    return statistics.median(means), low, high
