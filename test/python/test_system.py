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


def test_points_without_weights_and_series():
    system = tessera.StencilSystem((4, 5))
    u = system.state("u")
    system.update(u, 0.5 * u)
    system.inject(u, [(2, 2), (1, 3)])
    system.record(u, [(2, 2), (1, 3), (1, 3)], weights=[1, 0.5, 2], series=[0, 2, 2])
    fields, recorded = {"u": np.ones((4, 5), "float32")}, np.ones((1, 3), "float32")
    source = np.array([[3, 4]], "float32")
    tessera.SystemPlan(system, 1).execute(fields, injected=[source], recorded=[recorded])
    assert fields["u"][2, 2] == 3.5 and fields["u"][1, 3] == 4.5
    assert recorded.tolist() == [[3.5, 0.0, 4.5 * 2.5]]
    for name in ("weights", "series"):
        for given in ([], [1]):
            with pytest.raises(ValueError, match=f"{name} has {len(given)} entries for 2 points: give one for each"):
                system.inject(u, [(2, 2), (1, 3)], **{name: given})
    with pytest.raises(ValueError, match=r"points\[1\] has 3 axes; the system has 2"):
        system.record(u, [(2, 2), (1, 2, 3)])


def test_errors():
    shape = (12, 10)
    system = wave(shape)
    plan = tessera.SystemPlan(system, 2)
    good = {"u": [np.zeros(shape), np.zeros(shape)], "c2": np.zeros(shape)}
    series = {"injected": [np.zeros((2, 1))], "recorded": [np.zeros((2, 2))]}

    def refused(error, text, fields, **others):
        with pytest.raises(error, match=text):
            plan.execute(fields, **{**series, **others})

    refused(ValueError, "no arrays for 'c2'; the system's fields are 'u', 'c2'", {"u": good["u"]})
    refused(ValueError, "no arrays for 'u', 'c2'", {})
    refused(ValueError, "list of 2 arrays, the newest first, not a numpy.ndarray", {**good, "u": np.zeros(shape)})
    refused(ValueError, "list of 2 arrays, the newest first, not a list of 3", {**good, "u": 3 * [np.zeros(shape)]})
    refused(TypeError, "c2 is of float32; the plan takes float64", {**good, "c2": np.zeros(shape, np.float32)})
    refused(ValueError, r"c2 has shape \(10, 12\); the plan takes \(12, 10\)", {**good, "c2": np.zeros((10, 12))})
    strides = r"c2 has the strides \(1, 12\), in elements; the plan takes \(10, 1\), which is C order"
    refused(ValueError, strides, {**good, "c2": np.zeros((10, 12)).T})
    refused(TypeError, r"u\[-1\] is of float32", {**good, "u": [np.zeros(shape), np.zeros(shape, np.float32)]})
    refused(ValueError, "injected: 0 arrays; the system has 1, of 'u'", good, injected=None)
    refused(ValueError, r"recorded\[0\] has shape", good, recorded=[np.zeros((2, 3))])
    refused(ValueError, "no field 'w'; its fields are 'u', 'c2'", {**good, "w": np.zeros(shape)})
    refused(ValueError, "no field '7', 'w'", {**good, 7: np.zeros(shape), "w": np.zeros(shape)})
    key = system.field("u")
    refused(ValueError, "a key is a SystemField; must be the field's name, 'u'", {key: good["u"], "c2": good["c2"]})
    with pytest.raises(ValueError, match="there is no field 'w'; there are: u, c2"):
        system.field("w")
    with pytest.raises(ValueError, match="two sums"):
        (key + 1) * (key + 2)
    plan.execute(good, **series)
