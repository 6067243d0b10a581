# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

import itertools

import ml_dtypes
import numpy as np
import pytest
from conftest import assert_product

import tessera

TYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]


def array(rng, shape, dtype):
    return rng.uniform(-1, 1, shape).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "a, b",
    [
        ((3, 4), (4, 5)),
        ((1, 1), (1, 1)),
        ((8, 8), (8, 8)),
        ((33, 65), (65, 17)),
        ((7,), (7, 3)),
        ((3, 7), (7,)),
        ((7,), (7,)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((6, 1, 3, 4), (5, 4, 2)),
        ((2, 1, 2, 3, 4), (3, 1, 4, 2)),
        ((4, 3), (2, 3, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (2, 4, 3)),
        ((0, 3), (3, 4)),
        ((3, 0), (0, 4)),
        ((0, 3, 4), (4, 2)),
    ],
)
def test_shapes(rng, dtype, a, b):
    x, y = array(rng, a, dtype), array(rng, b, dtype)
    result = tessera.matmul(x, y)
    assert result.shape == np.matmul(np.ones(a), np.ones(b)).shape
    assert result.dtype == dtype
    assert_product(result, x, y)


def views(rng, shape, dtype):
    """Arrays of that shape whose elements lie in other ways."""
    m, n = shape
    yield array(rng, (m, n), dtype)
    yield array(rng, (n, m), dtype).T
    yield array(rng, (m, 2 * n), dtype)[:, :n]
    yield array(rng, (m, 2 * n), dtype)[:, ::2]
    yield array(rng, (m, n), dtype)[::-1]
    yield array(rng, (m, n), dtype)[:, ::-1]
    yield np.asfortranarray(array(rng, (2 * m, n), dtype)[::2])
    yield np.broadcast_to(array(rng, (1, n), dtype), (m, n))
    yield array(rng, (m, n), dtype).astype(np.dtype(dtype).newbyteorder())
    raw = np.zeros(m * n * np.dtype(dtype).itemsize + 1, np.uint8)
    unaligned = raw[1:].view(dtype).reshape(m, n)
    unaligned[...] = array(rng, (m, n), dtype)
    yield unaligned


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_views(rng, dtype):
    for a, b in itertools.product(views(rng, (5, 6), dtype), views(rng, (6, 4), dtype)):
        a.flags.writeable = False
        assert_product(tessera.matmul(a, b), a.astype(dtype), b.astype(dtype))


def test_out(rng):
    a, b = array(rng, (5, 6), np.float32), array(rng, (6, 4), np.float32)
    frame = np.full((12, 10), 7, np.float32)
    for out in (frame[2:7, 3:7], frame[2:12:2, 1:9:2], frame.T[1:6, 2:6]):
        frame[...] = 7
        mask = np.ones_like(frame)
        assert tessera.matmul(a, b, out=out) is out
        assert_product(out, a, b)
        out[...] = 7
        assert (frame == 7 * mask).all(), "written beside the output"


def test_scalars_and_bias(rng):
    a, b, c = (array(rng, s, np.float64) for s in ((5, 6), (6, 4), (5, 4)))
    out = c.copy()
    tessera.matmul(a, b, out=out, alpha=2.0, beta=-0.5)
    assert_product(out, a, b, alpha=2.0, beta=-0.5, c=c)
    for bias in (array(rng, (4,), np.float64), array(rng, (5, 1), np.float64), array(rng, (8,), np.float64)[::2]):
        assert_product(tessera.matmul(a, b, bias=bias), a, b, bias=bias)
    nan = np.full((5, 4), np.nan)
    tessera.matmul(a, b, out=nan)
    assert_product(nan, a, b)


@pytest.mark.parametrize(
    "name, f",
    [
        ("relu", lambda x: np.maximum(x, 0)),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        ("tanh", np.tanh),
        ("silu", lambda x: x / (1 + np.exp(-x))),
    ],
)
def test_activation(rng, name, f):
    a, b = array(rng, (9, 6), np.float64), array(rng, (6, 4), np.float64)
    plain = tessera.matmul(a, b)
    # Each is of slope 1.1 at most, and is computed to some units in the last place.
    np.testing.assert_allclose(tessera.matmul(a, b, activation=name), f(plain), rtol=0, atol=64 * 2.0**-53 * 10)


@pytest.mark.parametrize("one, other", [(np.float64, np.float32), *((np.float32, x) for x in TYPES[2:])])
def test_two_types(rng, one, other):
    for of_a, of_b in ((one, other), (other, one)):
        a, b = array(rng, (5, 70), of_a), array(rng, (70, 4), of_b)
        result = tessera.matmul(a, b)
        assert result.dtype == one
        assert_product(result, a, b)
        plan = tessera.GemmPlan(5, 4, 70, dtype=of_a, dtype_b=of_b)
        np.testing.assert_array_equal(plan.execute(a, b), result)


def test_types_of_results(rng):
    a, b = array(rng, (5, 6), np.float16), array(rng, (6, 4), np.float16)
    wide = tessera.matmul(a, b, dtype="float32")
    assert wide.dtype == np.float32
    assert_product(wide, a, b)
    with pytest.raises(ValueError, match="dtype = .*float64.*: must be float16, the type of a and b, or float32"):
        tessera.matmul(a, b, dtype=np.float64)


@pytest.mark.parametrize(
    "error, text, call",
    [
        (ValueError, "must agree", lambda x: tessera.matmul(x, np.ones((3, 3), np.float32))),
        (ValueError, "broadcast", lambda x: tessera.matmul(np.stack([x] * 2), np.stack([x] * 3))),
        (TypeError, "int64", lambda x: tessera.matmul(x.astype(np.int64), x)),
        (TypeError, "a is complex128, b is float32", lambda x: tessera.matmul(x.astype(complex), x)),
        (TypeError, "a is float64, b is float16", lambda x: tessera.matmul(x.astype("f8"), x.astype("f2"))),
        (TypeError, "a list", lambda x: tessera.matmul([[1.0]], x)),
        (TypeError, "a NoneType", lambda x: tessera.matmul(None, x)),
        (ValueError, "single number", lambda x: tessera.matmul(np.float32(1) * np.ones((), np.float32), x)),
        (ValueError, "read-only", lambda x: tessera.matmul(x, x, out=np.broadcast_to(np.float32(0), (4, 4)))),
        (ValueError, "out has shape", lambda x: tessera.matmul(x, x, out=np.ones((4, 5), np.float32))),
        (ValueError, "beta", lambda x: tessera.matmul(x, x, beta=1.0)),
        (ValueError, "bias has shape", lambda x: tessera.matmul(x, x, bias=np.ones(5, np.float32))),
        (TypeError, "bias is of float16; must be", lambda x: tessera.matmul(x, x, bias=np.ones(4, np.float16))),
        (ValueError, "activation = 'gel'", lambda x: tessera.matmul(x, x, activation="gel")),
        (ValueError, "compute", lambda x: tessera.matmul(x, x, compute="half")),
        (ValueError, "stream", lambda x: tessera.matmul(x, x, stream=0)),
        (RuntimeError, "no such backend", lambda x: tessera.matmul(x, x, backend="abacus")),
        (RuntimeError, "algorithm", lambda x: tessera.matmul(x, x, algorithm="cpu/guess")),
    ],
)
def test_errors(error, text, call):
    x = np.ones((4, 4), np.float32)
    with pytest.raises(error, match=text):
        call(x)
    assert_product(tessera.matmul(x, np.ones_like(x)), x, np.ones_like(x))


def test_plan(rng):
    a, b = array(rng, (5, 6), np.float32), array(rng, (6, 4), np.float32)
    plan = tessera.GemmPlan(5, 4, 6)
    assert_product(plan.execute(a, b), a, b)
    assert "m=5 n=4 k=6" in str(plan) and plan.backend
    with pytest.raises(ValueError, match="shape"):
        plan.execute(b, a)
    with pytest.raises(ValueError, match="has the strides .* which is C order"):
        plan.execute(np.asfortranarray(a), b)
    with pytest.raises(ValueError, match="n = -1"):
        tessera.GemmPlan(5, -1, 6)


def test_buffer_protocol():
    import array as standard

    a = standard.array("f", [1, 2, 3])
    b = np.ones((3, 2), np.float32)
    assert tessera.matmul(a, b).tolist() == [6.0, 6.0]


@pytest.mark.parametrize("dtype", TYPES)
def test_ordered_sums_give_a_row_the_same_bits_alone_and_among_others(rng, dtype):
    a, b = array(rng, (70, 900), dtype), array(rng, (900, 33), dtype)
    whole = tessera.matmul(a, b, sums="ordered", backend="cpu")
    assert_product(whole, a, b)
    for first, last in [(0, 1), (5, 12), (69, 70), (20, 60)]:
        part = tessera.matmul(a[first:last], b, sums="ordered", backend="cpu")
        assert part.tobytes() == whole[first:last].tobytes()
        plan = tessera.GemmPlan(last - first, 33, 900, dtype=dtype, sums="ordered", backend="cpu")
        assert plan.execute(a[first:last], b).tobytes() == part.tobytes()
        assert "ordered sums" in str(plan)
    with pytest.raises(ValueError, match="sums"):
        tessera.matmul(a, b, sums="sorted")
