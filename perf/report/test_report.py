#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the report's programs on invented results. Standard library alone."""

from __future__ import annotations

import html
import json
import re
import unittest
from html.parser import HTMLParser
from typing import Any

import compare
import noise
import plots
import report
from results import ResultError, load, parse_subject
from test_synthetic import GEMM_SUBJECTS, Document, Files, content, document, entry, loaded, one_row

OTHERS = ("test_groups", "test_noise", "test_passes", "test_scaling")  # modules whose tests run with these
PEERS = ("peer:cublas", "peer:cublaslt-best")
EIGENS = ("tessera:cpu:eigen", "peer:eigen")  # an algorithm and a peer


class Parsing(Files):
    def test_names(self) -> None:
        subject, limited = map(parse_subject, ("tessera:cuda:1:tiled_shared", "tessera:cuda:skinny@64MiB"))
        self.assertEqual((subject.backend, subject.name, subject.limit), ("cuda:1", "tiled_shared", ""))
        self.assertEqual((limited.name, limited.limit, limited.short), ("skinny", "@64MiB", "cuda skinny @64MiB"))
        self.assertEqual(parse_subject("tessera:cpu-v3").backend, "cpu-v3")
        self.assertEqual(parse_subject("peer:cublaslt+kernel").name, "cublaslt+kernel")
        self.assertIsNone(parse_subject("eigen"))
        self.assertEqual([parse_subject(name).short for name in EIGENS], ["cpu eigen", "eigen (peer)"])

    def test_row(self) -> None:
        row, = loaded(one_row("gemm/64/f32/hot/peer:blis", rate=50.5, traffic=4.0, ceiling=0.5, spread=0.03,
                              repetitions=7.0, label="copy in cache", max_error=1e-7)).rows
        self.assertEqual(row.key, ("gemm", "64", "f32", "hot", "peer:blis"))
        self.assertEqual((row.seconds, row.rate, row.cv, row.repetitions), (2e-6, 50.5, 0.03, 7))
        self.assertEqual((row.binds, row.max_error), ("copy in cache", 1e-7))

    def test_one_repetition_has_no_spread(self) -> None:
        row, = loaded(one_row("gemm/64/f32/hot/peer:blis", rate=1.0, spread=0.0, repetitions=1.0)).rows
        self.assertIsNone(row.cv)

    def test_failures_are_not_fast(self) -> None:
        result = loaded(one_row("gemm/64/f32/hot/tessera:cpu:eigen", rate=1e9, error_occurred=True,
                                error_message="wrong"))
        self.assertEqual((result.rows[0].error, result.rows[0].speed), ("wrong", None))
        self.assertIsNone(result.groups("gemm")[0].best_ours)

    def test_a_limit_of_the_workspace_is_nobodys_best(self) -> None:
        group, = loaded(content(*(
            entry(f"gemm/4096/bf16x6/cold/{subject}", rate=rate, automatic=float(subject.endswith("wide")))
            for subject, rate in (("tessera:cuda:wide", 8.0), ("tessera:cuda:wide@64MiB", 9.0), ("peer:cublas", 4.0))
        ))).groups("gemm")
        self.assertEqual((group.best_ours, group.automatic_share, group.ratio(group.rows[1])), (group.rows[0], 1, 2.25))

    def test_rows_of_several_places_do_not_compete(self) -> None:
        rows = [entry(f"gemm/64/f32/cold/{subject}", rate=rate, place=place) for subject, rate, place in (
            ("tessera:kokkos-cuda:team", 7.0, "cuda"), ("tessera:cpu:packed", 2.0, "host"), ("peer:blis", 1.0, "host"),
            ("tessera:kokkos-openmp:team", 3.0, "host"), ("peer:cublas", 9.0, "cuda"))]
        best = {group.place: (group.best_ours.subject.backend, group.best_peer.subject.name)
                for group in loaded(content(*rows)).groups("gemm")}
        self.assertEqual(best, {"cuda": ("kokkos-cuda", "cublas"), "host": ("kokkos-openmp", "blis")})
        at_one = loaded(content(*(row | {"place": "host"} for row in rows)))
        self.assertEqual([group.place for group in at_one.groups("gemm")], [""])

    def test_ceilings_have_units(self) -> None:
        rows = {row.case: row for row in loaded(document()).of("ceiling")}
        self.assertIsNone(rows["copy"].rate)
        self.assertAlmostEqual(rows["copy"].traffic, 3028, delta=100)
        self.assertIsNone(rows["fma"].traffic)

    def test_malformed(self) -> None:
        name = "gemm/64/f32/hot/peer:blis"
        cases = {"{": "is not JSON: line 1", "[]": 'no list "benchmarks"', '{"benchmarks": []}': 'no object "context"',
                 '{"context": {}, "benchmarks": [3]}': "benchmarks[0] is not an object",
                 '{"context": {}, "benchmarks": []}': "holds no row",
                 json.dumps(one_row("BM_Copy/8")): "BM_Copy/8: a row is named <op>/<case>/",
                 json.dumps(content(entry(name), entry(name))): "without repetitions",
                 json.dumps(one_row(name, run_type="aggregate")): "and aggregates"}
        for text, message in cases.items():
            with self.subTest(content=text), self.assertRaisesRegex(ResultError, re.escape(message)):
                loaded(text)
        with self.assertRaisesRegex(ResultError, "no such file"):
            load(self.folder / "none.json")

    def test_programs_say_what_is_wrong(self) -> None:
        bad, good = self.write("not JSON", "bad.json"), self.write(document())
        for name, arguments in (("compare.py", [good, bad]), ("report.py", [bad, "-o", self.folder / "page"])):
            done = self.program(name, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), name)
            self.assertRegex(done.stderr, rf"^{name}: .*bad\.json: is not JSON: line 1, column 1")


