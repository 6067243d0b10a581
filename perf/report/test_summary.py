#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that the pages quote the committed baselines, and that a page which does not is found. Standard library
alone."""

from __future__ import annotations

import re
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import blocks
import chart
import figures
import summary

SETS = {("h100-gemm", "gemm", False): figures.GPU_GEMM, ("h100-stencil", "stencil", False): figures.GPU_SWEEPS,
        ("h100-stencil", "stencil", True): figures.GPU_STEPS}
for name in blocks.XEONS.values():
    SETS |= {
        (f"{name}-gemm", "gemm", False): figures.CPU_GEMM,
        (f"{name}-stencil", "stencil", False): figures.CPU_SWEEPS,
        (f"{name}-stencil", "stencil", True): figures.CPU_STEPS,
    }


class Committed(unittest.TestCase):
    def test_nothing_is_stale(self) -> None:
        for path, (old, new) in summary.contents().items():
            with self.subTest(path=path.name):
                self.assertEqual(old, new, "stale: run perf/report/summary.py")

    def test_every_case_is_in_one_set(self) -> None:
        for (name, op, many_steps), sets in SETS.items():
            for group in filter(figures.quoted, figures.groups(name, op, many_steps)):
                found = [chosen.title for chosen in sets if re.fullmatch(chosen.pattern, group.case)]
                self.assertEqual(len(found), 1, f"{name}: {group.case} is in {found}")

    def test_every_case_has_an_automatic_choice(self) -> None:
        for name, op, many_steps in SETS:
            for group in figures.groups(name, op, many_steps):
                self.assertIsNotNone(group.automatic, f"{name}: {group.case} {group.dtype} {group.cache}")

    def test_every_block_is_used(self) -> None:
        pages = "".join((summary.ROOT / page).read_text(encoding="utf-8") for page in summary.PAGES)
        for block in blocks.BLOCKS:
            self.assertEqual(pages.count(f"<!-- generated: {block}, "), 1, block)
        for path in blocks.CHARTS:
            self.assertIn(path, (summary.ROOT / "README.md").read_text(encoding="utf-8"))


class Pages(unittest.TestCase):
    PAGE = "before\n<!-- generated: overheads, by perf/report/summary.py -->\nold\n<!-- end -->\nafter\n"

    def test_only_blocks_are_written(self) -> None:
        new = summary.filled("page", self.PAGE)
        self.assertEqual(new, self.PAGE.replace("old", blocks.overheads()))
        self.assertEqual(summary.filled("page", new), new)

    def test_bad_marks(self) -> None:
        with self.assertRaisesRegex(summary.Stale, "no block 'weather'; there are readme"):
            summary.filled("page", self.PAGE.replace("overheads", "weather"))
        for broken in (self.PAGE.replace("<!-- end -->", ""), self.PAGE.replace(", by perf", " by perf")):
            with self.assertRaisesRegex(summary.Stale, "malformed"):
                summary.filled("page", broken)

    def test_a_changed_figure_is_stale(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, (old, _) in summary.contents().items():
                copy = root / path.relative_to(summary.ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(re.sub(r"\d\.\d\d", "9.99", old, count=1) if path.name == "performance.md" else old,
                                encoding="utf-8")
            stale = [path.name for path, (old, new) in summary.contents(root).items() if old != new]
            self.assertEqual(stale, ["performance.md"])


class Charts(unittest.TestCase):
    LINES = [chart.Line("one sweep"), chart.Line("2D <box>", {"f32": [0.8, 1.2], "f64": [2.0]})]

    def test_well_formed_and_the_same_each_time(self) -> None:
        drawn = chart.draw("a & b", "under", "axis", self.LINES)
        self.assertEqual(drawn, chart.draw("a & b", "under", "axis", self.LINES))
        tree = xml.fromstring(drawn)
        circles = [part for part in tree.iter() if part.tag.endswith("circle")]
        self.assertEqual([part.get("fill") for part in circles], list(chart.COLOURS.values()))
        self.assertNotIn("script", drawn)

    def test_marks_stand_where_the_values_are(self) -> None:
        axis = chart.Axis(self.LINES)
        self.assertAlmostEqual(axis.at(2) - axis.at(1), axis.at(1) - axis.at(0.5))
        self.assertTrue(chart.LABELS <= axis.at(0.8) < axis.at(1.0) < axis.at(2.0) <= chart.WIDTH - chart.VALUES)


class Formats(unittest.TestCase):
    def test_ranges(self) -> None:
        self.assertEqual(figures.times([1.0, 4.0]), "2.00 (1.00–4.00)")
        self.assertEqual([figures.times(values) for values in ([1.234], [1.001, 1.002], [28.4], [])],
                         ["1.23", "1.00", "28", "–"])
        self.assertEqual(
            [figures.percents(values) for values in ([0.981, 1.007], [0.5], [])], ["98–101 %", "50 %", "–"]
        )


if __name__ == "__main__":
    unittest.main()
