#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds PyTorch (torch.compile) and JAX (jax.jit), where they are installed, to a result of tessera-perf: the stencils
of one step that the file holds, written as their users write them, on random data, checked before they are timed.
PyTorch also runs the products with a bias and an activation, compiled and eager, one operation after another. Run it
on the same machine right after tessera-perf; what a framework cannot do is listed as left out, with the reason."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))
from measuring import row, summary  # noqa: E402

CASE = re.compile(r"stencil/(?P<rank>\d)d_(?P<pattern>star|box|derivative)_r(?P<radius>\d)_"
                  r"(?P<extents>2\^\d+|\d+(?:x\d+)*)(?:\^[23])?_(?P<boundary>fixed|periodic)/(?P<dtype>f32|f64)/cold$")
LAYER = re.compile(r"gemm/(?P<size>\d+)_bias_(?P<activation>relu|gelu|gelu_tanh)/(?P<dtype>f32|bf16)/cold$")


def derivative(k: int, radius: int) -> float:
    """The coefficient at the distance k of a central difference, as in cases/taps.hpp."""
    below = k * math.factorial(radius - k) * math.factorial(radius + k)
    return (-1) ** (k + 1) * math.factorial(radius) ** 2 / below


class Case:
    """One stencil as the suite defines it; `taps` as in cases/taps.hpp."""

    def __init__(self, match: re.Match[str]):
        self.rank, self.radius = int(match["rank"]), int(match["radius"])
        extents = [match["extents"]] * self.rank if "x" not in match["extents"] else match["extents"].split("x")
        self.shape = tuple(2 ** int(n[2:]) if n.startswith("2^") else int(n) for n in extents)
        self.periodic = match["boundary"] == "periodic"
        self.dtype = np.float32 if match["dtype"] == "f32" else np.float64
        self.work = float(np.prod(self.shape))  # what a rate counts
        self.traffic = 2 * self.work * np.dtype(self.dtype).itemsize
        self.taps = self._taps(match["pattern"])

    def _taps(self, pattern: str) -> list[tuple[tuple[int, ...], float]]:
        reach = range(-self.radius, self.radius + 1)
        offsets = list(itertools.product(reach, repeat=self.rank))
        if pattern == "derivative":
            return [((x,), derivative(abs(x), self.radius) * (1 if x > 0 else -1)) for (x,) in offsets if x]
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


class Layer:
    """A product of squares, a bias for each column and an activation: activation(x w + b)."""

    def __init__(self, match: re.Match[str]):
        self.activation = match["activation"]
        self.size, self.narrow = int(match["size"]), match["dtype"] == "bf16"
        self.shape = (2 * self.size + 1, self.size)  # x, w and b in one array
        self.dtype = np.float32
        self.work = 2.0 * self.size**3
        self.traffic = (3 * self.size**2 + self.size) * (2 if self.narrow else 4)

    def parts(self, data: Any) -> tuple[Any, Any, Any]:
        """x, w, whose values are such that sums are about 1, and b."""
        return data[: self.size], data[self.size : -1] * (3 / self.size**0.5), data[-1]

    def activated(self, x: float) -> float:
        if self.activation == "relu":
            return max(x, 0.0)
        if self.activation == "gelu":
            return x / 2 * math.erfc(-x / math.sqrt(2))
        return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    def error(self, operands: tuple[np.ndarray, np.ndarray, np.ndarray], out: np.ndarray) -> float:
        """Largest error relative to the bound of the suite, with three roundings to bf16: after the product, the bias
        and the activation, as PyTorch makes them."""
        x, w, b = (np.asarray(operand, dtype=np.float64) for operand in operands)
        worst = 0.0
        for i, j in np.random.default_rng().integers(0, self.size, size=(1000, 2)):
            product = float(x[i] @ w[:, j])
            bound = (self.size + 4) * 2.0**-23 * (float(np.abs(x[i]) @ np.abs(w[:, j])) + abs(b[j]))
            wanted = self.activated(product + b[j])
            bound = 1.13 * bound + 2.0**-21 * (abs(product + b[j]) + bound + abs(wanted))
            if self.narrow:
                bound += 1.13 * 2.0**-8 * (abs(product) + abs(product + b[j]) + abs(wanted) + 3 * bound)
            worst = max(worst, abs(float(out[i, j]) - wanted) / bound)
        return worst


class Torch:
    name = "torch_compile"
    takes_stencils = True

    def __init__(self, device: str, threads: int):
        import torch

        self.torch, self.device, self.version = torch, device, torch.__version__
        torch.set_num_threads(threads)

    def takes(self, case: Case | Layer) -> bool:
        return self.takes_stencils or isinstance(case, Layer)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.torch.compile(function)

    def prepare(self, case: Case | Layer, u: np.ndarray) -> tuple[Callable[[], Any], Any]:
        if isinstance(case, Layer):
            return self.prepare_layer(case, u)
        return self.prepare_stencil(case, u), u

    def prepare_layer(self, case: Layer, u: np.ndarray) -> tuple[Callable[[], Any], Any]:
        functional = self.torch.nn.functional
        dtype = self.torch.bfloat16 if case.narrow else self.torch.float32
        x, w, b = (self.torch.from_numpy(part).to(self.device, dtype) for part in case.parts(u))

        def layer(x: Any, w: Any, b: Any) -> Any:
            value = x @ w + b
            if case.activation == "relu":
                return functional.relu(value)
            return functional.gelu(value, approximate="tanh" if case.activation == "gelu_tanh" else "none")

        run = self.compiled(layer)
        return lambda: run(x, w, b), tuple(self.numpy(part) for part in (x, w, b))

    def prepare_stencil(self, case: Case, u: np.ndarray) -> Callable[[], Any]:
        def write(field: Any, where: Any, values: Any) -> Any:
            out = field.clone()
            out[where] = values
            return out

        field = self.torch.from_numpy(u).to(self.device)
        compiled = self.compiled(lambda x: case.sweep(x, self.torch.roll, write))
        return lambda: compiled(field)

    def wait(self, _: Any) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def numpy(self, out: Any) -> np.ndarray:
        return out.cpu().to(self.torch.float64 if out.dtype == self.torch.float64 else self.torch.float32).numpy()


