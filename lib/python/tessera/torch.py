# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Products for PyTorch, as custom operators: differentiable, with fake tensors, for torch.compile and torch.export.

    from tessera.torch import Linear, linear, matmul
    y = linear(x, weight, bias, activation="gelu")  # of any type that tessera.matmul takes, on the host or on a device

The operators are `torch.ops.tessera.matmul`, `matmul_prepared`, `matmul_stored` and `activation_gradient`. Under
torch.autocast operands come in its type first, as those of torch.matmul do. Needs PyTorch 2.4.
"""

import concurrent.futures
import itertools
import weakref
from typing import Optional

import torch
from torch import Tensor

from . import PreparedMatrix, _core

__all__ = ["Linear", "linear", "matmul"]

# Functions of what an activation is applied to: for gradients of gradients, and where the backend stores no aux.
_ACTIVATIONS = {
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def _result_type(a: torch.dtype, b: torch.dtype) -> torch.dtype:
    return b if b.itemsize > a.itemsize else a


def _call(a, b, bias, activation, compute, sums, aux=None):
    if not (activation or compute or sums):
        return _core.matmul(a, b, bias=bias)
    options = {"activation": activation or None, "compute": compute or None, "sums": sums or None}
    return _core.matmul(a, b, bias=bias, aux=aux, **options)


def _shape(a: Tensor, b: Tensor) -> tuple:
    """That of a product."""
    if a.dim() == 2 == b.dim():
        return a.shape[0], b.shape[1]
    rows, columns = a.shape[-2:-1], b.shape[-1:] if b.dim() > 1 else ()
    return (*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *rows, *columns)


def _call_stored(a, b, bias, activation, compute, sums):
    """The product, and what its activation was applied to."""
    aux = torch.empty(_shape(a, b), dtype=_result_type(a.dtype, b.dtype), device=a.device)
    return _call(a, b, bias, activation, compute, sums, aux), aux


def _call_gradient(gradient, aux, activation, bias: Optional[torch.dtype]):
    """The gradient before an activation, and the sums of its columns: of no values where no type is given."""
    sums = torch.empty(aux.shape[-1] if bias else 0, dtype=bias or aux.dtype, device=aux.device)
    made = _core.activation_gradient(gradient, aux, activation, bias_gradient=sums if bias else None)
    return made, sums


def _define(name: str, schema: str, call, results: str = "Tensor") -> None:
    """Less between a caller and a product than torch.library.custom_op has."""
    torch.library.define(f"tessera::{name}", f"({schema}) -> {results}", tags=torch.Tag.pt2_compliant_tag)
    torch.library.impl(f"tessera::{name}", ("cpu", "cuda"), call)


_OPERANDS = "Tensor a, Tensor b, Tensor? bias, str activation, str compute, str sums"
_define("matmul", _OPERANDS, _call)
_define("matmul_stored", _OPERANDS, _call_stored, "(Tensor, Tensor)")
_GRADIENT = "Tensor gradient, Tensor aux, str activation, ScalarType? bias"
_define("activation_gradient", _GRADIENT, _call_gradient, "(Tensor, Tensor)")


@torch.library.register_fake("tessera::matmul")
def _(a, b, bias, activation, compute, sums):
    torch._check(a.dim() > 0 and b.dim() > 0, lambda: "tessera.torch: operands have an axis or more")
    torch._check(a.shape[-1] == b.shape[-2 if b.dim() > 1 else -1], lambda: "tessera.torch: a and b must agree")
    return a.new_empty(_shape(a, b), dtype=_result_type(a.dtype, b.dtype))


@torch.library.register_fake("tessera::matmul_stored")
def _(*operands):
    made = torch.ops.tessera.matmul(*operands)
    return made, torch.empty_like(made)


@torch.library.register_fake("tessera::activation_gradient")
def _(gradient, aux, activation, bias):
    return aux.new_empty(aux.shape), aux.new_empty(aux.shape[-1] if bias else 0, dtype=bias or aux.dtype)


def _is_eager(*tensors: Optional[Tensor]) -> bool:
    """Whether nobody traces: then the operator's way through PyTorch would take longer than a small product."""
    known = (type(None), Tensor, torch.nn.Parameter)
    if torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack():
        return False
    if torch._C._are_functorch_transforms_active():
        return False
    return all(type(t) in known for t in tensors)


