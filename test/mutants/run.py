#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the changes of mutants.py one at a time, in a copy of the sources, and says which test catches each.

    test/mutants/run.py                   all of them, an hour or two on two processors
    test/mutants/run.py --only plan.cpp   those whose file or description matches a regular expression
    test/mutants/run.py --check           whether each still finds its text; builds nothing
    test/mutants/run.py --shard 1/4 --scratch /tmp/1     the first of four parts, for several runs beside each other

Ends with 1 where one survives. Needs what the tests need, and takes Kokkos, Eigen and Catch2 from .deps where they are
there.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mutants import MUTANTS

ROOT = Path(__file__).resolve().parents[2]

# Folders with all that they hold: the tests, and the plugins that they load.
CORE = ["lib/all", "test/unit/all", "test/plugins/all", "test/cli/all", "test/conformance/all", "test/faults/all"]


def stages(path, variant):
    """What to build for a file, and the tests to run, the fastest first: regular expressions of their names."""
    essential = rf"^conformance\.cpu-{variant}$"
    if path.startswith("lib/cli/"):
        return ["lib/all", "test/cli/all", f"tessera_backend_cpu-{variant}"], [r"^(cli|faults)"]
    if path.startswith(("lib/blas/", "lib/plan/small_product")):
        return ["lib/all", "test/blas/all", f"tessera_backend_cpu-{variant}"], [r"^blas\."]
    if path.startswith("lib/distributed/"):
        return ["lib/all", "test/distributed/all", f"tessera_backend_cpu-{variant}"], [r"^distributed\."]
    if path == "include/tessera/mpi.hpp":
        return ["test/mpi/all"], [r"^mpi\."]
    if path.startswith("backends/cuda/"):
        return (["tessera-cuda-choice-test", "tessera-cuda-stencil-test"],
                [r"^unit\.cuda_choice$", r"^unit\.cuda_stencil_choice$"])
    if path.startswith("backends/cpu/"):
        return ([f"tessera_backend_cpu-{variant}", "tessera-cpu-choice-test", "tessera-conformance",
                 "test/threads/all"],
                [r"^unit\.cpu_choice$", r"^threads\.(.*\.cpu|team.*|processors)$", essential, r"^conformance\.cpu$"])
    if path.startswith("backends/kokkos/"):
        return ([f"tessera_backend_kokkos-openmp-{variant}", "tessera-conformance"],
                [rf"^conformance\.kokkos-openmp-{variant}$", r"^conformance\.kokkos-openmp$"])
    return (CORE + [f"tessera_backend_cpu-{variant}"],
            [r"^(unit|plugins)", r"^(cli|faults)", r"^conformance\.fake$", essential])


def run(command, scratch):
    environment = dict(os.environ, CCACHE_BASEDIR=str(scratch / "source"), CCACHE_NOHASHDIR="1",
                       OMP_WAIT_POLICY="passive")
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")


def tool(name):
    """CMake's programs, from .deps where it brought newer ones."""
    own = ROOT / ".deps" / "prefix" / "usr" / "bin" / name
    return str(own) if own.exists() else name