class Comparing(Files):
    def compared(self, new: Document, old: Document | None = None, **options: Any) -> list[compare.Change]:
        return compare.changes(loaded(old or document()), loaded(new), **options)

    def verdicts(self, *arguments: Any, **options: Any) -> set[str]:
        return {item.verdict for item in self.compared(*arguments, **options) if item.new.subject.ours}

    def test_the_same_program_does_not_differ(self) -> None:
        for seed in range(2, 6):
            self.assertEqual(self.verdicts(document(seed=seed)), {compare.SAME})

    def test_five_per_cent_are_found(self) -> None:
        for slower, verdict in ((1.05, compare.SLOWER), (1 / 1.05, compare.FASTER)):
            found = [item.verdict for item in self.compared(document(seed=2, slower=slower)) if item.new.subject.ours]
            self.assertGreater(found.count(verdict), 0.95 * len(found))
            self.assertLessEqual(set(found), {verdict, compare.SAME})

    def test_noise_hides_five_per_cent(self) -> None:
        noisy = {"noise": 0.08}
        found = [item.verdict for item in self.compared(document(seed=2, slower=1.05, **noisy), document(**noisy))]
        self.assertLess(found.count(compare.SLOWER), 0.05 * len(found))

    def test_the_floor_and_the_spread_of_the_row(self) -> None:
        def pair(rate: float, spread: float) -> str:
            old, new = (one_row("gemm/64/f32/hot/tessera:cpu:eigen", rate=value, spread=spread, repetitions=9)
                        for value in (100.0, rate))
            return self.compared(new, old, by="rate")[0].verdict
        self.assertEqual(pair(98.5, 0.0), compare.SAME)
        self.assertEqual(pair(97.5, 0.0), compare.SLOWER)
        self.assertEqual(pair(95.0, 0.02), compare.SAME)  # 2 sqrt(2) 0.02 = 5.7 %
        self.assertEqual(pair(93.0, 0.02), compare.SLOWER)

    def test_shares_of_ceilings(self) -> None:
        old, swung, slower = (one_row("stencil/2d/f32/cold/tessera:cpu:rows", rate=rate, ceiling=share, label="copy",
                                      spread=0.01, repetitions=9)
                              for rate, share in ((10.0, 0.80), (6.0, 0.79), (10.0, 0.68)))
        self.assertEqual(self.verdicts(swung, old), {compare.SAME})
        self.assertEqual(self.verdicts(swung, old, by="rate"), {compare.SLOWER})
        self.assertEqual(self.verdicts(slower, old), {compare.SLOWER})
        self.assertEqual(self.verdicts(one_row(old["benchmarks"][0]["name"], rate=9.0, ceiling=0.7, label="fma"), old),
                         {compare.UNKNOWN})  # another one binds
        plain, slow = (one_row("python/x/f32/hot/tessera:cpu", real_time=time) for time in (1.0, 1.2))
        self.assertEqual(self.verdicts(slow, plain), {compare.SLOWER})  # there is none: times are compared

    def test_peers_show_what_the_machine_did(self) -> None:
        def pair(ours: float, peer: float) -> Document:
            return content(*(entry(f"gemm/256/f32/cold/{subject}", rate=rate, spread=0.01, repetitions=9)
                             for subject, rate in (("tessera:cpu:packed", ours), ("peer:openblas", peer))))
        old = pair(100.0, 90.0)
        self.assertEqual(self.verdicts(pair(60.0, 55.0), old, by="peers"), {compare.SAME})
        self.assertEqual(self.verdicts(pair(60.0, 55.0), old, by="rate"), {compare.SLOWER})
        self.assertEqual(self.verdicts(pair(60.0, 70.0), old, by="peers"), {compare.SLOWER})
        self.assertEqual(self.verdicts(pair(100.0, 70.0), old, by="peers"), {compare.FASTER})
        old["benchmarks"].pop()
        self.assertEqual(self.verdicts(old, old, by="peers"), {compare.UNKNOWN})

    def test_exit_codes(self) -> None:
        old, slow = self.write(document(), "old.json"), self.write(document(seed=2, slower=1.05), "slow.json")
        name = "gemm/1024/f32/cold/tessera:cuda:naive"
        broken = document()
        broken["benchmarks"] = [entry(name, error_occurred=True, error_message="wrong") if row["name"] == name else row
                                for row in broken["benchmarks"] if "stencil/2d_star_r1" not in row["name"]]
        self.assertEqual(self.program("compare.py", old, old).returncode, 0)
        done = self.program("compare.py", old, slow, "--markdown")
        self.assertEqual(done.returncode, 1)
        self.assertIn("| **SLOWER** |", done.stdout)
        self.assertEqual(self.program("compare.py", old, slow, "--allow-slower").returncode, 0)
        done = self.program("compare.py", old, self.write(broken, "broken.json"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, rf"{name} .* FAILS NOW")
        self.assertIn("only in the old file:\n  stencil/2d_star_r1", done.stdout)

    def test_warnings(self) -> None:
        old, new = loaded(document()), loaded(document(seed=2, driver="590.1", threads=8, git_commit="c0ffee"))
        said = compare.warnings(old, new, compare.changes(old, new))
        self.assertEqual(said, ["driver differs: 580.65 -> 590.1", "threads differs: 16 -> 8"])

    def test_sorted_by_size(self) -> None:
        sizes = [item.size for item in self.compared(document(seed=2, slower=1.2))]
        self.assertEqual(sizes, sorted(sizes, reverse=True))


class Outline(HTMLParser):
    """The identifiers, references and elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for key, value in attrs if key == "id"]
        self.links += [value or "" for key, value in attrs if key in ("href", "src", "xlink:href")]


class Pages(Files):
    def outline(self, *contents: Document) -> tuple[str, Outline]:
        drawn = report.render([loaded(content, f"{index}.json") for index, content in enumerate(contents)])
        outline = Outline()
        outline.feed(drawn)
        return drawn, outline

    def test_self_contained_and_whole(self) -> None:
        drawn, outline = self.outline(document(), document(seed=2))
        self.assertFalse([link for link in outline.links if not link.startswith("#")])
        self.assertFalse({"script", "link", "iframe", "img"} & set(outline.tags))
        self.assertNotRegex(drawn, r"@import|url\(")
        self.assertEqual(len(outline.ids), len(set(outline.ids)))
        self.assertLessEqual({link[1:] for link in outline.links}, set(outline.ids))
        for expected in ("NVIDIA H100", "580.65", "b924f7c0ffee", "2026-11-21", "<dd>1980</dd>", "13.1.0",
                         "wrong result: error 3.1", "peer:magma", "GEMM beside the best peer, f64", "Square GEMM, f32",
                         "<strong>GEMM, f64", "Stencils, f32", "★"):
            self.assertIn(expected, drawn)
        self.assertEqual(outline.tags.count("figure"), 2 * 8)
        self.assertEqual(outline.tags.count("svg"), 2 * 8)

    def test_without_peers_and_ceilings(self) -> None:
        drawn, _ = self.outline(document(peers=False, ceilings=False, git_commit="b924f7c0ffee-dirty"))
        self.assertIn("no peer was measured", drawn)
        self.assertIn("there are no shares of them", drawn)
        self.assertIn("with local changes", drawn)
        self.assertNotIn("% of the ceiling that binds", drawn)

    def test_automatic_choices(self) -> None:
        drawn, _ = self.outline(document())
        self.assertIn("★◆", drawn)  # register_blocked
        self.assertIn('<td class="mark">◆</td><td class="subject">cuda restrict</td>', drawn)
        self.assertIn("◆ cuda: the automatic choice reaches ", drawn)
        self.assertNotIn('"mark">◆', self.outline(one_row("gemm/64/f32/cold/tessera:cpu:packed", rate=1.0))[0])
        result = loaded(content(*(
            entry(f"gemm/{name}", rate=rate, automatic=automatic) for name, rate, automatic in (
                ("64/f32/cold/tessera:cpu:packed", 100.0, 1.0), ("64/f32/cold/tessera:cpu:direct", 50.0, 0.0),
                ("64/f32/cold/tessera:other:plain", 80.0, 1.0), ("65/f32/cold/tessera:cpu:packed", 100.0, 0.0),
                ("65/f32/cold/tessera:cpu:direct", 81.0, 1.0), ("66/f32/cold/tessera:cpu:packed", 100.0, 0.0)))))
        self.assertEqual(noise.automatic_shares(result, "gemm"), {"cpu": [1.0, 0.81], "other": [1.0]})
        self.assertIn("cpu: the automatic choice reaches 90.0 % of the best algorithm's rate (geometric mean of 2 "
                      "cases), 81.0 % at least; it is below 95 % in 1.", html.unescape(report.render([result])))

    def test_an_algorithm_with_a_peers_name(self) -> None:
        result = loaded(content(*(entry(f"gemm/{size}/f32/hot/{name}", rate=100.0)
                                  for size in (64, 128, 256, 512) for name in EIGENS)))
        styles = plots.Styles(result.rows)
        self.assertEqual([styles.label(parse_subject(name)) for name in EIGENS], ["eigen", "eigen (peer)"])
        drawn = report.render([result])
        for cell in ("cpu eigen", "eigen (peer)"):
            self.assertIn(f'<td class="subject">{cell}</td>', drawn)
        self.assertRegex(drawn, r">eigen \(peer\)</text>")  # in a figure

    def test_marks_tell_subjects_apart(self) -> None:
        styles = plots.Styles(loaded(document()).rows)
        looks = [styles.of(parse_subject(name)) for name in GEMM_SUBJECTS]
        self.assertEqual(len({(look.shape, look.filled) for look in looks}), len(looks))
        self.assertEqual([look.filled for look in looks], [name not in PEERS for name in GEMM_SUBJECTS])

    def test_one_row_and_hostile_text(self) -> None:
        drawn, outline = self.outline(content(entry("gemm/<b>64&/f32/hot/peer:a\"b", rate=1.0),
                                              cpu="<script>alert(1)</script>", none=None))
        self.assertNotIn("script", outline.tags)
        self.assertIn("&lt;b&gt;64&amp;", drawn)

    def test_square_sizes(self) -> None:
        cases = ("4096", "4096_NT", "16_batch10000", "1000_ld+24", "1x64x64")
        self.assertEqual([plots.square_size(case) for case in cases], [4096, None, None, None, None])

    def test_program(self) -> None:
        target = self.folder / "page.html"
        done = self.program("report.py", self.write(document()), "-o", target)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("</html>", target.read_text(encoding="utf-8"))


def load_tests(loader: unittest.TestLoader, own: unittest.TestSuite, _: object) -> unittest.TestSuite:
    own.addTests(loader.loadTestsFromNames(OTHERS))
    return own


if __name__ == "__main__":
    unittest.main()
