# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The blocks of figures that the pages hold, and the README's charts, each as text from the committed baselines."""

from __future__ import annotations

import itertools
import re
from typing import Callable

import chart
import figures as of
import formatting as text
import headlines
import noise
import pairs
import scaling

GPU_GEMM, GPU_STENCIL, GPU_SYSTEM = of.H100.values()
CONTENTION = "epyc-2-threads-contention"
FILES = {"H100": (GPU_GEMM, GPU_STENCIL)} | {
    title: (f"{name}-gemm",) if title in of.EPYCS else (f"{name}-gemm", f"{name}-stencil")
    for title, name in of.HOSTS.items()}
MACHINE = {"gpu_driver": "driver", "cuda_runtime": "CUDA", "cublas": "cuBLAS"}
PACKAGES = {"numpy": "NumPy", "scipy": "SciPy", "torch": "PyTorch", "cupy": "CuPy"}
PROSE = {"gemm": "products", "stencil": "stencils"}
PEERS = {"cublas": "cuBLAS", "cublaslt": "cuBLASLt, first heuristic", "cublaslt_best": "cuBLASLt, best of its list",
         "cublaslt_f32_sums": "cuBLASLt, best of its list that sums in f32",
         "cublaslt+kernel": "cuBLASLt and a kernel", "cuda_loop": "CUDA kernel, taps compiled in", "eigen": "Eigen",
         "openblas": "OpenBLAS", "numpy_openblas": "NumPy's OpenBLAS", "blis": "BLIS", "onednn": "oneDNN", "mkl": "MKL",
         "openmp_loop": "OpenMP loop, taps compiled in"}
Figure = Callable[..., list[float]]


def _by_dtype(figure: Figure, show: Callable[[list[float]], str], found: list[of.Group], chosen: of.Set) -> list[str]:
    return [show(figure(found, chosen, dtype)) for dtype in of.DTYPES]


def measured(name: str) -> str:
    """When, and which commit."""
    context = of.baseline(name).context
    return f"{str(context['date'])[:10]}, {context['commit'][:8]}"


def hardware(name: str, software: dict[str, str] = MACHINE) -> str:
    """What a baseline was measured on, in a phrase."""
    context = of.baseline(name).context
    return text.phrase(context, context.get("gpu", context["cpu"]), software)


def h100_machine() -> str:
    products, stencils = (measured(name) for name in FILES["H100"])
    return f"{hardware(GPU_GEMM)}.\nProducts: {products}; stencils: {stencils}."


def h100_gemm() -> str:
    cold = of.groups(GPU_GEMM, "gemm", cache="cold")
    return text.table(["products", "f32", "f64", "chosen"],
                 [[chosen.title, *_by_dtype(of.ratios, of.times, cold, chosen), of.algorithms(cold, chosen)]
                  for chosen in of.GPU_GEMM])


def _h100_products(sets: tuple[of.Set, ...], dtypes: tuple[str, ...]) -> str:
    """A line a set; none of those that the file has no figure of."""
    cold = of.groups(GPU_GEMM, "gemm", cache="cold")
    figures = {chosen.title: [of.ratios(cold, chosen, dtype) for dtype in dtypes] for chosen in sets}
    return text.table(["products", *dtypes],
                 [[title, *map(of.times, values)] for title, values in figures.items() if any(values)])


def h100_narrow() -> str:
    return _h100_products(of.GPU_NARROW, of.NARROW)


def h100_parts() -> str:
    return _h100_products(of.GPU_PARTS, of.PARTS)


def h100_sweeps() -> str:
    rows = []
    for cache, suffix in (("cold", ""), ("hot", ", in cache")):
        found = of.groups(GPU_STENCIL, "stencil", cache=cache)
        rows += [[chosen.title + suffix, *_by_dtype(of.shares, of.percents, found, chosen),
                  *_by_dtype(of.ratios, of.times, found, chosen)]
                 for chosen in of.GPU_SWEEPS if of.members(found, chosen, "f32")]
    return text.table(["one sweep", "of a copy, f32", "f64", "beside the kernel, f32", "f64"], rows)


def h100_steps() -> str:
    found = of.groups(GPU_STENCIL, "stencil", True, "cold")
    return text.table(["many steps", "of sweeps, f32", "f64", "beside the kernel, f32", "f64", "chosen"],
                 [[chosen.title, *_by_dtype(of.sweeps, of.times, found, chosen),
                   *_by_dtype(of.ratios, of.times, found, chosen), of.algorithms(found, chosen)]
                  for chosen in of.GPU_STEPS])


def h100_systems() -> str:
    """A line a case that is measured out of the cache, in the order of the file."""
    rows = []
    for many in (False, True):
        for group in of.groups(GPU_SYSTEM, "system", many, "cold"):
            row, ratio = group.automatic, noise.quoted_ratio(group, group.automatic) if group.best_peer else None
            share = text.NONE if many or not row.ceiling else of.percents([row.ceiling])
            rows.append([f"`{group.case}`", group.dtype, f"{row.rate:.3g}", share,
                         of.times([ratio]) if ratio else text.NONE, f"`{row.subject.name}`"])
    return text.table(["case", "type", "10⁹ points/s", "of a copy", "beside the kernel", "chosen"], rows) + \
        f"\n\n{hardware(GPU_SYSTEM)}, {measured(GPU_SYSTEM)}."


