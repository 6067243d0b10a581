#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds Devito, where it is installed, to a result of tessera-perf: the waves of one step that the file holds for the
host, as a user of Devito writes them, with its autotuner's best blocks, checked before they are timed. Run it on the
same machine right after tessera-perf; what it cannot do is listed as left out, with the reason."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))
from measuring import add_peers, samples_of, summary  # noqa: E402

CASE = re.compile(r"system/wave_o(?P<order>[248])(?P<medium>_c2)?(?P<sponge>_sponge)?_(?P<n>\d+)\^3/"
                  r"(?P<dtype>f32|f64)/cold$")
STEPS = 10  # of an execution that is timed


class Wave:
    """A wave as the suite defines it, without its source and receivers, whose time does not count here."""

    def __init__(self, match: re.Match[str]):
        self.order, self.n = int(match["order"]), int(match["n"])
        self.medium, self.sponge = bool(match["medium"]), bool(match["sponge"])
        self.dtype = np.float32 if match["dtype"] == "f32" else np.float64
        self.work = float(self.n**3)
        self.traffic = self.work * (4 if self.medium else 3) * np.dtype(self.dtype).itemsize


class Devito:
    name = "devito"

    def __init__(self, _device: str, threads: int):
        import devito

        self.devito, self.version = devito, devito.__version__
        devito.configuration["log-level"] = "ERROR"
        devito.configuration["language"] = "openmp"
        self.threads = threads

    def takes(self, _wave: Wave) -> bool:
        return True

    def prepare(self, wave: Wave) -> tuple[Any, Any, dict[str, Any]]:
        """The operator, its field, and the other operands by name."""
        d, n = self.devito, wave.n
        grid = d.Grid(shape=(n, n, n), extent=(n - 1.0,) * 3, dtype=wave.dtype)
        u = d.TimeFunction(name="u", grid=grid, time_order=2, space_order=wave.order)
        random = np.random.default_rng()
        u.data[:] = random.uniform(-1, 1, u.data.shape)
        operands: dict[str, Any] = {}
        value, factor = u.laplace, wave.dtype(0.05)
        if wave.medium:
            operands["c2"] = d.Function(name="c2", grid=grid)
            operands["c2"].data[:] = random.uniform(0.02, 0.08, (n, n, n))
            factor = operands["c2"]
        value = 2 * u - u.backward + factor * value
        if wave.sponge:
            for axis, dimension in enumerate(grid.dimensions):
                profile = d.Function(name=f"s{axis}", grid=grid, dimensions=(dimension,), shape=(n,))
                profile.data[:] = random.uniform(0.999, 1.0, n)
                operands[profile.name] = profile
                value = profile * value
        return d.Operator([d.Eq(u.forward, value)], opt="advanced"), u, operands

    def step(self, operator: Any, steps: int, **how: Any) -> None:
        operator.apply(time_m=1, time_M=steps, dt=1.0, nthreads=self.threads, **how)


def error(wave: Wave, before: np.ndarray, now: np.ndarray, next_level: np.ndarray, operands: dict[str, Any]) -> float:
    """Largest error of a step at points inside, relative to a bound on roundings."""
    taps = {2: [1], 4: [4 / 3, -1 / 12], 8: [8 / 5, -1 / 5, 8 / 315, -1 / 560]}[wave.order]
    radius, worst = wave.order // 2, 0.0
    for point in map(tuple, np.random.default_rng().integers(radius, wave.n - radius, size=(300, 3))):
        laplacian = -2.0 * 3 * sum(taps) * float(now[point])
        magnitude = abs(laplacian)
        for axis in range(3):
            for k, tap in enumerate(taps, 1):
                for side in (-k, k):
                    at = list(point)
                    at[axis] += side
                    laplacian += tap * float(now[tuple(at)])
                    magnitude += abs(tap * float(now[tuple(at)]))
        c2 = float(operands["c2"].data[point]) if wave.medium else float(wave.dtype(0.05))
        wanted = 2 * float(now[point]) - float(before[point]) + c2 * laplacian
        magnitude = 2 * abs(float(now[point])) + abs(float(before[point])) + c2 * magnitude
        for axis in range(3 if wave.sponge else 0):
            wanted *= float(operands[f"s{axis}"].data[point[axis]])
        bound = 64 * float(np.finfo(wave.dtype).eps) * magnitude  # some 40 operations, half a unit each
        worst = max(worst, abs(float(next_level[point]) - wanted) / bound)
    return worst


def measure(devito: Devito, wave: Wave, budget: float) -> dict[str, Any]:
    """One step."""
    operator, u, operands = devito.prepare(wave)
    before, now = np.array(u.data[0]), np.array(u.data[1])
    devito.step(operator, 1)
    off = error(wave, before, now, np.array(u.data[2]), operands)
    if off > 1:
        raise ArithmeticError(f"its result is wrong: {off:.3g} times the bound on rounding errors")
    devito.step(operator, STEPS, autotune="aggressive")
    samples = samples_of(lambda: devito.step(operator, STEPS), budget, 5, 50)
    return summary([seconds / STEPS for seconds in samples], off, STEPS)


def case_of(title: str) -> Wave | None:
    match = CASE.match(title)
    return Wave(match) if match else None


if __name__ == "__main__":
    sys.exit(add_peers(__doc__, (Devito,), case_of, measure, 3.0))
