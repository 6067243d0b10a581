# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The blocks of figures of plans over several ranks, from the files of tessera-perf-distributed and -mpi."""

from __future__ import annotations

import figures as of
import formatting as text
import scaling
from model import Result

DEVICES = "h200x2-distributed"
HOST = "epyc-distributed"
RANKS = (8, 64, 512, 4096)
SOFTWARE = {"transport": "", "nccl": "", "scalapack": "ScaLAPACK", "gpu_driver": "driver"}
PEERS = {"jacobi": "Jacobi over NCCL", "pdgemm": "ScaLAPACK"}


def machine(result: Result) -> str:
    """What was measured on, in a phrase."""
    context = result.context
    ranks = f"{context['ranks']} ranks of " + (
        context["gpu"] if "gpu" in context else f"{context['threads']} thread on {context['cpu']}")
    return f"{text.phrase(context, ranks, SOFTWARE)}, commit {str(context['commit'])[:8]}, {str(context['date'])[:10]}"


def _figure(value: float | None) -> str:
    return text.NONE if value is None else f"{value:.2f}" if value < 9.995 else f"{value:.3g}"


def _scaling(result: Result, scaled: str) -> str:
    link = scaling.link_of(result)
    network = scaling.network_of(link)
    rows, measured = [], 0
    for case in scaling.scaled(result, scaled):
        measured = case.ranks
        predicted = [scaling.predicted(case, ranks, link, network) for ranks in (measured, *RANKS)]
        rows.append([f"`{case.case}`", case.dtype, _figure(case.ratio(case.one)), *map(_figure, predicted)])
    head = [f"{scaled} scaling", "type", f"{measured}, measured", f"{measured}, model", *map(str, RANKS)]
    return text.table(head, rows)


def weak(result: Result) -> str:
    """Of one rank's speed for its block: measured, and what the model says of as many ranks and of more."""
    return _scaling(result, "weak")


def strong(result: Result) -> str:
    """Times one rank's speed for the whole."""
    return _scaling(result, "strong")


def peers(result: Result) -> str:
    """The time of each peer on the same ranks over that of the plan."""
    rows = [[f"`{case.case}`", case.dtype, PEERS[name], _figure(case.ratio(row))]
            for kind in ("weak", "strong") for case in scaling.scaled(result, kind)
            for name, row in case.peers.items() if name in PEERS]
    return text.table(["case", "type", "peer", "times its speed"], rows)


def links(result: Result) -> str:
    link = scaling.link_of(result)
    network = scaling.network_of(link)
    return (f"A message takes {text.duration(link.latency)} and {link.rate / 1e9:.3g} GB/s each way, measured; over\n"
            f"the network {text.duration(network.latency)} and {network.rate / 1e9:.3g} GB/s, assumed.")


def devices(result: Result) -> str:
    return "\n\n".join([f"{machine(result)}.", weak(result), links(result), strong(result), peers(result)])


def host(result: Result) -> str:
    """Ranks of a processor share its memory: beside one rank's plan stand those of all at once."""
    link = scaling.link_of(result)
    network = scaling.network_of(link)
    rows = [[f"`{case.case}`", _figure(case.ratio(case.at_once)), _figure(case.ratio(case.one)),
             _figure(scaling.predicted(case, case.ranks, link, network))]
            for case in scaling.scaled(result, "weak")]
    whole = [[f"`{case.case}`", case.dtype, _figure(case.ratio(case.one)),
              _figure(scaling.predicted(case, case.ranks, link, network))]
             for case in scaling.scaled(result, "strong")]
    head = ["weak scaling", "of plans of one rank at once", "of one plan alone", "model"]
    return "\n\n".join([f"{machine(result)}.", text.table(head, rows),
                        text.table(["strong scaling", "type", "of one rank", "model"], whole), peers(result)])


def measured() -> str:
    """Of the machines that have a baseline."""
    found = [block(of.baseline(name)) for name, block in ((DEVICES, devices), (HOST, host))
             if (of.BASELINES / f"{name}.json").exists()]
    return "\n\n".join(found) or "There is no baseline yet."
