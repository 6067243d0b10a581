#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule of pages.py once, in a folder of its own, and sees that it is said."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pages

SOURCE = "int main() {\n  int a = 1;\n  return a - 1;\n}\n"
ALGORITHM = 'const plugin::Register<Context, plugin::GemmProblem> kRegistered{\n    {"mine", why, offers, make}, 9};\n'


class Breaches(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for index in range(10):
            self.write(f"docs/page{index}.md", "# Page\n")
        self.write("docs/algorithms.md", "# Algorithms\n\n## GEMM\n\n### cpu `mine`\n\n## Stencils\n")
        self.write("backends/cpu/gemm/mine.cpp", ALGORITHM)
        self.write("docs/examples/x.cpp", SOURCE)
        self.write("README.md", "# Tessera\n\n[page](docs/page1.md#page)\n\n<!-- from docs/examples/x.cpp -->\n"
                                "```cpp\nint a = 1;\nreturn a - 1;\n```\n")

    def write(self, name: str, content: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def said(self) -> str:
        done = subprocess.run([sys.executable, "-B", pages.__file__, str(self.root)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 1 if done.stderr else 0, done.stderr)
        return done.stderr

    def test_good_pages(self) -> None:
        self.assertEqual(self.said(), "")

    def test_long_lines_and_pages(self) -> None:
        self.write("docs/page1.md", "# Page\n" + "x" * 120 + "\n")
        self.write("docs/performance.md", "\n" * 181)
        said = self.said()
        self.assertIn("docs/page1.md:2: 120 characters", said)
        self.assertIn("docs/performance.md: 181 lines", said)

    def test_walk(self) -> None:
        self.write("docs/walk.md", "| [x](examples/x.cpp) | `main` | a |\n"
                                "| again: [x](examples/x.cpp) | `gone` | b |\n")
        self.assertEqual(self.said(), "FAILED: docs/walk.md: x.cpp has no gone\n")
        self.write("docs/walk.md", "# Walk\n")
        self.assertEqual(self.said(), "FAILED: docs/walk.md: no row is a stop\n")

    def test_links(self) -> None:
        self.write("docs/page1.md", "# Page\n\n[a](gone.md) [b](page2.md#no-such) [c](https://example.org/gone) "
                   "`[d](e)`\n")
        said = self.said()
        self.assertIn("link to gone.md: there is no such file", said)
        self.assertIn("link to page2.md#no-such: there is no such heading", said)
        self.assertEqual(said.count("FAILED"), 2)

    def test_programs(self) -> None:
        self.write("docs/page1.md", "# Page\n\n```cpp\nint a;\n```\n\n"
                   "<!-- from docs/examples/x.cpp -->\n```cpp\nint b = 1;\n```\n")
        said = self.said()
        self.assertIn("docs/page1.md:3: C++ that no test compiles", said)
        self.assertIn("docs/page1.md:8: docs/examples/x.cpp does not have these lines", said)

    def test_lines_must_follow_each_other(self) -> None:
        self.assertTrue(pages.holds(SOURCE, ["int a = 1;", "return a - 1;"]))
        self.assertFalse(pages.holds(SOURCE, ["int main() {", "  return a - 1;"]))
        self.assertFalse(pages.holds(SOURCE, ["int a = 1;", "  return a - 1;"]))

    def test_algorithms(self) -> None:
        self.write("backends/cpu/stencil/rows/mine.cpp", ALGORITHM)
        self.assertIn("no heading '### cpu `mine`' (stencil)", self.said())
        (self.root / "backends/cpu/gemm/mine.cpp").unlink()
        self.assertIn("'### cpu `mine`': the backend registers no such algorithm", self.said())

    def test_names(self) -> None:
        self.write("docs/examples/x.cpp", SOURCE + '// TESSERA_KNOWN\n')
        self.write("docs/page1.md", "# Page\n\nTESSERA_KNOWN, `TESSERA_GONE=1`, TESSERA_\n"
                   "`docs/page2.md`, `lib/gone.cpp`, `backends/cpu/x.cpp`\n")
        said = self.said()
        self.assertIn("docs/page1.md:3: no source knows TESSERA_GONE", said)
        self.assertIn("docs/page1.md:4: there is no lib/gone.cpp", said)
        self.assertEqual(said.count("FAILED"), 2)


if __name__ == "__main__":
    unittest.main()
