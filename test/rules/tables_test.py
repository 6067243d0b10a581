#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Changes the headers, in a folder of its own, and sees that docs/field_tables.py says so."""

from __future__ import annotations

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs"))

import field_tables  # noqa: E402


class Tables(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        shutil.copytree(ROOT / "include", Path(folder.name) / "include")
        self.page = (ROOT / "docs/reference.md").read_text("utf-8")
        field_tables.ROOT = Path(folder.name)

    def change(self, header: str, old: str, new: str) -> None:
        path = field_tables.headers() / header
        text = path.read_text("utf-8")
        self.assertEqual(text.count(old), 1, old)
        path.write_text(text.replace(old, new), "utf-8")

    def test_the_page_is_what_the_headers_say(self) -> None:
        self.assertEqual(field_tables.filled(self.page), self.page, "stale: run docs/field_tables.py")

    def test_every_table_is_on_the_page(self) -> None:
        for name in (*field_tables.STRUCTS, *field_tables.CLASSES, *field_tables.OTHERS):
            self.assertEqual(self.page.count(f"<!-- generated: {name}, "), 1, name)

    def test_a_changed_header_is_stale(self) -> None:
        for header, old, new in (
            ("gemm_desc.hpp", "  Integer batch = 1;", "  Integer batch = 2;"),  # a default
            ("stencil.hpp", "  Sums sums = Sums::any;", "  Sums order = Sums::any;"),  # a field
            ("system.hpp", "const UpdateOptions& options = {})", "const UpdateOptions& box = {})"),  # a parameter
            ("plan.hpp", "/// How a plan is made.", "/// How a plan comes to be."),  # an entry point's sentence
            ("error.hpp", "  bf16x6 = ", "  bf16x9 = "),  # a value of an enumeration
        ):
            with self.subTest(header=header):
                self.change(header, old, new)
                self.assertNotEqual(field_tables.filled(self.page), self.page)
                self.change(header, new, old)

    def test_what_has_no_row_is_said(self) -> None:
        for header, old, new, said in (
            ("gemm_desc.hpp", "  ///< number of products, 0 and more", "", "GemmDesc::batch has no docstring"),
            ("system.hpp", "  /// Points of the grid along each axis.\n", "", "::extents has no docstring"),
            ("gemm_desc.hpp", "number of products", "number " * 20, "shorten the docstring"),
            ("gemm_desc.hpp", "  Integer batch = 1;", "  Integer batch = 1, count = 2;", "not one field in one line"),
            ("error.hpp", "class Error ", "class Fault ", "has no Error behind a docstring"),
        ):
            with self.subTest(said=said):
                before = (field_tables.headers() / header).read_text("utf-8")
                self.change(header, old, new)
                with self.assertRaisesRegex(field_tables.Fault, said):
                    field_tables.filled(self.page)
                (field_tables.headers() / header).write_text(before, "utf-8")

    def test_bad_marks(self) -> None:
        for broken in (self.page.replace("<!-- end -->", "", 1), self.page.replace(", by docs", " by docs", 1), ""):
            with self.assertRaisesRegex(field_tables.Fault, "malformed"):
                field_tables.filled(broken)
        with self.assertRaisesRegex(field_tables.Fault, "no table 'Weather'"):
            field_tables.filled(self.page.replace("generated: GemmDesc,", "generated: Weather,"))


if __name__ == "__main__":
    unittest.main()
