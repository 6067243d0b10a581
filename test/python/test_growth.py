# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls and objects leave nothing behind: neither what Python counts nor the process grows."""

import ctypes
import gc
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from conftest import ALL
from known_calls import CALLS, FILTERS, GOOD_OF_FILTERS, system

import tessera
from tessera import taps

CALL_COUNT = 1_000_000 if ALL else 10_000
OBJECT_COUNT = 10_000 if ALL else 100
PAGE = os.sysconf("SC_PAGE_SIZE")

A, B, OUT = np.ones((8, 8)), np.full((8, 8), 0.5), np.zeros((8, 8))
LAPLACIAN = taps.laplacian(2)


def resident():
    """Bytes of the process in memory now. (ru_maxrss is its largest size ever, which other tests may have made.)"""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def filters():
    for name, function in FILTERS.items():
        given = {"input": A, **{key: GOOD_OF_FILTERS[key]() for key in ("weights", "sigma", "size")}}
        known = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
        given = {key: value for key, value in given.items() if key in known}
        if name in ("correlate", "convolve"):
            given["weights"] = np.ones((3, 3)) / 9
        yield pytest.param(lambda f=function, g=given: f(**g), id=name)


def grown(call, count):
    """How many bytes Python and the process have more after so many calls than after a quarter of them."""
    python, process = [], []
    for part in (count // 4, count - count // 4):
        for _ in range(part):
            call()
        gc.collect()
        process.append(resident())
    tracemalloc.start()
    try:
        for part in (count // 20, count // 20):
            for _ in range(part):
                call()
            gc.collect()
            python.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    return python[1] - python[0], process[1] - process[0]


def assert_no_growth(call, count, least):
    """`least`: bytes that one call would leave. The process may take some pages for its heaps once."""
    python, process = grown(call, count)
    # What a call leaves is there count / 20 times, and three quarters of count times.
    assert python < max(least * count // 20 // 2, 2000), f"{python} bytes of Python"
    assert process < max(least * count * 3 // 8, 2 << 20), f"{process} bytes of the process"


def refused():
    """What fails leaves nothing, either."""
    for wrong in (
        lambda: tessera.matmul(A, B[:3]),
        lambda: tessera.matmul(A, B, alpha="x"),
        lambda: tessera.stencil(A, LAPLACIAN, steps=None),
        lambda: tessera.stencil(A, LAPLACIAN, boundary="\udc80"),
    ):
        try:  # pytest.raises keeps some of what it saw
            wrong()
        except (TypeError, ValueError):
            continue
        pytest.fail("was not refused")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: tessera.matmul(A, B), id="matmul"),
        pytest.param(lambda: tessera.matmul(A, B, out=OUT), id="matmul_out"),
        pytest.param(lambda: tessera.matmul(A, OUT, out=OUT), id="matmul_in_place"),
        pytest.param(lambda: tessera.stencil(A, LAPLACIAN), id="stencil"),
        pytest.param(lambda: tessera.stencil(OUT, LAPLACIAN, out=OUT), id="stencil_in_place"),
        *filters(),
    ],
)
def test_calls(call):
    assert_no_growth(call, CALL_COUNT, 64)  # the smallest object of Python's heap with some room


def test_failing_calls():
    assert_no_growth(refused, CALL_COUNT // 10, 64)


OBJECTS = [name for name in CALLS if isinstance(getattr(tessera, name, None), type)]


@pytest.mark.parametrize("name", OBJECTS)
def test_constructions(name):
    made, good = getattr(tessera, name), CALLS[name][1]()
    assert_no_growth(lambda: made(**good), OBJECT_COUNT, 64)


def test_executions_of_plans():
    gemm, sweep = tessera.GemmPlan(8, 8, 8, dtype="float64"), tessera.StencilPlan((8, 8), LAPLACIAN, dtype="float64")
    steps, fields = tessera.SystemPlan(system(), 2), {"u": [np.zeros((6, 6)), np.zeros((6, 6))]}
    series = {"injected": [np.zeros((2, 1))], "recorded": [np.zeros((2, 1))]}

    def call():
        gemm.execute(A, B)
        sweep.execute(A)
        steps.execute(fields, **series)

    assert_no_growth(call, CALL_COUNT // 10, 64)


def test_systems_and_their_parts():
    def call():
        made = system()
        u = made.field("u")
        tessera.SystemPlan(made, 1)
        list(taps.gaussian(2, 0.6) + 2.0 * taps.box(2, 1))
        tessera.positive_part(u) + u.under(LAPLACIAN) * 2.0 - u.at((0, 1))

    assert_no_growth(call, OBJECT_COUNT, 64)
    assert_no_growth(lambda: tessera.info(), OBJECT_COUNT, 64)


def test_a_leak_is_seen():
    kept, c = [], ctypes.CDLL(None)
    c.malloc.restype, c.malloc.argtypes, c.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
    with pytest.raises(AssertionError, match="bytes of Python"):
        assert_no_growth(lambda: kept.append(bytes(100)), 2000, 64)

    def beside_python():
        kept.append(c.malloc(100_000))  # more than was freed before
        ctypes.memset(kept[-1], 1, 100_000)

    kept.clear()
    with pytest.raises(AssertionError, match="bytes of the process"):
        assert_no_growth(beside_python, 2000, 100_000)
    for memory in kept:
        c.free(memory)
