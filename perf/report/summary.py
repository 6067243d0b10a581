#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the figures that the pages quote, and the README's charts, from perf/baselines.

A page marks the place of each block:

    <!-- generated: h100-gemm, by perf/report/summary.py -->
    ...
    <!-- end -->

Without arguments all pages and charts are written. With --check nothing is, and what is stale is named. Needs the
standard library alone.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from blocks import BLOCKS, CHARTS
from results import ResultError, fail, run

ROOT = Path(__file__).parent.parent.parent
PAGES = ("README.md", "docs/performance.md", "docs/comparison.md", "docs/systems.md", "docs/python.md",
         "docs/distributed.md", "docs/notes/threads.md", "docs/notes/ordered-products.md",
         "docs/notes/triangles.md", "docs/notes/complex-products.md")
_BLOCK = re.compile(r"(?P<mark><!-- generated: (?P<name>[\w-]+), by perf/report/summary\.py -->\n).*?"
                    r"(?P<end><!-- end -->)", re.S)
_MARK = re.compile(r"<!-- generated: ")


class Stale(Exception):
    """A page that cannot be written; the message says why."""


def filled(page: str, content: str) -> str:
    """The page with its blocks written anew."""
    def body(found: re.Match[str]) -> str:
        if found["name"] not in BLOCKS:
            raise Stale(f"{page}: there is no block '{found['name']}'; there are {', '.join(BLOCKS)}")
        return f"{found['mark']}{BLOCKS[found['name']]()}\n{found['end']}"

    new, count = _BLOCK.subn(body, content)
    if count != len(_MARK.findall(content)):
        raise Stale(f"{page}: a mark <!-- generated: NAME, by perf/report/summary.py --> is malformed or lacks its end")
    return new


def contents(root: Path = ROOT) -> dict[Path, tuple[str, str]]:
    """file -> what is in it, what should be."""
    found = {}
    for page in PAGES:
        content = (root / page).read_text(encoding="utf-8")
        found[root / page] = (content, filled(page, content))
    for path, drawn in CHARTS.items():
        target = root / path
        found[target] = (target.read_text(encoding="utf-8") if target.exists() else "", drawn())
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where something is stale")
    options = parser.parse_args(arguments)
    try:
        stale = {path: new for path, (old, new) in contents().items() if old != new}
    except (ResultError, Stale) as error:
        fail(error)
    for path, new in stale.items():
        said = "stale: run perf/report/summary.py" if options.check else "written"
        print(f"{path.relative_to(ROOT)}: {said}", file=sys.stderr)
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, encoding="utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    run(main)
