# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of plans over many ranks, and its blocks, on invented figures; run by test_report.py."""

from __future__ import annotations

import unittest

import scaling
from model import Result
from scaling import Link
from test_synthetic import Document, content, entry, loaded

LINK = Link(10e-6, 100e9)
POINTS = 512**3


def row(name: str, seconds: float, **figures: float) -> Document:
    return entry(name, real_time=seconds * 1e6, place="cuda", **figures)


def invented(together: float = 0.105, depth: float = 4) -> Result:
    """A rank takes 100 steps of 1 ms each; two of them `together` seconds."""
    weak = "distributed/weak_star_ranks2/f32/cold"
    strong = "distributed/strong_gemm_16384_ranks2/bf16/cold"
    figures = {"points": POINTS, "halo_points": depth * 512**2, "halo_bytes": 4 * depth * 512**2, "steps": 100,
               "depth": depth}
    rows = [row(f"distributed/exchange_{size}/f32/cold/ceiling:nccl", LINK.seconds(size) - LINK.seconds(8) + 10e-6,
                bytes=size) for size in (8, 2**20, 2**26)]
    rows += [row(f"{weak}/tessera:cuda:distributed", together, **figures), row(f"{weak}/tessera:cuda:one_rank", 0.1),
             row(f"{weak}/tessera:cuda:at_once", 0.102), row(f"{weak}/peer:jacobi", 0.3),
             row(f"{strong}/tessera:cuda:distributed", 0.5), row(f"{strong}/tessera:cuda:one_rank", 0.9)]
    return loaded(content(*rows, ranks="2", threads="1", gpu="H200", git_commit="0" * 12, cpu_model="some",
                          date="2026-11-26T00:00:00", nccl="NCCL 2.28.9"))


class Model(unittest.TestCase):
    def test_link(self) -> None:
        link = scaling.link_of(invented())
        self.assertAlmostEqual(link.latency, 10e-6)
        self.assertAlmostEqual(link.rate / 1e9, 100)

    def test_rounds(self) -> None:
        # A short exchange costs least before the steps, a long one beside them; one step hides what it can.
        self.assertAlmostEqual(scaling.round_seconds(1e-3, 0.01, 4, 5e-6, 10e-6, True), 1.01e-3 + 5e-6)
        self.assertAlmostEqual(scaling.round_seconds(1e-3, 0.01, 4, 5e-4, 10e-6, True), 1.03e-3)
        self.assertAlmostEqual(scaling.round_seconds(1e-3, 0.01, 4, 5e-4, 10e-6, False), 1.51e-3)
        self.assertAlmostEqual(scaling.round_seconds(1e-3, 0.01, 4, 2e-3, 10e-6, True), 2e-3)
        self.assertAlmostEqual(scaling.round_seconds(1e-3, 0.01, 1, 5e-4, 10e-6, False), 1.005e-3)

    def test_two_ranks_by_hand(self) -> None:
        case, = scaling.scaled(invented(), "weak")
        halos, exchange = 4 / 512, 10e-6 + 4 * 4 * 512**2 / 100e9
        expected = 4e-3 / min(4e-3 * (1 + halos) + exchange, 4e-3 * (1 + 3 * halos))
        self.assertAlmostEqual(scaling.predicted(case, 2, LINK), expected)

    def test_more_ranks_are_no_faster_and_hosts_do_not_matter_beyond_the_first(self) -> None:
        case, = scaling.scaled(invented(), "weak")
        found = [scaling.predicted(case, ranks, LINK) for ranks in (2, 8, 16, 4096)]
        self.assertTrue(found[0] > found[1] >= found[2] == found[3] > 0.9, found)

    def test_strong(self) -> None:
        case, = scaling.scaled(invented(), "weak")
        halved = scaling.Scaled("star", "strong", 2, "f32", case.together, case.one, None, {})
        self.assertTrue(1.8 < scaling.predicted(halved, 2, LINK) < 2)
        self.assertTrue(8 < scaling.predicted(halved, 64, LINK) < 64)
        self.assertIsNone(scaling.predicted(halved, 512, LINK))  # two planes, and a halo of four

    def test_product(self) -> None:
        case, = scaling.scaled(invented(), "strong")
        travel = 2 * 10e-6 + 16384**2 * 2 / 2 / 100e9
        self.assertAlmostEqual(scaling.predicted(case, 2, LINK), 0.9 / (0.45 + travel / 2))


class Blocks(unittest.TestCase):
    def test_weak(self) -> None:
        lines = scaling.compared(invented(), "weak").splitlines()
        self.assertEqual(lines[0], "| weak scaling | type | 2, measured | 2, model | 8 | 64 | 512 | 4096 |")
        self.assertRegex(lines[2], r"^\| `star` \| f32 \| 0\.95 \| 0\.9\d( \| 0\.9\d){4} \|$")

    def test_strong_and_peers(self) -> None:
        self.assertIn("| `gemm_16384` | bf16 | 1.80 | 1.9", scaling.compared(invented(), "strong"))
        self.assertIn("| `star` | f32 | Jacobi over NCCL | 2.86 |", scaling.peers(invented()))

    def test_machine(self) -> None:
        self.assertEqual(scaling.machine(invented()),
                         "2 ranks of H200, NCCL 2.28.9, commit 00000000, 2026-11-26")

