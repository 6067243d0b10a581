# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Complex products: values beside NumPy's, layouts, conjugates, and what is refused."""

import itertools

import numpy as np
import pytest

import tessera

TYPES = (np.complex64, np.complex128)


def norm1(x):
    return np.abs(x.real) + np.abs(x.imag)


def assert_near(result, a, b, alpha=1, beta=0, c=0):
    """Each part is a sum of 2 k products: see docs/notes/bounds.md. NumPy's own error, in complex128, is as large."""
    u = np.finfo(result.dtype).eps / 2
    wide, k = np.complex128, a.shape[-1]
    expected = alpha * (a.astype(wide) @ b.astype(wide)) + beta * c
    size = norm1(np.asarray(alpha)) * (norm1(a) @ norm1(b)) + norm1(np.asarray(beta)) * norm1(np.asarray(c))
    bound = (2 * k + 8) * (u + np.finfo(np.float64).eps / 2) * size
    assert (np.abs(result.real - expected.real) <= bound).all()
    assert (np.abs(result.imag - expected.imag) <= bound).all()


def draw(generator, shape, dtype):
    return (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_layouts_and_conjugates(dtype):
    generator = np.random.default_rng(1)
    for of_a, of_b, conjugate_a, conjugate_b in itertools.product("CF", "CF", (False, True), (False, True)):
        a = np.asarray(draw(generator, (19, 23), dtype), order=of_a)
        b = np.asarray(draw(generator, (23, 17), dtype), order=of_b)
        result = tessera.matmul(a, b, conjugate_a=conjugate_a, conjugate_b=conjugate_b)
        assert result.dtype == dtype
        assert_near(result, a.conj() if conjugate_a else a, b.conj() if conjugate_b else b)
    assert_near(tessera.matmul(a.T, a, conjugate_a=True), a.conj().T, a)


@pytest.mark.parametrize("dtype", TYPES)
def test_scalars_batches_and_out(dtype):
    generator = np.random.default_rng(2)
    a, b, c = draw(generator, (3, 5, 7), dtype), draw(generator, (7, 4), dtype), draw(generator, (3, 5, 4), dtype)
    before = c.copy()
    assert tessera.matmul(a, b, out=c, alpha=2 - 1j, beta=0.5j) is c
    assert_near(c, a, b, 2 - 1j, 0.5j, before)
    assert_near(tessera.matmul(a[:, ::2, ::3], b[::3]), a[:, ::2, ::3], b[::3])
    vector = draw(generator, 7, dtype)
    assert_near(tessera.matmul(vector, b)[None], vector[None], b)
    inside = np.zeros((5, 9), dtype)
    tessera.matmul(a[0], b, out=inside[:, 1:9:2])
    assert_near(inside[:, 1:9:2], a[0], b)
    assert not inside[:, ::2].any()
    square = draw(generator, (6, 6), dtype)
    assert_near(tessera.matmul(square, square, out=square.copy()), square, square)


def test_triangle():
    generator = np.random.default_rng(3)
    a, out = draw(generator, (30, 8), np.complex128), np.zeros((30, 30), np.complex128)
    tessera.matmul(a, a.T, conjugate_b=True, triangle="lower", out=out)
    assert not np.triu(out, 1).any()
    assert_near(np.tril(out) + np.tril(out, -1).conj().T, a, a.conj().T)


def test_real_products_ignore_conjugates():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert (tessera.matmul(x, x.T, conjugate_a=True, conjugate_b=True) == x @ x.T).all()


@pytest.mark.parametrize(
    "error, text, call",
    [
        (TypeError, "a is complex64, b is float32", lambda z: tessera.matmul(z, z.real.copy())),
        (TypeError, "a is complex64, b is complex128", lambda z: tessera.matmul(z, z.astype(complex))),
        (TypeError, "bias: elements of complex64", lambda z: tessera.matmul(z, z, bias=z[0].copy())),
        (ValueError, "activation", lambda z: tessera.matmul(z, z, activation="relu")),
        (ValueError, "mirrored", lambda z: tessera.matmul(z, z.T, triangle="mirrored")),
        (ValueError, "must be complex64", lambda z: tessera.matmul(z, z, dtype=np.complex128)),
        (TypeError, "alpha = 'x', a str", lambda z: tessera.matmul(z, z, alpha="x")),
        (TypeError, "alpha = 1j, a complex: must be a real", lambda z: tessera.matmul(z.real, z.real, alpha=1j)),
        (TypeError, "b: elements of complex64; must be", lambda z: tessera.prepare(z)),
        (ValueError, "dtype", lambda z: tessera.GemmPlan(4, 4, 4, dtype="complex64")),
    ],
)
def test_refusals(error, text, call):
    with pytest.raises(error, match=text):
        call(np.ones((4, 4), np.complex64))


def test_tensors():
    torch = pytest.importorskip("torch")
    import tessera.torch

    z = torch.complex(torch.randn(5, 6), torch.randn(5, 6))
    result = tessera.matmul(z, z.mH)  # conjugated when it is read
    assert isinstance(result, torch.Tensor)
    assert_near(result.numpy(), z.numpy(), z.numpy().conj().T)
    with pytest.raises(TypeError, match="must be real"):
        tessera.torch.matmul(z, z.mH)
