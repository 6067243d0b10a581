# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A model of the time that plans over many ranks take, and the pages' block of it beside what tessera-perf-distributed
and -mpi have measured.

Ranks are in a row, which the first axis of the domain is cut for. Each of them exchanges halos with two neighbours,
waits for no others, and so takes as long with 4096 ranks as with 16:

    time of a round = the better of   own steps (1 + halos) + exchange
                                      max(own steps (1 + 3 halos), exchange)       halos beside inner points and edges
    with one step   =                 max(own step, exchange) + latency / 2

The second is there in volumes on devices alone. Own steps are those that a rank's own plan takes for its block, as
measured. Halos are the points of the neighbours that it computes with as a share of its own; those of edges are three
times as wide. An exchange is latency + bytes / rate, both measured between two ranks of one host; a rank between two
of its host shares the rate among both. Beyond a host, messages take the network, which is assumed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import figures as of
import formatting as text
from model import Group, Result, Row
from results import ResultError

DEVICES = "h200x2-distributed"
HOST = "epyc-distributed"
RANKS = (8, 64, 512, 4096)
SOFTWARE = {"transport": "", "nccl": "", "scalapack": "ScaLAPACK", "gpu_driver": "driver"}
PEERS = {"jacobi": "Jacobi over NCCL", "pdgemm": "ScaLAPACK"}
BYTES = {"f32": 4, "f64": 8, "bf16": 2, "f16": 2}
HOST_RANKS = 8  # devices of a host


@dataclass(frozen=True)
class Link:
    latency: float  # seconds
    rate: float  # bytes/s each way

    def seconds(self, size: float) -> float:
        return self.latency + size / self.rate


def link_of(result: Result) -> Link:
    """From the shortest message and the longest."""
    messages = sorted((row.figures["bytes"], row.seconds) for row in result.of("distributed")
                      if row.case.startswith("exchange_") and row.seconds)
    if len(messages) < 2:
        raise ResultError(f"{result.path}: fewer than two messages were measured")
    (short, latency), (long, seconds) = messages[0], messages[-1]
    return Link(latency, (long - short) / (seconds - latency))


def network_of(link: Link) -> Link:
    """Assumed: 400 Gb/s a device, and 5 µs more than within a host."""
    return Link(link.latency + 5e-6, 50e9)


@dataclass(frozen=True)
class Scaled:
    """A case over some ranks."""

    case: str  # without the scaling and the ranks
    scaling: str  # "weak" or "strong"
    ranks: int
    dtype: str
    together: Row
    one: Row  # one rank's own plan
    at_once: Row | None  # the same on all ranks at once
    peers: dict[str, Row]
    on_host: bool = False

    @property
    def own(self) -> Row:
        """What the model begins with: ranks of a processor share its memory."""
        return self.at_once if self.at_once and self.on_host else self.one

    def ratio(self, row: Row | None) -> float | None:
        """The row's time over that of all ranks together."""
        return row.seconds / self.together.seconds if row and row.seconds and self.together.seconds else None


def _subject(group: Group, name: str) -> Row | None:
    return next((row for row in group.rows if row.subject.name == name and row.seconds), None)


def scaled(result: Result, scaling: str) -> list[Scaled]:
    found = []
    for group in result.groups("distributed"):
        match = re.fullmatch(rf"{scaling}_(.+)_ranks(\d+)", group.case)
        together, one = _subject(group, "distributed"), _subject(group, "one_rank")
        if match and together and one:
            peers = {row.subject.name: row for row in group.rows if row.subject.kind == "peer" and row.seconds}
            found.append(Scaled(match[1], scaling, int(match[2]), group.dtype, together, one,
                                _subject(group, "at_once"), peers, "gpu" not in result.context))
    return found


def exchange_seconds(halo: float, ranks: int, link: Link) -> float:
    inside = link.seconds(halo if ranks == 2 else 2 * halo)
    return inside if ranks <= HOST_RANKS else max(inside, network_of(link).seconds(halo))


def round_seconds(own: float, halos: float, depth: float, exchange: float, latency: float, edges: bool) -> float:
    """`own`: seconds of the round's steps on the block; `halos`: points of all halos over those of the block; `edges`:
    whether several steps may be cut into inner points and edges."""
    if depth <= 1:
        return max(own, exchange) + latency / 2
    plain = own * (1 + halos) + exchange
    return min(plain, max(own * (1 + 3 * halos), exchange)) if edges else plain


