#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds PyTorch (torch.compile) and JAX (jax.jit), where they are installed, to a result of tessera-perf: the stencils
of one step that the file holds, written as their users write them, on random data, checked before they are timed. Run
it on the same machine right after tessera-perf; what a framework cannot do is listed as left out, with the reason."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

CASE = re.compile(r"stencil/(?P<rank>\d)d_(?P<pattern>star|box|derivative)_r(?P<radius>\d)_"
                  r"(?P<extent>2\^\d+|\d+)(\^\d)?_(?P<boundary>fixed|periodic)/(?P<dtype>f32|f64)/cold$")
DERIVATIVE = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


class Case:
    """One stencil as the suite defines it; `taps` as in core/taps.hpp."""

    def __init__(self, title: str, match: re.Match[str]):
        self.title = title
        self.rank, self.radius = int(match["rank"]), int(match["radius"])
        extent = match["extent"]
        self.shape = (2 ** int(extent[2:]) if extent.startswith("2^") else int(extent),) * self.rank
        self.periodic = match["boundary"] == "periodic"
        self.dtype = np.float32 if match["dtype"] == "f32" else np.float64
        self.taps = self._taps(match["pattern"])

    def _taps(self, pattern: str) -> list[tuple[tuple[int, ...], float]]:
        reach = range(-self.radius, self.radius + 1)
        offsets = list(itertools.product(reach, repeat=self.rank))
        if pattern == "derivative":
            return [((x,), DERIVATIVE[abs(x) - 1] * (1 if x > 0 else -1)) for (x,) in offsets if x]
        if pattern == "star":
            offsets = [offset for offset in offsets if sum(map(bool, offset)) <= 1]
        weights = [1 + at * 7 % 5 for at in range(len(offsets))]
        return [(offset, weight / sum(weights)) for offset, weight in zip(offsets, weights)]

    def sweep(self, u: Any, roll: Callable[..., Any], write: Callable[[Any, Any, Any], Any]) -> Any:
        """One step in array operations; `write(u, where, values)` is u with values there."""
        axes = tuple(range(self.rank))
        if self.periodic:
            return sum(c * roll(u, tuple(-d for d in offset), axes) for offset, c in self.taps)
        r = self.radius
        inner = sum(c * u[tuple(slice(r + d, n - r + d) for d, n in zip(offset, self.shape))]
                    for offset, c in self.taps)
        return write(u, tuple(slice(r, n - r) for n in self.shape), inner)

    def error(self, u: np.ndarray, out: np.ndarray) -> float:
        """Largest error relative to (taps + 2) u sum |c| |x|, at random points and at the corners."""
        generator = np.random.default_rng()
        points = generator.integers(0, self.shape, size=(1000, self.rank))
        points[: 2**self.rank] = [[n * end - end for n, end in zip(self.shape, ends)]
                                  for ends in itertools.product((0, 1), repeat=self.rank)]
        worst = 0.0
        for point in map(tuple, points):
            kept = not self.periodic and any(x < self.radius or x >= n - self.radius for x, n in zip(point, self.shape))
            if kept:
                wanted, bound = float(u[point]), 0.0
            else:
                terms = [c * float(u[tuple((x + d) % n for x, d, n in zip(point, offset, self.shape))])
                         for offset, c in self.taps]
                wanted = sum(terms)
                bound = (len(terms) + 2) * float(np.finfo(self.dtype).eps) / 2 * sum(map(abs, terms))
            difference = abs(float(out[point]) - wanted)
            worst = max(worst, difference / bound if bound else (0.0 if difference == 0.0 else np.inf))
        return worst


class Torch:
    name = "torch_compile"

    def __init__(self, device: str, threads: int):
        import torch

        self.torch, self.device, self.version = torch, device, torch.__version__
        torch.set_num_threads(threads)

    def prepare(self, case: Case, u: np.ndarray) -> Callable[[], Any]:
        def write(field: Any, where: Any, values: Any) -> Any:
            out = field.clone()
            out[where] = values
            return out

        field = self.torch.from_numpy(u).to(self.device)
        compiled = self.torch.compile(lambda x: case.sweep(x, self.torch.roll, write))
        return lambda: compiled(field)

    def wait(self, _: Any) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def numpy(self, out: Any) -> np.ndarray:
        return out.cpu().numpy()


