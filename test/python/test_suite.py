# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The measuring of the package: every kind of case runs, is right, and is written as the reports read it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).parents[2] / "perf" / "python" / "suite.py"


@pytest.mark.parametrize("pattern, count", [("matmul_8*", 4), ("*_64x64/f32", 5), ("nothing", 0)])
def test_suite(tmp_path, pattern, count):
    file = tmp_path / "result.json"
    arguments = ["--case", pattern, "--rounds", "2", "--budget", "0", "--json", str(file)]
    run = subprocess.run([sys.executable, str(SUITE), *arguments], capture_output=True, text=True)
    if count == 0:
        assert run.returncode == 1 and "no case matches nothing" in run.stderr and not file.exists()
        return
    assert run.returncode == 0, run.stderr
    rows = json.loads(file.read_text(encoding="utf-8"))["benchmarks"]
    assert len(rows) == 2 * count
    assert all(row["name"].startswith("python/") and row["real_time"] > 0 and row["max_error"] <= 1 for row in rows)
