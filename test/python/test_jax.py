# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.jax: calls of XLA under jit, their gradients, and what they refuse. Skipped without JAX."""

import functools

import numpy as np
import pytest
from conftest import assert_product

jax = pytest.importorskip("jax", minversion="0.5")
import jax.numpy as jnp  # noqa: E402

import tessera.jax as tj  # noqa: E402

HAS_DEVICE = jax.default_backend() == "gpu"
PLACES = ["cpu", pytest.param("gpu", marks=pytest.mark.skipif(not HAS_DEVICE, reason="JAX sees no device"))]


@pytest.fixture(params=PLACES, autouse=True)
def place(request):
    with jax.default_device(jax.devices(request.param)[0]):
        yield request.param


def whole(*shape, dtype=jnp.float32, seed=0):
    """Whole numbers, whose products have exact sums."""
    return jnp.asarray(np.random.default_rng(seed).integers(-4, 5, shape), dtype)


SHAPES = [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5))]
SHAPES += [((2, 1, 3, 4), (6, 4, 5)), ((2, 3, 4), (2, 4, 5)), ((0, 4), (4, 5)), ((3, 0), (0, 5))]


@pytest.mark.parametrize("shapes", SHAPES)
def test_products_are_those_of_jax(shapes):
    a, b = whole(*shapes[0]), whole(*shapes[1], seed=1)
    expected = np.asarray(a) @ np.asarray(b)
    for function in (tj.matmul, jax.jit(tj.matmul)):
        result = function(a, b)
        assert result.shape == expected.shape and np.array_equal(result, expected)


@pytest.mark.parametrize("types", [(jnp.float16, jnp.float16), (jnp.bfloat16, jnp.float32), (jnp.float32, jnp.float16)])
def test_types(types):
    a, b = whole(3, 40, dtype=types[0]), whole(5, 40, dtype=types[1], seed=1)
    result = tj.linear(a, b)
    assert result.dtype == max(types, key=lambda t: np.dtype(t).itemsize)
    assert np.array_equal(result.astype(np.float32), np.asarray(a, np.float32) @ np.asarray(b, np.float32).T)


def test_numbers_that_are_not_exact():
    rng = np.random.default_rng(2)
    a, b = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((65, 300), (300, 33)))
    assert_product(np.asarray(tj.matmul(a, b, compute="strict", sums="ordered")), a, b)


def in_jax(x, weight, bias, activation):
    return tj._ACTIVATIONS[activation](jnp.matmul(x, weight.T, precision="highest") + bias)


@pytest.mark.parametrize("activation", tj._ACTIVATIONS)
def test_layers_and_their_gradients(activation):
    rng = np.random.default_rng(3)
    x, weight, bias, g = (jnp.asarray(rng.uniform(-1, 1, shape), jnp.float32)
                          for shape in ((7, 20), (9, 20), (9,), (7, 9)))  # fmt: skip
    # Sums of 20 terms up to 1, of 9 and of 7, with some roundings of functions whose slopes are below 1.13 and whose
    # curvature is below 1: relative to the sizes, of 20 at most.
    close = functools.partial(np.testing.assert_allclose, rtol=0, atol=20 * 60 * 2.0**-24)
    layer = jax.jit(lambda *operands: tj.linear(*operands, activation))
    close(layer(x, weight, bias), in_jax(x, weight, bias, activation))
    with_gradients = jax.jit(lambda *operands: jax.vjp(layer, *operands)[1](g))
    expected = jax.vjp(lambda *operands: in_jax(*operands, activation), x, weight, bias)[1](g)
    for made, gradient in zip(with_gradients(x, weight, bias), expected):
        close(made, gradient)


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_gradients_of_transposed_operands(trans_a, trans_b):
    a, b = whole(*((4, 3) if trans_a else (3, 4))), whole(*((5, 4) if trans_b else (4, 5)), seed=1)
    g = whole(3, 5, seed=2)
    ours = jax.vjp(lambda a, b: tj._layer(a, b, None, (None, "any"), None, trans_a, trans_b, False)[0], a, b)[1](g)
    theirs = jax.vjp(lambda a, b: (a.T if trans_a else a) @ (b.T if trans_b else b), a, b)[1](g)
    for made, expected in zip(ours, theirs):
        assert np.array_equal(made, expected)


def test_gradients_of_gradients():
    rng = np.random.default_rng(4)
    x, weight, bias = (jnp.asarray(rng.uniform(-1, 1, shape), jnp.float32) for shape in ((3, 4), (5, 4), (5,)))

    def penalty(layer):
        def norm(x):
            return (jax.grad(lambda x: layer(x, weight, bias, "gelu").sum())(x) ** 2).sum()

        return jax.grad(norm)(x)

    np.testing.assert_allclose(penalty(tj.linear), penalty(in_jax), rtol=0, atol=2.0**-16)


def test_vmap_and_16_bits_in_training():
    x, weight = whole(6, 3, 4, dtype=jnp.bfloat16), whole(5, 4, dtype=jnp.bfloat16, seed=1)
    made = jax.vmap(lambda x: tj.linear(x, weight))(x)
    assert made.dtype == jnp.bfloat16 and np.array_equal(made, x @ weight.T)
    of_weight = jax.grad(lambda weight: tj.linear(x, weight, activation="relu").astype(jnp.float32).sum())(weight)
    expected = jax.grad(lambda weight: jax.nn.relu(x @ weight.T).astype(jnp.float32).sum())(weight)
    assert of_weight.dtype == jnp.bfloat16 and np.array_equal(of_weight, expected)


def test_what_does_not_fit_is_refused():
    a = whole(3, 4)
    with pytest.raises(ValueError, match="a has 4 columns, b 5 rows; they must agree"):
        tj.matmul(a, whole(5, 2))
    with pytest.raises(ValueError, match="bias has shape"):
        tj.linear(a, whole(5, 4), whole(4))
    with pytest.raises(ValueError, match="activation = 'sine': must be one of None, relu"):
        tj.matmul(a, whole(4, 5), activation="sine")
    with pytest.raises(ValueError, match="must have an axis or more"):
        tj.matmul(1.0, a)
    with pytest.raises(Exception, match="f16, bf16, f32 or f64"):
        jax.block_until_ready(tj.matmul(a.astype(jnp.int32), whole(4, 5, dtype=jnp.int32)))
    assert np.array_equal(tj.matmul(a, whole(4, 5)), np.asarray(a) @ np.asarray(whole(4, 5)))  # all is as before
