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


STEP_ROUNDINGS = 1 + 2 * 4 + 17 * 6 + 6 + 1  # below


def shot():
    """Order 8, a coefficient a point, a profile along each axis, a source and receivers at and between points."""
    system = tessera.StencilSystem((60, 80))
    u, c2 = system.state("u", levels=2), system.array("c2")
    sz, sx = system.profile("sz", 0), system.profile("sx", 1)
    system.update(u, sz * sx * (2 * u - u[-1] + c2 * u.under(tessera.taps.laplacian(2, 8))))
    system.inject(u, [(30, 40)])
    system.record(u, [(10, 20), (10, 60), (11, 60)], weights=[1, 0.5, 0.5], series=[0, 1, 1])
    return system


def random_shot(rng, steps):
    """Fields, what is injected, and room for what is recorded."""

    def numbers(low, high, shape):
        return rng.uniform(low, high, shape).astype(np.float32)

    fields = {"u": [numbers(-1, 1, (60, 80)) for _ in range(2)], "c2": numbers(0.05, 0.2, (60, 80))}
    fields.update(sz=numbers(0.9, 1, 60), sx=numbers(0.9, 1, 80))
    return fields, numbers(-1, 1, (steps, 1)), np.zeros((steps, 2), np.float32)


def copied(fields):
    return {name: [x.copy() for x in value] if name == "u" else value for name, value in fields.items()}


def one_step(fields, source):
    """u after a step, and how far float32 may be from it."""
    u, before, c2 = (x.astype(np.float64) for x in (*fields["u"], fields["c2"]))
    weights = {0: -205 / 72, 1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}  # of the second derivative, on each side
    inner, total, size = slice(4, -4), 0.0, 0.0
    for axis in range(2):
        for offset in range(-4, 5):
            moved = np.roll(u, -offset, axis)[inner, inner]
            total, size = total + weights[abs(offset)] * moved, size + abs(weights[abs(offset)] * moved)
    factor = (fields["sz"].astype(np.float64)[:, None] * fields["sx"])[inner, inner]
    middle, past, speed = u[inner, inner], before[inner, inner], c2[inner, inner]
    after, bound = u.copy(), np.zeros_like(u)  # beside fixed sides points keep their values
    after[inner, inner] = factor * (2 * middle - past + speed * total)
    bound[inner, inner] = factor * (abs(2 * middle) + abs(past) + speed * size) * STEP_ROUNDINGS
    after[30, 40] += source
    bound[30, 40] += 3 * (abs(after[30, 40]) + abs(source))
    return after, bound * 2.0**-24 + np.finfo(np.float32).tiny


def test_each_step_of_a_shot(rng):
    # An update is off by at most k u M + k s (docs/systems.md): k is 1, 2 + 2 f for each of 19 terms of f factors and
    # for each group. It is largest where two profiles stand before all terms, and c2 is a second factor of 17 of them;
    # 1 more covers what float64 rounds here. Each step begins with the plan's own values, so nothing adds up.
    steps = 25
    fields, source, recorded = random_shot(rng, steps)
    start, series = copied(fields), np.zeros_like(recorded)
    plan = tessera.SystemPlan(shot(), 1)
    for step in range(steps):
        after, bound = one_step(fields, float(source[step, 0]))
        kept = fields["u"][0].copy()
        plan.execute(fields, injected=[source], recorded=[recorded], first_step=step)
        now, past = (x.astype(np.float64) for x in fields["u"])
        assert (abs(now - after) <= bound).all(), f"step {step}: {(abs(now - after) / bound).max()} of the bound"
        assert (past == kept).all()
        heard = [now[10, 20], 0.5 * now[10, 60] + 0.5 * now[11, 60]]  # each entry may be off by three roundings
        size = [abs(now[10, 20]), 0.5 * abs(now[10, 60]) + 0.5 * abs(now[11, 60])]
        assert (abs(recorded[step] - heard) <= 6 * 2.0**-24 * np.array(size)).all()
    assert recorded.any()

    tessera.SystemPlan(shot(), steps).execute(start, injected=[source], recorded=[series])
    assert np.array_equal(start["u"], fields["u"]) and np.array_equal(series, recorded)