def copy_sources(source):
    """The files that git knows, as they are now; only those that differ are touched, so that little is built again."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, stdout=subprocess.PIPE).stdout.decode()
    wanted = {name for name in listed.split("\0") if (ROOT / name).is_file()}
    for old in [p for p in source.rglob("*") if p.is_file()]:
        if str(old.relative_to(source)) not in wanted:
            old.unlink()
    for name in wanted:
        target = source / name
        if target.exists() and target.read_bytes() == (ROOT / name).read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)


def configure(options):
    arguments = [tool("cmake"), "-S", str(options.scratch / "source"), "-B", str(options.scratch / "build"),
                 "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={ROOT}/.deps/prefix/usr",
                 "-DTESSERA_BUILD_TESTS=ON", "-DTESSERA_BUILD_EXAMPLES=OFF", "-DTESSERA_BACKEND_CUDA=OFF",
                 f"-DTESSERA_CPU_VARIANTS={options.variant}"]
    if shutil.which("ccache"):
        arguments += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    done = run(arguments, options.scratch)
    if done.returncode != 0:
        sys.exit(f"The copy cannot be configured:\n{done.stdout[-3000:]}")


def unmatched():
    """Entries whose text does not stand in their file exactly once."""
    bad = []
    for path, what, text, _ in MUTANTS:
        file = ROOT / path
        count = file.read_text().count(text) if file.exists() else 0
        if count != 1:
            bad.append(f"{path}: {what}: its text is there {count} times: {text.strip()[:100]}")
    return bad


def build(targets, options):
    return run([tool("cmake"), "--build", str(options.scratch / "build"), "--parallel", str(options.jobs), "--target",
                *targets], options.scratch)


def failing(expressions, options):
    """The first test that fails, or None; "no tests" is an error of this script."""
    for expression in expressions:
        done = run([tool("ctest"), "--test-dir", str(options.scratch / "build"), "-R", expression, "--stop-on-failure",
                    "--timeout", str(options.timeout)], options.scratch)
        if "No tests were found" in done.stdout:
            continue
        failed = re.findall(r"^\s*\d+ - (\S+) \((?!Skipped|Disabled)([^)]*)\)", done.stdout, re.MULTILINE)
        if failed:
            name, how = failed[0]
            return name if how == "Failed" else f"{name} ({how})"
        if done.returncode != 0:
            sys.exit(f"ctest -R '{expression}' failed without a failing test:\n{done.stdout[-3000:]}")
    return None


def examine(mutant, options):
    """What became of one change: ("caught", by), ("SURVIVED", "") or ("BROKEN", why)."""
    path, _, text, instead = mutant
    targets, expressions = stages(path, options.variant)
    file = options.scratch / "source" / path
    original = file.read_text()
    try:
        file.write_text(original.replace(text, instead))
        built = build(targets, options)
        if built.returncode != 0:
            return "BROKEN", "does not compile: " + (re.findall(r"error: .*", built.stdout) or ["?"])[0]
        by = failing(expressions, options)
        return ("caught", by) if by else ("SURVIVED", "")
    finally:
        file.write_text(original)


def shard(text):
    """I/N as numbers, with 1 <= I <= N."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not I/N with 1 <= I <= N, for example 2/8")
    return int(match[1]), int(match[2])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="regular expression for 'file: description'")
    parser.add_argument("--check", action="store_true", help="only look for each entry's text")
    parser.add_argument("--variant", default="v3", help="instruction set of the backends, v2 to v4 (v3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="I/N",
                        help="the I-th of N parts of those chosen")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "mutants",
                        help="folder of the copy and of its build, which no other run uses (build/mutants)")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one test")
    options = parser.parse_args()
    options.scratch = options.scratch.resolve()
    return options


def main():
    options = arguments()
    if bad := unmatched():
        sys.exit("\n".join(bad))
    index, count = options.shard
    chosen = [m for m in MUTANTS if re.search(options.only, f"{m[0]}: {m[1]}")][index - 1::count]
    print(f"{len(chosen)} of {len(MUTANTS)} changes, each finds its text", flush=True)
    if options.check:
        return 0

    (options.scratch / "source").mkdir(parents=True, exist_ok=True)
    copy_sources(options.scratch / "source")
    configure(options)
    groups = {tuple(expressions): targets for targets, expressions in (stages(m[0], options.variant) for m in chosen)}
    for expressions, targets in groups.items():
        built = build(targets, options)
        if built.returncode != 0:
            sys.exit(f"The unchanged sources do not build:\n{built.stdout[-3000:]}")
        if by := failing(expressions, options):
            sys.exit(f"{by} fails without any change.")

    counts = {}
    for mutant in chosen:
        start = time.monotonic()
        outcome, by = examine(mutant, options)
        counts[outcome] = counts.get(outcome, 0) + 1
        print(f"{outcome:9} {time.monotonic() - start:4.0f} s  {mutant[0]}: {mutant[1]}{': ' + by if by else ''}",
              flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return 0 if set(counts) <= {"caught"} else 1


if __name__ == "__main__":
    sys.exit(main())
