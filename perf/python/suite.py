#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the Python package beside NumPy and SciPy on the host, or beside PyTorch and CuPy on a device, in one run on
the same random arrays. Writes the JSON of tessera-perf, names `python/<case>/<dtype>/hot/<subject>`.

The subjects of a case take turns, so that clocks and neighbours are the same for both. A sample is as many calls as
last `--budget` seconds; what is written is the median of the samples. A result is compared with the peer's before
anything is timed. On a device, a sample of calls is waited for as a whole: products of 8 x 8 show what a call costs on
the host. With several threads a pause goes before each sample: the threads of NumPy's BLAS spin for a while after their
work."""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import importlib.util
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layers import layer_cases
from measuring import row, summary

FILTERS = ("correlate", "laplace", "uniform", "sobel", "gaussian")
SHAPES = {"cpu": ((64, 64), (32, 32, 32), (1024, 1024), (128, 128, 128)),
          "cuda": ((512, 512), (1024, 1024), (4096, 4096), (256, 256, 256))}
SQUARES = {"cpu": (8, 64, 256, 1024, 2048), "cuda": (8, 256, 1024, 2048, 4096, 8192)}
# Filters by their width, of random weights or, "gaussian", products of a factor for each axis; OpenCV's in planes.
DENSE = {"cpu": (((1024, 1024), (5, 7, 11, 15, 31)), ((128, 128, 128), (5, 7))),
         "cuda": (((1080, 1920), (7, 11)), ((4096, 4096), (7, 15)), ((256, 256, 256), (5,)))}
DTYPES = {"cpu": ("f32", "f64"), "cuda": ("f32", "bf16")}
NUMPY_NAMES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16"}


@dataclass
class Case:
    """Two calls on the same arrays, and how far their results may be apart."""

    name: str
    dtype: str
    peer: str
    calls: dict[str, Callable[[], Any]]
    bound: Callable[[], Any]
    wait: Callable[[], None]


def host_matmul(size: int, dtype: str, kept: bool) -> Case:
    import numpy as np
    import tessera

    a, b = (np.random.default_rng().uniform(-1, 1, (size, size)).astype(NUMPY_NAMES[dtype]) for _ in range(2))
    out = {name: np.empty_like(a) if kept else None for name in ("tessera", "numpy")}
    calls = {"tessera": lambda: tessera.matmul(a, b, out=out["tessera"]) if kept else tessera.matmul(a, b),
             "numpy": lambda: np.matmul(a, b, out=out["numpy"]) if kept else np.matmul(a, b)}
    bound = lambda: 2 * (size + 2) * np.finfo(a.dtype).eps * (abs(a) @ abs(b))  # noqa: E731
    return Case(f"matmul_{size}{'_out' if kept else ''}", dtype, "numpy", calls, bound, lambda: None)


def device_matmul(size: int, dtype: str, kept: bool) -> Case:
    import tessera
    import torch

    kind = getattr(torch, NUMPY_NAMES[dtype])
    a, b = (torch.rand(size, size, device="cuda").mul(2).sub(1).to(kind) for _ in range(2))
    out = {name: torch.empty_like(a) if kept else None for name in ("tessera", "torch")}
    calls = {"tessera": lambda: tessera.matmul(a, b, out=out["tessera"]) if kept else tessera.matmul(a, b),
             "torch": lambda: torch.matmul(a, b, out=out["torch"]) if kept else torch.matmul(a, b)}

    def bound() -> Any:
        magnitude = abs(a).float() @ abs(b).float()
        rounding = 2 * torch.finfo(kind).eps if dtype == "bf16" else 0.0
        return magnitude * 2 * (size + 2) * torch.finfo(torch.float32).eps + rounding * abs(torch.matmul(a, b).float())

    return Case(f"matmul_{size}{'_out' if kept else ''}", dtype, "torch", calls, bound, torch.cuda.synchronize)


def filter_case(device: str, name: str, shape: tuple[int, ...]) -> Case:
    import numpy as np
    import tessera.ndimage as ours

    values = np.random.default_rng().uniform(-1, 1, shape).astype(np.float32)
    weights = np.random.default_rng().uniform(-1, 1, (3,) * len(shape))
    if device == "cuda":
        import cupy
        import cupyx.scipy.ndimage as theirs

        peer, wait, u, w = "cupyx", cupy.cuda.Device().synchronize, cupy.asarray(values), cupy.asarray(weights)
    else:
        import scipy.ndimage as theirs

        peer, wait, u, w = "scipy", lambda: None, values, weights
    arguments = {"correlate": (weights,), "laplace": (), "uniform": (3,), "sobel": (), "gaussian": (2.0,)}[name]
    function = name + ("_filter" if name in ("uniform", "gaussian") else "")
    ours_call, theirs_call = getattr(ours, function), getattr(theirs, function)
    theirs_arguments = (w,) if name == "correlate" else arguments
    # Passes along the axes round their results, each at most (taps + 1) times half an epsilon of the sum of magnitudes.
    absolute = {"correlate": abs(weights).sum(), "laplace": 4.0 * len(shape), "uniform": 1.0, "gaussian": 1.0,
                "sobel": 2.0 * 4.0 ** (len(shape) - 1)}[name]
    taps = {"gaussian": 17}.get(name, 3) ** (1 if name == "laplace" else len(shape))
    tolerance = 2 * (taps + len(shape)) * float(np.finfo(np.float32).eps) * float(absolute)
    calls = {"tessera": lambda: ours_call(u, *arguments), peer: lambda: theirs_call(u, *theirs_arguments)}
    return Case(f"{name}_{'x'.join(map(str, shape))}", "f32", peer, calls, lambda: tolerance, wait)


def dense_case(device: str, kind: str, width: int, shape: tuple[int, ...], dtype: str) -> Case:
    """`correlate` of random or of Gaussian weights, or OpenCV's filter2D and the same by ours."""
    import numpy as np
    import tessera.ndimage as ours

    values = np.random.default_rng().uniform(-1, 1, shape).astype(NUMPY_NAMES[dtype])
    weights = np.random.default_rng().uniform(-1, 1, (width,) * len(shape))
    if kind == "gaussian":
        line = np.exp(-0.5 * ((np.arange(width) - width // 2) / (width / 6)) ** 2)
        weights = np.prod(np.meshgrid(*[line / line.sum()] * len(shape), indexing="ij"), axis=0)
    tolerance = 2 * (weights.size + 2) * float(np.finfo(values.dtype).eps) * float(abs(weights).sum())
    wait = lambda: None  # noqa: E731
    if kind == "filter2d":
        peer, call = "opencv", opencv_filter(values, weights.astype(values.dtype))
    elif device == "cuda":
        import cupy
        import cupyx.scipy.ndimage as theirs

        values, w = cupy.asarray(values), cupy.asarray(weights)
        peer, wait, call = "cupyx", cupy.cuda.Device().synchronize, lambda: theirs.correlate(values, w)
    else:
        import scipy.ndimage as theirs

        peer, call = "scipy", lambda: theirs.correlate(values, weights)
    calls = {"tessera": lambda: ours.correlate(values, weights), peer: call}
    title = f"correlate_{kind}"
    if kind == "filter2d":  # which takes a transform for more weights than these
        title = kind if weights.size < {"f32": 130, "f64": 50}[dtype] else "filter2d_by_transforms"
    return Case(f"{title}_{width}_{'x'.join(map(str, shape))}", dtype, peer, calls, lambda: tolerance, wait)


def opencv_filter(values: Any, weights: Any) -> Callable[[], Any]:
    """With Intel's primitives or without, whichever is faster."""
    import cv2

    cv2.setNumThreads(int(os.environ["OMP_NUM_THREADS"]))
    seconds = {}
    for primitives in (False, True):
        cv2.ipp.setUseIPP(primitives)
        call = lambda: cv2.filter2D(values, -1, weights, borderType=cv2.BORDER_REFLECT)  # noqa: E731
        call()
        begin = time.perf_counter()
        for _ in range(3):
            call()
        seconds[primitives] = time.perf_counter() - begin
    cv2.ipp.setUseIPP(seconds[True] < seconds[False])
    return call


def dense_cases(device: str) -> Iterator[Callable[[], Case]]:
    dtypes = ("f32", "f64") if device == "cpu" else ("f32",)
    has_opencv = device == "cpu" and importlib.util.find_spec("cv2") is not None
    if device == "cpu" and not has_opencv:
        print("without OpenCV: pip install opencv-python-headless", file=sys.stderr)
    for shape, widths in DENSE[device]:
        kinds = ["random", "gaussian", *(["filter2d"] if has_opencv and len(shape) == 2 else [])]
        for kind, width, dtype in itertools.product(kinds, widths, dtypes):
            yield lambda kind=kind, width=width, shape=shape, dtype=dtype: dense_case(device, kind, width, shape, dtype)


def cases(device: str) -> Iterator[Callable[[], Case]]:
    matmul = device_matmul if device == "cuda" else host_matmul
    for size in SQUARES[device]:
        for dtype in DTYPES[device]:
            for kept in (False, True):
                yield lambda size=size, dtype=dtype, kept=kept: matmul(size, dtype, kept)
    for shape in SHAPES[device]:
        for name in FILTERS:
            yield lambda name=name, shape=shape: filter_case(device, name, shape)
    yield from dense_cases(device)
    if importlib.util.find_spec("torch") is not None:
        yield from layer_cases(Case, device)


def check(case: Case) -> float:
    """The largest difference of the results relative to the bound."""
    results = [call() for call in case.calls.values()]
    case.wait()
    difference = abs(results[0] - results[1])
    worst = float((difference / (case.bound() + 1e-300)).max())
    if not worst <= 1.0:
        raise SystemExit(f"{case.name}/{case.dtype}: the results differ by {worst:.3g} times the bound")
    return worst


def seconds_of(case: Case, call: Callable[[], Any], count: int) -> float:
    case.wait()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    case.wait()
    return (time.perf_counter() - begin) / count


def measure(case: Case, rounds: int, budget: float, pause: float) -> dict[str, list[float]]:
    counts = {}
    for subject, call in case.calls.items():
        once = min(seconds_of(case, call, 1), seconds_of(case, call, 3))
        counts[subject] = max(1, min(100_000, round(budget / max(once, 1e-8))))
    samples: dict[str, list[float]] = {subject: [] for subject in case.calls}
    for turn in range(rounds):
        order = list(case.calls)[:: 1 if turn % 2 else -1]
        for subject in order:
            time.sleep(pause)
            samples[subject].append(seconds_of(case, case.calls[subject], counts[subject]))
    return samples


def context(device: str, threads: int, commit: str) -> dict[str, str]:
    import numpy
    import tessera

    found = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S+0000"),
             "tessera_version": tessera.__version__, "git_commit": commit, "threads": str(threads),
             "executable": "perf/python/suite.py", "python": sys.version.split()[0], "numpy": numpy.__version__}
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            found["cpu_model"] = line.partition(":")[2].strip()
    for module in ("scipy",) if device == "cpu" else ("torch", "cupy"):
        found[module] = __import__(module).__version__
    if device == "cuda":
        import torch

        found["gpu"], found["cuda_runtime"] = torch.cuda.get_device_name(), str(torch.version.cuda)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="of ours and of NumPy's BLAS")
    parser.add_argument("--case", default="*", help="a pattern of the shell, of <case>/<dtype>")
    parser.add_argument("--rounds", type=int, default=15, help="samples of each subject")
    parser.add_argument("--budget", type=float, default=0.03, help="seconds of a sample")
    parser.add_argument("--commit", default="", help="what was built, for the file")
    parser.add_argument("--json", type=Path, help="where to write the result")
    options = parser.parse_args()
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "TESSERA_NUM_THREADS"):
        os.environ[variable] = str(options.threads)  # before NumPy is loaded
    os.environ.pop("OPENBLAS_CORETYPE", None)
    os.environ["TESSERA_BACKEND"] = options.device
    rows = []
    for make in cases(options.device):
        case = make()
        if not fnmatch.fnmatchcase(f"{case.name}/{case.dtype}", options.case):
            continue
        error = check(case)
        samples = measure(case, options.rounds, options.budget, 0.1 if options.threads > 1 else 0.0)
        ours, peer = (statistics.median(samples[name]) for name in ("tessera", case.peer))
        print(f"{case.name + '/' + case.dtype:32} {ours * 1e6:12.2f} us, {case.peer} {peer * 1e6:12.2f} us: "
              f"{peer / ours:.3f}", flush=True)
        title = f"python/{case.name}/{case.dtype}/hot"
        rows += [row(f"{title}/{subject}", summary(samples[name], error)) for name, subject in (
            ("tessera", f"tessera:{options.device}"), (case.peer, f"peer:{case.peer}"))]
    if not rows:
        raise SystemExit(f"no case matches {options.case}")
    if options.json:
        result = {"context": context(options.device, options.threads, options.commit), "benchmarks": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
