# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Any product against numpy.matmul: shapes, types, layouts, outputs, errors; sums within their bounds."""

import dataclasses

import numpy as np
import pytest
from conftest import ALL, SEED, unit
from filter_calls import Array, arrays
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import tessera

BATCHES, EXAMPLES = (100, 1000) if ALL else (1, 400)
TAKEN = "efd"
REFUSED = ["b", "?", "Q", "G", "g"]  # of two complex ones: test_complex.py
EXTENTS = st.sampled_from([3, 1, 2, 0, 5, 9, 17])


@dataclasses.dataclass
class Product:
    a: Array
    b: Array
    output: str = "none"  # or array, view, operand, overlap (one step from the operand), other type
    shape: tuple[int, ...] = ()  # of the output
    type: str = "f"
    broadcast: bool = False  # the output has an axis more

    def run(self, matmul):
        """The operands, the frame around the output, the output and the result."""
        a, b = self.a.make(), self.b.make()
        out, frame = None, None
        if self.output in ("array", "other type"):
            out = frame = np.full(self.shape, 7, self.type)
        elif self.output == "view":
            frame = np.full((*self.shape, 2), 7, self.type)
            out = frame[..., 0]
        elif self.output == "operand":
            out = a
        elif self.output == "overlap" and a.ndim and a.shape[0]:
            frame = np.concatenate([a, a[:1]])
            a, out = frame[:-1], frame[1:]
        return (a, b), frame, out, matmul(a, b) if out is None else matmul(a, b, out=out)


def drawn_shapes(draw, over: bool):
    """Of two operands; `over`: the product has the first one's shape, so that it can be written over it."""
    m, n, k = draw(EXTENTS), draw(EXTENTS), draw(EXTENTS)
    batch = draw(st.lists(st.sampled_from([2, 1, 3, 0]), max_size=3))

    def leading():
        return tuple(1 if draw(st.integers(0, 3)) == 0 else extent for extent in batch[draw(st.integers(0, 3)) :])

    if over:
        return (*batch, m, k), (*leading(), k, k)
    wrong = draw(st.integers(0, 19)) == 19
    a = draw(st.sampled_from([(*leading(), m, k), (k,), (m, k)]))
    b = draw(st.sampled_from([(*leading(), k + wrong, n), (k + wrong,), (k, n)]))
    return (a, b) if draw(st.integers(0, 29)) else (a, ())


@st.composite
def products(draw):
    output = draw(st.sampled_from(["none", "none", "none", "array", "view", "operand", "overlap", "other type"]))
    shape_a, shape_b = drawn_shapes(draw, output in ("operand", "overlap"))
    dtype = draw(st.sampled_from(TAKEN))
    other = draw(st.sampled_from(TAKEN)) if draw(st.integers(0, 29)) == 29 else dtype
    if draw(st.integers(0, 29)) == 29:
        dtype = other = draw(st.sampled_from(REFUSED))
    kinds = ["small", "uniform", "special", "one value", "wide" if dtype != "e" else "small"]
    product = Product(draw(arrays([dtype], shape_a, kinds)), draw(arrays([other], shape_b, kinds)), output)
    product.type = np.result_type(dtype, other).char
    if product.output == "other type":
        product.type = draw(st.sampled_from(["d", "f", "e", "i"]))
    try:
        product.shape = np.matmul(np.zeros(shape_a), np.zeros(shape_b)).shape
    except ValueError:
        pass
    if draw(st.integers(0, 29)) == 29:
        product.shape, product.broadcast = (2, *product.shape), True
    return product


def outcome(product: Product, matmul):
    try:
        with np.errstate(all="ignore"):
            return product.run(matmul)
    except Exception as error:  # noqa: BLE001: the error is the result
        return error


def kind_of(error: Exception) -> type:
    return next(base for base in type(error).__mro__ if base.__module__ == "builtins")


def size_of(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), abs(values), 0).astype(np.longdouble)


def assert_close(product: Product, mine, other) -> None:
    """Each of the two sums k products with at most k + 1 roundings of the type that sums have, then rounds to C's."""
    mine, other = np.asarray(mine), np.asarray(other)
    a, b = size_of(product.a.make().astype("d")), size_of(product.b.make().astype("d"))
    size = np.matmul(a, b)
    types = (product.a.values.dtype.newbyteorder("="), product.b.values.dtype.newbyteorder("="))
    inner = 2.0**-53 if np.result_type(*types).char == "d" else 2.0**-24
    k = product.a.values.shape[-1]
    least = np.finfo(other.dtype).smallest_subnormal
    x, y = mine.astype(np.longdouble), other.astype(np.longdouble)
    outer = max(unit(dtype) for dtype in (other.dtype.newbyteorder("="), np.result_type(*types)))
    bound = 2.02 * ((k + 1) * inner + outer) * size + (k + 2) * least
    number = np.isfinite(y)
    np.testing.assert_array_equal(np.isfinite(x), number, "finite where NumPy's is")
    np.testing.assert_array_equal(x[~number], y[~number])
    with np.errstate(all="ignore"):
        worst = np.max(np.where(number, abs(x - y) - bound, -1.0), initial=-1.0)
    assert worst <= 0, f"beyond the bound by {worst}:\n{x}\nNumPy's:\n{y}\nbound:\n{bound}"


