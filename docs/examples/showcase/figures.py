#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""figures.py FOLDER: gives the showcase's pictures in a folder titles, axes and a scale of colours, by matplotlib.

tessera-showcase runs it. FOLDER/pictures.json says what each picture shows; it goes once all are drawn, so that no
picture gets a second frame. Exit code 3: there is no matplotlib, and the plain pictures remain.
"""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from pathlib import Path
from typing import Any


def draw(file: Path, picture: dict[str, Any], plt: Any) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    x, y, colors = picture["x"], picture["y"], picture["colors"]
    figure, axes = plt.subplots(figsize=(8, 6.4), layout="constrained")
    axes.imshow(plt.imread(file), extent=(x["low"], x["high"], y["high"], y["low"]),
                aspect="equal" if picture["axes_are_alike"] else "auto")
    axes.set(xlabel=x["label"], ylabel=y["label"])
    axes.set_title(textwrap.fill(picture["shows"][:1].upper() + picture["shows"][1:], 60), fontsize=11)
    scale = ScalarMappable(Normalize(colors["low"], colors["high"]),
                           LinearSegmentedColormap.from_list("showcase", picture["stops"]))
    figure.colorbar(scale, ax=axes, label=colors["label"], shrink=0.8)
    figure.savefig(file, dpi=130, bbox_inches="tight")
    plt.close(figure)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: figures.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    descriptions = folder / "pictures.json"
    if not descriptions.exists():
        print(f"figures.py: there is no {descriptions}: run tessera-showcase first", file=sys.stderr)
        return 2
    try:
        import matplotlib

        matplotlib.use("agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        again = shlex.join(["python3", sys.argv[0], sys.argv[1]])
        print(f"Without titles and scales: python3 has no {error.name}. To add them: "
              f"pip install matplotlib && {again}")
        return 3
    for picture in json.loads(descriptions.read_text(encoding="utf-8")):
        draw(folder / picture["file"], picture, plt)
    descriptions.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
