# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Invented results for the tests of the report: the shape of tessera-perf's files, with figures of a plausible size."""

from __future__ import annotations

import random
import statistics
from typing import Any

Document = dict[str, Any]
REPETITIONS = 5
GEMM_SIZES = (64, 256, 512, 1000, 1024, 2048, 4095, 4096, 8192)
SHAPES = ((1, 8192, 8192), (16, 8192, 8192), (8192, 16, 8192), (8192, 8192, 64), (128, 128, 65536), (512, 32000, 4096))
STENCILS = {
    "1d_derivative_r4_2^28": 1.0,
    "2d_star_r1_16384^2": 0.95,
    "2d_star_r2_16384^2": 0.85,
    "2d_star_r4_16384^2": 0.6,
    "2d_box_r1_16384^2": 0.8,
    "2d_box_r3_16384^2": 0.35,
    "3d_star_r1_768^3": 0.8,
    "3d_star_r4_768^3": 0.4,
    "3d_box_r1_768^3": 0.45,
}
GEMM_SUBJECTS = {
    "tessera:cuda:naive": 0.1,
    "tessera:cuda:tiled_shared:tile=16": 0.15,
    "tessera:cuda:tiled_shared:tile=32": 0.24,
    "tessera:cuda:register_blocked": 0.86,
    "peer:cublas": 0.8,
    "peer:cublaslt-best": 0.83,
}
STENCIL_SUBJECTS = {
    "tessera:cuda:restrict": 0.75,
    "tessera:cuda:shared_constant": 0.93,
    "tessera:cuda:shared_ldg": 0.85,
    "peer:plain-cuda": 0.95,
}
AUTOMATIC = {"tessera:cuda:register_blocked", "tessera:cuda:restrict"}
PEAKS = {"f32": 64100.0, "f64": 62500.0}  # GFLOP/s
COPY = 3028.0  # GB/s
BYTES = {"f32": 4, "f64": 8}


class Writer:
    """Collects rows in either form that results.py reads."""

    def __init__(self, noise: float, seed: int, slower: float, aggregates: bool) -> None:
        self.benchmarks: list[Document] = []
        self._noise, self._random, self._slower, self._aggregates = noise, random.Random(seed), slower, aggregates

    def add(self, name: str, seconds: float, label: str = "", **counters: float) -> None:
        slower = self._slower if "/tessera:" in name else 1.0
        runs = []
        for _ in range(REPETITIONS):
            factor = slower * (1 + self._random.gauss(0, self._noise))
            values = {
                key: value / (1 if key in ("max_error", "automatic") else factor) for key, value in counters.items()
            }
            runs.append({"real_time": seconds * factor * 1e6, "cpu_time": seconds * factor * 1e6, **values})
        (self._add_aggregates if self._aggregates else self._add_condensed)(name, label, runs)

    def _add_condensed(self, name: str, label: str, runs: list[Document]) -> None:
        """As tessera-perf does: a median, the spread beside it."""
        values = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        times = [run["real_time"] for run in runs]
        spread = statistics.stdev(times) / statistics.fmean(times)
        self.benchmarks.append(self._entry(f"{name}/iterations:1/manual_time", label, "iteration",
                                           values | {"spread": spread, "repetitions": REPETITIONS}))

    def _add_aggregates(self, name: str, label: str, runs: list[Document]) -> None:
        """As Google Benchmark does: repetitions, then aggregates."""
        name = f"{name}/manual_time/repeats:{REPETITIONS}"
        for index, run in enumerate(runs):
            self.benchmarks.append(
                self._entry(name, label, "iteration", run) | {"repetition_index": index, "iterations": 100}
            )
        for kind, function in (("mean", statistics.fmean), ("median", statistics.median), ("stddev", statistics.stdev),
                               ("cv", lambda values: statistics.stdev(values) / (statistics.fmean(values) or 1))):
            values = {key: function([run[key] for run in runs]) for key in runs[0]}
            entry = self._entry(name, label, "aggregate", values)
            self.benchmarks.append(
                entry | {"name": f"{name}_{kind}", "aggregate_name": kind, "repetitions": REPETITIONS}
            )

    def fail(self, name: str, message: str) -> None:
        self.benchmarks.append(
            self._entry(name, "", "iteration", {}) | {"error_occurred": True, "error_message": message}
        )

    @staticmethod
    def _entry(name: str, label: str, run_type: str, values: Document) -> Document:
        return {
            "name": name,
            "run_name": name,
            "run_type": run_type,
            "threads": 1,
            "time_unit": "us",
            "label": label,
            **values,
        }


def _ceilings(writer: Writer) -> None:
    for dtype, peak in PEAKS.items():
        writer.add(f"ceiling/fma/{dtype}/hot/ceiling:cuda", 1e-3, "GFLOP/s", rate=peak)
    for name, rate in (("copy", COPY), ("read", 2790.0), ("write", 3105.0)):
        writer.add(f"ceiling/{name}/f32/cold/ceiling:cuda", 1e-3, "GB/s", rate=rate)