def _is_differentiated(*tensors: Optional[Tensor]) -> bool:
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def _product(a, b, bias=None, activation="", compute="", sums="", turned=False):
    """activation(a @ b + bias); turned: with b.mT."""
    operands = (bias, activation, compute, sums)
    eager, stores = _is_eager(a, b, bias), False
    if _is_differentiated(a, b, bias):
        stores = activation and _stores_aux(a.device.type)
        if activation and not stores:
            return _ACTIVATIONS[activation](_product(a, b, bias, "", compute, sums, turned))
        if eager:
            differentiated = _StoredProduct if stores else _Product
            made = differentiated.apply(a, b, *operands, turned)
            return made[0] if stores else made
    b = b.mT if turned else b
    if eager:
        return _call(a, b, *operands)
    return torch.ops.tessera.matmul_stored(a, b, *operands)[0] if stores else torch.ops.tessera.matmul(a, b, *operands)


def _summed(gradient: Tensor, like: Tensor) -> Tensor:
    """The gradient of an operand whose batch was broadcast."""
    extra = gradient.dim() - like.dim()
    repeated = [i + extra for i, n in enumerate(like.shape) if n == 1 and gradient.shape[i + extra] != 1]
    return gradient.sum((*range(extra), *repeated)).reshape(like.shape) if extra or repeated else gradient


def _gradients(ctx, a, b, gradient, of_bias=None):
    """Those of a product's inputs, from that of its result."""
    wants_a, wants_b, wants_bias, *_ = ctx.needs_input_grad
    matrices, options = a.dim() == 2 == b.dim(), ctx.options
    product = _call if not torch.is_grad_enabled() and _is_eager(a, b, gradient) else _product
    if b.dim() == 1:
        gradient = gradient[..., None]
    if a.dim() == 1:
        gradient = gradient[..., None, :]
    of_a = of_b = None
    if wants_a:
        of_a = product(gradient, b if ctx.turned else b.mT if b.dim() > 1 else b[None], None, "", *options)
        if not matrices:
            of_a = _summed(of_a, a if a.dim() > 1 else a[None]).reshape(a.shape)
    if wants_b:
        matrix, whole = a if a.dim() > 1 else a[None], gradient
        if b.dim() < 3 < matrix.dim() + 1:  # one product over all rows
            matrix, whole = matrix.flatten(0, -2), gradient.flatten(0, -2)
        if ctx.turned:
            of_b = product(whole.mT, matrix, None, "", *options)
        elif b.dim() == 2 and b.stride(0) == 1:  # as that of a weight, so that nobody has to copy it
            of_b = product(whole.mT, matrix, None, "", *options).mT
        else:
            of_b = product(matrix.mT, whole, None, "", *options)
        if not matrices:
            of_b = _summed(of_b, b if b.dim() > 1 else b[:, None]).reshape(b.shape)
    if wants_bias and ctx.bias is not None and of_bias is None:
        shape, dtype = ctx.bias
        by_column = len(shape) == 1 or (shape[0] == 1 and shape[1] == gradient.shape[-1])
        kept = -1 if by_column else -2  # a value for each column, or for each row
        of_bias = gradient.sum([i for i in range(-gradient.dim(), 0) if i != kept], dtype=dtype).reshape(shape)
    to_a, to_b = (of_a is None or of_a.dtype == a.dtype), (of_b is None or of_b.dtype == b.dtype)
    return of_a if to_a else of_a.to(a.dtype), of_b if to_b else of_b.to(b.dtype), of_bias, *ctx.rest


def _backward(ctx, gradient):
    return _gradients(ctx, *ctx.saved_tensors, gradient)


def _keep(ctx, kept, a, b, bias, activation, compute, sums, turned=None):
    """What a backward pass needs. turned: None for an operator, which has no such argument."""
    ctx.save_for_backward(a, b, *kept)
    ctx.bias = None if bias is None else (bias.shape, bias.dtype)
    ctx.activation, ctx.options, ctx.turned = activation, (compute, sums), bool(turned)
    ctx.rest = (None,) * (3 if turned is None else 4)