def _predicted_product(case: Scaled, ranks: int, link: Link) -> float:
    """SUMMA on a grid that is as square as can be: panels of A and B travel while those before are multiplied."""
    seconds, extent = case.one.seconds, int(re.findall(r"\d+", case.case)[0])
    assert seconds
    rows = max(r for r in range(1, math.isqrt(ranks) + 1) if ranks % r == 0)
    columns = ranks // rows
    received = extent**2 * BYTES[case.dtype] * ((columns - 1) / ranks + (rows - 1) / ranks)
    slowest = link if ranks <= HOST_RANKS else network_of(link)
    travel = columns * slowest.latency + received / slowest.rate
    return seconds / (max(seconds / ranks, travel) + travel / columns)  # nothing hides the first panels


def predicted(case: Scaled, ranks: int, link: Link) -> float | None:
    """The time of one rank's own plan over that of all together: of weak scaling 1 at best, of strong scaling `ranks`.
    As many steps between exchanges as measured; None where a block would be thinner than its halo."""
    if case.case.startswith("gemm_"):
        return _predicted_product(case, ranks, link)
    figures, seconds = case.together.figures, case.own.seconds
    assert seconds
    strong = case.scaling == "strong"
    points = figures["points"] * (case.ranks / ranks if strong else 1)  # of a rank's block
    if figures["halo_points"] > points:
        return None
    depth, halos = figures["depth"], (1 if ranks == 2 else 2) * figures["halo_points"] / points
    rounds = figures["steps"] / depth
    exchange = exchange_seconds(figures["halo_bytes"], ranks, link)
    edges = not case.on_host and not case.case.startswith("2d_")
    own = seconds / rounds / (ranks if strong else 1)
    return seconds / (rounds * round_seconds(own, halos, depth, exchange, link.latency, edges))


def machine(result: Result) -> str:
    """What was measured on, in a phrase."""
    context = result.context
    ranks = f"{context['ranks']} ranks of " + (
        context["gpu"] if "gpu" in context else f"{context['threads']} thread on {context['cpu']}")
    return f"{text.phrase(context, ranks, SOFTWARE)}, commit {str(context['commit'])[:8]}, {str(context['date'])[:10]}"


def _figure(value: float | None) -> str:
    return text.NONE if value is None else f"{value:.2f}" if value < 9.995 else f"{value:.3g}"


def compared(result: Result, kind: str) -> str:
    """Of weak scaling: of one rank's speed for its block, of strong scaling times one rank's speed for the whole; as
    measured, and what the model says of as many ranks and of more."""
    link = link_of(result)
    rows, measured = [], 0
    for case in scaled(result, kind):
        measured = case.ranks
        model = [predicted(case, ranks, link) for ranks in (measured, *RANKS)]
        rows.append([f"`{case.case}`", case.dtype, _figure(case.ratio(case.one)), *map(_figure, model)])
    head = [f"{kind} scaling", "type", f"{measured}, measured", f"{measured}, model", *map(str, RANKS)]
    return text.table(head, rows)


def peers(result: Result) -> str:
    """The time of each peer on the same ranks over that of the plan."""
    rows = [[f"`{case.case}`", case.dtype, PEERS[name], _figure(case.ratio(row))]
            for kind in ("weak", "strong") for case in scaled(result, kind)
            for name, row in case.peers.items() if name in PEERS]
    return text.table(["case", "type", "peer", "times its speed"], rows)


def links(result: Result) -> str:
    link = link_of(result)
    network = network_of(link)
    return (f"A message takes {text.duration(link.latency)} and {link.rate / 1e9:.3g} GB/s each way, measured; over\n"
            f"the network {text.duration(network.latency)} and {network.rate / 1e9:.3g} GB/s, assumed.")


def devices(result: Result) -> str:
    return "\n\n".join([f"{machine(result)}.", compared(result, "weak"), links(result), compared(result, "strong"),
                        peers(result)])


def host(result: Result) -> str:
    """Ranks of a processor share its memory: beside one rank's plan stand those of all at once."""
    link = link_of(result)
    rows = [[f"`{case.case}`", _figure(case.ratio(case.at_once)), _figure(case.ratio(case.one)),
             _figure(predicted(case, case.ranks, link))]
            for case in scaled(result, "weak")]
    whole = [[f"`{case.case}`", case.dtype, _figure(case.ratio(case.one)),
              _figure(predicted(case, case.ranks, link))]
             for case in scaled(result, "strong")]
    head = ["weak scaling", "of plans of one rank at once", "of one plan alone", "model"]
    return "\n\n".join([f"{machine(result)}.", text.table(head, rows),
                        text.table(["strong scaling", "type", "of one rank", "model"], whole), peers(result)])


def measured() -> str:
    return f"{devices(of.baseline(DEVICES))}\n\n{host(of.baseline(HOST))}"
