# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the package says of itself: the words of the program `tessera`, and the types of its signatures."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tessera

PROGRAM = os.environ.get("TESSERA_PROGRAM", "")


def output(command, **variables):
    run = subprocess.run(command, capture_output=True, env={**os.environ, **variables})
    return run.returncode, run.stdout, run.stderr


@pytest.mark.skipif(not PROGRAM, reason="the program is not built")
@pytest.mark.parametrize("variables", [{}, {"TESSERA_BACKEND": "nosuch"}, {"TESSERA_BACKEND_PATH": "/nosuch"}])
def test_info_is_that_of_the_program(variables):
    mine = output([sys.executable, "-m", "tessera", "info"], **variables)
    assert mine == output([PROGRAM, "info"], **variables)
    assert mine[0] == (1 if variables else 0) and b": usable\n" in mine[1]


@pytest.mark.skipif(not PROGRAM, reason="the program is not built")
def test_dictionary_is_that_of_the_program():
    assert json.loads(output([PROGRAM, "info", "--json"])[1]) == tessera.info()


def test_usage():
    assert output([sys.executable, "-m", "tessera", "nosuch"])[::2] == (2, b"usage: python -m tessera info\n")


def test_signatures_say_what_arguments_are():
    stub = (Path(tessera._core.__file__).parent / "_core.pyi").read_text(encoding="utf-8")
    signatures = re.findall(r"def (\w+)\((.*?)\) -> (.*?):", stub, re.DOTALL)
    assert {"matmul", "stencil", "execute", "inject"} <= {name for name, _, _ in signatures}
    vague = [name for name, given, result in signatures if re.search(r"\bobject\b", given + " " + result)]
    assert vague == []
    for name, given, _ in signatures:
        for argument in ("backend", "algorithm", "effort", "compute", "activation"):
            hint = re.search(rf"\b{argument}: ([^=,]*)", given)
            assert hint is None or hint.group(1).strip() == "str | None", name
