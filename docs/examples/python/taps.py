# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Taps made by hand: a field that drifts along an axis, by an upwind difference, for which there is no name."""

import numpy as np
import tessera

u = np.random.rand(60, 80)
taps = tessera.Taps(2)  # of two axes: u[y, x] becomes 0.75 u[y, x] + 0.25 u[y, x - 1]
taps.add((0, 0), 0.75)
taps.add((0, -1), 0.25)
drifted = tessera.stencil(u, taps, boundary="periodic", steps=8)

assert list(tessera.Taps(2, [((0, 0), 0.75), ((0, -1), 0.25)])) == list(taps)  # the same in one call
expected = u
for _ in range(8):
    expected = 0.75 * expected + 0.25 * np.roll(expected, 1, axis=1)
# Both sides: 8 steps of two terms, each of the documented bound; no value is beyond 1.
assert abs(drifted - expected).max() <= 2 * 8 * (2 + 2) * 2.0**-53
print(taps, f"the mean stays {drifted.mean():.3f}", sep="\n")
