# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import tessera

a, b = np.random.rand(100, 64).astype("float32"), np.random.rand(64, 10).astype("float32")
c = tessera.matmul(a, b, bias=np.ones(10, "float32"), activation="gelu")  # or arrays of PyTorch, CuPy, JAX
u = tessera.stencil(a, tessera.taps.identity(2) + 0.1 * tessera.taps.laplacian(2), boundary="periodic", steps=9)
print(c.shape, u.mean(), tessera.ndimage.gaussian_filter(a, 2.0).std())