def _mark(subject: str) -> dict[str, float]:
    return {"automatic": 1.0} if subject in AUTOMATIC else {}


def _gemm(writer: Writer, peers: bool, ceilings: bool) -> None:
    cases = [(str(n), n, n, n) for n in GEMM_SIZES] + [("x".join(map(str, shape)), *shape) for shape in SHAPES]
    for case, m, n, k in cases:
        for dtype, peak in PEAKS.items():
            flops, size = 2.0 * m * n * k, BYTES[dtype] * (m * k + k * n + m * n)
            roof = min(peak, COPY * flops / size)
            for subject, share in GEMM_SUBJECTS.items():
                if not peers and subject.startswith("peer"):
                    continue
                odd = 0.8 if "peer" in subject and n % 8 else 0.55 if "register" in subject and min(m, n) < 128 else 1.0
                rate = (
                    roof
                    * share
                    * odd
                    * flops
                    / (flops + 3e-6 * roof * 1e9 * (0.5 if "naive" in subject else 2 if "peer" in subject else 1))
                )
                limit = {"ceiling": rate / roof, "label": "fma" if roof == peak else "copy"} if ceilings else {}
                writer.add(
                    f"gemm/{case}/{dtype}/cold/{subject}",
                    flops / rate / 1e9,
                    rate=rate,
                    traffic=rate * size / flops,
                    max_error=1e-6,
                    **limit,
                    **_mark(subject),
                )


def _stencils(writer: Writer, peers: bool, ceilings: bool) -> None:
    for index, (case, weight) in enumerate((f"{shape}_{boundary}", weight) for shape, weight in STENCILS.items()
                                           for boundary in ("fixed", "periodic")):
        for dtype, size in BYTES.items():
            for subject, share in STENCIL_SUBJECTS.items():
                if not peers and subject.startswith("peer"):
                    continue
                share = weight * share * (1 - 0.06 * ((index + len(subject)) % 4))
                rate = COPY / (2 * size) * share
                limit = {"ceiling": share, "label": "copy"} if ceilings else {}
                writer.add(
                    f"stencil/{case}/{dtype}/cold/{subject}",
                    2.0**28 / rate / 1e9,
                    rate=rate,
                    traffic=rate * 2 * size,
                    max_error=1e-7,
                    **limit,
                    **_mark(subject),
                )


def _overheads(writer: Writer) -> None:
    for case, seconds in (("plan-create", 8.1e-6), ("enqueue", 3.4e-6), ("first-use", 0.21)):
        writer.add(f"overhead/{case}/f32/hot/tessera:cuda", seconds)
    writer.add("overhead/enqueue/f32/hot/peer:cublas", 2.9e-6)
    writer.add("overhead/stage-256MiB/f32/cold/tessera:cuda", 5.1e-3, "bus", traffic=52.6, ceiling=0.95)


def document(*, peers: bool = True, ceilings: bool = True, noise: float = 0.004, seed: int = 1, slower: float = 1.0,
             aggregates: bool = False, **context: Any) -> Document:
    """A file's content; `slower` multiplies the times of ours, `context` adds to the machine's facts or replaces
    them."""
    writer = Writer(noise, seed, slower, aggregates)
    if ceilings:
        _ceilings(writer)
    _gemm(writer, peers, ceilings)
    _stencils(writer, peers, ceilings)
    _overheads(writer)
    writer.fail(
        "stencil/3d_box_r1_768^3_periodic/f64/cold/tessera:cuda:restrict",
        "wrong result: error 3.1 above its bound 2e-15",
    )
    facts = {
        "date": "2026-11-21T12:00:00+00:00",
        "host_name": "node",
        "executable": "tessera-perf",
        "num_cpus": 16,
        "mhz_per_cpu": 2000,
        "cpu_scaling_enabled": False,
        "caches": [],
        "load_avg": [0.1],
        "library_build_type": "release",
        "tessera_version": "0.1.0",
        "commit": "b924f7c0ffee",
        "dirty": "false",
        "cpu": "Xeon Platinum 8480C",
        "gpu": "NVIDIA H100 80GB HBM3",
        "gpu_clock": "1980 MHz",
        "driver": "580.65",
        "cuda_runtime": "13.0",
        "threads": 16,
        "cublas": "13.1.0",
    }
    return {"context": facts | context, "benchmarks": writer.benchmarks,
            "left_out": [{"name": "peer:magma", "reason": "CMake did not find it"}]}


def one_row(name: str, **values: Any) -> Document:
    entry = {"name": name, "run_name": name, "run_type": "iteration", "real_time": 2.0, "time_unit": "us"}
    return {"context": {}, "benchmarks": [entry | values]}
