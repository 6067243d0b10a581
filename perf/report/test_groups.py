# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of groups, on invented figures; run by test_report.py."""

from __future__ import annotations

import groups
import report
from test_synthetic import Document, Files, content, entry, loaded

HEAD = "| group | dtype | cache | cases | equal accuracy | worst |"


def rows(case: str, ours: float, equal: float | None, fast: float | None = None, **more: object) -> list[Document]:
    """Rates of one case: of ours, of the best at equal accuracy, and of the best that sums in 16 bits. A slower
    algorithm of ours is not the choice, and a faster one neither."""
    def row(subject: str, rate: float, **figures: object) -> Document:
        return entry(f"gemm/{case}/{subject}", place="cuda", rate=rate, label="copy",
                     **({"ulps": 0.5, "misrounded": 0.0, "repetitions": 9, "spread": 0.01} | figures))

    found = [row("tessera:cuda:tiled", ours, automatic=1.0, ulps=0.58, misrounded=0.001, **more),
             row("tessera:cuda:other", 2 * ours)]
    if equal:
        found.append(row("peer:cublaslt_f32_sums", equal, ulps=0.6))
    if fast:
        found.append(row("peer:cublaslt_best", fast, ulps=199.0, misrounded=0.4, in_parts=1.0))
    return found


def table(*entries: Document) -> dict[tuple[str, str, str], list[str]]:
    """The other cells by group, type and cache state."""
    return {tuple(line[:3]): line[3:] for line in groups.lines(loaded(content(*entries)))}


class Groups(Files):
    def test_each_case_is_in_one_group(self) -> None:
        wanted = {"layers_197x4096x4096_NT": "layers, 64 to 333 tokens",
                  "layers_1x768x3072_NT": "layers, 1 to 32 tokens",
                  "layers_16x30522x768_NT_bias": "layers, 1 to 32 tokens",
                  "layers_1024x4096x1024_NT_bias_gelu_tanh": "layers, 1024 to 8192 tokens",
                  "layers_1024_NT": "layers, 1024 to 8192 tokens",
                  "layers_8192x4096x4096_NT": "layers, 1024 to 8192 tokens",
                  "layers_4096_NT": "layers, 1024 to 8192 tokens", "layers_512x512x64_batch96_NT": "attention, batches",
                  "layers_197x64x197_batch256": "attention, batches",
                  "random-aligned_160x1224x9576_ld+8_TT_beta1": "random, rows of whole 16 bytes",
                  "random-odd_17": "random, other rows", "1024": "squares 1024, 2048", "3000": "squares 1000, 3000",
                  "1024_NT": None, "2048x8192x1024": None, "layers_128x768x768_NT": None}
        self.assertEqual({case: groups.group_of(case) for case in wanted}, wanted)

    def test_ratios_at_equal_accuracy_and_beside_all(self) -> None:
        found = table(*rows("layers_197x4096x4096_NT/bf16/cold", 400.0, 200.0, 500.0),
                      *rows("layers_64x4096x4096_NT/bf16/cold", 100.0, 200.0, 400.0))
        cells, = found.values()
        # sqrt(2 x 0.5), sqrt(0.8 x 0.25)
        self.assertEqual(cells, ["2", "1.00×", "0.50×", "layers_64x4096x4096_NT", "0.45×", "0.25×",
                                 "layers_64x4096x4096_NT", "0.58", "0.10", "0.6", "199"])

    def test_what_sums_exactly_counts_for_both(self) -> None:
        cells, = table(*rows("random-odd_17/f32/cold", 100.0, 200.0)).values()
        self.assertEqual(cells[1:7], ["0.50×", "0.50×", "random-odd_17"] * 2)

    def test_nothing_is_averaged_over_groups_types_and_cache_states(self) -> None:
        names = ("random-odd_17/f32/cold", "random-odd_17/f32/hot", "random-odd_17/f64/cold",
                 "random-aligned_16/f32/cold", "layers_1x768x768_NT/bf16/cold", "1024/bf16/cold")
        found = table(*(row for at, name in enumerate(names, 1) for row in rows(name, 10.0 * at, 10.0)))
        self.assertEqual(sorted(cells[1] for cells in found.values()), [f"{at}.00×" for at in range(1, 7)])
        self.assertEqual([key[0] for key in found], sorted((key[0] for key in found), key=list(groups.GROUPS).index))

    def test_what_is_not_compared_is_counted(self) -> None:
        found = table(*rows("random-odd_17/f16/cold", 1.0, 2.0), *rows("random-odd_18/f16/cold", 1.0, None),
                      *rows("random-odd_19/f16/cold", 1.0, 9.0, spread=5.0),
                      *rows("random-odd_20/f16/cold", 1.0, None, 4.0))
        cells, = found.values()
        self.assertEqual(cells[:7], ["1 of 4", "0.50×", "0.50×", "random-odd_17", "0.35×", "0.25×", "random-odd_20"])

    def test_without_groups_there_is_no_table(self) -> None:
        squares = rows("1024/bf16/cold", 1.0, 2.0)
        self.assertEqual(table(*squares), {})
        self.assertNotIn("equal accuracy", report.render([loaded(content(*squares))]))
        done = self.program("groups.py", self.write(content(*squares)))
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds none of the groups layers", done.stderr)

    def test_report_and_program_have_the_table(self) -> None:
        document = content(*rows("random-odd_17/bf16/hot", 1.0, 2.0, 4.0), seed="7")
        page = report.render([loaded(document)])
        self.assertNotIn("geometric mean of the ratios", page)
        for words in ("random, other rows", "0.25×", "199", "(40.0 %)", "equal accuracy"):
            self.assertIn(words, page)
        done = self.program("groups.py", self.write(document))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(HEAD, done.stdout)
        self.assertIn("seed 7", done.stdout)