def _setup(ctx, inputs, output):
    if inputs[3]:
        raise RuntimeError("tessera::matmul with an activation has no gradient: call tessera.torch.matmul")
    _keep(ctx, (), *inputs)


torch.library.register_autograd("tessera::matmul", _backward, setup_context=_setup)


class _Product(torch.autograd.Function):
    """The same without the operator."""

    @staticmethod
    def forward(ctx, a, b, *inputs):
        _keep(ctx, (), a, b, *inputs)
        return _call(a, b.mT if ctx.turned else b, *inputs[:-1])

    backward = staticmethod(_backward)


def _backward_stored(ctx, gradient, of_aux):
    a, b, aux = ctx.saved_tensors
    of_bias = None
    if gradient is None:
        return (None, None, None, *ctx.rest) if of_aux is None else _gradients(ctx, a, b, of_aux)
    if torch.is_grad_enabled():  # that of a gradient may be asked for: by PyTorch's functions, which have one
        made = torch.autograd.grad(_ACTIVATIONS[ctx.activation](aux), aux, gradient, create_graph=True)[0]
    else:
        along = of_aux is None and ctx.needs_input_grad[2] and len(ctx.bias[0]) == 1 and b.dim() > 1
        call = _call_gradient if _is_eager(gradient) else torch.ops.tessera.activation_gradient
        made, sums = call(gradient, aux, ctx.activation, ctx.bias[1] if along else None)
        of_bias = sums if along else None
    return _gradients(ctx, a, b, made if of_aux is None else made + of_aux, of_bias)


def _setup_stored(ctx, inputs, output):
    _keep(ctx, output[1:], *inputs)
    ctx.set_materialize_grads(False)


torch.library.register_autograd("tessera::matmul_stored", _backward_stored, setup_context=_setup_stored)


class _StoredProduct(torch.autograd.Function):
    """The same without the operator."""

    @staticmethod
    def forward(ctx, a, b, *inputs):
        output = _call_stored(a, b.mT if inputs[-1] else b, *inputs[:-1])
        _setup_stored(ctx, (a, b, *inputs), output)
        return output

    backward = staticmethod(_backward_stored)


def _try_aux(device: str) -> bool:
    one, aux, bias = torch.ones(1, 1, device=device), torch.ones(1, 1, device=device), torch.ones(1, device=device)
    try:
        _core.matmul(one, one, activation="relu", aux=aux)
        _core.activation_gradient(one, aux, "relu", bias_gradient=bias)
    except RuntimeError:  # it refuses them
        return False
    return True


_takes_aux = {}  # by the kind of device


def _stores_aux(device: str) -> bool:
    """Whether the backend for a device's arrays, or that the environment names, takes what training needs. Tried once,
    by a thread of its own, where nobody traces; not while a graph is captured, which it would break."""
    if device not in _takes_aux:
        if device == "cuda" and torch.cuda.is_current_stream_capturing():
            return False
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            _takes_aux[device] = thread.submit(_try_aux, device).result()
    return _takes_aux[device]


# What torch.compiler.assume_constant_result does, which imports the compiler first: 0.9 s for who never compiles.
_stores_aux._dynamo_marked_constant = True


def _in_autocast(*tensors: Optional[Tensor]) -> tuple:
    """Tensors of 16 and 32 bits in the type of torch.autocast, where that is on."""
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return tensors
    to, known = torch.get_autocast_dtype(kind), (torch.float16, torch.bfloat16, torch.float32)
    return tuple(t if t is None or t.dtype not in known else t.to(to) for t in tensors)


def matmul(
    a: Tensor,
    b: Tensor,
    bias: Optional[Tensor] = None,
    activation: Optional[str] = None,
    *,
    compute: Optional[str] = None,
    sums: Optional[str] = None,
) -> Tensor:
    """activation(a @ b + bias), as tessera.matmul has it. Differentiable in a, b and bias, any number of times.

    The activation is applied before the only rounding. Where a gradient is asked for, and the backend stores no aux, it
    is PyTorch's, applied to the product as it is rounded to its type. Gradients are products of the same `compute` and
    `sums`, of the types of the operands."""
    return _matmul(a, b, bias, activation, compute, sums)


