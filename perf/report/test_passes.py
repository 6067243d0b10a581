# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of what compare.py makes of several passes, on an invented machine that swings; run by test_report.py."""

from __future__ import annotations

import math
import random
import statistics
import unittest

import compare
from chance import centre, discoveries, t_quantile, t_tail
from test_synthetic import Document, content, entry, loaded

PASSES = 4
PROBLEMS = [f"gemm/{size}/{dtype}/cold" for size in (64, 128, 256, 512, 1000, 1024, 2048, 4096)
            for dtype in ("f32", "f64")]
SUBJECTS = {"tessera:cpu:packed": 200.0, "tessera:cpu:direct": 180.0, "tessera:cpu:eigen": 190.0,
            "peer:openblas": 195.0, "peer:blis": 185.0, "peer:onednn": 201.0}


def swinging(seed: int, slower: dict[str, float] | None = None, era: float = 1.0, noise: float = 0.06) -> Document:
    """Rows of a host where each problem's passes have a pace of their own, which its ceiling shares; `era`: pace of
    the whole run."""
    chance = random.Random(seed)
    entries = []
    for problem in PROBLEMS:
        paces = [era * math.exp(chance.gauss(0, 0.3)) for _ in range(PASSES)]
        ceilings = [300.0 * pace * math.exp(chance.gauss(0, noise)) for pace in paces]
        for subject, rate in SUBJECTS.items():
            factor = (slower or {}).get(subject, 1.0)
            rates = [rate / factor * pace * math.exp(chance.gauss(0, noise)) for pace in paces]
            times = [1e6 / value for value in rates]
            shares = [value / ceiling for value, ceiling in zip(rates, ceilings)]
            entries.append(entry(f"{problem}/{subject}", real_time=statistics.median(times),
                                 rate=statistics.median(rates), ceiling=statistics.median(shares), spread=0.01,
                                 repetitions=20, label="fma", passes={"real_time": times, "ceiling": shares}))
    return content(*entries, cpu="invented")


class Chance(unittest.TestCase):
    def test_student(self) -> None:
        """Two-sided 5 % and 1 % points of any table."""
        for freedom, five, one in ((1, 12.706, 63.657), (2, 4.303, 9.925), (3, 3.182, 5.841), (6, 2.447, 3.707),
                                   (11, 2.201, 3.106)):
            self.assertAlmostEqual(t_tail(five, freedom), 0.05, delta=2e-5)
            self.assertAlmostEqual(t_tail(-one, freedom), 0.01, delta=1e-5)
            self.assertAlmostEqual(t_quantile(0.05, freedom), five, delta=1e-3)
        self.assertEqual(t_tail(0.0, 4), 1.0)

    def test_benjamini_hochberg(self) -> None:
        """The 15 probabilities of the article's example: four stand."""
        tails = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
                 0.7590, 1.0]
        self.assertEqual(discoveries(tails, 0.05), [True] * 4 + [False] * 11)
        self.assertEqual(discoveries(tails[::-1], 0.05), [False] * 11 + [True] * 4)
        self.assertEqual(discoveries([0.04, 0.03], 0.05), [True, True])  # the larger one carries the smaller one
        self.assertEqual(discoveries([], 0.05), [])

    def test_hodges_lehmann(self) -> None:
        """Of ten values the 9th of the 55 means from either end (5 %, any table of the signed-rank test)."""
        self.assertEqual(centre([float(value) for value in range(1, 11)], 0.05), (5.5, 3.0, 8.0))
        self.assertEqual(centre([1.0, 2.0, 3.0, 4.0, 5.0], 0.05), (3.0, -math.inf, math.inf))
        self.assertLess(centre([0.0] * 19 + [1000.0], 0.05)[2], 1e-9)


