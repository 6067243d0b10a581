# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Ten thousand calls on arrays that lie in memory in all ways: the right result or the right exception, and no leak."""

import gc
import resource
import threading
import tracemalloc

import numpy as np
import pytest
from conftest import Foreign, assert_product

import tessera

TYPES = [np.float32, np.float64, np.float16]


class Old(Foreign):
    """The same, of the time before versions."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


def laid_out(rng, shape, dtype):
    """Random values in an array of that shape: packed, with gaps, turned round, of the other byte order, read-only."""
    values = rng.uniform(-1, 1, shape).astype(dtype)
    way = rng.integers(8)
    if way == 1:
        values = np.asfortranarray(values)
    elif way == 2:
        values = np.repeat(values, 2, axis=-1)[..., ::2]
    elif way == 3:
        values = values[..., ::-1]
    elif way == 4 and values.ndim > 1:
        values = values[::-1]
    elif way == 5:
        values = values.astype(values.dtype.newbyteorder())
    elif way == 6:
        values.flags.writeable = False
    elif way == 7 and values.ndim > 1:
        values = np.swapaxes(np.swapaxes(values, 0, -1).copy(), 0, -1)
    return values


def shown(rng, array):
    """The array itself, or one that is known by its buffer or by DLPack, where it can be."""
    way = rng.integers(5)
    native = array.dtype.isnative and array.flags.writeable
    if way == 0 and native:
        return Foreign(array)
    if way == 1 and native:
        return Old(array)
    if way == 2 and array.dtype != np.float16 and array.dtype.isnative:
        return memoryview(array)
    return array


def one_call(rng):
    dtype = TYPES[rng.integers(3)]
    m, n, k = (int(rng.integers(0, 13)) for _ in range(3))
    batch = tuple(int(x) for x in rng.integers(0, 4, rng.integers(0, 3)))
    shape_a = (k,) if rng.random() < 0.1 else (*(batch if rng.random() < 0.8 else ()), m, k)
    wrong = rng.random() < 0.05
    shape_b = (k + wrong, n) if rng.random() < 0.5 else (*batch, k + wrong, n)
    a, b = laid_out(rng, shape_a, dtype), laid_out(rng, shape_b, dtype)
    other = rng.random()
    if other < 0.05:
        b = b.astype([np.int32, np.complex128, np.bool_][rng.integers(3)])
    elif other < 0.1 and dtype != np.float64:
        b = b.astype(np.float64)
    types = {x.dtype.newbyteorder("=") for x in (a, b)}
    if wrong or not all(x.char in "efd" for x in types) or types == {np.dtype("e"), np.dtype("d")}:
        with pytest.raises((ValueError, TypeError)):
            tessera.matmul(a, b)
        return
    result = tessera.matmul(shown(rng, a), shown(rng, b))
    a, b = (x.astype(x.dtype.newbyteorder("=")) for x in (a, b))
    assert result.shape == np.matmul(a, b).shape and result.dtype == np.result_type(a, b)
    assert_product(result, a, b)


def test_ten_thousand(rng):
    for _ in range(10_000):
        one_call(rng)


def test_no_leak(rng):
    a, b, u = rng.uniform(-1, 1, (64, 64)), rng.uniform(-1, 1, (64, 64)), rng.uniform(-1, 1, (64, 64))
    heat = tessera.taps.identity(2) + 0.1 * tessera.taps.laplacian(2)

    def calls(count):
        for _ in range(count):
            tessera.matmul(a, b)
            tessera.matmul(Foreign(a), b[::-1])
            tessera.stencil(u, heat, boundary="periodic")
            tessera.ndimage.gaussian_filter(u, 2.0)
            for wrong in (lambda: tessera.matmul(a, u[:3]), lambda: tessera.matmul(a, None)):
                with pytest.raises((ValueError, TypeError)):
                    wrong()

    calls(300)
    gc.collect()
    tracemalloc.start()
    calls(100)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(1000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    # One array of the calls is 32 KiB; a leak of one a call would be 32 MB. A list or two of pytest may come.
    assert grown < 100_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - largest < 16_384


def test_threads_run_at_once(rng):
    """While one thread is in the library another one is in Python: the lock is given up."""
    a = rng.uniform(-1, 1, (1500, 1500))
    ticks, done = [0], threading.Event()

    def count():
        while not done.is_set():
            ticks[0] += 1

    counter = threading.Thread(target=count)
    counter.start()
    try:
        before = ticks[0]
        tessera.matmul(a, a)  # holding the lock it would let the other thread have one turn at most
        during = ticks[0] - before
    finally:
        done.set()
        counter.join()
    assert during > 1000
