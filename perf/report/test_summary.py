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
from unittest import mock

import blocks
import chart
import drawing
import figures
import formatting as text
import headlines
import summary
from results import ResultError

NARROW = [(figures.GPU_NARROW, figures.NARROW), (figures.GPU_PARTS, figures.PARTS)]
SETS = {("h100-gemm", "gemm", False): figures.GPU_GEMM, ("h100-stencil", "stencil", False): figures.GPU_SWEEPS,
        ("h100-stencil", "stencil", True): figures.GPU_STEPS}
for name in figures.EPYCS.values():
    SETS[f"{name}-gemm", "gemm", False] = figures.CPU_GEMM
for name in figures.XEONS.values():
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

    def test_every_narrow_case_is_in_one_set(self) -> None:
        for sets, dtypes in NARROW:
            for group in figures.groups("h100-gemm", "gemm", cache="cold"):
                if group.dtype in dtypes and group.ratio(group.automatic):
                    found = [chosen.title for chosen in sets if re.fullmatch(chosen.pattern, group.case)]
                    self.assertEqual(len(found), 1, f"{group.case} {group.dtype} is in {found}")

    def test_commits(self) -> None:
        """The table of the baselines names the commit that each file names."""
        lines = (figures.BASELINES / "README.md").read_text(encoding="utf-8").splitlines()
        rows = [cells for line in lines if len(cells := line.strip("|").split("|")) == 4 and "`" in cells[0]]
        for path in figures.BASELINES.glob("*.json"):
            commit = figures.baseline(path.stem).context["commit"]
            named = [cells[3].strip() for cells in rows if any(
                path.stem in (name, cells[0].split("`")[1].removesuffix("-1-thread") + name)
                for name in cells[0].split("`")[1::2])]
            self.assertEqual([commit.startswith(name) for name in named], [True], f"{path.stem}: {commit}, {named}")

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
        with self.assertRaisesRegex(summary.Stale, "no block 'weather'; there are facts"):
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
    SECTIONS = [chart.Section("one sweep", ("f32", "f64"), [chart.Line("2D <box>", {"f32": [0.8, 1.2], "f64": [2.0]})]),
                chart.Section("16 bits", ("bf16", "f16"), [chart.Line("1000", {"bf16": [0.7]})])]

    def test_well_formed_and_the_same_each_time(self) -> None:
        drawn = chart.draw("a & b", "under", "axis", self.SECTIONS)
        self.assertEqual(drawn, chart.draw("a & b", "under", "axis", self.SECTIONS))
        tree = xml.fromstring(drawn)
        circles = [part for part in tree.iter() if part.tag.endswith("circle")]
        first, second = drawing.COLOURS[:2]
        self.assertEqual([part.get("fill") for part in circles], [first, first, second, first])  # a dot for each case
        self.assertNotIn("script", drawn)

    def test_marks_stand_where_the_values_are(self) -> None:
        axis = chart.axis_of(self.SECTIONS)
        self.assertAlmostEqual(axis.at(2) - axis.at(1), axis.at(1) - axis.at(0.5))
        places = [chart.LABELS, *map(axis.at, (0.7, 0.8, 1.0, 2.0)), chart.WIDTH - chart.VALUES]
        self.assertEqual(places, sorted(set(places)))

    def test_the_slowest_case_is_told(self) -> None:
        texts = [part.text for part in xml.fromstring(chart.draw("", "", "", self.SECTIONS)).iter()]
        for shown in ("0.80", "2.00", "0.70", "16 bits", "f16"):
            self.assertIn(shown, texts)


class Headlines(unittest.TestCase):
    def test_no_group_that_loses_is_left_out(self) -> None:
        said = " ".join(headlines.falls_short().split())
        cold = figures.groups("h100-gemm", "gemm", cache="cold")
        for sets, dtypes in [(figures.GPU_GEMM, figures.DTYPES), *NARROW]:
            for chosen in sets:
                for dtype in dtypes:
                    if (values := figures.ratios(cold, chosen, dtype)) and min(values) < text.GOOD_SHARE:
                        figure = f"{min(values):.2f} ({dtype})"
                        self.assertRegex(said, f"{re.escape(chosen.title)}: [^;]*{re.escape(figure)}")

    def test_the_worst_is_told_first(self) -> None:
        title, dtype, values = min(headlines.short_products(), key=lambda found: min(found[2]))
        self.assertIn(f"Slowest beside cuBLAS: {title} {min(values):.2f} ({dtype});",
                      " ".join(headlines.readme().split()))

    def test_a_range_shows_both_ends(self) -> None:
        self.assertEqual([headlines._range(values) for values in ([1.0, 0.7, 2.0], [0.7], [28.6, 1.5])],
                         ["0.70 to 2.00", "0.70", "1.50 to 29"])

    def test_a_fact_that_no_longer_holds_is_refused(self) -> None:
        with mock.patch.object(headlines, "_errors", return_value=[0.5, 1.5]):
            with self.assertRaisesRegex(ResultError, "errs more than a peer"):
                headlines.parts()


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
