# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The repository's source files, and C++ text without what only looks like code."""

import re
from pathlib import Path

FOLDERS = [".ci", "backends", "docs", "include", "lib", "packaging", "perf", "test"]
CXX = {".c", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".ipp"}
DEVICE = {".cu", ".cuh"}
OTHERS = {".cmake", ".py", ".sh"}
NAMES = {"CMakeLists.txt"}


def find(root):
    """Source files, sorted, as paths relative to the root."""
    root = Path(root)
    found = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += [path for path in (root / folder).rglob("*") if path.is_file()]
    names = {path.relative_to(root) for path in found if "corpus" not in path.parts}
    return sorted(name for name in names if is_source(name))


def is_source(path):
    return path.suffix in CXX | OTHERS or path.name in NAMES or path.parent.name == ".ci"


LITERAL = re.compile(
    r"""//[^\n]*(?:\\\n[^\n]*)*"""  # comments
    r"""|/\*.*?\*/"""
    r"""|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)\""""  # raw strings
    r"""|"(?:\\.|[^"\\\n])*\""""
    r"""|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"""  # not the separator of digits
    r"""|^[ \t]*\#[^\n]*(?:(?<=\\)\n[^\n]*)*""",  # directives
    re.DOTALL | re.MULTILINE)


def code_of(text):
    """The text with comments, literals and directives blanked. Every character keeps its place."""
    return LITERAL.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