class EagerTorch(Torch):
    """One operation after another, each through memory; of products alone."""

    name = "torch_eager"
    takes_stencils = False

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


class Jax:
    name = "jax_jit"

    def __init__(self, device: str, threads: int):
        os.environ.setdefault("XLA_FLAGS", f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}")
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax, self.version = jax, jax.__version__
        self.device = jax.devices(device)[0]

    def takes(self, case: Case | Layer) -> bool:
        return isinstance(case, Case)

    def prepare(self, case: Case, u: np.ndarray) -> tuple[Callable[[], Any], Any]:
        field = self.jax.device_put(u, self.device)

        def write(field: Any, where: Any, values: Any) -> Any:
            # Not field.at[where].set(values), which becomes a scatter.
            return self.jax.lax.dynamic_update_slice(field, values, tuple(part.start for part in where))

        compiled = self.jax.jit(lambda x: case.sweep(x, self.jax.numpy.roll, write))
        return lambda: compiled(field), u

    def wait(self, out: Any) -> None:
        out.block_until_ready()

    def numpy(self, out: Any) -> np.ndarray:
        return np.asarray(out)


def case_of(title: str) -> Case | Layer | None:
    """The case of that name; None where no framework runs it here."""
    if match := CASE.match(title):
        return Case(match)
    match = LAYER.match(title)
    return Layer(match) if match else None


def samples_of(call: Callable[[], Any], budget: float, least: int, most: int) -> list[float]:
    """Seconds of calls, each waited for, as many as last `budget` seconds."""
    samples: list[float] = []
    stop = time.perf_counter() + budget
    while len(samples) < least or (time.perf_counter() < stop and len(samples) < most):
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return samples


def measure(framework: Any, case: Case | Layer, budget: float) -> dict[str, Any]:
    """One step, and how far its result is off. Every call makes a new output: these frameworks do."""
    u = np.random.default_rng().uniform(-1, 1, case.shape).astype(case.dtype)
    step, operands = framework.prepare(case, u)
    error = case.error(operands, framework.numpy(step()))
    if error > 1:
        raise ArithmeticError(f"its result is wrong: {error:.3g} times the bound on rounding errors")
    return summary(samples_of(lambda: framework.wait(step()), budget, 3, 100), error)


def row_of(case: Case | Layer, name: str, measured: dict[str, Any], sibling: dict[str, Any]) -> dict[str, Any]:
    """The ceiling is that of a row of the same case."""
    seconds, floor = measured["real_time"] * 1e-6, sibling["ceiling"] * sibling["real_time"]
    return row(name, measured, rate=case.work / seconds * 1e-9, traffic=case.traffic / seconds * 1e-9,
               ceiling=floor / measured["real_time"], ceiling_rate=sibling["ceiling_rate"], label=sibling["label"],
               **({"place": sibling["place"]} if "place" in sibling else {}))


def add_rows(framework: Any, document: dict[str, Any], siblings: dict[str, dict[str, Any]], budget: float) -> None:
    """Of the cases that the framework takes."""
    for title, sibling in siblings.items():
        case, name = case_of(title), f"{title}/peer:{framework.name}"
        if not case or not framework.takes(case):
            continue
        print(name, file=sys.stderr)
        try:
            measured = measure(framework, case, budget)
            document["benchmarks"].append(row_of(case, name, measured, sibling))
        except Exception as error:  # whatever a compiler of arrays throws belongs into the file
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            document["left_out"].append({"name": name, "reason": reason})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", type=Path, metavar="RESULT.json", help="of tessera-perf; gets the new rows")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: %(default)s")
    parser.add_argument("--case", default="", metavar="PART", help="only cases whose name holds this")
    parser.add_argument("--seconds", type=float, default=0.3, help="of measuring a row (default: %(default)s)")
    options = parser.parse_args()
    document = json.loads(options.result.read_text(encoding="utf-8"))
    place = "host" if options.device == "cpu" else options.device
    siblings = {entry["name"].rpartition("/")[0]: entry for entry in document["benchmarks"]
                if entry.get("ceiling") and entry.get("place", place) == place and options.case in entry["name"]}
    document.setdefault("left_out", [])
    for framework_type in (Torch, EagerTorch, Jax):
        try:
            framework = framework_type(options.device, int(document["context"].get("threads", 1)))
        except (ImportError, RuntimeError) as error:
            document["left_out"].append({"name": f"peer:{framework_type.name}", "reason": str(error)})
            continue
        document["context"][framework.name] = framework.version
        add_rows(framework, document, siblings, options.seconds)
    partial = options.result.with_suffix(".partial")
    partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    partial.replace(options.result)


if __name__ == "__main__":
    main()
