# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that another package ships on Tessera's functions, and compares the outcomes with a list."""

import collections
import fnmatch
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import conftest
import pytest

import tessera

HERE = pathlib.Path(__file__).resolve().parent


def run(replaced: str, modules: list[str], directory: pathlib.Path) -> dict[str, list[str]]:
    """The outcome of each test of the modules that concerns `replaced`, and why: see replaced.py."""
    for module in modules:
        if not found(module):
            pytest.skip(f"{module} is not installed: this distribution leaves the package's tests out")
    report = directory / "report.json"
    package = pathlib.Path(tessera.__file__).parents[1]
    environment = dict(os.environ, TESSERA_REPLACED=replaced, TESSERA_REPORT=str(report))
    environment["PYTHONPATH"] = os.pathsep.join([str(package), str(HERE)])
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "replaced", "-p", "no:cacheprovider", "--pyargs"]
    done = subprocess.run([*command, *modules], cwd=directory, env=environment, capture_output=True, text=True)
    assert report.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    told = json.loads(report.read_text(encoding="utf-8"))
    counts = collections.Counter(outcome for outcome, _ in told["outcomes"].values())
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items())
    conftest.say(f"tests of {', '.join(modules)} ({versions}): {dict(counts)}")
    return told["outcomes"]


def found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def check(outcomes: dict[str, list[str]], wrong: set[str], expected: dict[str, str]) -> None:
    """The tests whose outcome is one of `wrong` are those that the list expects, and no others.

    The list's keys are patterns of names, as of a shell. A key is superfluous where tests of that name ran, and none
    of them has such an outcome; tests that this version of the package does not have are not missed.
    """
    failed = {name: f"{outcome}: {why}" for name, (outcome, why) in outcomes.items() if outcome in wrong}
    unexpected = {
        name: why for name, why in failed.items() if not any(fnmatch.fnmatchcase(name, key) for key in expected)
    }
    lines = [f"{name}: {why[:300]}" for name, why in unexpected.items()]
    assert not lines, f"{len(lines)} tests\n" + "\n".join(lines[:40])
    passed = [key for key in expected if fnmatch.filter(outcomes, key) and not fnmatch.filter(failed, key)]
    assert not passed, f"expected to differ, and do not: {passed}"
