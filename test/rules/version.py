#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""version.py REPOSITORY [READELF LIBRARY...]: every place that names the version agrees with version.h.

The names of Debian's packages and their files, the recipes, the changelogs, the tests of the package and the pages;
of built libraries the SONAME. Prints every place that differs, and every place in which nothing was found.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

FOLDERS = ("debian", "docs", "include", "lib", "packaging", "test")
SKIPPED = ("docs/notes", "test/fuzz/corpus", "test/rules/version.py", "test/unit")  # history, bytes, made-up names
TEXTS = {".md", ".txt", ".py", ".sh", ".cmake", ".h", ".hpp", ".cpp", ".awk", ".toml", ".install", ""}
# What names this version, in any file. Its group is the version, whole or "major.minor" (the SOVERSION before 1.0).
FIND_PACKAGE = r"find_package\(tessera (\d[\d.]*\d)"
PACKAGE = r"\blibtessera(?:-[a-z]+)?(\d\.\d+)"
PKG_CONFIG = r"\btessera >= (\d+\.\d+)"
ANYWHERE = (FIND_PACKAGE, PACKAGE, PKG_CONFIG, r"\blibtessera\w*\.so\.(\d[\d.]*\d)", r"\btessera[-_@](\d+\.\d+\.\d+)",
            r"\blibtessera\d\.\d+_(\d+\.\d+\.\d+)")
# Files that must name it, and by what.
REQUIRED = {
    "CHANGELOG.md": r"\A[^#]*# Changelog\n[^#]*## (?:Unreleased, |\[)(\d+\.\d+\.\d+)",
    "debian/changelog": r"\Atessera \((\d+\.\d+\.\d+)[-~]",
    "debian/control": r"^Package: libtessera(\d\.\d+)$",
    "docs/building.md": FIND_PACKAGE,
    "docs/measured-plans.md": r'"machine": "tessera (\d+\.\d+\.\d+)',
    "docs/packages.md": PACKAGE,
    "docs/versions.md": r"(?:patch|minor) versions, (\d[\d.]*\d)",
    "packaging/spack/package.py": r'^    version\("(.*)"\)$',
    "test/consumer/debian.py": PACKAGE,
    "test/consumer/package/CMakeLists.txt": FIND_PACKAGE,
    "test/consumer/package_c/CMakeLists.txt": FIND_PACKAGE,
    "test/consumer/pkg_config.sh": PKG_CONFIG,
}


def version_of(root: Path) -> str:
    header = (root / "include/tessera/version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"^#define TESSERA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.MULTILINE))


def so_version(version: str) -> str:
    """As lib/CMakeLists.txt has it: before 1.0 a minor version may change the ABI."""
    major, minor, _ = version.split(".")
    return f"0.{minor}" if major == "0" else major


def right(named: str, version: str) -> bool:
    return named in (version, version.rpartition(".")[0], so_version(version))


def texts(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file() and path.suffix in TEXTS and not name.startswith(SKIPPED):
            yield name, f"{path.name}\n{path.read_text(encoding='utf-8')}"


def differing(root: Path, version: str) -> Iterator[str]:
    for name, text in texts(root):
        named = {found for pattern in ANYWHERE for found in re.findall(pattern, text)}
        yield from (f"{name} names {other}" for other in sorted(named) if not right(other, version))
    for name, pattern in REQUIRED.items():
        named = re.findall(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        if not named:
            yield f"{name} does not name the version where it did: {pattern}"
        yield from (f"{name} names {other}" for other in named if not right(other, version))


def python_package(root: Path, version: str) -> Iterator[str]:
    """pyproject.toml reads version.h by a regular expression of its own."""
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    regex = re.search(r"^input = \"include/tessera/version.h\"\nregex = '(.*)'$", project, re.MULTILINE)
    header = (root / "include/tessera/version.h").read_text(encoding="utf-8")
    found = regex and re.search(regex[1], header)
    if not found or ".".join(found.group("major", "minor", "patch")) != version:
        yield "pyproject.toml reads another version from version.h"


def libraries(readelf: str, files: list[str], version: str) -> Iterator[str]:
    for file in files:
        dynamic = subprocess.run([readelf, "-dW", file], check=True, capture_output=True, text=True).stdout
        name = re.search(r"SONAME.*\[(.*)\]", dynamic)
        if not name or not name[1].endswith(f".so.{so_version(version)}"):
            yield f"{file} has {'the SONAME ' + name[1] if name else 'no SONAME'}"


def main() -> int:
    root, *built = sys.argv[1:]
    version = version_of(Path(root))
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"FAILED: version.h says '{version}'")
    breaches = [*differing(Path(root), version), *python_package(Path(root), version)]
    breaches += libraries(built[0], built[1:], version) if built else []
    for breach in dict.fromkeys(breaches):
        print(f"FAILED: {breach}; version.h says {version}", file=sys.stderr)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
