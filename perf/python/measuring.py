# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs in Python that measure have in common: samples, rows in the form of tessera-perf's, and adding the
rows of peers to a file of tessera-perf."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "report"))
from noise import interval  # noqa: E402


def samples_of(call: Callable[[], Any], budget: float, least: int, most: int) -> list[float]:
    """Seconds of calls, each waited for, as many as last `budget` seconds."""
    samples: list[float] = []
    stop = time.perf_counter() + budget
    while len(samples) < least or (time.perf_counter() < stop and len(samples) < most):
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return samples


def summary(samples: list[float], error: float, batch: int = 1) -> dict[str, Any]:
    """What a row says of samples of an execution; `batch`: executions in each."""
    micro = [value * 1e6 for value in samples]
    low, high = interval(micro)
    return {"real_time": statistics.median(micro), "low": low, "high": high, "min": min(micro), "max": max(micro),
            "spread": statistics.stdev(micro) / statistics.fmean(micro) if len(micro) > 1 else 0.0,
            "repetitions": float(len(micro)), "batch": batch, "max_error": error}


def row(name: str, measured: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "run_name": name, "run_type": "iteration", "iterations": 1, "time_unit": "us", **measured,
            **more}


def _peers_row(case: Any, name: str, measured: dict[str, Any], sibling: dict[str, Any]) -> dict[str, Any]:
    """The ceiling is that of a row of the same case."""
    seconds, floor = measured["real_time"] * 1e-6, sibling["ceiling"] * sibling["real_time"]
    return row(name, measured, rate=case.work / seconds * 1e-9, traffic=case.traffic / seconds * 1e-9,
               ceiling=floor / measured["real_time"], ceiling_rate=sibling["ceiling_rate"], label=sibling["label"],
               **({"place": sibling["place"]} if "place" in sibling else {}))


def add_peers(description: str, frameworks: tuple[Any, ...], case_of: Callable[[str], Any],
              measure: Callable[[Any, Any, float], dict[str, Any]], seconds: float,
              devices: tuple[str, ...] = ("cpu",)) -> int:
    """A program that adds the rows of some frameworks to a file. `case_of` gives the case of a row's name without its
    subject, or None; it has the work and the traffic of an execution. What a framework cannot do is left out with the
    reason."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("result", type=Path, metavar="RESULT.json", help="of tessera-perf; gets the new rows")
    parser.add_argument("--device", choices=devices, default=devices[0], help="default: %(default)s")
    parser.add_argument("--case", default="", metavar="PART", help="only cases whose name holds this")
    parser.add_argument("--seconds", type=float, default=seconds, help="of measuring a row (default: %(default)s)")
    options = parser.parse_args()
    document = json.loads(options.result.read_text(encoding="utf-8"))
    place = "host" if options.device == "cpu" else options.device
    siblings = {entry["name"].rpartition("/")[0]: entry for entry in document["benchmarks"]
                if entry.get("ceiling") and entry.get("place", place) == place and options.case in entry["name"]}
    cases = {title: case for title in siblings if (case := case_of(title))}
    left_out = document.setdefault("left_out", [])
    for framework_type in frameworks:
        try:
            framework = framework_type(options.device, int(document["context"].get("threads", 1)))
        except (ImportError, RuntimeError) as error:
            left_out.append({"name": f"peer:{framework_type.name}", "reason": str(error)})
            continue
        document["context"][framework.name] = framework.version
        for title, case in cases.items():
            name = f"{title}/peer:{framework.name}"
            if not framework.takes(case):
                continue
            print(name, file=sys.stderr)
            try:
                measured = measure(framework, case, options.seconds)
                document["benchmarks"].append(_peers_row(case, name, measured, siblings[title]))
            except Exception as error:  # whatever a compiler of arrays throws belongs into the file
                left_out.append({"name": name, "reason": f"{type(error).__name__}: {error}".splitlines()[0]})
    partial = options.result.with_suffix(".partial")
    partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    partial.replace(options.result)
    return 0
