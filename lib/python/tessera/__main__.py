# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m tessera info`: what there is, and why the rest is not, as the program `tessera` says it."""

import sys

from ._core import _info_lines


def main(arguments: list[str]) -> int:
    if arguments != ["info"]:
        print("usage: python -m tessera info", file=sys.stderr)
        return 2
    text, failure = _info_lines()
    sys.stdout.buffer.write(text)
    sys.stdout.flush()
    if failure:
        sys.stderr.buffer.write(b"tessera: error: " + failure + b"\n")
    return 1 if failure else 0


sys.exit(main(sys.argv[1:]))
