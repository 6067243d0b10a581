# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs in Python that measure have in common: rows in the form of tessera-perf's."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "report"))
from noise import interval  # noqa: E402


def summary(samples: list[float], error: float) -> dict[str, Any]:
    """What a row says of samples of an execution."""
    micro = [value * 1e6 for value in samples]
    low, high = interval(micro)
    return {"real_time": statistics.median(micro), "low": low, "high": high, "min": min(micro), "max": max(micro),
            "spread": statistics.stdev(micro) / statistics.fmean(micro) if len(micro) > 1 else 0.0,
            "repetitions": float(len(micro)), "max_error": error}


def row(name: str, measured: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "run_name": name, "run_type": "iteration", "iterations": 1, "time_unit": "us", **measured,
            **more}
