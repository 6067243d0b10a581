# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A shot in two layers: a wave of order 8 with a source, a sponge at the sides and receivers along a line."""

import numpy as np
import tessera

SHAPE, SPACING, STEP = (200, 300), 10.0, 1e-3  # points, metres, seconds
STEPS, DEPTH, PEAK = 600, 50, 12.0  # of the shot; row of the source; hertz

speed = np.full(SHAPE, 1500.0, np.float32)
speed[SHAPE[0] // 2 :] = 3000.0


def sponge(points: int) -> np.ndarray:
    """The part of u's change that a step takes: 0 inside, growing over the last 40 points at each side."""
    depth = np.clip(1 - np.minimum(np.arange(points), np.arange(points)[::-1]) / 40, 0, None)
    return (0.1 * depth**2).astype(np.float32)


system = tessera.StencilSystem(SHAPE)
u = system.state("u", levels=2)  # the present level and the one before
c2, dz, dx = system.array("c2"), system.profile("dz", 0), system.profile("dx", 1)
wave = 2 * u - u[-1] + c2 * u.under(tessera.taps.laplacian(2, 8))
system.update(u, wave - dz * (u - u[-1]) - dx * (u - u[-1]))  # friction takes a part of u's change
system.inject(u, [(DEPTH, SHAPE[1] // 2)])
system.record(u, [(DEPTH, x) for x in range(40, SHAPE[1] - 40, 10)])

time = np.arange(STEPS) * STEP - 0.1
ricker = (1 - 2 * (np.pi * PEAK * time) ** 2) * np.exp(-((np.pi * PEAK * time) ** 2))
fields = {
    "u": [np.zeros(SHAPE, np.float32), np.zeros(SHAPE, np.float32)],
    "c2": (speed * STEP / SPACING) ** 2,
    "dz": sponge(SHAPE[0]),
    "dx": sponge(SHAPE[1]),
}
source = ricker.astype(np.float32)[:, None]  # a row a step, a column a source
seismogram = np.zeros((STEPS, 22), np.float32)  # and a column a receiver
plan = tessera.SystemPlan(system, STEPS)
plan.execute(fields, injected=[source], recorded=[seismogram])
newest, before = fields["u"]  # execute has put them in this order

# The direct wave reaches a receiver when it has gone the distance at 1500 m/s: the peak of the source was at 0.1 s.
arrivals = abs(seismogram).argmax(axis=0) * STEP - 0.1
distance = abs(np.arange(40, SHAPE[1] - 40, 10) - SHAPE[1] // 2) * SPACING
near = (distance > 200) & (distance < 500)
assert abs(arrivals - distance / 1500.0)[near].max() < 1 / PEAK, arrivals[near]
# The sponge lets hardly a wave back: long after the shot there is nearly nothing left.
left = abs(newest).max()
for _ in range(2):
    plan.execute(fields, injected=[np.zeros_like(source)], recorded=[np.zeros_like(seismogram)])
silence = abs(fields["u"][0]).max()
assert silence < 0.05 * left, (silence, left)
print(plan, f"largest amplitude {left:.3g}, after twice as many steps more {silence:.2g}", sep="\n")