def _measured(op: str, hosts: dict[str, str]) -> list[str]:
    return ["measured at", *(measured(f"{name}-{op}") for name in hosts.values())]


def _of_hosts(op: str, hosts: dict[str, str], many_steps: bool = False) -> list[list[of.Group]]:
    return [of.groups(f"{name}-{op}", op, many_steps, "cold") for name in hosts.values()]


def cpu_gemm() -> str:
    rows = [[chosen.title, *(of.times(of.ratios(part, chosen, *of.DTYPES)) for part in _of_hosts("gemm", of.HOSTS))]
            for chosen in of.CPU_GEMM]
    return text.table(["products", *of.HOSTS], [*rows, _measured("gemm", of.HOSTS)])


def _share_and_ratio(found: list[of.Group], chosen: of.Set) -> str:
    ratios = of.ratios(found, chosen, *of.DTYPES)
    shares = of.percents(of.shares(found, chosen, *of.DTYPES))
    return f"{shares}; {text.ratio(of.mean(ratios))}" if ratios else text.NONE


def xeon_stencils() -> str:
    rows = [[chosen.title, *(_share_and_ratio(part, chosen) for part in _of_hosts("stencil", of.XEONS))]
            for chosen in of.CPU_SWEEPS]
    rows += [[f"many steps, {chosen.title}",
              *(of.times(of.ratios(part, chosen, *of.DTYPES)) for part in _of_hosts("stencil", of.XEONS, True))]
             for chosen in of.CPU_STEPS]
    return text.table(["stencils", *of.XEONS], [*rows, _measured("stencil", of.XEONS)])


def _too_noisy(name: str, op: str) -> str:
    """How many comparisons of automatic choices with peers are in no figure."""
    found = [part for whole in of.baseline(name).groups(op) for part in whole.by_backend()]
    compared = [group for group in found if group.ratio(group.automatic)]
    return f"{sum(not noise.quoted_ratio(group, group.automatic) for group in compared)} of {len(compared)}"


def choice() -> str:
    """How the automatic choices stand beside the best of the same backend's algorithms."""
    rows = []
    for title, names in FILES.items():
        row, noisy = [title], []
        for name, op in zip(names, PROSE):
            noisy.append(_too_noisy(name, op))
            shares = [share for found in noise.automatic_shares(of.baseline(name), op).values() for share in found]
            poor = sum(share < text.GOOD_SHARE for share in shares)
            row += [f"{of.mean(shares):.3f} ({min(shares):.2f})", f"{poor} of {len(shares)}"]
        rows.append([*row, *([text.NONE] * (5 - len(row))), ", ".join(noisy)])
    poor = f"below {text.GOOD_SHARE:.2f}"
    return text.table(["machine", "products (worst)", poor, "stencils (worst)", poor, "too noisy beside peers"], rows)


def peers() -> str:
    """The automatic choice beside each peer alone."""
    rows = []
    for title, names in FILES.items():
        for name, op in zip(names, PROSE):
            for peer, values in of.by_peer(name, op).items():
                ahead = sum(value >= 1 for value in values)
                rows.append([f"{title}, {PROSE[op]}", PEERS.get(peer, peer), str(len(values)),
                             of.times(values, of.median), f"{100 * ahead / len(values):.0f} %"])
    return text.table(["where", "beside", "cases", "median (range)", "faster in"], rows)


def overheads() -> str:
    measured = [row for row in of.baseline(GPU_STENCIL).of("overhead") if row.seconds is not None]  # a peer may fail
    rows = {(row.case, row.subject.kind): row for row in sorted(measured, key=lambda row: -row.seconds)}
    gemm, stencil, first, queue = (text.duration(rows[case, "tessera"].seconds) for case in (
        "gemm_plan_creation", "stencil_plan_creation", "first_use", "enqueue_gemm_64"))
    peer = text.duration(rows["enqueue_gemm_64", "peer"].seconds)
    calls = {row.case: text.duration(row.seconds) for row in of.baseline(CONTENTION).of("overhead")}
    return (
        f"A plan takes {gemm} to make for a product and {stencil} for a stencil. Queueing a product of size 64 takes\n"
        f"{queue} of the host's time, {peer} with the faster of cuBLAS and cuBLASLt. The first use takes {first}.\n"
        f"On a processor a product of size 8 takes {calls['one_call_gemm_8']} in one call and "
        f"{calls['kept_plan_gemm_8']} by a plan that is kept."
    )


SUBJECTS = {"tessera:cpu:automatic": "Tessera", "tessera:cpu:one_thread": "one thread of it", "peer:eigen": "Eigen",
            "peer:openblas": "OpenBLAS", "peer:openmp_loop": "OpenMP loop"}
