# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Outputs that share memory with operands, or with themselves; tensors that stand for other numbers than they hold."""

import numpy as np
import pytest
from conftest import Foreign

import tessera


class Lazy(Foreign):
    """As a tensor of PyTorch: its numbers are the negatives of those in its memory where `negative` says so."""

    def __init__(self, array, negative=False):
        super().__init__(array)
        self.negative = negative

    def is_neg(self):
        return self.negative

    def is_conj(self):
        return False

    def resolve_neg(self):
        return Lazy(-self.array) if self.negative else self


def small(rng, shape):
    """Whole numbers: sums of their products are exact, in any order."""
    return rng.integers(-8, 9, shape).astype(np.float64)


def test_batches_that_are_moved_by_one(rng):
    parent, b = small(rng, (4, 2, 3, 3)), small(rng, (2, 3, 3))
    exact = parent[:3] @ b
    out = parent[1:]
    assert tessera.matmul(parent[:3], b, out=out) is out
    assert (out == exact).all()
    for views in ((slice(1, None), slice(None, -1)), (slice(None, None, -1), slice(None))):
        parent = small(rng, (4, 2, 3, 3))
        exact = b @ parent[views[0]]
        tessera.matmul(b, parent[views[0]], out=parent[views[1]])
        assert (parent[views[1]] == exact).all()


def test_in_place_with_all_operands(rng):
    a, b = small(rng, (5, 5)), small(rng, (5, 5))
    exact = 2 * (a @ b) - 3 * a
    tessera.matmul(a, b, out=a, alpha=2.0, beta=-3.0)
    assert (a == exact).all()
    exact = b @ b + b[2]
    tessera.matmul(b, b, out=b, bias=b[2])
    assert (b == exact).all()
    for turned in (lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::-1]):
        x, y = small(rng, (5, 5)), small(rng, (5, 5))
        exact = x @ y
        tessera.matmul(x, y, out=turned(x))
        assert (turned(x) == exact).all()


def test_foreign_arrays(rng):
    a, b = small(rng, (5, 5)), small(rng, (5, 5))
    exact = a @ b
    tessera.matmul(Foreign(a), Foreign(b), out=Foreign(a))
    assert (a == exact).all()


def test_blocks_of_one_array_are_not_copied(rng):
    parent = small(rng, (6, 12))
    exact = parent[:, :6] @ parent[:, :6]
    tessera.matmul(parent[:, :6], parent[:, :6], out=parent[:, 6:])
    assert (parent[:, 6:] == exact).all()


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_stencil_in_place(rng, steps):
    u, taps = small(rng, (9, 8)), tessera.taps.identity(2) + 2 * tessera.taps.laplacian(2)
    exact = tessera.stencil(u, taps, boundary="periodic", steps=steps)
    assert tessera.stencil(u, taps, boundary="periodic", steps=steps, out=u) is u
    assert (u == exact).all()
    u = small(rng, (9, 8))
    exact = tessera.stencil(u[:-1], taps, steps=steps)
    tessera.stencil(u[:-1], taps, steps=steps, out=u[1:])
    assert (u[1:] == exact).all()


def test_plans(rng):
    a, b, u = small(rng, (4, 4)), small(rng, (4, 4)), small(rng, (9, 8))
    taps = tessera.taps.laplacian(2)
    gemm = tessera.GemmPlan(4, 4, 4, dtype="float64", bias="column")
    exact = a @ b + a[1]
    assert gemm.execute(a, b, bias=a[1], out=a) is a and (a == exact).all()
    exact = a @ b + b[0]
    assert gemm.execute(a, b, bias=b[0], out=b) is b and (b == exact).all()
    sweep = tessera.StencilPlan((9, 8), taps, dtype="float64")
    exact = sweep.execute(u)
    assert sweep.execute(u, out=u) is u and (u == exact).all()


def test_fields_of_a_system_are_apart():
    system = tessera.StencilSystem((6, 6), "float64")
    u, v = system.state("u"), system.state("v")
    system.update(u, v * 1.0), system.update(v, u * 1.0)
    plan, x = tessera.SystemPlan(system, 1), np.zeros((6, 6))
    with pytest.raises(ValueError, match="an array that overlaps .: they must not share"):
        plan.execute({"u": x, "v": x})


@pytest.mark.parametrize("strides", [(0, 24, 8), (72, 0, 8), (8, 24, 8), (16, 24, 8)])
def test_outputs_with_an_element_for_two_indices(rng, strides):
    out = np.lib.stride_tricks.as_strided(np.zeros(64), (4, 3, 3), strides)
    a, b = small(rng, (4, 3, 3)), small(rng, (3, 3))
    with pytest.raises(ValueError, match=r"out has the strides .* must have an element of its own for each index"):
        tessera.matmul(a, b, out=out)
    with pytest.raises(ValueError, match=r"out has the strides .* must have an element of its own for each index"):
        tessera.stencil(a, tessera.Taps(3), out=out)


def test_an_axis_of_one_may_have_any_stride(rng):
    a, b = small(rng, (1, 3, 3)), small(rng, (3, 3))
    out = np.lib.stride_tricks.as_strided(np.zeros(9), (1, 3, 3), (0, 24, 8))
    assert (tessera.matmul(a, b, out=out) == a @ b).all()


def test_lazy_negation(rng):
    a, x, bias = small(rng, (4, 4)), small(rng, 4), small(rng, 4)
    lazy = Lazy(x, negative=True)
    assert (tessera.matmul(a, lazy) == a @ -x).all()
    assert (tessera.matmul(lazy, a) == -x @ a).all()
    assert (tessera.matmul(a, a, bias=Lazy(bias, negative=True)) == a @ a - bias).all()
    taps = tessera.taps.laplacian(2)
    assert (tessera.stencil(Lazy(a, negative=True), taps) == tessera.stencil(-a, taps)).all()
    plan = tessera.GemmPlan(4, 4, 4, dtype="float64")
    assert (plan.execute(Lazy(a, negative=True), a) == -a @ a).all()
    assert (tessera.matmul(a, Lazy(x)) == a @ x).all()
    for call in (
        lambda out: tessera.matmul(a, a, out=out),
        lambda out: tessera.stencil(a, taps, out=out),
        lambda out: plan.execute(a, a, out=out),
    ):
        with pytest.raises(TypeError, match="out = .*must be a tensor of its own, as resolve_neg"):
            call(Lazy(np.zeros((4, 4)), negative=True))


def test_lazy_tensors_of_torch(rng):
    torch = pytest.importorskip("torch")
    real, imaginary = small(rng, (4, 4)), small(rng, (4, 4))
    lazy = torch.complex(torch.from_numpy(real), torch.from_numpy(imaginary)).conj().imag
    assert lazy.is_neg()
    a = torch.from_numpy(small(rng, (4, 4)))
    assert torch.equal(tessera.matmul(a, lazy), a @ -torch.from_numpy(imaginary))
    assert torch.equal(tessera.matmul(a, lazy[0]), a @ -torch.from_numpy(imaginary[0]))
    assert torch.equal(tessera.matmul(a, a, bias=lazy[1]), a @ a - torch.from_numpy(imaginary[1]))
    taps = tessera.taps.laplacian(2)
    assert torch.equal(tessera.stencil(lazy, taps), tessera.stencil(-torch.from_numpy(imaginary), taps))
    with pytest.raises(TypeError, match="resolve_neg"):
        tessera.matmul(a, a, out=lazy)
    inside = torch.from_numpy(small(rng, (5, 5)))
    exact = inside @ inside
    assert torch.equal(tessera.matmul(inside, inside, out=inside), exact)