class Jax:
    name = "jax_jit"

    def __init__(self, device: str, threads: int):
        os.environ.setdefault("XLA_FLAGS", f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}")
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax, self.version = jax, jax.__version__
        self.device = jax.devices(device)[0]

    def prepare(self, case: Case, u: np.ndarray) -> Callable[[], Any]:
        field = self.jax.device_put(u, self.device)

        def write(field: Any, where: Any, values: Any) -> Any:
            # Not field.at[where].set(values), which becomes a scatter.
            return self.jax.lax.dynamic_update_slice(field, values, tuple(part.start for part in where))

        compiled = self.jax.jit(lambda x: case.sweep(x, self.jax.numpy.roll, write))
        return lambda: compiled(field)

    def wait(self, out: Any) -> None:
        out.block_until_ready()

    def numpy(self, out: Any) -> np.ndarray:
        return np.asarray(out)


def measure(framework: Any, case: Case, budget: float) -> dict[str, Any]:
    """Microseconds of one step, and how far its result is off. Every call makes a new output: these frameworks do."""
    u = np.random.default_rng().uniform(-1, 1, case.shape).astype(case.dtype)
    step = framework.prepare(case, u)
    error = case.error(u, framework.numpy(step()))
    if error > 1:
        raise ArithmeticError(f"its result is wrong: {error:.3g} times the bound on rounding errors")
    samples: list[float] = []
    stop = time.perf_counter() + budget
    while len(samples) < 3 or (time.perf_counter() < stop and len(samples) < 100):
        begin = time.perf_counter()
        framework.wait(step())
        samples.append((time.perf_counter() - begin) * 1e6)
    return {"real_time": statistics.median(samples), "min": min(samples), "max": max(samples),
            "repetitions": len(samples), "spread": statistics.stdev(samples) / statistics.fmean(samples),
            "max_error": error, "batch": 1}


def row_of(case: Case, name: str, measured: dict[str, Any], sibling: dict[str, Any]) -> dict[str, Any]:
    """In the form of the suite's own rows; the ceiling is that of a row of the same case."""
    points = float(np.prod(case.shape))
    seconds = measured["real_time"] * 1e-6
    floor = sibling["ceiling"] * sibling["real_time"]
    place = {"place": sibling["place"]} if "place" in sibling else {}
    return {"name": name, "run_name": name, "run_type": "iteration", **place, "threads": 1, "iterations": 1,
            "time_unit": "us", "cpu_time": measured["real_time"], **measured, "rate": points / seconds * 1e-9,
            "traffic": 2 * points * np.dtype(case.dtype).itemsize / seconds * 1e-9,
            "ceiling": floor / measured["real_time"], "ceiling_rate": sibling["ceiling_rate"],
            "label": sibling["label"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", type=Path, metavar="RESULT.json", help="of tessera-perf; gets the new rows")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: %(default)s")
    parser.add_argument("--case", default="", metavar="PART", help="only cases whose name holds this")
    parser.add_argument("--seconds", type=float, default=0.3, help="of measuring for each row (default: %(default)s)")
    options = parser.parse_args()
    document = json.loads(options.result.read_text(encoding="utf-8"))
    place = "host" if options.device == "cpu" else options.device
    rows = [row for row in document["benchmarks"] if row.get("ceiling") and row.get("place", place) == place
            and CASE.match(row["name"].rpartition("/")[0])]
    siblings = {row["name"].rpartition("/")[0]: row for row in rows if options.case in row["name"]}
    left_out = document.setdefault("left_out", [])
    for framework_type in (Torch, Jax):
        try:
            framework = framework_type(options.device, int(document["context"].get("threads", 1)))
        except (ImportError, RuntimeError) as error:
            left_out.append({"name": f"peer:{framework_type.name}", "reason": str(error)})
            continue
        document["context"][framework.name] = framework.version
        for title, sibling in siblings.items():
            case, name = Case(title, CASE.match(title)), f"{title}/peer:{framework.name}"
            print(name, file=sys.stderr)
            try:
                document["benchmarks"].append(row_of(case, name, measure(framework, case, options.seconds), sibling))
            except Exception as error:  # whatever a compiler of arrays throws belongs into the file
                left_out.append({"name": name, "reason": f"{type(error).__name__}: {error}".splitlines()[0]})
    partial = options.result.with_suffix(".partial")
    partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    partial.replace(options.result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
