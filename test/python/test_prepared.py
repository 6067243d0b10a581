# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Products by a matrix that was prepared once: the results of an array, and what is refused."""

import numpy as np
import pytest

import tessera


def whole(shape, dtype="float32", seed=0):
    """Whole numbers, whose products have exact sums."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(dtype)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_any_number_of_rows(dtype, order):
    b = np.asarray(whole((40, 70), dtype), order=order)
    prepared = tessera.prepare(b, rows=16)
    assert prepared.shape == (40, 70) and prepared.dtype == dtype
    assert prepared.nbytes >= b.nbytes and prepared.form and prepared.backend and prepared.device >= 0
    assert repr(prepared) == f"<{prepared}>"
    expected, b[:] = b.astype("float64"), 0  # it may be changed
    for shape in [(40,), (1, 40), (16, 40), (300, 40), (2, 3, 40), (5, 0, 40)]:
        a = whole(shape, dtype, 1)
        assert np.array_equal(tessera.matmul(a, prepared), a.astype("float64") @ expected)


def test_gaps_layouts_and_what_is_added():
    b = whole((30, 80))[:, ::2]  # gaps in both axes: copied
    prepared = tessera.prepare(b)
    a, bias = whole((6, 30), seed=1), whole(40, seed=2)
    expected = np.maximum(a @ b + bias, 0)
    assert np.array_equal(tessera.matmul(a, prepared, bias=bias, activation="relu"), expected)
    out = np.asfortranarray(whole((6, 40)))  # another order than the prepared matrix is for
    assert tessera.matmul(a, prepared, out=out) is out
    assert np.array_equal(out, a @ b)
    out = np.ones((6, 40), "float32")
    tessera.matmul(a, prepared, out=out, beta=2.0)
    assert np.array_equal(out, a @ b + 2)


def test_two_types_arithmetic_and_order():
    b = whole((64, 48), "float16")
    prepared = tessera.prepare(b, dtype_a="float32", compute="bf16x6", sums="ordered")
    a = whole((7, 64), seed=1)
    c = tessera.matmul(a, prepared)
    assert c.dtype == np.float32 and np.array_equal(c, a @ b.astype("float32"))
    assert np.array_equal(tessera.matmul(a[3:4], prepared), c[3:4])
    with pytest.raises(ValueError, match="compute = strict: b was prepared for bf16x6"):
        tessera.matmul(a, prepared, compute="strict")
    with pytest.raises(TypeError, match="a is of float16; b was prepared for float32"):
        tessera.matmul(a.astype("float16"), prepared)


def test_a_plan():
    b = whole((20, 30))
    prepared = tessera.prepare(b)
    plan = tessera.GemmPlan(5, 30, 20, prepared=prepared)
    assert "b prepared as" in str(plan)
    a = whole((5, 20), seed=1)
    prepared.free()  # the plan keeps it
    assert np.array_equal(plan.execute(a, None), a @ b)
    with pytest.raises(ValueError, match="b = .*must be None"):
        plan.execute(a, b)
    with pytest.raises(ValueError, match="freed"):
        tessera.matmul(a, prepared)
    with pytest.raises(ValueError, match="n = 31: b was prepared for 30"):
        tessera.GemmPlan(5, 31, 20, prepared=tessera.prepare(b))


def test_refused():
    with pytest.raises(ValueError, match=r"b has shape \(3,\); must be a matrix"):
        tessera.prepare(np.ones(3))
    with pytest.raises(ValueError, match="rows = -1"):
        tessera.prepare(np.ones((3, 3)), rows=-1)
    with pytest.raises(ValueError, match="they must agree"):
        tessera.matmul(np.ones((2, 4)), tessera.prepare(np.ones((3, 3))))
    with pytest.raises(TypeError):
        tessera.GemmPlan(3, 3, 3, prepared=np.ones((3, 3)))
