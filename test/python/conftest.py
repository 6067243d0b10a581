# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share."""

import os
import secrets
import tempfile

import numpy as np
import pytest

SEED = int(os.environ.get("TESSERA_TEST_SEED") or secrets.randbits(31))
ALL = os.environ.get("TESSERA_TEST_ALL") == "1"  # every case where a test would take a sample
said: list[str] = []
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "hypothesis"))


def say(line: str) -> None:
    """A line under the tests' summary, whether or not anything failed."""
    said.append(line)


def pytest_terminal_summary(terminalreporter):
    for line in [f"random examples: TESSERA_TEST_SEED={SEED} draws the same ones again", *said]:
        terminalreporter.write_line(line)


class Foreign:
    """An array that is known by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.fixture
def rng(request):
    """Random numbers that depend on the test's name alone."""
    return np.random.default_rng(sum(map(ord, request.node.nodeid)))


def unit(dtype) -> float:
    """The unit roundoff of a type."""
    return {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}[np.dtype(dtype).name]


def assert_product(result, a, b, *, alpha=1.0, beta=0.0, c=None, bias=None):
    """The documented bound of a product, element by element, and the rounding of the result."""
    wide = np.longdouble
    a, b = np.asarray(a), np.asarray(b)
    exact = alpha * (a.astype(wide) @ b.astype(wide))
    size = abs(alpha) * (abs(a.astype(wide)) @ abs(b.astype(wide)))
    if beta:
        exact, size = exact + beta * c.astype(wide), size + abs(beta * c.astype(wide))
    if bias is not None:
        exact, size = exact + bias.astype(wide), size + abs(bias.astype(wide))
    wider = max(a.dtype, b.dtype, key=lambda dtype: dtype.itemsize)
    inner = 2.0**-53 if wider == np.float64 else 2.0**-24 if wider == np.float32 else 2.0**-23
    tiny = np.finfo(np.float16).smallest_subnormal if result.dtype == np.float16 else 1e-38
    bound = (a.shape[-1] + 4) * inner * size + unit(result.dtype) * abs(exact) * 1.01 + tiny
    worst = np.max(abs(result.astype(wide) - exact) / np.where(bound > 0, bound, 1), initial=0.0)
    assert worst <= 1.0, f"{worst} of the bound"
