# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The blocks of figures that the pages hold, and the README's charts, each as text from the committed baselines."""

from __future__ import annotations

from typing import Callable

import chart
import figures as of
import formatting as text
import noise
import python_blocks
import scaling_blocks

GPU_GEMM, GPU_STENCIL, GPU_SYSTEM = "h100-gemm", "h100-stencil", "h100-system"
XEONS = {"1 thread": "xeon-1-thread-quick", "2 threads": "xeon-2-threads", "16 threads": "xeon-16-threads-quick"}
CONTENTION = "epyc-2-threads-contention"
FILES = {"H100": (GPU_GEMM, GPU_STENCIL)} | {f"Xeon, {title}": (f"{name}-gemm", f"{name}-stencil")
                                             for title, name in XEONS.items()}
PROSE = {"gemm": "products", "stencil": "stencils"}
PEERS = {"cublas": "cuBLAS", "cublaslt": "cuBLASLt, first heuristic", "cublaslt_best": "cuBLASLt, best of its list",
         "cublaslt+kernel": "cuBLASLt and a kernel", "cuda_loop": "CUDA kernel, taps compiled in", "eigen": "Eigen",
         "openblas": "OpenBLAS", "blis": "BLIS", "onednn": "oneDNN",
         "openmp_loop": "OpenMP loop, taps compiled in"}
Figure = Callable[..., list[float]]


def table(head: list[str], rows: list[list[str]]) -> str:
    marks = ["---" if name in ("chosen", "beside") or not at else "--:" for at, name in enumerate(head)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, marks, *rows])


def _by_dtype(figure: Figure, show: Callable[[list[float]], str], *arguments: object) -> list[str]:
    return [show(figure(*arguments, dtype)) for dtype in of.DTYPES]


def _all(figure: Figure, *arguments: object) -> list[float]:
    return [value for dtype in of.DTYPES for value in figure(*arguments, dtype)]


def machine(name: str) -> str:
    """What a baseline was measured on, in a phrase."""
    context = of.baseline(name).context
    parts = [context.get("gpu", context["cpu"])]
    for key, title in (("gpu_driver", "driver"), ("cuda_runtime", "CUDA"), ("cublas", "cuBLAS")):
        parts += [f"{title} {context[key]}"] if key in context else []
    return ", ".join([*parts, str(context["date"])[:10]])


def h100_machine() -> str:
    commits = ", ".join(of.baseline(name).context["commit"][:8] for name in FILES["H100"])
    return f"{machine(GPU_GEMM)}. Commits {commits}."


def h100_gemm() -> str:
    cold = of.groups(GPU_GEMM, "gemm", cache="cold")
    return table(["products", "f32", "f64", "chosen"],
                 [[chosen.title, *_by_dtype(of.ratios, of.times, cold, chosen), of.algorithms(cold, chosen)]
                  for chosen in of.GPU_GEMM])


def _h100_products(sets: tuple[of.Set, ...], dtypes: list[str]) -> str:
    """A line a set; none of those that the file has no figure of."""
    cold = of.groups(GPU_GEMM, "gemm", cache="cold")
    figures = {chosen.title: [of.ratios(cold, chosen, dtype) for dtype in dtypes] for chosen in sets}
    return table(["products", *dtypes],
                 [[title, *map(of.times, values)] for title, values in figures.items() if any(values)])


def h100_narrow() -> str:
    return _h100_products(of.GPU_NARROW, ["bf16", "f16"])


def h100_parts() -> str:
    return _h100_products(of.GPU_PARTS, ["bf16x6", "f16x3", "tf32"])


def h100_sweeps() -> str:
    rows = []
    for cache, suffix in (("cold", ""), ("hot", ", in cache")):
        found = of.groups(GPU_STENCIL, "stencil", cache=cache)
        rows += [[chosen.title + suffix, *_by_dtype(of.shares, of.percents, found, chosen),
                  *_by_dtype(of.ratios, of.times, found, chosen)]
                 for chosen in of.GPU_SWEEPS if of.members(found, chosen, "f32")]
    return table(["one sweep", "of a copy, f32", "f64", "beside the kernel, f32", "f64"], rows)


