# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A layer of JAX, gelu(x W^T + b), and its gradients, each product one call with all that belongs to it."""

import jax
import jax.numpy as jnp
from tessera.jax import linear

keys = jax.random.split(jax.random.key(0), 3)
x, weight, bias = (jax.random.normal(key, shape) for key, shape in zip(keys, [(64, 100), (50, 100), (50,)]))

layer = jax.jit(lambda x, weight, bias: linear(x, weight, bias, activation="gelu"))
gradients = jax.jit(jax.grad(lambda weight, bias: layer(x, weight, bias).sum(), argnums=(0, 1)))

made = layer(x, weight, bias)
expected = jax.nn.gelu(jnp.matmul(x, weight.T, precision="highest") + bias, approximate=False)
error = float(abs(made - expected).max() / abs(expected).max())
assert error <= 2 * 100 * jnp.finfo(jnp.float32).eps, error
print(f"{made.shape}: largest error {error:.1g}; gradients of shapes {[g.shape for g in gradients(weight, bias)]}")
