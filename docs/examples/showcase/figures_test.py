#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of figures.py. Exits with 77 where there is no matplotlib to draw with, and says so."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

PROGRAM = Path(__file__).with_name("figures.py")
try:
    import matplotlib  # noqa: F401
    MISSING = ""
except ImportError as error:
    MISSING = f"nothing was drawn: Python finds no {error.name}"


def png(width: int, height: int) -> bytes:
    """A red image."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + b"\xff\0\0" * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def description(file: str, alike: bool) -> dict[str, object]:
    axis = {"label": "km", "low": 0.0, "high": 4.0}
    return {"file": file, "shows": "a red field", "x": axis, "y": axis, "axes_are_alike": alike,
            "colors": {"label": "metres", "low": -1.0, "high": 1.0}, "stops": [[0, 0, 1], [1, 1, 1], [1, 0, 0]]}


class Figures(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in "a.png", "b.png":
            (self.folder / name).write_bytes(png(20, 10))
        descriptions = [description("a.png", True), description("b.png", False)]
        (self.folder / "pictures.json").write_text(json.dumps(descriptions), encoding="utf-8")

    def run_it(self, *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *options, str(PROGRAM), str(self.folder)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    @unittest.skipIf(MISSING, MISSING)
    def test_pictures_get_frames_once(self) -> None:
        done = self.run_it()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        for name in "a.png", "b.png":
            width, height = struct.unpack(">2I", (self.folder / name).read_bytes()[16:24])
            self.assertGreater(min(width, height), 300, name)
        again = self.run_it()
        self.assertEqual((again.returncode, again.stdout), (2, ""))
        self.assertIn("run tessera-showcase first", again.stderr)

    def test_plain_pictures_remain_without_matplotlib(self) -> None:
        done = self.run_it("-E", "-S")  # without the packages that were installed
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertRegex(done.stdout, r"^Without titles .* no matplotlib\. .* pip install matplotlib && python3 .*\n$")
        self.assertEqual((self.folder / "a.png").read_bytes(), png(20, 10))
        self.assertTrue((self.folder / "pictures.json").exists())


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    if MISSING:
        print(f"SKIPPED: {MISSING}")
    sys.exit(1 if not outcome.wasSuccessful() else 77 if MISSING else 0)
