# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: operators for autograd, fake tensors, torch.compile and torch.export. Skipped without PyTorch."""

import copy

import pytest

torch = pytest.importorskip("torch", minversion="2.4")
import tessera.torch as tt  # noqa: E402

PLACES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no device"))]


@pytest.fixture(params=PLACES)
def place(request):
    return request.param


def whole(*shape, place="cpu", dtype=torch.float32, seed=0):
    """Whole numbers, whose products have exact sums."""
    made = torch.randint(-4, 5, shape, generator=torch.Generator().manual_seed(seed))
    return made.to(dtype).to(place)


MATRICES = [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,))]
MATRICES += [((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (6, 4, 5))]
SHAPES = [*MATRICES, ((0, 4), (4, 5)), ((3, 0), (0, 5)), ((3, 4), (4, 0))]


@pytest.mark.parametrize("shapes", SHAPES)
def test_products_are_those_of_pytorch(shapes, place):
    a, b = whole(*shapes[0], place=place), whole(*shapes[1], place=place, seed=1)
    assert torch.equal(tt.matmul(a, b), a @ b)
    if b.dim() > 1:  # lines that are not contiguous
        assert torch.equal(tt.matmul(a, b.mT.contiguous().mT), a @ b)


@pytest.mark.parametrize("activation", [None, *tt._ACTIVATIONS])
@pytest.mark.parametrize("shapes", MATRICES)
def test_gradients(shapes, activation):
    def leaf(shape, seed):
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()

    a, b = leaf(shapes[0], 0), leaf(shapes[1], 1)
    bias = leaf(shapes[1][-1:], 2) if len(shapes[1]) > 1 else None

    def function(*operands):
        return tt.matmul(*operands, activation=activation)

    operands = (a, b) if bias is None else (a, b, bias)
    assert torch.autograd.gradcheck(function, operands)
    if activation != "relu":
        assert torch.autograd.gradgradcheck(function, operands)


def test_a_bias_for_each_row_and_operands_of_two_types():
    a, b = whole(3, 4).requires_grad_(), whole(4, 5, dtype=torch.bfloat16).requires_grad_()
    bias = whole(3, 1).requires_grad_()
    result = tt.matmul(a, b, bias)
    assert result.dtype == torch.float32
    result.sum().backward()
    assert b.grad.dtype == torch.bfloat16 and torch.equal(bias.grad, torch.full((3, 1), 5.0))
    assert torch.equal(a.grad, torch.ones(3, 5) @ b.detach().float().T)
    assert torch.equal(b.grad, (a.detach().T @ torch.ones(3, 5)).bfloat16())


def test_operators_pass_pytorchs_checks(place):
    a, b = (whole(*s, place=place, seed=i).requires_grad_() for i, s in enumerate([(3, 4), (4, 5)]))
    bias = whole(5, place=place).requires_grad_()
    for arguments in [(a, b, None, "", "", ""), (a, b, bias, "", "", ""), (a[0], b, None, "", "strict", "ordered")]:
        torch.library.opcheck(torch.ops.tessera.matmul.default, arguments)
    for arguments in [(a, b, bias, "gelu", "", ""), (a[0], b, None, "tanh", "strict", "ordered")]:
        torch.library.opcheck(torch.ops.tessera.matmul_stored.default, arguments)
    with torch.no_grad():
        torch.library.opcheck(torch.ops.tessera.matmul.default, (a.detach(), b.detach(), None, "gelu", "", ""))
        layer = tt.Linear(4, 5).to(place).prepare(3)
        gradient = torch.ops.tessera.activation_gradient.default
        for kind in (None, torch.float32):
            torch.library.opcheck(gradient, (whole(3, 5, place=place), torch.randn(3, 5, device=place), "silu", kind))
        torch.library.opcheck(
            torch.ops.tessera.matmul_prepared.default, (a.detach(), layer._prepared.number, None, "relu")
        )


@pytest.mark.parametrize("activation", tt._ACTIVATIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_training_has_the_bits_of_serving(activation, dtype, place):
    x, weight, bias = torch.randn(9, 40), torch.randn(30, 40), torch.randn(30)
    leaves = [t.to(place, dtype).requires_grad_() for t in (x, weight, bias)]
    result = tt.linear(*leaves, activation)
    assert result.requires_grad
    with torch.no_grad():
        assert torch.equal(result, tt.linear(*leaves, activation))


def test_who_traces_first_leaves_training_as_it_is(monkeypatch):
    monkeypatch.setattr(tt, "_takes_aux", {})
    expected = tt._stores_aux("cpu")
    tt._takes_aux.clear()
    torch.func.vmap(lambda x: x * tt._stores_aux("cpu"))(torch.ones(2))
    assert tt._takes_aux == {"cpu": expected}


def test_gradients_without_elements(place):
    for shapes in [((2, 3, 0), (5, 0)), ((2, 3, 4), (0, 4)), ((0, 3, 4), (5, 4))]:
        x, weight = (torch.zeros(s, device=place, requires_grad=True) for s in shapes)
        tt.linear(x, weight).sum().backward()
        assert x.grad.shape == x.shape and weight.grad.shape == weight.shape


def test_fake_tensors_refuse_what_does_not_fit():
    with torch._subclasses.FakeTensorMode():
        with pytest.raises(RuntimeError, match="must agree"):
            tt.matmul(torch.empty(3, 4), torch.empty(3, 5))
        assert tt.linear(torch.empty(2, 3, 4), torch.empty(5, 4)).shape == (2, 3, 5)
    with pytest.raises(ValueError, match="activation = 'sine': must be one of relu"):
        tt.matmul(torch.empty(3, 4), torch.empty(4, 5), activation="sine")


def test_modules_and_prepared_weights(place):
    layer = tt.Linear(6, 5, activation="relu").to(place)
    own = torch.nn.Linear(6, 5).to(place)
    own.load_state_dict(layer.state_dict())
    x = torch.randn(7, 6, device=place)
    expected = torch.relu(own(x))
    torch.testing.assert_close(layer(x), expected)
    assert "activation=relu" in repr(layer)
    with torch.no_grad():
        for rows in (1, 7):
            torch.testing.assert_close(layer.prepare(rows)(x), expected)
        assert layer._prepared is not None
        twin = copy.deepcopy(layer)
        torch.testing.assert_close(twin(x), expected)
        layer.load_state_dict(torch.nn.Linear(6, 5).to(place).state_dict())
        assert layer._prepared is None and not torch.allclose(layer(x), expected)
    assert layer.prepare().train()._prepared is None
    layer.prepare()
    layer(x).sum().backward()  # by the weight itself
    assert layer.weight.grad is not None


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_autocast(place, kind):
    x, weight = whole(3, 4, place=place), whole(5, 4, place=place).requires_grad_()
    with torch.autocast(place, dtype=kind):
        result = tt.linear(x, weight)
    assert result.dtype == kind
    result.sum().backward()
    assert weight.grad.dtype == torch.float32 and torch.equal(weight.grad, x.sum(0).expand(5, 4))


def test_compiled_in_one_graph_for_any_number_of_rows(place):
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    layer = tt.Linear(6, 5, activation="gelu").to(place)
    compiled = torch.compile(layer, backend=counter, fullgraph=True, dynamic=True)
    for rows in (3, 8, 21):
        x = torch.randn(rows, 6, device=place, requires_grad=True)
        torch.testing.assert_close(compiled(x), layer(x))
        compiled(x).sum().backward()
    assert counter.frame_count == 1
    with torch.no_grad():
        layer.prepare()
        torch.testing.assert_close(torch.compile(layer, backend="aot_eager", fullgraph=True)(x), layer(x))


def test_exported(place):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = tt.Linear(6, 5, activation="silu")

        def forward(self, x):
            return self.layer(x)

    model, x = Model().to(place).eval(), torch.randn(3, 6, device=place)
    with torch.no_grad():
        rows = torch.export.Dim("rows", min=2, max=100)
        exported = torch.export.export(model, (x,), dynamic_shapes={"x": {0: rows}})
        assert any("tessera.matmul" in str(node.target) for node in exported.graph.nodes)
        for batch in (x, torch.randn(9, 6, device=place)):
            torch.testing.assert_close(exported.module()(batch), model(batch))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no device")
def test_two_streams():
    a, b = whole(64, 64, place="cuda"), whole(64, 64, place="cuda", seed=1)
    torch.cuda.synchronize()
    streams, results = [torch.cuda.Stream() for _ in range(2)], []
    layer = tt.Linear(64, 64, bias=False).cuda()
    with torch.no_grad():
        layer.weight.copy_(b.T)
        layer.prepare()
        torch.cuda.synchronize()
        for stream in streams * 3:
            with torch.cuda.stream(stream):
                results += [tt.matmul(a, b), layer(a)]
    torch.cuda.synchronize()
    assert all(torch.equal(result, a @ b) for result in results)
