# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What a file of tessera-perf holds: rows, and groups of rows that compete with each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

OPS = {"gemm": "GEMM", "stencil": "Stencils", "system": "Systems", "overhead": "Overheads",
       "python": "Python", "distributed": "Distributed", "ceiling": "Ceilings"}
# What rows of distributed plans say beside their time: points of a rank's block and of a halo, bytes of a halo, steps
# of an execution and from one exchange to the next; bytes of a message.
DISTRIBUTED_FIGURES = ("points", "halo_points", "halo_bytes", "steps", "depth", "bytes")
RATE_UNITS = {"gemm": "FLOP/s", "stencil": "Stencil/s", "system": "point/s", "distributed": "op/s",
              "ceiling": "FLOP/s"}


@dataclass(frozen=True)
class Subject:
    """What was measured: an algorithm of a backend, a peer or a ceiling."""

    text: str
    kind: str  # "tessera", "peer" or "ceiling"
    backend: str = ""
    name: str = ""  # the algorithm, the peer or the ceiling's place
    limit: str = ""  # of an algorithm's workspace: "@64MiB"

    @property
    def short(self) -> str:
        """`cuda tiled_shared`, `cublas (peer)`."""
        return " ".join(part for part in (self.backend, self.plain) if part)

    @property
    def plain(self) -> str:
        """Without the backend. A peer is said to be one: `eigen` is an algorithm, too."""
        words = (self.name, self.limit, "(peer)" if self.kind == "peer" else "")
        return " ".join(word for word in words if word)

    @property
    def ours(self) -> bool:
        return self.kind == "tessera"


@dataclass(frozen=True)
class Row:
    op: str
    case: str
    dtype: str
    cache: str
    subject: Subject
    seconds: float | None = None
    rate: float | None = None  # in 10^9 FLOP/s, Stencil/s or point/s
    traffic: float | None = None  # GB/s of compulsory traffic
    ceiling: float | None = None  # fraction of the binding ceiling
    binds: str = ""  # that ceiling's name
    max_error: float | None = None
    ulps: float | None = None  # the largest error in units in the last place, of a product
    misrounded: float | None = None  # share of the elements that are not the number nearest to the right value
    in_parts: bool = False  # a peer's sums of 16 bits may be added up in 16 bits
    interval: tuple[float, float] | None = None  # of the seconds, where the file has one; see noise.py
    cv: float | None = None  # coefficient of variation of the samples
    repetitions: int = 0
    error: str = ""
    place: str = ""  # where it ran, in a file of several places
    family: str = ""  # of problems, which the suite names; none in files of before
    figures: dict[str, float] = field(default_factory=dict)  # of distributed plans, see DISTRIBUTED_FIGURES
    automatic: bool = False  # what the backend chooses by itself
    passes: dict[str, list[float]] = field(default_factory=dict)  # "speed", "ceiling": of each, where there are several

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        return (self.op, self.case, self.dtype, self.cache, self.subject.text)

    @property
    def name(self) -> str:
        return "/".join(self.key)

    @property
    def speed(self) -> float | None:
        """More is better: the rate, else the traffic, else executions a second."""
        return self.rate or self.traffic or (1 / self.seconds if self.seconds else None)


@dataclass(frozen=True)
class Group:
    """The rows of one case, dtype, cache state and place: what may be compared with each other."""

    op: str
    case: str
    dtype: str
    cache: str
    place: str
    rows: list[Row]

    def _best(self, kind: str) -> Row | None:
        """Nobody gets an algorithm with a limit of its workspace who asks for none."""
        rows = [row for row in self.rows if row.subject.kind == kind and row.speed and not row.subject.limit]
        return max(rows, key=lambda row: row.speed or 0.0, default=None)

    @property
    def best_ours(self) -> Row | None:
        return self._best("tessera")

    @property
    def best_peer(self) -> Row | None:
        return self._best("peer")

    @property
    def best_accurate_peer(self) -> Row | None:
        """The best of those that sum as exactly as ours do."""
        return replace(self, rows=[row for row in self.rows if not row.in_parts]).best_peer

    @property
    def automatic(self) -> Row | None:
        """What the backend chooses by itself; none in files of before the mark. For groups of one backend."""
        return next((row for row in self.rows if row.automatic and row.speed), None)

    @property
    def backends(self) -> list[str]:
        return list(dict.fromkeys(row.subject.backend for row in self.rows if row.subject.ours))

    def by_backend(self) -> list[Group]:
        """A group for each backend, with its rows and those of the peers."""
        return [replace(self, rows=[row for row in self.rows if row.subject.backend in ("", backend)])
                for backend in self.backends or [""]]

    def ratio(self, row: Row | None) -> float | None:
        """The row's speed over the best peer's."""
        peer = self.best_peer
        return row.speed / peer.speed if row and row.speed and peer and peer.speed else None

    @property
    def automatic_share(self) -> float | None:
        """The automatic choice's speed over that of the best algorithm."""
        return self.automatic.speed / self.best_ours.speed if self.automatic else None


@dataclass(frozen=True)
class Result:
    path: Path
    context: dict[str, Any]
    rows: list[Row]
    left_out: dict[str, list[str]] = field(default_factory=dict)  # reason -> what was not measured

    def of(self, op: str) -> list[Row]:
        return [row for row in self.rows if row.op == op]

    def groups(self, op: str) -> list[Group]:
        """In the order of the file."""
        found: dict[tuple[str, str, str, str], list[Row]] = {}
        for row in self.of(op):
            found.setdefault((row.case, row.dtype, row.cache, row.place), []).append(row)
        return [Group(op, *key, rows) for key, rows in found.items()]
