#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""pages.py REPOSITORY: what the pages must hold. Prints every breach; needs the standard library alone.

- Lines are shorter than 120 characters (but for the changelog's), the README and the performance page are short.
- Links lead to files and headings that are there.
- C++ on a page is compiled: the line before it names the file that has the same lines,
  `<!-- from docs/examples/x.cpp -->`.
- Each algorithm that a backend registers has a heading on the page of algorithms, and no other has.
- Each row of the walk (docs/walk.md) names a function that is in the row's file.
- Variables, options and macros (TESSERA_...) that a page names are known to the sources; files that it names are there.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import Iterator

import source_files

LONGEST_LINE = 119
FREE_LINES = {"CHANGELOG.md"}
LONGEST_PAGE = {"README.md": 120, "docs/performance.md": 180}
HISTORY = {"CHANGELOG.md"}  # also tells of what is gone
SKIPPED = {"build", ".deps", ".git"}
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^ *(```+)(\w*)")
_FROM = re.compile(r"<!-- from (\S+) -->")
_NAME = re.compile(r"\bTESSERA_[A-Z0-9_]*[A-Z0-9]\b")
_PATH = re.compile(r"`((?:backends|debian|docs|include|lib|packaging|perf|test)/[\w./-]+)`")
_STOP = re.compile(r"^\| (?:again: )?\[[^\]]*\]\(([^)]+)\) \| `(\w+)` \|")
_HEADING = re.compile(r"^### (\w+) `([a-z0-9_]+)`$", re.MULTILINE)
_REGISTERED = re.compile(r"\bRegister<[^;{]*?\{\s*\{\s*\"([a-z0-9_]+)\"")


def pages(root: Path) -> list[Path]:
    found = [path for path in sorted(root.rglob("*.md")) if not SKIPPED & set(path.relative_to(root).parts)]
    if len(found) < 10:
        raise SystemExit(f"FAILED: only {len(found)} pages below {root}")
    return found


def slug(heading: str) -> str:
    """The anchor that GitHub and MkDocs give a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def prose(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines outside code, with their numbers."""
    inside = False
    for number, line in enumerate(lines, 1):
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def anchors(page: Path) -> set[str]:
    lines = page.read_text(encoding="utf-8").splitlines()
    return {slug(line.lstrip("#")) for _, line in prose(lines) if line.startswith("#")}


def lengths(name: str, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE and name not in FREE_LINES:
            yield f"{name}:{number}: {len(line)} characters; at most {LONGEST_LINE}"
    if len(lines) > LONGEST_PAGE.get(name, sys.maxsize):
        yield f"{name}: {len(lines)} lines; at most {LONGEST_PAGE[name]}"


def links(root: Path, page: Path, lines: list[str]) -> Iterator[str]:
    joined = "\n".join(re.sub(r"`[^`]*`", "", line) for _, line in prose(lines))
    for target in _LINK.findall(joined):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if not path.exists():
            yield f"{page.relative_to(root)}: link to {target}: there is no such file"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            yield f"{page.relative_to(root)}: link to {target}: there is no such heading"


def blocks(lines: list[str]) -> Iterator[tuple[int, str, str, list[str]]]:
    """Of each block of code: its line, its language, the line before it, its lines."""
    at = 0
    while at < len(lines):
        if found := _FENCE.match(lines[at]):
            end = next((i for i in range(at + 1, len(lines)) if lines[i].strip().startswith(found[1])), len(lines))
            yield at + 1, found[2], lines[at - 1] if at else "", lines[at + 1:end]
            at = end
        at += 1


def holds(source: str, wanted: list[str]) -> bool:
    """Whether the wanted lines stand in the source, one behind the other, indented alike."""
    lines = source.splitlines()
    text = textwrap.dedent("\n".join(wanted)).strip("\n")
    count = text.count("\n") + 1
    return any(textwrap.dedent("\n".join(lines[at:at + count])).strip("\n") == text
               for at in range(len(lines) - count + 1))


def programs(root: Path, name: str, lines: list[str]) -> Iterator[str]:
    for number, language, before, code in blocks(lines):
        found = _FROM.search(before)
        if not found:
            if language == "cpp":
                yield (f"{name}:{number}: C++ that no test compiles: name its file in the line before, "
                       "<!-- from FILE -->")
            continue
        source = root / found[1]
        if not source.exists():
            yield f"{name}:{number}: there is no {found[1]}"
        elif not holds(source.read_text(encoding="utf-8"), code):
            yield f"{name}:{number}: {found[1]} does not have these lines"


def known_names(root: Path) -> set[str]:
    """What the sources call TESSERA_..., also where they put such a name together."""
    found: set[str] = set()
    for path in source_files.find(root):
        found.update(_NAME.findall((root / path).read_text(encoding="utf-8")))
    for path in root.glob("*.json"):
        found.update(_NAME.findall(path.read_text(encoding="utf-8")))
    return found


def names(root: Path, page: Path, lines: list[str], known: set[str]) -> Iterator[str]:
    name = page.relative_to(root)
    if str(name) in HISTORY:
        return
    for number, line in enumerate(lines, 1):
        yield from (f"{name}:{number}: no source knows {word}" for word in _NAME.findall(line) if word not in known)
    examples = {path.name for path in (root / "docs/examples").rglob("*")}  # which a reader may put elsewhere
    for number, line in prose(lines):
        yield from (f"{name}:{number}: there is no {path}" for path in _PATH.findall(line)
                    if not (root / path).exists() and Path(path).name not in examples)


def algorithms(root: Path) -> Iterator[str]:
    headings = (root / "docs/algorithms.md").read_text(encoding="utf-8").partition("\n## Stencils\n")
    registered: list[set[tuple[str, str]]] = [set(), set()]
    for path in sorted((root / "backends").rglob("*.c[pu]*")):
        if path.parent.relative_to(root / "backends").parts[1:2] not in (("gemm",), ("stencil",)):
            continue
        _, backend, operation = path.relative_to(root).parts[:3]
        for algorithm in _REGISTERED.findall(path.read_text(encoding="utf-8")):
            registered[operation == "stencil"].add((backend, algorithm))
            if f"\n### {backend} `{algorithm}`\n" not in headings[0 if operation == "gemm" else 2]:
                yield f"docs/algorithms.md: no heading '### {backend} `{algorithm}`' ({operation})"
    for part, there in zip(headings[::2], registered):
        for backend, algorithm in _HEADING.findall(part):
            if (backend, algorithm) not in there:
                yield f"docs/algorithms.md: '### {backend} `{algorithm}`': the backend registers no such algorithm"


def stops(root: Path, name: str, lines: list[str]) -> Iterator[str]:
    """Of the walk: that the functions are where it says."""
    if name != "docs/walk.md":
        return
    found = [stop for line in lines if (stop := _STOP.match(line))]
    if not found:
        yield f"{name}: no row is a stop"
    for file, function in (stop.groups() for stop in found):
        path = root / "docs" / file
        if path.exists() and not re.search(rf"\b{function}\(", path.read_text(encoding="utf-8")):
            yield f"{name}: {path.name} has no {function}"


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    breaches = list(algorithms(root))
    known = known_names(root)
    for page in pages(root):
        name, lines = str(page.relative_to(root)), page.read_text(encoding="utf-8").splitlines()
        breaches += [*lengths(name, lines), *links(root, page, lines), *programs(root, name, lines)]
        breaches += stops(root, name, lines)
        breaches += names(root, page, lines, known)
    for breach in breaches:
        print(f"FAILED: {breach}", file=sys.stderr)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
