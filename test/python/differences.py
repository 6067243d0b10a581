# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The differences from NumPy and SciPy that are meant: the tables `id | what differs | why` of docs/python.md."""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def table() -> list[str]:
    """The ids of all rows, in order."""
    found, inside = [], False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if [cell.lower() for cell in cells] == ["id", "what differs", "why"]:
            inside = True
        elif not cells:
            inside = False
        elif inside and not re.fullmatch(r"[-: ]+", cells[0]):
            found.append(cells[0].strip("`"))
    return found
