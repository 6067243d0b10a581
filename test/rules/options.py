# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""options.py REPOSITORY [CMAKECACHE]: docs/building.md lists every option of CMake that is Tessera's, and no other.

Options are what the CMake files declare (option(), tessera_auto_option(), set(... CACHE)) and what stands in the cache
of a build, but for advanced entries, which hold the places of programs that were found.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Iterator

import source_files

PAGE = "docs/building.md"
_DECLARED = re.compile(r"^\s*(?:(?:tessera_auto_)?option\(|set\()\s*(TESSERA_[\w${}]+)\s([^)]*)", re.MULTILINE)
_LISTED = re.compile(r"^\| `(TESSERA_\w+)` \|", re.MULTILINE)
_CACHED = re.compile(r"^(TESSERA_\w+):(?!INTERNAL|STATIC)\w+=", re.MULTILINE)
_ADVANCED = re.compile(r"^(TESSERA_\w+)-ADVANCED:INTERNAL=1", re.MULTILINE)


def declared(texts: dict[str, str]) -> dict[str, str]:
    """Names that CMake files declare and where; "${...}" in a name stands for any word."""
    found = {}
    for path, text in texts.items():
        for match in _DECLARED.finditer(text):
            if "option(" in match.group(0) or re.search(r"\bCACHE\b", match.group(2)):
                found.setdefault(match.group(1), path)
    return found


def breaches(texts: dict[str, str], cache: str, page: str) -> Iterator[str]:
    listed = set(_LISTED.findall(page))
    patterns = {}
    for name, path in declared(texts).items():
        patterns[name] = re.compile(re.sub(r"\\\$\\\{\w+\\\}", r"\\w+", re.escape(name)))
        if not any(patterns[name].fullmatch(option) for option in listed):
            yield f"{path}: {name} is not in {PAGE}"
    for name in sorted(set(_CACHED.findall(cache)) - set(_ADVANCED.findall(cache)) - listed):
        yield f"{name} stands in the cache and not in {PAGE}"
    for name in sorted(listed):
        if not any(pattern.fullmatch(name) for pattern in patterns.values()):
            yield f"{PAGE}: {name} is declared nowhere"


def main() -> int:
    root = Path(sys.argv[1])
    files = [path for path in source_files.find(root) if path.name == "CMakeLists.txt" or path.suffix == ".cmake"]
    texts = {str(path): (root / path).read_text(encoding="utf-8") for path in files
             if path.parts[:2] != ("test", "consumer")}
    cache = Path(sys.argv[2]).read_text(encoding="utf-8") if len(sys.argv) > 2 else ""
    found = list(breaches(texts, cache, (root / PAGE).read_text(encoding="utf-8")))
    for breach in found:
        print(f"FAILED: {breach}")
    if len(declared(texts)) < 10:
        print(f"FAILED: only {len(declared(texts))} options in {len(files)} files")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