def test_two_halves_of_a_shot_have_the_bits_of_the_whole(rng, tmp_path):
    fields, source, recorded = random_shot(rng, 20)
    whole, series = copied(fields), np.zeros_like(recorded)
    tessera.SystemPlan(shot(), 20).execute(whole, injected=[source], recorded=[series])
    tessera.SystemPlan(shot(), 7).execute(fields, injected=[source], recorded=[recorded])
    np.save(tmp_path / "u.npy", fields["u"])
    fields["u"] = list(np.load(tmp_path / "u.npy"))
    tessera.SystemPlan(shot(), 13).execute(fields, injected=[source], recorded=[recorded], first_step=7)
    assert np.array_equal(whole["u"], fields["u"]) and np.array_equal(series, recorded)
    assert recorded[:7].any() and recorded[7:].any()


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
            with pytest.raises(ValueError, match=f"{name} has {len(given)} entries for 2 points: must be one for each"):
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
    with pytest.raises(ValueError, match="name = 'w': must be a field of the system, which has 'u', 'c2'"):
        system.field("w")
    empty = tessera.StencilSystem(shape)
    with pytest.raises(ValueError, match=r"^value: updates\[0\] of 'v': groups\[0\].*nan: must be finite"):
        empty.update(empty.state("v"), float("nan"))
    with pytest.raises(ValueError, match="two sums"):
        (key + 1) * (key + 2)
    plan.execute(good, **series)


def test_a_field_is_no_sequence():
    u = wave((12, 10)).field("u")
    with pytest.raises(TypeError, match="not iterable"):
        list(u)  # levels have no end


def test_fields_of_another_system():
    a, b = (tessera.StencilSystem((4, 5)) for _ in range(2))
    u, v = a.state("u"), b.state("v")
    b.array("c")
    elsewhere = "of another StencilSystem; must be a field of this one.*: u$"
    calls = {
        "update of 'u': value reads 'v' ": lambda: a.update(u, 2 * v),
        "update of 'u': value reads 'c' ": lambda: a.update(u, u + b.field("c") * (1 + u)),
        "update: field = 'v' ": lambda: a.update(v, u),
        r"injections\[0\]: field = 'v' ": lambda: a.inject(v, [(1, 2)]),
        r"recordings\[0\]: field = 'v' ": lambda: a.record(v, [(1, 2)]),
    }
    for text, call in calls.items():
        with pytest.raises(ValueError, match=text + elsewhere):
            call()
    a.update(u, 2 * u)
    fields = {"u": np.ones((4, 5), "float32")}
    tessera.SystemPlan(a, 1).execute(fields)
    assert (fields["u"] == 2).all()


def test_refused_calls_leave_no_trace():
    system = tessera.StencilSystem((4, 5))
    u, c = system.state("u"), system.array("c")

    def points():
        yield (1, 2)
        raise OSError("no more points")

    nan, calls = float("nan"), []
    for adds in (system.inject, system.record):
        for given in ([(1, 5)], [(-1, 2)], [(1, 2, 3)]):
            calls.append(lambda adds=adds, given=given: adds(u, given))
        for names in ({"weights": [nan]}, {"weights": [1e39]}, {"series": [-1]}, {"weights": [1, 2]}, {"stage": 64}):
            calls.append(lambda adds=adds, names=names: adds(u, [(1, 2)], **names))
        calls.append(lambda adds=adds: adds(c, [(1, 2)]))
    for make in (system.state, system.array):
        for name, names in (("u", {}), ("", {}), ("w", {"dtype": "float64"}), ("w", {"boundary": "halo"})):
            calls.append(lambda make=make, name=name, names=names: make(name, **names))
    calls += [lambda: system.state("w", levels=4), lambda: system.profile("w", 2)]
    calls += [lambda: system.update(c, u), lambda: system.update(u, u[-1]), lambda: system.update(u, nan * u)]
    calls += [lambda: system.update(u, u, stage=64), lambda: system.update(u, u, low=(0, 0), high=(4, 6))]

    def refuse_all():
        for call in calls:
            with pytest.raises(ValueError):
                call()
        with pytest.raises(OSError):
            system.record(u, points())

    refuse_all()
    system.update(u, 2 * u + c)
    refuse_all()
    system.record(u, [(1, 2)])
    refuse_all()
    fields = {"u": np.ones((4, 5), "float32"), "c": np.ones((4, 5), "float32")}
    recorded = np.zeros((1, 1), "float32")
    tessera.SystemPlan(system, 1).execute(fields, recorded=[recorded])
    assert (fields["u"] == 3).all() and recorded.tolist() == [[3.0]]
