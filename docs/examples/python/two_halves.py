# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A wave that stops half-way and goes on from a file: the bits are those of one run."""

import numpy as np
import tessera

SHAPE, STEPS = (60, 80), 500  # points; steps of each half

system = tessera.StencilSystem(SHAPE)
u, c2 = system.state("u", levels=2), system.array("c2")
system.update(u, 2 * u - u[-1] + c2 * u.under(tessera.taps.laplacian(2, 8)))
system.inject(u, [(30, 40)])
system.record(u, [(10, 20), (10, 60)])

source = np.exp(-0.01 * (np.arange(2 * STEPS)[:, None] - 30.0) ** 2).astype("float32")
seismogram = np.zeros((2 * STEPS, 2), "float32")
fields = {"u": list(np.zeros((2, *SHAPE), "float32")), "c2": np.full(SHAPE, 0.1, "float32")}
plan = tessera.SystemPlan(system, STEPS)
plan.execute(fields, injected=[source], recorded=[seismogram])
np.save("half.npy", fields["u"])  # the levels of u, the newest first

fields["u"] = list(np.load("half.npy"))
plan.execute(fields, injected=[source], recorded=[seismogram], first_step=STEPS)

whole = {"u": list(np.zeros((2, *SHAPE), "float32")), "c2": fields["c2"]}
recorded = np.zeros_like(seismogram)
tessera.SystemPlan(system, 2 * STEPS).execute(whole, injected=[source], recorded=[recorded])
assert np.array_equal(whole["u"], fields["u"]) and np.array_equal(recorded, seismogram)
assert seismogram[:STEPS].any() and seismogram[STEPS:].any()
print(plan, f"largest amplitude {abs(fields['u'][0]).max():.3g}", sep="\n")
