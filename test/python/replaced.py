# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest, under which tests that NumPy and SciPy ship run on Tessera's functions in place of theirs.

TESSERA_REPLACED is `numpy` or `scipy.ndimage`. Tests that name no function which is replaced are left out.
TESSERA_REPORT names a file, which gets a JSON object: the `versions` of NumPy and SciPy, and of each test the outcome
and why. An outcome is `passed`, `failed`, `skipped` or `not called`: it passed, but no call of it reached Tessera.
"""

import functools
import inspect
import json
import os
import re

import numpy as np
import pytest
import scipy.ndimage
from scipy._lib import _array_api

import tessera

TAKEN = "efdFD"  # the types of NumPy that tessera.matmul takes
calls = 0
outcomes: dict[str, list[str]] = {}  # of each test: what came of it, and why


class Matmul:
    """numpy.matmul, but products of two arrays of types that Tessera takes are Tessera's."""

    def __init__(self, theirs):
        self.theirs = theirs

    def __getattr__(self, name):
        return getattr(self.theirs, name)

    def __call__(self, a, b, *out, **options):
        global calls
        if not all(isinstance(operand, np.ndarray) and operand.dtype.char in TAKEN for operand in (a, b)):
            return self.theirs(a, b, *out, **options)
        calls += 1
        if out:
            options["out"] = out[0]
        return tessera.matmul(a, b, **options)


def counted(ours, theirs):
    @functools.wraps(theirs)
    def call(*arguments, **options):
        global calls
        calls += 1
        return ours(*arguments, **options)

    return call


def replace_numpy():
    np.matmul = Matmul(np.matmul)
    return {"matmul"}


def replace_ndimage():
    for name in tessera.ndimage.__all__:
        theirs = getattr(scipy.ndimage, name)
        mine = counted(getattr(tessera.ndimage, name), theirs)
        table = getattr(_array_api, "xp_capabilities_table", {})  # which its tests ask about each function
        if theirs in table:
            table[mine] = table[theirs]
        setattr(scipy.ndimage, name, mine)
    return set(tessera.ndimage.__all__)


def pytest_configure(config):
    replace = {"numpy": replace_numpy, "scipy.ndimage": replace_ndimage}[os.environ["TESSERA_REPLACED"]]
    config.replaced_names = replace()


@functools.cache
def words_of(function):
    """The words of a function without its decorators, whose lists of parameters name more than a test uses."""
    text = inspect.getsource(function)
    return frozenset(re.findall(r"\w+", text[re.search(r"^ *def ", text, re.MULTILINE).start() :]))


@functools.cache
def words_with_members(function, cls):
    """The same, with what it calls of its class."""
    members = dict(inspect.getmembers(cls, inspect.isfunction)) if cls else {}
    ahead, seen = [function], set()
    while ahead:
        found = words_of(ahead.pop())
        ahead += [members[name] for name in (found & members.keys()) - seen]
        seen |= found
    return seen


def concerns(item, names):
    """Whether a test, what it calls of its class, or one of its parameters names one of the functions."""
    parameters = getattr(item, "callspec", None)
    words = set(re.findall(r"\w+", repr(parameters.params))) if parameters else set()
    return bool((words | words_with_members(item.function, item.cls)) & names)


def pytest_collection_modifyitems(config, items):
    kept = [item for item in items if concerns(item, config.replaced_names)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    global calls
    report = yield
    name = f"{item.path.name}::{item.nodeid.split('::', 1)[1]}"
    if report.outcome != "passed":
        outcome = report.outcome
    elif call.when == "call":
        outcome = "passed" if calls else "not called"
    else:
        calls = 0
        return report
    text = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
    if call.excinfo is not None and outcome == "failed":
        text = call.excinfo.exconly()
    outcomes.setdefault(name, [outcome, text])
    return report


def pytest_sessionfinish(session):
    versions = {"numpy": np.__version__, "scipy": scipy.__version__}
    with open(os.environ["TESSERA_REPORT"], "w", encoding="utf-8") as file:
        json.dump({"versions": versions, "outcomes": outcomes}, file)
