# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of what is quoted and of what is too noisy for that, and of how numbers are said; run by test_report.py."""

from __future__ import annotations

import random
import statistics
import unittest
from typing import Any

import advice
import figures
import formatting as text
import noise
import report
from drawing import TICKS, Scale
from model import Result
from test_synthetic import Document, content, entry, loaded, one_row

PEER, OURS, OTHER = "peer:openblas", "tessera:cpu:packed", "tessera:cpu:direct"


def passes(*times: float, shares: tuple[float, ...] = ()) -> dict[str, Any]:
    return {"real_time": statistics.median(times), "rate": 1000.0 / statistics.median(times), "repetitions": 9.0,
            "spread": 0.5, "passes": {"real_time": list(times)} | ({"ceiling": list(shares)} if shares else {})}


def rows(case: str, **subjects: dict[str, Any]) -> Document:
    """A file's rows of one case; `subjects`: ours, other, peer."""
    names = {"ours": OURS, "other": OTHER, "peer": PEER}
    return content(*(entry(f"{case}/f32/cold/{names[key]}", **values) for key, values in subjects.items()))


class Intervals(unittest.TestCase):
    def test_few_samples_are_taken_whole(self) -> None:
        self.assertEqual(noise.interval([3.0, 1.0, 2.0]), (1.0, 3.0))
        self.assertEqual(noise.interval([5.0, 1.0, 2.0, 4.0, 3.0]), (1.0, 5.0))
        self.assertEqual(noise.interval([7.0]), (7.0, 7.0))

    def test_order_statistics(self) -> None:
        """The ranks of tables of the sign test at 95 %."""
        for count, rank in ((6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (30, 10)):
            self.assertEqual(noise.interval([float(i) for i in range(1, count + 1)]), (rank, count + 1 - rank), count)

    def test_the_interval_holds_the_median(self) -> None:
        chance = random.Random(7)
        held = 0
        for _ in range(2000):
            low, high = noise.interval([chance.lognormvariate(0.0, 1.0) for _ in range(15)])
            held += low <= 1.0 <= high
        self.assertGreater(held, 0.95 * 2000)

    def test_one_wild_sample_is_no_doubt(self) -> None:
        self.assertLess(noise.doubt([1.0 + 0.01 * i for i in range(14)] + [50.0]), 0.1)

    def test_rows(self) -> None:
        name = f"gemm/64/f32/cold/{OURS}"
        def doubt(**values: Any) -> float | None:
            return noise.of_row(loaded(one_row(name, rate=1.0, **values)).rows[0])
        self.assertAlmostEqual(doubt(low=1.6, high=2.2, repetitions=9.0, spread=9.0), 0.25)  # of 2 us
        self.assertAlmostEqual(doubt(repetitions=30.0, spread=1.39), 2.456 * 1.39 / 30**0.5, places=3)
        self.assertIsNone(doubt(repetitions=1.0, spread=0.0))

    def test_a_ratio_is_better_known_than_its_rows(self) -> None:
        swinging = rows("gemm/64", ours=passes(1.0, 2.0, 3.0), peer=passes(2.0, 4.0, 6.1))
        group = loaded(swinging).groups("gemm")[0]
        self.assertGreater(noise.of_row(group.best_ours), 0.4)
        self.assertLess(noise.of_ratio(group.best_ours, group.best_peer), 0.02)
        self.assertAlmostEqual(noise.quoted_ratio(group, group.best_ours), 2.0)


class Headlines(unittest.TestCase):
    """A run beside other work: one case at 1770 times a peer that was held up, one that is known."""

    NOISY = rows("gemm/64", ours=passes(1.0, 1.0, 1.1), peer=passes(2.0, 1769.75, 9000.0))
    KNOWN = rows("gemm/65", ours=passes(1.0, 1.0, 1.1), peer=passes(2.0, 2.0, 2.2))

    def both(self) -> Result:
        return loaded(content(*self.NOISY["benchmarks"], *self.KNOWN["benchmarks"]))

    def test_noise_is_not_quoted(self) -> None:
        noisy, known = self.both().groups("gemm")
        self.assertIsNone(noise.quoted_ratio(noisy, noisy.best_ours))
        self.assertAlmostEqual(noise.quoted_ratio(known, known.best_ours), 2.0)

    def test_pages_leave_it_out_and_say_so(self) -> None:
        drawn = report.render([self.both()])
        self.assertIn("2 cases; ≈ left out of what follows, as too noisy to compare with a peer: 1; compared with a "
                      "peer: 1, ", drawn)
        self.assertIn("geometric mean of the ratios: 2.00×", drawn)
        self.assertIn("Left out as too noisy: 1.", drawn)  # of the chart
        self.assertEqual(drawn.count("1\u202f770×"), 1)  # in its row of the table, with a mark
        self.assertIn('<span class="doubtful">≈ 1\u202f770×</span>', drawn)

    def test_a_busy_machine_is_said_first_and_nothing_else(self) -> None:
        wild = passes(1.0, 1.0, 1.1, shares=(0.8, 0.3, 0.1)) | {"ceiling": 0.8}
        steady = passes(2.0, 2.0, 2.2, shares=(0.4, 0.4, 0.4)) | {"ceiling": 0.4}
        busy = loaded(rows("gemm/64", ours=wild, other=wild, peer=steady))
        said = "Caution: The machine was not idle: in 2 of 3 rows the share of the ceiling may be off by more than 25"
        drawn, idle = (report.render([run]) for run in (
            busy, loaded(rows("gemm/64", ours=wild, other=steady, peer=steady))))
        self.assertIn(said, drawn)
        self.assertNotIn("What to take", drawn)
        self.assertNotIn("not idle", idle)
        self.assertIn("What to take", idle)
        self.assertIn("the machine was not idle, so they are not summed up", drawn)
        self.assertNotIn("beside the best peer, f32", drawn)

    def test_automatic_choices(self) -> None:
        content = rows("gemm/64", ours=passes(1.0, 1.0, 1.0), other=passes(1.0, 2.0, 9.0))
        content["benchmarks"][1]["automatic"] = 1.0
        self.assertEqual(noise.automatic_shares(loaded(content), "gemm"), {})
        content["benchmarks"][1] |= passes(2.0, 2.0, 2.0)
        self.assertEqual(noise.automatic_shares(loaded(content), "gemm"), {"cpu": [0.5]})

    def test_pages_figures(self) -> None:
        noisy = self.both().groups("gemm")
        for group in noisy:
            object.__setattr__(group.rows[0], "automatic", True)
        self.assertEqual(figures.ratios(noisy, figures.Set("", r"\d+"), "f32"), [2.0])

    def test_more_than_the_ceiling_is_doubtful(self) -> None:
        name = f"stencil/2d_star_r1_9^2_fixed/f32/cold/{OURS}"
        for share, doubtful in ((1.04, False), (2.08, True)):
            row = loaded(one_row(name, rate=1.0, ceiling=share, low=2.0, high=2.0, repetitions=9.0)).rows[0]
            self.assertEqual(noise.is_doubtful(noise.of_share(row)), doubtful)


class Advised(unittest.TestCase):
    def test_what_to_take(self) -> None:
        ours = [passes(1.0, 1.0, 1.1, shares=(0.8, 0.8, 0.7)) | {"ceiling": 0.8, "label": "fma"},
                passes(3.0, 3.0, 3.1, shares=(0.2, 0.2, 0.2)) | {"ceiling": 0.2, "automatic": 1.0}]
        noisy = passes(1.0, 4.0, 9.0, shares=(0.9, 0.3, 0.1)) | {"ceiling": 0.3}
        content = rows("gemm/64", ours=ours[0], other=ours[1], peer=passes(2.0, 2.0, 2.2))
        content["benchmarks"] += rows("gemm/65", ours=noisy)["benchmarks"]
        content["benchmarks"] += rows("gemm/4_batch9", ours=noisy | {"family": "batches"})["benchmarks"]
        for row in content["benchmarks"][:3]:
            row["family"] = "squares"
        self.assertEqual(advice.advise(loaded(content)), [
            ("squares", "cpu", "packed", "80 %", "2.00×", "33 % of it: force one", "1"),
            ("GEMM", "too noisy to say", "–", "–", "–", "–", "1, 1 too noisy"),  # of a file of before
            ("batches", "too noisy to say", "–", "–", "–", "–", "1, 1 too noisy"),
        ])
        drawn = report.render([loaded(content)])
        self.assertLess(drawn.index("What to take here"), drawn.index("What was measured"))


class Numbers(unittest.TestCase):
    def test_quantities(self) -> None:
        shown = {51912.3e9: "51.9 TFLOP/s", 312.4e6: "312 MFLOP/s", 49.53: "49.5 FLOP/s", 1379.0: "1.38 kFLOP/s",
                 999.4e9: "999 GFLOP/s", 999.6e9: "1.00 TFLOP/s", 0.0271: "27.1 mFLOP/s", 0.0: "0 FLOP/s",
                 9.996e9: "10.0 GFLOP/s", 1e21: "1000 EFLOP/s", -2e3: "-2.00 kFLOP/s", 1e-12: "0.00 nFLOP/s"}
        for value, expected in shown.items():
            self.assertEqual(text.quantity(value, "FLOP/s"), expected)
        self.assertEqual((text.quantity(None), text.quantity(2e6)), ("–", "2.00 M"))
        self.assertEqual([text.tick(value, "B/s") for value in (1e11, 5e9, 2.5e3)], ["100 GB/s", "5 GB/s", "2.5 kB/s"])

    def test_durations_sizes_and_ratios(self) -> None:
        self.assertEqual([text.duration(value) for value in (2.0, 1.70104173, 0.0105, 8.13e-6, 4e-9)],
                         ["2 s", "1.7 s", "10.5 ms", "8.13 µs", "4 ns"])
        self.assertEqual([text.size(value) for value in (272629760, 1 << 30, 49152, 100)],
                         ["260 MiB", "1 GiB", "48 KiB", "100 B"])
        self.assertEqual([text.ratio(value) for value in (0.971, 9.996, 28.21, 1769.75, None)],
                         ["0.97×", "10.0×", "28.2×", "1\u202f770×", "–"])

    def test_threads_are_told_once(self) -> None:
        context = {"cpu_threads": "16", "host_threads": "2", "threads": "2", "num_cpus": 16,
                   "host_last_level_cache_bytes": "272629760"}
        self.assertEqual(text.facts(context), [("Threads", "2 of 16 logical CPUs"), ("Last-level cache", "260 MiB")])

    def test_ticks_have_room(self) -> None:
        self.assertEqual(Scale(0.45, 2.2, 0, 1).ticks(), [0.5, 1, 2])
        self.assertEqual(Scale(0, 105, 0, 1, logarithmic=False).ticks(), [0, 20, 40, 60, 80, 100])
        self.assertEqual(Scale(0, 260, 0, 1, logarithmic=False).ticks(), [0, 50, 100, 150, 200, 250])
        for high in (3, 30, 3e3, 3e6, 3e8):
            ticks = Scale(0.4 / high, high, 0, 1).ticks()
            self.assertLessEqual(len(ticks), TICKS)
            self.assertGreaterEqual(len(ticks), 2)
            self.assertIn(1, ticks)
