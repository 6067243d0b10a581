# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and the machine's facts as text, the same in the page, the Markdown and the terminal."""

from __future__ import annotations

import statistics
from typing import Any

NONE = "–"
FIGURE_SPACE, PUNCTUATION_SPACE = "\u2007", "\u2008"  # as wide as a digit, as a full stop
THIN_SPACE = "\u202f"
GOOD_SHARE = 0.95  # of the best algorithm's rate: an automatic choice below it is counted as a poor one

# Context keys in the order in which the header shows them; the others follow in the order of the file.
FIRST_KEYS = (
    "gpu",
    "cpu",
    "host_name",
    "num_cpus",
    "threads",
    "gpu_clock",
    "mhz_per_cpu",
    "cpu_scaling_enabled",
    "driver",
    "cuda_runtime",
    "tessera_version",
    "commit",
    "date",
)
HIDDEN_KEYS = {"executable", "caches", "load_avg", "json_schema_version", "library_build_type",
               "library_version", "aslr_enabled", "dirty"}
# Keys that may differ between two runs that are comparable.
RUN_KEYS = HIDDEN_KEYS | {"date", "commit", "tessera_version", "mhz_per_cpu", "cpu_mhz_at_start"}
TITLES = {"gpu": "GPU", "cpu": "CPU", "host_name": "Host", "num_cpus": "Logical CPUs", "mhz_per_cpu": "CPU clock, MHz",
          "cuda_runtime": "CUDA runtime", "tessera_version": "Tessera", "cpu_scaling_enabled": "CPU frequency scaling",
          "gpu_clock": "GPU clock", "cublas": "cuBLAS", "cublaslt": "cuBLASLt", "openblas": "OpenBLAS", "blis": "BLIS",
          "onednn": "oneDNN"}


def significant(value: float | None) -> str:
    """Three digits at least: 51 900, 312, 49.5, 1.38, 0.0271."""
    if value is None:
        return NONE
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}".replace(",", THIN_SPACE)
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1 or value == 0:
        return f"{value:.2f}"
    return f"{value:.3f}" if size >= 0.1 else f"{value:.3g}"


def decimals(text: str) -> int:
    return 0 if "e" in text else len(text.partition(".")[2])


def aligned(text: str, places: int) -> str:
    """Pads a number on the right so that decimal points meet in a right-aligned column of tabular digits."""
    if text == NONE or "e" in text or not places:
        return text
    own = decimals(text)
    return text + ("" if own else PUNCTUATION_SPACE) + FIGURE_SPACE * max(places - own, 0)


def percent(fraction: float | None, digits: int = 0) -> str:
    return NONE if fraction is None else f"{100 * fraction:.{digits}f}"


def ratio(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}×"


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


def truth(value: Any) -> bool:
    return str(value).lower() in ("1", "true", "yes", "on", "dirty")


def dirty(context: dict[str, Any]) -> bool:
    return truth(context.get("dirty")) or str(context.get("commit")).endswith(("-dirty", "+"))


def machine(context: dict[str, Any]) -> str:
    """One line: the GPU and the CPU."""
    return " · ".join(str(context[key]) for key in ("gpu", "cpu") if context.get(key)) or str(
        context.get("host_name") or "unnamed machine")


def revision(context: dict[str, Any]) -> str:
    version = str(context.get("tessera_version") or "of unknown version")
    commit = str(context.get("commit") or "").removesuffix("-dirty").removesuffix("+")[:12]
    changed = " with local changes" if dirty(context) else ""
    return f"Tessera {version}" + (f", commit {commit}{changed}" if commit else "")


def facts(context: dict[str, Any]) -> list[tuple[str, str]]:
    """The context as (title, value), for a header."""
    keys = [key for key in FIRST_KEYS if key in context]
    keys += [key for key in context if key not in FIRST_KEYS and key not in HIDDEN_KEYS]
    return [(TITLES.get(key, _title(key)), _value(context[key])) for key in keys
            if context[key] not in ("", None)]


def _title(key: str) -> str:
    words = [{"cpu": "CPU", "gpu": "GPU", "mhz": "MHz", "cuda": "CUDA"}.get(word, word) for word in key.split("_")]
    return words[0][:1].upper() + " ".join(words)[1:]


def _value(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def cautions(context: dict[str, Any]) -> list[str]:
    """What makes a file's figures doubtful."""
    found = []
    if dirty(context):
        found.append("The source had local changes: the commit does not say all.")
    if truth(context.get("cpu_scaling_enabled")):
        found.append("CPU frequency scaling was on: figures of the CPU move with its clock.")
    if str(context.get("library_build_type", "release")) == "debug":
        found.append("Google Benchmark was built without optimisation: short times are too long.")
    return found