def _matmul(a, b, bias, activation, compute, sums, turned=False):
    if activation is not None and activation not in _ACTIVATIONS:
        raise ValueError(f"activation = {activation!r}: must be one of {', '.join(_ACTIVATIONS)}, or None")
    if a.is_complex() or b.is_complex():
        kinds = f"a is of {a.dtype}, b of {b.dtype}"
        raise TypeError(f"{kinds}: must be real; tessera.matmul multiplies complex ones, without gradients")
    a, b, bias = _in_autocast(a, b, bias)
    return _product(a, b, bias, activation or "", compute or "", sums or "", turned)


def linear(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    activation: Optional[str] = None,
    *,
    compute: Optional[str] = None,
    sums: Optional[str] = None,
) -> Tensor:
    """activation(input @ weight.T + bias), as torch.nn.functional.linear; weight: (out, in). See matmul."""
    return _matmul(input, weight, bias, activation, compute, sums, turned=True)


# What operators know by its number: they take tensors and numbers alone.
_prepared = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


class _Prepared:
    """A prepared weight, with what a fake tensor needs to know."""

    def __init__(self, matrix: PreparedMatrix, dtype: torch.dtype):
        self.matrix, self.dtype, self.number = matrix, dtype, next(_numbers)
        _prepared[self.number] = self


def _call_prepared(a, prepared, bias, activation):
    return _call(a, _prepared[prepared].matrix, bias, activation, "", "")


_define("matmul_prepared", "Tensor a, int prepared, Tensor? bias, str activation", _call_prepared)


@torch.library.register_fake("tessera::matmul_prepared")
def _(a, prepared, bias, activation):
    known = _prepared[prepared]
    dtype = _result_type(a.dtype, known.dtype)
    return a.new_empty((*a.shape[:-1], known.matrix.shape[1]), dtype=dtype)


class Linear(torch.nn.Linear):
    """torch.nn.Linear with an activation behind it, by tessera.torch.linear. Its parameters and its state are those of
    torch.nn.Linear.

    `prepare()` lays the weight out once for inference: calls without gradients then read that. It goes when the module
    is trained, moved, or loads a state; a weight that is changed in place needs another `prepare()`."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None, *, activation=None, compute=None,
                 sums=None):  # fmt: skip
        super().__init__(in_features, out_features, bias, device, dtype)
        self.activation, self.compute, self.sums, self._prepared = activation, compute, sums, None

    def prepare(self, rows: int = 1024, input_dtype: Optional[torch.dtype] = None) -> "Linear":
        """For inputs of about so many rows, of the weight's type or of input_dtype. Returns itself."""
        weight = self.weight.detach()
        dtype_a = None if input_dtype is None else str(input_dtype).removeprefix("torch.")
        matrix = _core.prepare(weight.mT, rows=rows, dtype_a=dtype_a, compute=self.compute, sums=self.sums)
        self._prepared = _Prepared(matrix, weight.dtype)
        return self

    def train(self, mode: bool = True) -> "Linear":
        if mode:
            self._prepared = None
        return super().train(mode)

    def _apply(self, *arguments, **options):
        self._prepared = None
        return super()._apply(*arguments, **options)

    def _load_from_state_dict(self, *arguments):
        self._prepared = None
        super()._load_from_state_dict(*arguments)

    def forward(self, input: Tensor) -> Tensor:
        if self._prepared is None or torch.is_grad_enabled():
            return linear(input, self.weight, self.bias, self.activation, compute=self.compute, sums=self.sums)
        call = _call_prepared if _is_eager(input, self.bias) else torch.ops.tessera.matmul_prepared
        return call(input, self._prepared.number, self.bias, self.activation or "")

    def extra_repr(self) -> str:
        own = [f"{name}={value}" for name in ("activation", "compute", "sums") if (value := getattr(self, name))]
        return ", ".join([super().extra_repr(), *own])

    def __getstate__(self):
        return {**super().__getstate__(), "_prepared": None}
