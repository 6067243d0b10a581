# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of suite.py that train or serve a layer, by tessera.torch beside PyTorch's own functions. What is timed is a
call in Python with everything that PyTorch does around it; on a device a sample of calls is waited for as a whole."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

# Rows of the input, columns of the result, terms of a sum.
SIZES = {"cpu": ((16, 16, 16), (64, 64, 64), (256, 512, 256)), "cuda": ((1024, 4096, 1024), (4096, 4096, 4096))}
ACTIVATIONS = {"gelu": {}, "gelu_tanh": {"approximate": "tanh"}}


class Layer:
    """x, weight, bias, and the gradient of the result."""

    def __init__(self, device: str, m: int, n: int, k: int):
        import torch

        kind = torch.bfloat16 if device == "cuda" else torch.float32
        draw = lambda *shape: torch.rand(shape, device=device).mul(2).sub(1)  # noqa: E731
        self.x, self.weight, self.bias = draw(m, k).to(kind), draw(n, k).div(k**0.5).to(kind), draw(n).to(kind)
        self.gradient = draw(m, n).to(kind)
        self.eps = torch.finfo(kind).eps

    def train(self, function: Callable[..., Any]) -> Callable[[], Any]:
        """Forward and backward; the gradient of x."""
        leaves = [t.detach().requires_grad_() for t in (self.x, self.weight, self.bias)]

        def call() -> Any:
            for leaf in leaves:
                leaf.grad = None
            function(*leaves).backward(self.gradient)
            return leaves[0].grad

        return call

    def serve(self, function: Callable[..., Any]) -> Callable[[], Any]:
        import torch

        def call() -> Any:
            with torch.no_grad():
                return function(self.x, self.weight, self.bias)

        return call

    def bound(self, trains: bool) -> Any:
        """PyTorch rounds before the activation, and the gradient behind it: u (a half epsilon) of what is rounded,
        times 1.13, the most of a derivative. |x f''(x)| < 0.4. Each of both results has that, its own rounding and its
        sums'."""
        x, weight = (abs(t).float() for t in (self.x, self.weight))
        size = abs(self.gradient).float() @ weight if trains else x @ weight.T + abs(self.bias).float()
        terms = self.weight.shape[0 if trains else 1]
        return size * (2 * 3.5 * self.eps / 2 + 2 * (terms + 32) * 2.0**-24)


def layer_case(make: Callable[..., Any], device: str, size: tuple[int, ...], name: str, trains: bool, compiled: bool):
    import tessera.torch as ours
    import torch
    from torch.nn.functional import gelu, linear

    options = ACTIVATIONS[name]
    functions = {"tessera": lambda x, weight, bias: ours.linear(x, weight, bias, name),
                 "torch": lambda x, weight, bias: gelu(linear(x, weight, bias), **options)}
    layer = Layer(device, *size)
    calls = {}
    for subject, function in functions.items():
        function = torch.compile(function) if compiled else function
        calls[subject] = (layer.train if trains else layer.serve)(function)
    title = f"{'train' if trains else 'serve'}_{name}{'_compiled' if compiled else ''}_{'x'.join(map(str, size))}"
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    dtype = "bf16" if device == "cuda" else "f32"
    return make(title, dtype, "torch", calls, lambda: layer.bound(trains), wait)


def layer_cases(make: Callable[..., Any], device: str) -> Iterator[Callable[[], Any]]:
    """make: what builds a case."""
    for size, name, trains, compiled in itertools.product(SIZES[device], ACTIVATIONS, (True, False), (False, True)):
        if not compiled or (device == "cuda" and size == SIZES[device][0]):
            yield lambda way=(size, name, trains, compiled): layer_case(make, device, *way)