def explained(product: Product) -> tuple[str, type | tuple[type, ...]] | None:
    """The id of the difference that a product may meet, and the errors that Tessera may raise where NumPy does not."""
    types = [product.a.values.dtype.char, product.b.values.dtype.char]
    if any(char not in TAKEN for char in types):
        return "matmul-types", TypeError
    if set(types) == {"e", "d"}:
        return "matmul-two-types", TypeError
    a = product.a.make()
    unfit = product.output == "operand" and not (a.flags.aligned and a.dtype.isnative)
    type_of_output = types[0] if product.output in ("operand", "overlap") else product.type
    other_type = product.output != "none" and type_of_output != np.result_type(*types).char
    if unfit or product.broadcast or other_type:
        return "matmul-out", (TypeError, ValueError)
    return None


def check_errors(product: Product, mine, other) -> bool:
    """Whether one of the two has failed, as it may."""
    failed = [value if isinstance(value, Exception) else None for value in (mine, other)]
    meant = explained(product)
    if meant and failed[0] and not (failed[1] and kind_of(mine) is kind_of(other)):
        errors = (ValueError, TypeError) if failed[1] else meant[1]
        assert isinstance(mine, errors), f"{meant[0]}: raised {mine!r}; NumPy: {other!r}"
    elif any(failed):
        assert failed[0], f"nothing raised; NumPy: {other!r}"
        assert failed[1], f"raised {mine!r}"
        assert kind_of(mine) is kind_of(other), f"raised {mine!r}; NumPy: {other!r}"
    return any(failed)


def check(product: Product) -> None:
    other, mine = outcome(product, np.matmul), outcome(product, tessera.matmul)
    plain = outcome(dataclasses.replace(product, output="none"), np.matmul)
    if isinstance(plain, Exception):
        other = plain  # NumPy 2.4 makes (0,) by (1, 0) with an output of no axes 0.0
    if check_errors(product, mine, other):
        return
    (a, b), frame, out, result = mine
    assert np.shape(result) == np.shape(other[3]), f"shape {np.shape(result)}, NumPy's {np.shape(other[3])}"
    assert not explained(product) or explained(product)[0] == "matmul-out"
    assert result.dtype == other[3].dtype, f"type {result.dtype.str}, NumPy's {other[3].dtype.str}"
    if result.ndim:  # else matmul-0d
        assert type(result) is type(other[3]), f"a {type(result)}, NumPy's a {type(other[3])}"
    assert_close(product, result, other[3])
    if out is not None:
        assert result is out
    if product.output == "view":
        assert (frame[..., 1:] == 7).all(), "written beside the output"
    if product.output not in ("operand", "overlap"):
        np.testing.assert_array_equal(a, product.a.make())
    np.testing.assert_array_equal(b, product.b.make())


@pytest.mark.parametrize("batch", range(BATCHES))
def test_any_product(batch):
    @seed(SEED + batch)
    @settings(max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(products())
    def run(product):
        check(product)

    run()


def ones(dtype, *shape):
    return Array(np.ones(shape, dtype), "packed")


DIFFERENCES = {
    "matmul-types": Product(ones("i", 2, 2), ones("i", 2, 2)),
    "matmul-two-types": Product(ones("e", 2, 2), ones("d", 2, 2)),
    "matmul-out": Product(ones("d", 2, 2), ones("d", 2, 2), "array", (2, 2, 2), "d", True),
}


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_differs(difference):
    """What the table says is so: NumPy does it, and Tessera refuses."""
    product = DIFFERENCES[difference]
    assert explained(product)[0] == difference
    check(product)
    assert not isinstance(outcome(product, np.matmul), Exception)
    assert isinstance(outcome(product, tessera.matmul), explained(product)[1])


def test_product_of_vectors():
    """matmul-0d: an array of no axes, where NumPy gives a number of its own."""
    x = np.ones(3)
    assert isinstance(tessera.matmul(x, x), np.ndarray) and not isinstance(np.matmul(x, x), np.ndarray)
