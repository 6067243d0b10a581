# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""size.py REPOSITORY [--print]: no folder has more lines of C++, CUDA, C and Python than docs/notes/size.md allows.

Budgets stand in that page's table. A folder's lines count for the longest name in the table that leads to it, and each
file is under one. --print shows the table with the lines of now."""

import re
import sys
from pathlib import Path

import source_files

COUNTED = source_files.CXX | {".py"}
PAGE = "docs/notes/size.md"
ROW = re.compile(r"^\| `([^`]+)` \| ([\d,]+) \|", re.MULTILINE)


def budgets(page):
    """Folder to lines, as the page's table has it."""
    return {folder: int(lines.replace(",", "")) for folder, lines in ROW.findall(page)}


def counts(root, folders):
    """(lines of each folder, files that no folder has)."""
    lines, strangers = dict.fromkeys(folders, 0), []
    for path in source_files.find(root):
        if path.suffix not in COUNTED:
            continue
        names = [folder for folder in folders if folder in map(str, path.parents)]
        if names:
            lines[max(names, key=len)] += len((Path(root) / path).read_text().splitlines())
        else:
            strangers.append(path)
    return lines, strangers


def offenders(lines, strangers, allowed):
    found = [f"{folder}: {lines[folder]} lines, more than the {most} that {PAGE} allows: take some away, or raise the "
             "budget there and say what users got for it" for folder, most in allowed.items() if lines[folder] > most]
    # A budget that nobody fills is no limit.
    found += [f"{folder}: {lines[folder]} lines of a budget of {most}: lower it in {PAGE}"
              for folder, most in allowed.items() if lines[folder] < 0.9 * most - 20]
    return found + [f"{path}: no folder in the table of {PAGE} has it" for path in strangers]


def main(root, *options):
    allowed = budgets((Path(root) / PAGE).read_text())
    lines, strangers = counts(root, allowed)
    if "--print" in options:
        for folder, most in allowed.items():
            print(f"{lines[folder]:6} of {most:6}  {folder}")
        print(f"{sum(lines.values()):6} of {sum(allowed.values()):6}")
    found = offenders(lines, strangers, allowed)
    print("\n".join(found) or f"{sum(lines.values())} lines in {len(allowed)} folders, all within their budgets")
    return 1 if found or not allowed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
