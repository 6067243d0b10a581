# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of what subjects are called, and of what report.py says without its packages; run by test_report.py."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from results import load, parse_subject
from test_synthetic import document, one_row

HERE = Path(__file__).parent


class Labels(unittest.TestCase):
    NAMES = ("tessera:cpu:eigen", "peer:eigen")  # an algorithm and a peer

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "run.json"

    def test_a_peer_is_said_to_be_one(self) -> None:
        self.assertEqual([parse_subject(name).short for name in self.NAMES], ["cpu eigen", "eigen (peer)"])

    def test_an_algorithm_with_a_peers_name(self) -> None:
        try:
            import page
            import plots
        except ImportError as error:
            self.skipTest(f"Python finds no {error.name}")
        content = one_row("gemm/64/f32/hot/tessera:cpu:eigen", rate=100.0)
        content["benchmarks"] = [entry for size in (64, 128, 256, 512) for name in self.NAMES
                                 for entry in one_row(f"gemm/{size}/f32/hot/{name}", rate=100.0)["benchmarks"]]
        self.file.write_text(json.dumps(content), encoding="utf-8")
        result = load(self.file)
        styles = plots.Styles(result.rows)
        self.assertEqual([styles.label(parse_subject(name)) for name in self.NAMES], ["eigen", "eigen (peer)"])
        drawn = page.render([result])
        for cell in ("cpu eigen", "eigen (peer)"):
            self.assertIn(f'<td class="subject">{cell}</td>', drawn)
        self.assertRegex(drawn, r">eigen \(peer\)</text>")  # in a figure

    def test_the_report_says_what_it_needs(self) -> None:
        self.file.write_text(json.dumps(document()), encoding="utf-8")
        # -E -S: without the packages that were installed.
        command = [sys.executable, "-E", "-S", str(HERE / "report.py"), str(self.file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.file.parent)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^report\.py: \w+ is missing; numpy and matplotlib are needed: "
                                      r"pip install -r .*requirements\.txt\n$")
