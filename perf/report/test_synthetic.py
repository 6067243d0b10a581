# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Invented results for the tests of the report: the shape of tessera-perf's files, with figures of a plausible size."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable, Iterator

from model import Result
from results import load

Document = dict[str, Any]
# What is measured of each case, m n k of products: the share of the roof that each subject reaches.
GEMMS = {str(n): (n, n, n) for n in (64, 256, 512, 1000, 1024, 2048, 4095, 4096, 8192)} | {
    "x".join(map(str, shape)): shape for shape in ((1, 8192, 8192), (8192, 16, 8192), (128, 128, 65536))}
STENCILS = {"1d_derivative_r4_2^28": 1.0, "2d_star_r1_16384^2": 0.95, "2d_star_r4_16384^2": 0.6,
            "2d_box_r3_16384^2": 0.35, "3d_star_r1_768^3": 0.8, "3d_box_r1_768^3": 0.45}
GEMM_SUBJECTS = {"tessera:cuda:naive": 0.1, "tessera:cuda:tiled_shared": 0.24, "tessera:cuda:register_blocked": 0.86,
                 "peer:cublas": 0.8, "peer:cublaslt-best": 0.83}
STENCIL_SUBJECTS = {"tessera:cuda:restrict": 0.75, "tessera:cuda:shared_constant": 0.93, "peer:plain-cuda": 0.95}
AUTOMATIC = {"tessera:cuda:register_blocked", "tessera:cuda:restrict"}
PEAKS = {"f32": 64100.0, "f64": 62500.0}  # GFLOP/s
COPY = 3028.0  # GB/s
BYTES = {"f32": 4, "f64": 8}
FACTS = {"date": "2026-11-21T12:00:00+00:00", "executable": "tessera-perf", "num_cpus": 16, "mhz_per_cpu": 2000,
         "library_build_type": "release", "tessera_version": "0.1.0", "git_commit": "b924f7c0ffee",
         "cpu_model": "Xeon Platinum 8480C", "gpu": "NVIDIA H100 80GB HBM3", "gpu_clock_mhz": "1980",
         "driver": "580.65", "cuda_runtime": "13.0", "threads": 16, "cublas": "13.1.0"}


def entry(name: str, **values: Any) -> Document:
    return {"name": name, "run_name": name, "run_type": "iteration", "real_time": 2.0, "time_unit": "us"} | values


def content(*entries: Document, **context: Any) -> Document:
    return {"context": context, "benchmarks": list(entries)}


def one_row(name: str, **values: Any) -> Document:
    return content(entry(name, **values))


def loaded(document: Document | str, name: str = "run.json") -> Result:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return load(path)


class Files(unittest.TestCase):
    """Tests with a folder of their own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, document: Document | str, name: str = "new.json") -> Path:
        path = self.folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return path

    def program(self, name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Without the packages that are installed: -E -S."""
        command = [sys.executable, "-E", "-S", str(Path(__file__).with_name(name)), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)


Measured = Callable[..., Document]


def _ceilings(measured: Measured) -> Iterator[Document]:
    for dtype, peak in PEAKS.items():
        yield measured(f"ceiling/fma/{dtype}/hot/ceiling:cuda", 1e-3, "GFLOP/s", rate=peak)
    for name, rate in (("copy", COPY), ("read", 2790.0), ("write", 3105.0)):
        yield measured(f"ceiling/{name}/f32/cold/ceiling:cuda", 1e-3, "GB/s", rate=rate)


def _cases(dtype: str) -> Iterator[tuple[str, float, float, dict[str, float]]]:
    """Name, work, bytes and what the subjects reach of the roof."""
    for case, (m, n, k) in GEMMS.items():
        yield f"gemm/{case}", 2.0 * m * n * k, BYTES[dtype] * (m * k + k * n + m * n), GEMM_SUBJECTS
    for case, weight in STENCILS.items():
        for boundary in ("fixed", "periodic"):
            shares = {subject: weight * share for subject, share in STENCIL_SUBJECTS.items()}
            yield f"stencil/{case}_{boundary}", 2.0**28, 2 * BYTES[dtype] * 2.0**28, shares


def _rows(measured: Measured) -> Iterator[Document]:
    for dtype, peak in PEAKS.items():
        for case, work, size, shares in _cases(dtype):
            roof = min(peak, COPY * work / size)
            for subject, share in shares.items():
                rate = roof * share
                yield measured(f"{case}/{dtype}/cold/{subject}", work / rate / 1e9, "fma" if roof == peak else "copy",
                               rate=rate, traffic=rate * size / work, ceiling=share)
    for row in ("enqueue/f32/hot/tessera:cuda", "enqueue/f32/hot/peer:cublas", "plan-create/f32/hot/tessera:cuda",
                "first-use/f32/cold/tessera:cuda"):
        yield measured(f"overhead/{row}", 3e-6)


def document(*, peers: bool = True, ceilings: bool = True, noise: float = 0.004, seed: int = 1, slower: float = 1.0,
             **context: Any) -> Document:
    """A file's content; `slower` multiplies the times of ours, `context` adds to the machine's facts or replaces
    them."""
    chance = random.Random(seed)

    def measured(name: str, seconds: float, label: str = "", **rates: float) -> Document:
        """As tessera-perf condenses some samples."""
        factors = [(slower if "/tessera:" in name else 1.0) * (1 + chance.gauss(0, noise)) for _ in range(5)]
        middle, spread = statistics.median(factors), statistics.stdev(factors) / statistics.fmean(factors)
        automatic = {"automatic": 1.0} if name.rpartition("/")[2] in AUTOMATIC else {}
        return entry(name, real_time=seconds * middle * 1e6, spread=spread, repetitions=len(factors), label=label,
                     max_error=1e-6, place="cuda", **automatic,
                     **{key: rate / middle for key, rate in rates.items() if ceilings or key != "ceiling"})

    rows = [*(_ceilings(measured) if ceilings else ()), *_rows(measured)]
    wrong = entry("stencil/3d_box_r1_768^3_periodic/f64/cold/tessera:cuda:restrict", place="cuda", error_occurred=True,
                  error_message="wrong result: error 3.1 above its bound 2e-15")
    rows = [wrong if row["name"] == wrong["name"] else row for row in rows if peers or "/peer:" not in row["name"]]
    return {"context": FACTS | context, "benchmarks": rows,
            "left_out": [{"name": "peer:magma", "reason": "CMake did not find it"}]}
