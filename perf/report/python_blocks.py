# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The block of figures of the Python package, from the files of perf/python/suite.py."""

from __future__ import annotations

import re

import figures as of
import formatting as text
from model import Group

HOSTS = {"1 thread": "epyc-python-1-thread", "2 threads": "epyc-python-2-threads"}
DEVICES = {"H100": "h100-python"}
PACKAGES = {"numpy": "NumPy", "scipy": "SciPy", "torch": "PyTorch", "cupy": "CuPy"}
# What is in a line, and which cases and types that is, on a host and on a device.
LINES = (
    ("products of 8 × 8: what a call costs", r"matmul_8(_out)?"),
    ("products of 64 to 256", r"matmul_(64|256)(_out)?"),
    ("products of 1024 to 2048", r"matmul_(1024|2048)(_out)?"),
    ("products of 4096 and 8192", r"matmul_(4096|8192)(_out)?"),
    ("filters of 64² and 32³", r"[a-z]+_(64x64|32x32x32)"),
    ("filters of 512²", r"[a-z]+_512x512"),
    ("filters of 1024² and 128³", r"[a-z]+_(1024x1024|128x128x128)"),
    ("filters of 4096² and 256³", r"[a-z]+_(4096x4096|256x256x256)"),
)
DTYPES = ("f32", "f64", "bf16")


def _ratio(group: Group) -> float:
    ours, peer = group.best_ours, group.best_peer
    assert ours and peer and ours.seconds and peer.seconds
    return peer.seconds / ours.seconds


def _cell(name: str, pattern: str, dtype: str) -> str:
    found = [_ratio(group) for group in of.baseline(name).groups("python")
             if group.dtype == dtype and re.fullmatch(pattern, group.case)]
    return of.times(found) if found else text.NONE


def _lines(names: dict[str, str]) -> list[list[str]]:
    """Those that have a figure."""
    lines = [[f"{title}, {dtype}", *(_cell(name, pattern, dtype) for name in names.values())]
             for title, pattern in LINES for dtype in DTYPES]
    return [line for line in lines if set(line[1:]) != {text.NONE}]


def versions(name: str) -> str:
    context = of.baseline(name).context
    packages = text.phrase(context, str(context.get("gpu", context["cpu"])), PACKAGES)
    return f"{packages}, {str(context['date'])[:10]}, {context['commit'][:8]}"


def python() -> str:
    parts: list[str] = []
    for peers, names in (("NumPy and SciPy", HOSTS), ("PyTorch and CuPy", DEVICES)):
        parts += [f"{versions(next(iter(names.values())))}.", text.table([f"beside {peers}", *names], _lines(names))]
    return "\n\n".join(parts)
