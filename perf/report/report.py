#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws one self-contained HTML page from one or several JSON files of tessera-perf. Needs numpy and matplotlib."""

from __future__ import annotations

import argparse
from pathlib import Path

from results import ResultError, fail, load, run


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULT.json")
    parser.add_argument("-o", "--output", default="report.html", metavar="PAGE", help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        results = [load(path) for path in options.results]
        try:
            from page import render
        except ImportError as error:
            raise ResultError(
                f"{error.name} is missing; numpy and matplotlib are needed: "
                f"pip install -r {Path(__file__).with_name('requirements.txt')}"
            ) from None
        Path(options.output).write_text(render(results), encoding="utf-8")
    except (ResultError, OSError) as error:
        fail(error)
    print(f"{options.output}: {sum(len(result.rows) for result in results)} rows from {len(results)} file(s)")
    return 0


if __name__ == "__main__":
    run(main)
