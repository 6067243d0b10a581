# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Products for JAX, as calls of XLA's foreign function interface: under jax.jit, differentiable in reverse, on the host
and on CUDA devices.

    from tessera.jax import linear, matmul
    y = jax.jit(lambda x, weight, bias: linear(x, weight, bias, activation="gelu"))(x, weight, bias)

Gradients of any order are taken in reverse (jax.grad, jax.vjp); XLA's own forward mode (jax.jvp) does not know the
calls. jax.vmap repeats them. Needs JAX 0.5.
"""

import functools
import math
from typing import Optional

import jax
import jax.numpy as jnp
import numpy as np

from . import _core

__all__ = ["linear", "matmul"]

for _name, _host, _device in _core._jax_calls:
    jax.ffi.register_ffi_target(_name, _host, platform="cpu")
    jax.ffi.register_ffi_target(_name, _device, platform="CUDA")

# The numbers of tessera_activation, tessera_compute and tessera_sums.
_ACTIVATIONS = {
    None: lambda x: x,
    "relu": jax.nn.relu,
    "gelu": functools.partial(jax.nn.gelu, approximate=False),
    "gelu_tanh": jax.nn.gelu,
    "silu": jax.nn.silu,
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
}
_COMPUTES = (None, "strict", "bf16x6", "f16x3", "tf32")
_SUMS = ("any", "ordered")


def _call(name, results, operands, **attributes):
    call = jax.ffi.ffi_call(name, results, vmap_method="sequential")
    return call(*operands, **{key: np.int64(value) for key, value in attributes.items()})


def _sums(matrices):
    """Of all rows, in float32 at least."""
    return matrices.astype(jnp.promote_types(matrices.dtype, jnp.float32)).sum(tuple(range(matrices.ndim - 1)))


def _shape(a, b, trans_a, trans_b):
    return (*a.shape[:-2], a.shape[-1 if trans_a else -2], b.shape[-2 if trans_b else -1])


def _product(a, b, bias, options, activation, trans_a, trans_b, stores):
    """Of matrices, or of a batch of them. stores: also what the activation is applied to."""
    compute, sums = options
    dtype = a.dtype if a.dtype.itemsize >= b.dtype.itemsize else b.dtype
    result = jax.ShapeDtypeStruct(_shape(a, b, trans_a, trans_b), dtype)
    return _call("tessera_product", (result, result) if stores else result, (a, b, *(() if bias is None else (bias,))),
                 activation=list(_ACTIVATIONS).index(activation), compute=_COMPUTES.index(compute),
                 sums=_SUMS.index(sums), trans_a=trans_a, trans_b=trans_b)  # fmt: skip


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5, 6, 7))
def _layer(a, b, bias, options, activation=None, trans_a=False, trans_b=False, stores=False):
    """A product, and what its activation was applied to, or None."""
    made = _product(a, b, bias, options, activation, trans_a, trans_b, stores)
    return made if stores else (made, None)


def _layer_forward(a, b, bias, options, activation, trans_a, trans_b, stores):
    made, aux = _layer(a, b, bias, options, activation, trans_a, trans_b, activation is not None)
    return (made, aux if stores else None), (a, b, bias, aux)


def _layer_backward(options, activation, trans_a, trans_b, stores, kept, gradients):
    (a, b, bias, aux), (gradient, of_aux) = kept, gradients
    of_bias = None
    if activation is not None:
        gradient, of_bias = _activation_gradient(gradient, aux, activation, bias is not None and not stores)
    if stores:
        gradient = gradient + of_aux
    if bias is not None and of_bias is None:
        of_bias = _sums(gradient)

    def product(*operands):
        a, b, *transposes = operands
        return _layer(a, b, None, options, None, *transposes)[0]

    of_a = product(b, gradient, trans_b, True) if trans_a else product(gradient, b, False, not trans_b)
    of_b = product(gradient, a, True, trans_a) if trans_b else product(a, gradient, not trans_a, False)
    return of_a.astype(a.dtype), of_b.astype(b.dtype), None if bias is None else of_bias.astype(bias.dtype)


_layer.defvjp(_layer_forward, _layer_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _activation_gradient(gradient, aux, activation, sums):
    """gradient f'(aux), and its sums over all axes but the last."""
    results = [jax.ShapeDtypeStruct(aux.shape, aux.dtype)]
    if sums:
        results.append(jax.ShapeDtypeStruct(aux.shape[-1:], jnp.promote_types(aux.dtype, jnp.float32)))
    made = _call("tessera_activation_gradient", tuple(results), (gradient.astype(aux.dtype), aux),
                 activation=list(_ACTIVATIONS).index(activation))  # fmt: skip
    return made[0], made[1] if sums else None


