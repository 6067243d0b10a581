# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and the machine's facts as text, the same in the report, on the pages and in the terminal."""

from __future__ import annotations

import math
import statistics
from typing import Any, Callable, Iterable, Sequence

from model import RATE_UNITS, Row

NONE = "–"
THIN_SPACE = "\u202f"
GOOD_SHARE = 0.95  # of the best algorithm's rate: an automatic choice below it is counted as a poor one

# Context keys in the order in which the header shows them; the others follow in the order of the file.
FIRST_KEYS = ("gpu", "cpu", "threads", "mhz_per_cpu", "cuda_runtime", "tessera_version", "commit", "date")
THREAD_KEYS = {"num_cpus", "cpu_threads", "host_threads"}
HIDDEN_KEYS = {"executable", "cpu_mhz_at_start", "library_build_type"}
# Keys that may differ between two runs that are comparable.
RUN_KEYS = HIDDEN_KEYS | {"date", "commit", "tessera_version", "mhz_per_cpu"}
TITLES = {"gpu": "GPU", "cpu": "CPU", "mhz_per_cpu": "CPU clock, MHz", "cuda_runtime": "CUDA runtime",
          "tessera_version": "Tessera", "host_last_level_cache_bytes": "Last-level cache",
          "host_kernels": "Peers' instruction set", "cpu_family_model": "CPU family/model", "cublas": "cuBLAS",
          "cublaslt": "cuBLASLt", "openblas": "OpenBLAS", "blis": "BLIS", "onednn": "oneDNN",
          "numpy_openblas": "NumPy's OpenBLAS", "mkl": "MKL"}
# Columns of Markdown tables that hold words, besides the first.
WORDS = {"chosen", "beside", "verdict", "which"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """In Markdown; numbers stand at the right."""
    marks = ["--:" if at and name not in WORDS else "---" for at, name in enumerate(head)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, marks, *rows])


def quantity(value: float | None, unit: str = "") -> str:
    """Three significant digits with an SI prefix: `51.9 TFLOP/s`, `312 MStencil/s`, `0 B/s`."""
    if value is None:
        return NONE
    if value == 0:
        return f"0 {unit}".rstrip()
    power = min(max(math.floor(math.log10(abs(value)) / 3), -3), 5)
    power += abs(value) / 1000.0**power >= 999.5  # which would be rounded to 1000
    scaled = abs(value) / 1000.0**power
    digits = 0 if scaled >= 99.95 else 1 if scaled >= 9.995 else 2
    sign = "-" if value < 0 else ""
    return f"{sign}{scaled:.{digits}f} {'nµm kMGTPE'[power + 3].strip()}{unit}".rstrip()


def rate(row: Row) -> str:
    return quantity(row.rate * 1e9, RATE_UNITS[row.op]) if row.rate else NONE


def traffic(row: Row) -> str:
    return quantity(row.traffic * 1e9, "B/s") if row.traffic else NONE


def speed(row: Row) -> str:
    """Whichever the row is judged by."""
    return rate(row) if row.rate else traffic(row) if row.traffic else duration(row.seconds)


def values(row: Row) -> tuple[str, ...]:
    """Rate and traffic, or the time."""
    return (rate(row), traffic(row)) if row.op in RATE_UNITS else (duration(row.seconds),)


def tick(value: float, unit: str) -> str:
    """A round number at an axis: `100 GFLOP/s`."""
    number, _, rest = quantity(value, unit).partition(" ")
    return f"{float(number):g} {rest}"


def size(count: int) -> str:
    """Bytes, as memory is made: `260 MiB`."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= scale:
            return f"{count / scale:.4g} {unit}"
    return f"{count} B"


def percent(fraction: float | None, digits: int = 0) -> str:
    return NONE if fraction is None else f"{100 * fraction:.{digits}f}"


def ratio(value: float | None) -> str:
    """Three significant digits: `0.97×`, `12.3×`, `1 770×`."""
    if value is None:
        return NONE
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{float(f'{value:.3g}'):,.{digits}f}×".replace(",", THIN_SPACE)


def factor(value: float, digits: int = 2) -> str:
    """So many digits behind the point below 10, none from there on: `0.97`, `12`."""
    return f"{value:.{digits}f}" if value < 9.95 else f"{value:.0f}"


def ranged(values: list[float], show: Callable[[float], str],
           centre_of: Callable[[list[float]], float] = statistics.geometric_mean) -> str:
    """The centre, and the range where there are several: `0.98× (0.91–1.03)`."""
    if not values:
        return NONE
    centre, low, high = map(show, (centre_of(values), min(values), max(values)))
    return centre if low == high else f"{centre} ({low.rstrip(' %×')}–{high.rstrip(' %×')})"


def automatic(backend: str, shares: list[float]) -> str:
    """A sentence on how a backend's automatic choices stand beside the best of its algorithms."""
    below = sum(share < GOOD_SHARE for share in shares)
    return (
        f"{backend}: the automatic choice reaches {percent(statistics.geometric_mean(shares), 1)} % of the "
        f"best algorithm's rate (geometric mean of {len(shares)} cases), {percent(min(shares), 1)} % at least; "
        f"it is below {percent(GOOD_SHARE)} % in {below}"
    )


def duration(seconds: float | None) -> str:
    if seconds is None:
        return NONE
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}" if seconds < 1000 * scale else f"{seconds / scale:.0f} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def machine(context: dict[str, Any]) -> str:
    """One line: the GPU and the CPU."""
    return " · ".join(str(context[key]) for key in ("gpu", "cpu") if context.get(key)) or "unnamed machine"


def phrase(context: dict[str, Any], first: str, titles: dict[str, str]) -> str:
    """What was measured on: `NVIDIA H100, driver 580.159.04, CUDA 13.0`."""
    return ", ".join([first, *(f"{title} {context[key]}".lstrip() for key, title in titles.items() if key in context)])


def revision(context: dict[str, Any]) -> str:
    commit = str(context.get("commit") or "")
    changed = " with local changes" if commit.endswith("-dirty") else ""
    return f"Tessera {context.get('tessera_version') or 'of unknown version'}" + (
        f", commit {commit.removesuffix('-dirty')[:12]}{changed}" if commit else "")


def facts(context: dict[str, Any]) -> list[tuple[str, str]]:
    """The context as (title, value), for a header. The number of threads is told once."""
    keys = [key for key in FIRST_KEYS if key in context]
    keys += [key for key in context if key not in FIRST_KEYS and key not in HIDDEN_KEYS | THREAD_KEYS]
    values = {key: _value(key, context[key]) for key in keys if context[key] not in ("", None)}
    if logical := context.get("num_cpus", context.get("cpu_threads")):
        values["threads"] = f"{values.get('threads', logical)} of {logical} logical CPUs"
    return [(TITLES.get(key, _title(key)), value) for key, value in values.items()]


def _title(key: str) -> str:
    names = {"cpu": "CPU", "gpu": "GPU", "mhz": "MHz", "cuda": "CUDA", "l2": "L2 cache"}
    words = [names.get(word, word) for word in key.removesuffix("_bytes").split("_")]
    return words[0][:1].upper() + " ".join(words)[1:]


def _value(key: str, value: Any) -> str:
    return size(int(value)) if key.endswith("_bytes") and str(value).isdigit() else str(value)


def cautions(context: dict[str, Any]) -> list[str]:
    """What makes a file's figures doubtful."""
    found = []
    if str(context.get("commit")).endswith("-dirty"):
        found.append("The source had local changes: the commit does not say all.")
    if context.get("library_build_type") == "debug":
        found.append("The suite was built without optimisation: short times are too long.")
    return found