class SeveralPasses(unittest.TestCase):
    def compared(self, new: Document, old: Document | None = None, by: str = "auto") -> list[compare.Change]:
        return compare.changes(loaded(old or swinging(1)), loaded(new), by)

    def test_the_same_program_does_not_differ(self) -> None:
        alarms = 0
        for seed in range(40):
            found = self.compared(swinging(2 * seed), swinging(2 * seed + 1))
            ours = [item for item in found if item.new.subject.ours]
            alarms += (any(item.verdict != compare.SAME for item in ours)
                       or any(item.verdict != compare.SAME for item in compare.summaries(found)))
        self.assertLessEqual(alarms, 4)

    def test_a_swing_is_not_a_change(self) -> None:
        for by in ("auto", "ceiling"):
            found = self.compared(swinging(2, era=0.5), by=by)
            self.assertEqual({item.verdict for item in (*found, *compare.summaries(found))}, {compare.SAME})

    def test_one_slower_algorithm_is_found_and_no_other(self) -> None:
        for seed in range(2, 12):
            for by in ("peers", "ceiling"):
                found = self.compared(swinging(seed, {"tessera:cpu:packed": 1.15}), by=by)
                self.assertEqual({item.subject: item.verdict for item in compare.summaries(found)},
                                 {"gemm cpu direct": compare.SAME, "gemm cpu eigen": compare.SAME,
                                  "gemm cpu packed": compare.SLOWER})
                self.assertLessEqual({item.new.subject.name for item in found if item.verdict == compare.SLOWER},
                                     {"packed"})

    def test_what_the_peers_did_too_is_the_machine(self) -> None:
        """A machine that costs all of them a third more than it costs the ceilings."""
        burdened = swinging(2, dict.fromkeys(SUBJECTS, 1.3))
        for by in ("rate", "ceiling", "peers"):
            self.assertEqual({item.verdict for item in compare.summaries(self.compared(burdened, by=by))},
                             {compare.SAME})
        found = self.compared(burdened, by="ceiling")
        self.assertIn(compare.MACHINE_MOVED, compare.warnings(loaded(swinging(1)), loaded(burdened), found))
        burdened = swinging(2, dict.fromkeys(SUBJECTS, 1.3) | {"tessera:cpu:packed": 1.3 * 1.2})
        found = self.compared(burdened, by="ceiling")
        self.assertEqual({item.verdict for item in compare.summaries(found) if "packed" in item.subject},
                         {compare.SLOWER})

    def test_many_slower_rows_are_found(self) -> None:
        found = self.compared(swinging(2, {"tessera:cpu:packed": 1.15}, noise=0.02), swinging(1, noise=0.02))
        slower = [item for item in found if item.verdict == compare.SLOWER]
        self.assertGreater(len(slower), 0.9 * len(PROBLEMS))
        self.assertEqual({item.new.subject.name for item in slower}, {"packed"})

    def test_one_row_among_many_needs_more(self) -> None:
        """What would count alone may be chance among 48."""
        old, new = swinging(1, noise=0.0), swinging(1, noise=0.0)
        for document, shift in ((old, 0.0), (new, 0.035)):
            for index, entry in enumerate(document["benchmarks"]):
                wobble = (0.02, -0.01, 0.01, -0.02)
                moved = shift if entry["name"] == "gemm/64/f32/cold/tessera:cpu:packed" else 0.0
                entry["passes"]["ceiling"] = [math.exp(moved + part) for part in wobble]
        item = next(item for item in self.compared(new, old, "ceiling")
                    if item.new.name == "gemm/64/f32/cold/tessera:cpu:packed")
        self.assertLess(item.tail, 0.05)
        self.assertEqual(item.verdict, compare.SAME)

    def test_a_single_sample_is_not_judged(self) -> None:
        new = swinging(2)
        del new["benchmarks"][0]["passes"]
        new["benchmarks"][0]["rate"] = 1.0
        verdicts = {item.new.name: item.verdict for item in self.compared(new)}
        self.assertEqual(verdicts[new["benchmarks"][0]["name"]], compare.UNKNOWN)
        self.assertEqual(list(verdicts.values()).count(compare.UNKNOWN), 1)

    def test_files_of_one_pass_compare_as_before(self) -> None:
        old = swinging(2)
        for entry in old["benchmarks"]:
            del entry["passes"]
        self.assertNotIn(compare.UNKNOWN, {item.verdict for item in self.compared(swinging(3), old)})

    def test_malformed_passes_are_none(self) -> None:
        for passes in (3, [1, 2], {"real_time": 1}, {"real_time": [1.0]}, {"real_time": [1.0, 0.0]},
                       {"real_time": [1.0, None]}):
            new = swinging(2)
            new["benchmarks"][0]["passes"] = passes
            self.assertEqual(self.compared(new)[-1].verdict, compare.UNKNOWN)
