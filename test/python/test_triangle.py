# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Triangles of products, and what is refused."""

import numpy as np
import pytest

import tessera


def whole(*shape, dtype="float64", seed=0):
    """Whole numbers, whose products have exact sums."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("n", [1, 7, 64, 150])
def test_a_symmetric_product(n, dtype):
    a = whole(n, 20, dtype=dtype)
    made = tessera.matmul(a, a.T, triangle="mirrored")
    assert made.dtype == dtype and np.array_equal(made, (a.astype("float64") @ a.T))
    x = np.random.default_rng(1).random((n, 33)).astype(dtype)
    made = tessera.matmul(x, x.T, triangle="mirrored")
    assert np.array_equal(made, made.T)  # the bits are copied


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("triangle", ["lower", "upper"])
def test_the_rest_stays(triangle, order):
    a, b = whole(130, 9), whole(9, 130, seed=1)
    out = np.asarray(whole(130, 130, seed=2), order=order)
    kept = np.tril if triangle == "lower" else np.triu
    expected = np.where(kept(np.ones_like(out)) > 0, 2 * (a @ b) - out, out)
    assert tessera.matmul(a, b, out=out, alpha=2.0, beta=-1.0, triangle=triangle) is out
    assert np.array_equal(out, expected)


def test_batches_and_plans():
    a, out = whole(3, 40, 6), whole(3, 40, 40, seed=1)
    expected = np.where(np.tril(np.ones((40, 40))) > 0, a @ a.transpose(0, 2, 1), out)
    tessera.matmul(a, a.transpose(0, 2, 1), out=out, triangle="lower")
    assert np.array_equal(out, expected)
    plan = tessera.GemmPlan(40, 40, 6, dtype="float64", trans_b=True, triangle="mirrored")
    assert np.array_equal(plan.execute(a[0], a[0]), a[0] @ a[0].T)


def test_what_is_refused():
    a = whole(4, 5)
    with pytest.raises(ValueError, match="triangle = 'left'"):
        tessera.matmul(a, a.T, triangle="left")
    with pytest.raises(ValueError, match="out must be given: 'lower' and 'upper' leave a part of it as it is"):
        tessera.matmul(a, a.T, triangle="lower")
    with pytest.raises(ValueError, match="out has gaps"):
        tessera.matmul(a, a.T, out=np.ones((8, 8))[::2, ::2], triangle="upper")
    with pytest.raises(ValueError, match="triangle = mirrored, needs as many rows as columns|m = 4, n = 3"):
        tessera.matmul(a, whole(5, 3), triangle="mirrored")
    with pytest.raises(ValueError, match="out must be given"):
        tessera.GemmPlan(4, 4, 5, dtype="float64", trans_b=True, triangle="upper").execute(a, a)
