# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""GEMM, stencils and systems of fields on CPU and CUDA backends that are chosen at run time.

    import numpy as np, tessera
    c = tessera.matmul(a, b)
    u = tessera.stencil(u, tessera.taps.identity(2) + 0.1 * tessera.taps.laplacian(2), boundary="periodic", steps=100)

Arrays may be those of NumPy, PyTorch, CuPy, JAX and of whatever has DLPack or the buffer protocol.
"""

from . import _core
from ._core import (
    Expression,
    GemmPlan,
    PreparedMatrix,
    StencilPlan,
    StencilSystem,
    SystemField,
    SystemPlan,
    Taps,
    activation_gradient,
    info,
    matmul,
    negative_part,
    positive_part,
    prepare,
    reciprocal,
    reload_environment,
    stencil,
    taps,
)

__version__: str = _core.version
__all__ = [
    "Expression",
    "GemmPlan",
    "PreparedMatrix",
    "StencilPlan",
    "StencilSystem",
    "SystemField",
    "SystemPlan",
    "Taps",
    "activation_gradient",
    "info",
    "matmul",
    "ndimage",
    "negative_part",
    "positive_part",
    "prepare",
    "reciprocal",
    "reload_environment",
    "stencil",
    "taps",
]


def __getattr__(name: str):
    if name == "ndimage":
        import importlib

        return importlib.import_module(".ndimage", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