def h100_steps() -> str:
    found = of.groups(GPU_STENCIL, "stencil", True, "cold")
    return table(["many steps", "of sweeps, f32", "f64", "beside the kernel, f32", "f64", "chosen"],
                 [[chosen.title, *_by_dtype(of.sweeps, of.times, GPU_STENCIL, found, chosen),
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
    context = of.baseline(GPU_SYSTEM).context
    return table(["case", "type", "10⁹ points/s", "of a copy", "beside the kernel", "chosen"], rows) + \
        f"\n\n{machine(GPU_SYSTEM)}, commit {context['commit'][:8]}."


def _xeon(op: str) -> list[list[of.Group]]:
    return [of.groups(f"{name}-{op}", op, cache="cold") for name in XEONS.values()]


def xeon_gemm() -> str:
    rows = [
        [chosen.title, *(of.times(_all(of.ratios, part, chosen)) for part in _xeon("gemm"))] for chosen in of.CPU_GEMM
    ]
    return table(["products", *XEONS], rows)


def _share_and_ratio(found: list[of.Group], chosen: of.Set) -> str:
    ratios = _all(of.ratios, found, chosen)
    return f"{of.percents(_all(of.shares, found, chosen))}; {text.ratio(of.mean(ratios))}" if ratios else text.NONE


def xeon_stencils() -> str:
    rows = [[chosen.title, *(_share_and_ratio(part, chosen) for part in _xeon("stencil"))] for chosen in of.CPU_SWEEPS]
    many = [of.groups(f"{name}-stencil", "stencil", True, "cold") for name in XEONS.values()]
    rows += [[f"many steps, {chosen.title}", *(of.times(_all(of.ratios, part, chosen)) for part in many)]
             for chosen in of.CPU_STEPS]
    return table(["stencils", *XEONS], rows)


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
        rows.append([*row, ", ".join(noisy)])
    poor = f"below {text.GOOD_SHARE:.2f}"
    return table(["machine", "products (worst)", poor, "stencils (worst)", poor, "too noisy beside peers"], rows)


def peers() -> str:
    """The automatic choice beside each peer alone."""
    rows = []
    for title, names in FILES.items():
        for name, op in zip(names, PROSE):
            for peer, values in of.by_peer(name, op).items():
                ahead = sum(value >= 1 for value in values)
                rows.append([f"{title}, {PROSE[op]}", PEERS.get(peer, peer), str(len(values)),
                             of.times(values, of.median), f"{100 * ahead / len(values):.0f} %"])
    return table(["where", "beside", "cases", "median (range)", "faster in"], rows)


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
    return f"{machine(CONTENTION)}, f32.\n\n" + table(["beside others", "alone", *SUBJECTS.values()], lines)


def readme() -> str:
    sets = {chosen.title: chosen for chosen in (*of.GPU_GEMM, *of.GPU_SWEEPS, *of.GPU_STEPS)}
    gemm = of.groups(GPU_GEMM, "gemm", cache="cold")
    sweeps = of.groups(GPU_STENCIL, "stencil", cache="cold")
    steps = of.groups(GPU_STENCIL, "stencil", True, "cold")
    f32, f64 = (f"{of.mean(of.ratios(gemm, sets['squares, 1024 to 16384'], dtype)):.2f}" for dtype in of.DTYPES)
    small = _all(of.ratios, gemm, sets["batches of 4 to 16"])
    narrow_sets = {chosen.title: chosen for chosen in of.GPU_NARROW}
    narrow = of.ratios(gemm, narrow_sets["squares, 4096 to 16384"], "bf16")
    exact = [ratio for chosen in of.GPU_PARTS for ratio in of.ratios(gemm, chosen, "bf16x6")]
    flat = [share for title in ("1D, radius 1 to 4, 2²⁸", "2D stars, radius 1 to 4, 16384²")
            for share in _all(of.shares, sweeps, sets[title])]
    deep = _all(of.shares, sweeps, sets["3D star, radius 1, 768³"])
    many = of.mean(_all(of.sweeps, GPU_STENCIL, steps, sets["2D star, radius 1, 16384²"]))
    cached = _all(of.ratios, of.groups(GPU_STENCIL, "stencil", cache="hot"), sets["1 to 2 million points"])
    return (
        f"- Squares from 1024 on: {f32} (f32), {f64} (f64), from 4096 on {of.mean(narrow):.2f} (bf16) times the better "
        "of cuBLAS and cuBLASLt.\n"
        f"- f32 on the tensor cores, as exact as f32 (`bf16x6`): {min(exact):.1f} to {max(exact):.1f} times cuBLAS in "
        "f32.\n"
        f"- Batches of matrices of sizes 4 to 16: {min(small):.1f} to {max(small):.0f} times.\n"
        f"- One sweep of a 1D or 2D star: {of.percents(flat)} of the rate of a copy; of 7 points in 3D: "
        f"{of.percents(deep)}.\n"
        f"- Many steps of a 5-point stencil: {many:.1f} times the rate of single sweeps at the rate of a copy.\n"
        f"- Sweeps of fields that stay in the cache: {min(cached):.2f} to {max(cached):.2f} times a kernel with the "
        "taps compiled in.\n"
        "- [All figures, and what falls short](docs/performance.md)"
    )


BLOCKS: dict[str, Callable[[], str]] = {
    "readme": readme, "h100-machine": h100_machine, "h100-gemm": h100_gemm,
    "h100-narrow": h100_narrow, "h100-parts": h100_parts, "h100-sweeps": h100_sweeps,
    "h100-steps": h100_steps, "h100-systems": h100_systems, "overheads": overheads, "choice": choice,
    "peers": peers, "xeon-gemm": xeon_gemm, "xeon-stencils": xeon_stencils, "contention": contention,
    "python": python_blocks.python, "scaling": scaling_blocks.measured}


def _chart_lines(found: list[of.Group], sets: tuple[of.Set, ...], suffix: str = "") -> list[chart.Line]:
    lines = [chart.Line(chosen.title + suffix, {dtype: of.ratios(found, chosen, dtype) for dtype in of.DTYPES})
             for chosen in sets]
    return [line for line in lines if any(line.values.values())]


def gemm_chart() -> str:
    return chart.draw("Matrix products beside cuBLAS",
                      f"{of.baseline(GPU_GEMM).context['gpu']}, what Tessera chooses by itself, operands not in cache",
                      "rate / rate of the better of cuBLAS and cuBLASLt; dot: geometric mean, bar: range",
                      _chart_lines(of.groups(GPU_GEMM, "gemm", cache="cold"), of.GPU_GEMM))


def stencil_chart() -> str:
    cold, hot = (of.groups(GPU_STENCIL, "stencil", cache=cache) for cache in ("cold", "hot"))
    many = of.groups(GPU_STENCIL, "stencil", True, "cold")
    lines = [chart.Line("one sweep"), *_chart_lines(cold, of.GPU_SWEEPS),
             *_chart_lines(hot, of.GPU_SWEEPS, ", in cache"),
             chart.Line("many steps"), *_chart_lines(many, of.GPU_STEPS)]
    return chart.draw("Stencils beside kernels with compile-time taps",
                      f"{of.baseline(GPU_STENCIL).context['gpu']}, what Tessera chooses by itself for run-time taps",
                      "rate / rate of a plain CUDA kernel with the taps compiled in, a launch a step; "
                      "dot: geometric mean, bar: range", lines)


CHARTS: dict[str, Callable[[], str]] = {"docs/charts/gemm.svg": gemm_chart, "docs/charts/stencils.svg": stencil_chart}