CONTENDED = {"gemm": "product", "stencil": "stencil", "cholesky": "Cholesky"}


def contention() -> str:
    """Times beside busy processes over Tessera's time alone: of the middle run, and of the slowest but one."""
    rows = {(row.case, row.subject.text): row.seconds for row in of.baseline(CONTENTION).of("overhead")}
    lines = []
    for case in dict.fromkeys(case.removesuffix("_alone") for case, _ in rows if case.endswith("_alone")):
        op, _, size = case.partition("_")
        title = f"{CONTENDED[op]} {size.replace('_steps', ', steps: ').replace('_products', ', products: ')}"
        ours = rows[f"{case}_alone", "tessera:cpu:automatic"]
        line = [title.replace("x", " × "), text.duration(ours)]
        for subject in SUBJECTS:
            middle, slow = (rows.get((f"{case}_{state}", subject)) for state in ("beside", "beside_19_of_20"))
            line.append(f"{text.ratio(middle / ours)}, {text.ratio(slow / ours)}" if middle and slow else text.NONE)
        lines.append(line)
    return f"{hardware(CONTENTION)}, f32; {measured(CONTENTION)}.\n\n" + text.table(
        ["beside others", "alone", *SUBJECTS.values()], lines)


def python() -> str:
    parts = []
    for peers, names in (("NumPy and SciPy", of.PYTHON_HOSTS), ("PyTorch and CuPy", of.PYTHON_DEVICES)):
        rows = []
        for chosen, dtype in itertools.product(of.PYTHON, (*of.DTYPES, "bf16")):
            ratios = [[group.ratio(group.best_ours) for group in of.baseline(name).groups("python")
                       if group.dtype == dtype and re.fullmatch(chosen.pattern, group.case)] for name in names.values()]
            rows += [[f"{chosen.title}, {dtype}", *map(of.times, ratios)]] if any(ratios) else []
        first = next(iter(names.values()))
        parts += [f"{hardware(first, PACKAGES)}, {measured(first)}.", text.table([f"beside {peers}", *names], rows)]
    return "\n\n".join(parts)


BLOCKS: dict[str, Callable[[], str]] = {
    "facts": headlines.facts, "readme": headlines.readme, "falls-short": headlines.falls_short,
    "h100-machine": h100_machine, "h100-gemm": h100_gemm,
    "h100-narrow": h100_narrow, "h100-parts": h100_parts, "h100-sweeps": h100_sweeps,
    "h100-steps": h100_steps, "h100-systems": h100_systems, "overheads": overheads, "choice": choice,
    "peers": peers, "cpu-gemm": cpu_gemm, "xeon-stencils": xeon_stencils, "contention": contention,
    "python": python, "scaling": scaling.measured, "ordered": pairs.ordered,
    "triangles": pairs.triangles, "complex-products": pairs.complex_products}


def _section(title: str, dtypes: tuple[str, ...], *parts: tuple[list[of.Group], tuple[of.Set, ...], str]
             ) -> chart.Section:
    """Of groups, their sets and what is said behind the titles of these."""
    lines = [chart.Line(chosen.title + suffix, {dtype: of.ratios(found, chosen, dtype) for dtype in dtypes})
             for found, sets, suffix in parts for chosen in sets]
    return chart.Section(title, dtypes, [line for line in lines if any(line.values.values())])


def gemm_chart() -> str:
    cold = of.groups(GPU_GEMM, "gemm", cache="cold")
    return chart.draw("Matrix products beside cuBLAS",
                      f"{of.baseline(GPU_GEMM).context['gpu']}, what Tessera chooses by itself, operands in no cache",
                      "rate / rate of the better of cuBLAS and cuBLASLt; a dot: a case",
                      [_section("f32 and f64", of.DTYPES, (cold, of.GPU_GEMM, "")),
                       _section("16 bits", of.NARROW[:2], (cold, of.GPU_NARROW, "")),
                       _section("f32 from the tensor cores, beside f32", of.PARTS[:2], (cold, of.GPU_PARTS, ""))])


def stencil_chart() -> str:
    cold, hot = (of.groups(GPU_STENCIL, "stencil", cache=cache) for cache in ("cold", "hot"))
    many = of.groups(GPU_STENCIL, "stencil", True, "cold")
    return chart.draw("Stencils beside kernels with compile-time taps",
                      f"{of.baseline(GPU_STENCIL).context['gpu']}, what Tessera chooses by itself for run-time taps",
                      "rate / rate of a plain CUDA kernel with the taps compiled in, a launch a step; a dot: a case",
                      [_section("one sweep", of.DTYPES, (cold, of.GPU_SWEEPS, ""), (hot, of.GPU_SWEEPS, ", in cache")),
                       _section("many steps", of.DTYPES, (many, of.GPU_STEPS, ""))])


CHARTS: dict[str, Callable[[], str]] = {"docs/charts/gemm.svg": gemm_chart, "docs/charts/stencils.svg": stencil_chart}
