# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The showcase's pictures: a real terrain and its slope, which digits are alike, a reaction. Needs Pillow.

    python3 pictures.py [FOLDER]     # where they go, by default build/pictures of the repository
"""

import sys
from pathlib import Path

import numpy as np
import tessera
from PIL import Image
from tessera import taps

DATA = Path(__file__).resolve().parent.parent / "data"
SPACING = 74.4  # metres between points of the terrain, from west to east
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA.parents[2] / "build" / "pictures"


def picture(name: str, shows: str, values: np.ndarray, limit: float, scale: int = 1) -> None:
    """Blue below 0, pale at 0, red above; saturates at +-limit."""
    share = np.clip(values / limit, -1, 1)[..., None]
    ends, pale = np.where(share < 0, (0.13, 0.4, 0.67), (0.7, 0.09, 0.17)), np.array([0.97, 0.97, 0.97])
    colors = pale + abs(share) * (ends - pale)
    image = Image.fromarray((255 * colors).astype(np.uint8))
    image.resize((scale * image.width, scale * image.height)).save(FOLDER / f"{name}.png")
    print(f"  {name + '.png':<12}  {shows}")


FOLDER.mkdir(parents=True, exist_ok=True)
print(f"Pictures in {FOLDER}:")

# 200 steps of heat make the terrain smooth; what they take away are its ridges and valleys.
terrain = np.load(DATA / "terrain.npy")
heat = taps.identity(2) + 0.1 * taps.laplacian(2, 8)
smooth = tessera.stencil(terrain, heat, boundary="reflect", steps=200)
picture("ridges", "what 200 steps of heat take from hills, -100 m to 100 m", terrain - smooth, 100.0, 2)
slope = tessera.stencil(smooth, taps.derivative(2, axis=1, order=1, accuracy=8, spacing=SPACING), boundary="nearest")
picture("slope", "slope of the smooth hills towards the east, -0.3 to 0.3", slope, 0.3, 2)

# Which digits are alike: the products of all pairs of images, in the order of their angle in the plane that holds most.
digits = np.load(DATA / "digits.npy")
digits -= digits.mean(axis=0)
digits /= np.linalg.norm(digits, axis=1, keepdims=True)
_, directions = np.linalg.eigh(tessera.matmul(digits.T, digits))
plane = tessera.matmul(digits, np.ascontiguousarray(directions[:, -2:]))
order = np.argsort(np.arctan2(plane[:, 1], plane[:, 0]))
alike = tessera.matmul(digits[order], digits[order].T)
picture("gram", "how much alike each two of 1024 digits are, cosines of -1 to 1", alike, 1.0)

# The reaction of Gray and Scott (J. Pearson, Science 261, 1993): spots grow into stripes.
spread_u, spread_v, feed, kill = 0.16, 0.08, 0.037, 0.06
system = tessera.StencilSystem((192, 192))
u, v = (system.state(name, levels=2, boundary="periodic") for name in "uv")
system.update(u, spread_u * u.under(taps.laplacian(2)) + u - u * v * v + feed - feed * u)
system.update(v, spread_v * v.under(taps.laplacian(2)) + v + u * v * v - (feed + kill) * v)
much, little = np.ones((192, 192), np.float32), np.zeros((192, 192), np.float32)
for y, x in (40, 60), (120, 30), (90, 130), (150, 150):
    much[y : y + 12, x : x + 8], little[y : y + 12, x : x + 8] = 0.5, 0.25
fields = {"u": [much, much.copy()], "v": [little, little.copy()]}
tessera.SystemPlan(system, 6000).execute(fields)
picture("reaction", "stripes of a substance after 6000 steps, 0 to 0.4", fields["v"][0] - 0.2, 0.2, 3)