def _in_jax(gradient, aux, activation, sums):
    """The same by JAX's functions, which have gradients themselves."""
    made = jax.vjp(_ACTIVATIONS[activation], aux)[1](gradient)[0]
    return made, _sums(made) if sums else None


def _activation_forward(gradient, aux, activation, sums):
    return _activation_gradient(gradient, aux, activation, sums), (gradient, aux)


def _activation_backward(activation, sums, kept, gradients):
    return jax.vjp(lambda gradient, aux: _in_jax(gradient, aux, activation, sums), *kept)[1](gradients)


_activation_gradient.defvjp(_activation_forward, _activation_backward)


def matmul(a, b, bias=None, activation: Optional[str] = None, *, compute: Optional[str] = None, sums: str = "any"):
    """activation(a @ b + bias), as tessera.matmul has it: the activation is applied before the only rounding.

    a, b: arrays of float16, bfloat16, float32 or float64, or of two of these, by numpy.matmul's rules; a batch that is
    broadcast is copied first. bias: (n,), of the result's type, or float32 where that has 16 bits. compute: strict,
    bf16x6, f16x3 or tf32, for float32; sums: any, ordered. Differentiable in a, b and bias, in reverse."""
    return _matmul(jnp.asarray(a), jnp.asarray(b), bias, activation, compute, sums, False)


def linear(x, weight, bias=None, activation: Optional[str] = None, *, compute: Optional[str] = None, sums: str = "any"):
    """activation(x @ weight.T + bias); weight: (out, in). See matmul."""
    return _matmul(jnp.asarray(x), jnp.asarray(weight), bias, activation, compute, sums, True)


def _matmul(a, b, bias, activation, compute, sums, trans_b):
    for name, value, known in (("activation", activation, _ACTIVATIONS), ("compute", compute, _COMPUTES),
                               ("sums", sums, _SUMS)):  # fmt: skip
        if value not in known:
            raise ValueError(f"{name} = {value!r}: must be one of {', '.join(map(str, known))}")
    if a.ndim == 0 or b.ndim < (2 if trans_b else 1):
        raise ValueError(f"a of shape {a.shape} and b of shape {b.shape}: must have an axis or more")
    terms = b.shape[-1 if trans_b or b.ndim == 1 else -2]
    if a.shape[-1] != terms:
        raise ValueError(f"a of shape {a.shape} and b of shape {b.shape}: a has {a.shape[-1]} columns, b {terms} rows; "
                         "they must agree")  # fmt: skip
    left, right = a if a.ndim > 1 else a[None], b if b.ndim > 1 else b[:, None]
    n = right.shape[-2 if trans_b else -1]
    if bias is not None and jnp.shape(bias) != (n,):
        raise ValueError(f"bias has shape {jnp.shape(bias)}; must be ({n},), a value for each column")
    batch = jnp.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    if right.ndim == 2:  # one product over all rows
        left = left.reshape(math.prod(left.shape[:-1]), left.shape[-1])
    elif batch:
        count = math.prod(batch)
        spread = lambda x: jnp.broadcast_to(x, (*batch, *x.shape[-2:])).reshape(count, *x.shape[-2:])  # noqa: E731
        left, right = spread(left), spread(right)
    bias = None if bias is None else jnp.asarray(bias)
    made, _ = _layer(left, right, bias, (compute, sums), activation, False, trans_b, False)
    return made.reshape(*batch, *a.shape[-2:-1], *((n,) if b.ndim > 1 else ()))
