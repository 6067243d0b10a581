# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A layer of PyTorch, gelu(x W^T + b), as one product: its bias and activation cost no pass over memory."""

import tessera
import torch


class FusedLinear(torch.nn.Linear):
    """What torch.nn.Linear and GELU do, for inference; in f16 and bf16 with one rounding instead of two or three."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.detach().reshape(-1, self.in_features)
        result = tessera.matmul(rows, self.weight.detach().T, bias=self.bias.detach(), activation="gelu")
        return result.reshape(*x.shape[:-1], self.out_features)


device = "cuda" if torch.cuda.is_available() else "cpu"
layer = FusedLinear(768, 3072).to(device, torch.bfloat16)
x = torch.randn(8, 128, 768, device=device, dtype=torch.bfloat16)
with torch.no_grad():
    ours = layer(x)
    theirs = torch.nn.functional.gelu(torch.nn.functional.linear(x, layer.weight, layer.bias))
    exact = torch.nn.functional.gelu(torch.nn.functional.linear(x.double(), layer.weight.double(), layer.bias.double()))
error, of_two = (abs(result.double() - exact).max() for result in (ours, theirs))
assert error <= 2 * torch.finfo(torch.bfloat16).eps * abs(exact).max(), error
print(f"{tuple(ours.shape)} on {ours.device}: largest error {error:.2g}, of two operations {of_two:.2g}")
