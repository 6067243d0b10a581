# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A terrain blurred by a Gaussian: by taps in one pass, and as SciPy does it, one axis after the other."""

from pathlib import Path

import numpy as np
import tessera

DATA = Path(__file__).resolve().parent.parent / "data"

terrain = np.load(DATA / "terrain.npy")
blurred = tessera.stencil(terrain, tessera.taps.gaussian(2, 3.0), boundary="reflect")

# 625 taps in one sum, or 25 in each of two. Weights and sums are rounded to float32, and the weights add up to 1.
by_axes = tessera.ndimage.gaussian_filter(terrain, 3.0)
difference = abs(blurred - by_axes).max()
assert difference <= (625 + 2 + 2 * (25 + 2)) * 2.0**-24 * terrain.max(), difference
print(f"elevations of {terrain.min():.0f} to {terrain.max():.0f} m, blurred {blurred.min():.0f} to {blurred.max():.0f}")
