# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

import tessera


def laplacian(u):
    padded = np.pad(u, 1, mode="wrap")
    return padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:] - 4 * u


def wave(shape):
    system = tessera.StencilSystem(shape, dtype="float64")
    u = system.state("u", levels=2, boundary="periodic")
    c2 = system.array("c2")
    system.update(u, 2 * u - u[-1] + c2 * u.under(tessera.taps.laplacian(2)))
    system.inject(u, [(3, 4)], weights=[2.0])
    system.record(u, [(3, 4), (5, 6)])
    return system


def test_wave_with_source_and_receivers(rng):
    shape, steps = (12, 10), 7
    now, before = (rng.uniform(-1, 1, shape) for _ in range(2))
    c2 = rng.uniform(0.05, 0.1, shape)
    source = rng.uniform(-1, 1, (steps, 1))
    fields = {"u": [now.copy(), before.copy()], "c2": c2}
    recorded = np.zeros((steps, 2))
    plan = tessera.SystemPlan(wave(shape), steps)
    plan.execute(fields, injected=[source], recorded=[recorded])
    u, past = now, before
    for step in range(steps):
        u, past = 2 * u - past + c2 * laplacian(u), u
        u[3, 4] += 2.0 * source[step, 0]
        # Values stay below 16, and a step adds some ten roundings to each.
        np.testing.assert_allclose(recorded[step], [u[3, 4], u[5, 6]], rtol=0, atol=16 * 20 * (step + 1) * 2.0**-53)
    np.testing.assert_allclose(fields["u"][0], u, rtol=0, atol=16 * 20 * steps * 2.0**-53)
    np.testing.assert_allclose(fields["u"][1], past, rtol=0, atol=16 * 20 * steps * 2.0**-53)


def test_goes_on(rng):
    shape = (12, 10)
    start = [rng.uniform(-1, 1, shape) for _ in range(2)]
    c2, source = np.full(shape, 0.1), rng.uniform(-1, 1, (6, 1))
    whole = {"u": [x.copy() for x in start], "c2": c2}
    parts = {"u": [x.copy() for x in start], "c2": c2}
    one, two = np.zeros((6, 2)), np.zeros((6, 2))
    tessera.SystemPlan(wave(shape), 6).execute(whole, injected=[source], recorded=[one])
    plan = tessera.SystemPlan(wave(shape), 3)
    for first in (0, 3):
        plan.execute(parts, injected=[source], recorded=[two], first_step=first)
    assert (one == two).all() and all((x == y).all() for x, y in zip(whole["u"], parts["u"]))


def test_expressions(rng):
    system = tessera.StencilSystem((8,), dtype="float64")
    u = system.state("u", boundary="nearest")
    v = system.state("v")
    s = system.profile("s", 0)
    system.update(u, abs(u) * v + s * (1.0 - u) - tessera.reciprocal(v) + 0.5)
    system.update(v, tessera.positive_part(u) - tessera.negative_part(u) + (-v), stage=0)
    values = {name: rng.uniform(0.5, 1, 8) * sign for name, sign in (("u", -1), ("v", 1), ("s", 1))}
    kept = {name: value.copy() for name, value in values.items()}
    tessera.SystemPlan(system, 1).execute(values)
    old_u, old_v, old_s = kept["u"], kept["v"], kept["s"]
    np.testing.assert_allclose(
        values["u"], abs(old_u) * old_v + old_s * (1 - old_u) - 1 / old_v + 0.5, rtol=0, atol=32 * 2.0**-53 * 8
    )
    np.testing.assert_allclose(
        values["v"], np.maximum(old_u, 0) - np.minimum(old_u, 0) - old_v, rtol=0, atol=8 * 2.0**-53 * 4
    )


def test_errors():
    shape = (12, 10)
    plan = tessera.SystemPlan(wave(shape), 2)
    good = {"u": [np.zeros(shape), np.zeros(shape)], "c2": np.zeros(shape)}
    series = {"injected": [np.zeros((2, 1))], "recorded": [np.zeros((2, 2))]}
    with pytest.raises(ValueError, match="no arrays for 'c2'"):
        plan.execute({"u": good["u"]}, **series)
    with pytest.raises(ValueError, match="list of 2 arrays"):
        plan.execute({**good, "u": np.zeros(shape)}, **series)
    with pytest.raises(ValueError, match="float32"):
        plan.execute({**good, "c2": np.zeros(shape, np.float32)}, **series)
    with pytest.raises(ValueError, match="injected: 0 arrays"):
        plan.execute(good, recorded=series["recorded"])
    with pytest.raises(ValueError, match="name in it"):
        plan.execute({**good, "w": np.zeros(shape)}, **series)
    with pytest.raises(ValueError, match="no field"):
        wave(shape).field("w")
    with pytest.raises(ValueError, match="two sums"):
        u = wave(shape).field("u")
        (u + 1) * (u + 2)
    plan.execute(good, **series)
