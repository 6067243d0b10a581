#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Fits the coefficients of a backend's models of time to measured offers, and writes them into its table.

    bin/tessera-perf-offers --backend cpu --op gemm --json gemm.jsonl
    perf/fit/fit.py --models bin/tessera-models-cpu --table backends/cpu/costs.hpp:kAvx512Costs gemm.jsonl

The models themselves are those of the backend: this script varies numbers, and tessera-models-<backend> predicts with
them. It minimises the squares of log(predicted / measured), each offer weighed by how near it is to the problem's best
one, since only near the best a wrong prediction costs anything, and of what the choice loses. Coefficients that the
data say nothing about stay, and those that --hold names. With --folds it also fits to all problems but a part, for each
part in turn, and judges the choice on the part that was left out.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

NUMBER = re.compile(r"(?<![\w.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")


class Table:
    """The numbers of one aggregate in a header, in their order. Comments hold none."""

    def __init__(self, path, name):
        self.path, self.text = Path(path), Path(path).read_text()
        start = re.search(rf"\b{re.escape(name)}\s*(?:=\s*)?\{{", self.text)
        if start is None:
            sys.exit(f"{path} has no {name}{{...}}")
        depth, end = 1, start.end()
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(self.text[end], 0)
            end += 1
        body = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), self.text[start.end():end])
        self.places = [(start.end() + m.start(), start.end() + m.end()) for m in NUMBER.finditer(body)]
        self.names = self.designators(body)

    @staticmethod
    def designators(body):
        """The numbers' names by their designators: "f32.multistage.warps"; those of lists have their list's."""
        names, path, name = [], [], ""
        for token in re.finditer(rf"\.([a-z]\w*)\s*=|([{{}}])|{NUMBER.pattern}", body):
            if token[1]:
                name = token[1]
            elif token[2] == "{":
                path, name = path + [name], ""
            elif token[2] == "}":
                path = path[:-1]
            else:
                names.append(".".join(filter(None, path + [name])))
        return names

    def values(self):
        return np.array([float(self.text[a:b]) for a, b in self.places])

    def write(self, values):
        text = self.text
        for (a, b), old, new in reversed(list(zip(self.places, self.values(), values))):
            if abs(new - old) > 5e-4 * abs(old):
                text = text[:a] + f"{new:.4g}" + text[b:]
        self.path.write_text(text)


class Models:
    """The backend's models as a program."""

    def __init__(self, program, measured):
        self.process = subprocess.Popen([program, measured], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.initial = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the models' program ended")
        return np.array([float(x) for x in line.split()])

    def predict(self, coefficients):
        print(" ".join(f"{c:.17g}" for c in coefficients), file=self.process.stdin, flush=True)
        return self.read()


FORMS = {"gemm": r"(\d+)(?:x(\d+)x(\d+))?(?:_([NT])([NT]))?(?:_batch(\d+))?(?:_([NT])([NT]))?",
         "stencil": r"(\d)d_(star|box|derivative)_r(\d)_([\dx]+)(?:\^(\d+))?_(fixed|periodic)(?:_steps(\d+))?"}


def problem_named(op, dtype, name):
    """The problem of that name as tessera-perf-offers writes it, without offers; None where the name says more."""
    found = re.fullmatch(FORMS[op], name)
    if not found:
        return None
    problem = {"op": op, "dtype": dtype, "name": name}
    if op == "gemm":
        m, n, k = (int(size) if size else int(found[1]) for size in found.groups()[:3])
        problem |= {"m": m, "n": n, "k": k, "batch": int(found[6] or 1)}
        return problem | {"trans_a": "T" in (found[4], found[7]), "trans_b": "T" in (found[5], found[8])}
    rank, extents = int(found[1]), [int(extent) for extent in found[4].split("x")]
    if found[5]:
        extents = [extents[0] ** int(found[5])] if rank == 1 else extents
    problem |= {"pattern": found[2], "rank": rank, "radius": int(found[3])}
    problem |= {"extents": extents if len(extents) == rank else extents * rank}
    return problem | {"boundary": found[6], "steps": int(found[7] or 1)}


def suite_cases(path, op, backend):
    """The cases of a baseline of the suite as problems with measured offers, but for those with padded rows."""
    cases = {}
    for row in json.loads(Path(path).read_text())["benchmarks"]:
        named = re.fullmatch(rf"{op}/([^/]+)/([^/]+)/(\w+)/tessera:{backend}:(\w+)", row["name"])
        problem = named and problem_named(op, named[2], named[1])
        if problem:
            case = cases.setdefault(named.groups()[:3], problem | {"offers": []})
            seconds = 1e-6 * row["real_time"]
            case["offers"].append([named[4], seconds, seconds])
    return list(cases.values())


def packed(line):
    """A line of tessera-perf-offers in the form of perf/fit/measured: microseconds, without the predictions."""
    offers = {}
    for text, _, seconds in line["offers"]:
        algorithm, _, parameters = text.partition(":")
        pairs = [pair.split("=") for pair in parameters.split(",") if pair]
        form = algorithm + ":" * bool(pairs) + ",".join(key for key, _ in pairs)
        offers.setdefault(form, []).append([int(value) for _, value in pairs] + [float(f"{1e6 * seconds:.4g}")])
    return [line["dtype"], line["name"], offers]


def unpacked(op, line):
    """And back."""
    if isinstance(line, dict):
        return line
    dtype, name, forms = line
    offers = []
    for form, rows in forms.items():
        algorithm, _, keys = form.partition(":")
        for *values, microseconds in rows:
            pairs = ",".join(f"{key}={value}" for key, value in zip(keys.split(","), values))
            offers.append([algorithm + ":" * bool(pairs) + pairs, 1e-6 * microseconds, 1e-6 * microseconds])
    return problem_named(op, dtype, name) | {"offers": offers}


def gather(measured, baseline, times):
    """The lines of a file of measured offers, and those of a baseline so many times.

    `peeled` that peels nothing is multistage's choice at the time of the measurement: no model knows what it was."""
    head, *lines = [json.loads(line) for line in Path(measured).read_text().splitlines()]
    lines = [unpacked(head.get("op"), line) for line in lines]
    if baseline:
        lines += times * suite_cases(baseline, lines[0]["op"], head["backend"])
    for line in lines:
        line["offers"] = [o for o in line["offers"] if not o[0].startswith("peeled:rows=0,columns=0")]
    return [head] + lines


def pack(measured):
    """Prints a file of tessera-perf-offers in the form of perf/fit/measured."""
    head, *lines = gather(measured, None, 0)
    kept = ("backend", "seed", "tessera_version", "git_commit", "gpu", "gpu_driver", "cuda_runtime", "cpu_model")
    print(json.dumps({"op": lines[0]["op"]} | {key: head[key] for key in kept if key in head}, separators=(",", ":")))
    for line in lines:
        print(json.dumps(packed(line), separators=(",", ":")))


class Measured:
    """Measured seconds, and which of them belong to one problem."""

    def __init__(self, lines):
        self.names = [line["name"] + " " + line["dtype"] for line in lines]
        self.seconds = np.array([offer[2] for line in lines for offer in line["offers"]])
        counts = [len(line["offers"]) for line in lines]
        self.first = np.cumsum([0] + counts)
        self.best = np.concatenate([np.full(len(s), min(s)) for s in self.by_problem(self.seconds)])
        self.share = self.best / self.seconds
        self.problem = np.repeat(np.arange(len(lines)), counts)

    def by_problem(self, values):
        return [values[a:b] for a, b in zip(self.first, self.first[1:])]

    def choice(self, predicted):
        """Share of the best that the choice reaches, for each problem."""
        return np.array([min(m) / m[np.argmin(p)]
                         for m, p in zip(self.by_problem(self.seconds), self.by_problem(predicted))])

    def judge(self, label, predicted):
        shares, errors = self.choice(predicted), np.log(predicted / self.seconds)
        print(f"{label}: mean error {np.mean(np.abs(errors)):.3f}, of the best offers "
              f"{np.mean(np.abs(errors[self.share == 1.0])):.3f}")
        for dtype in sorted({name.split()[-1] for name in self.names}):
            of = np.array([i for i, name in enumerate(self.names) if name.split()[-1] == dtype], dtype=int)
            if len(of) == 0:
                continue
            worst = of[np.argmin(shares[of])]
            print(f"  {dtype}: the choice reaches {np.exp(np.mean(np.log(shares[of]))):.4f} of the best (geometric "
                  f"mean), {shares[worst]:.3f} at worst ({self.names[worst]}); of {len(of)} problems "
                  f"{np.sum(shares[of] < 0.75)} are below 0.75 and {np.sum(shares[of] < 0.95)} below 0.95")

    def expected_loss(self, predicted, sharpness=20.0):
        """-log of the share of the best, problem by problem, where an offer is taken the more likely the cheaper it
        seems: offers whose predictions differ by 5 % are nearly as likely."""
        likely = -sharpness * np.log(predicted)
        likely = np.exp(likely - np.maximum.reduceat(likely, self.first[:-1])[self.problem])
        likely /= np.add.reduceat(likely, self.first[:-1])[self.problem]
        return np.add.reduceat(likely * -np.log(self.share), self.first[:-1])


def fit(models, measured, fitted, hold, power, stiffness):
    """New coefficients from the problems of which `fitted` is true. Those without influence on these, those that are 0
    and those of the indices `hold` keep their values."""
    start = models.initial
    base = models.predict(start)
    weight, offers = measured.share ** power, fitted[measured.problem]
    varied = []
    for i in set(np.flatnonzero(start > 0.0)) - set(hold):
        changed = start.copy()
        changed[i] *= 1.01
        if np.any(np.abs(models.predict(changed) / base - 1.0) > 1e-9):
            varied.append(i)
    print(f"{len(varied)} of {len(start)} coefficients have a say in {len(base)} offers")
    if not varied:
        return start

    def coefficients(x):
        result = start.copy()
        result[varied] *= np.exp(x)
        return result

    def residuals(x):
        predicted = models.predict(coefficients(x))
        errors = weight * np.log(predicted / measured.seconds)
        # A slow offer that looks faster than the best one is taken: worse than any other error.
        tempting = (1.0 - measured.share) * np.maximum(0.0, np.log(measured.best / predicted))
        loss = measured.expected_loss(predicted)
        return np.concatenate([errors[offers], 2.0 * tempting[offers], 0.5 * loss[fitted], stiffness * x])

    found = least_squares(residuals, np.zeros(len(varied)), loss="soft_l1", f_scale=0.1, diff_step=1e-3,
                          bounds=(-3.0, 3.0), max_nfev=60)
    return coefficients(found.x)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", help="figures of tessera-perf-offers")
    parser.add_argument("--models", help="tessera-models-<backend>")
    parser.add_argument("--pack", action="store_true", help="print the figures as perf/fit/measured has them")
    parser.add_argument("--table", help="HEADER:NAME of the aggregate to write the coefficients into")
    parser.add_argument("--baseline", help="figures of the suite, whose cases count three times")
    parser.add_argument("--hold", help="regular expression: coefficients that keep their values, by their names")
    parser.add_argument("--folds", type=int, default=0, help="parts that the problems are dealt to, to be left out")
    parser.add_argument("--power", type=float, default=2.0, help="of the share of the best that weighs an offer (2)")
    parser.add_argument("--stiffness", type=float, default=0.1, help="how much coefficients resist a change (0.1)")
    return parser.parse_args()


def main():
    options = parse_options()
    if options.pack:
        return pack(options.measured)
    if not options.models:
        sys.exit("--models is missing")
    lines = gather(options.measured, options.baseline, 3)
    measured = Measured(lines[1:])
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
        file.flush()
        models = Models(options.models, file.name)
    table, hold = None, []
    if options.table:
        table = Table(*options.table.rsplit(":", 1))
        if len(table.values()) != len(models.initial) or not np.allclose(table.values(), models.initial, rtol=1e-12):
            sys.exit(f"{options.table} is not the table that {options.models} was built with")
    if options.hold:
        if table is None:
            sys.exit("--hold goes by the names in a --table")
        hold = [i for i, name in enumerate(table.names) if re.search(options.hold, name)]
    measured.judge("before", models.predict(models.initial))

    def fit_to(fitted):
        return models.predict(fit(models, measured, fitted, hold, options.power, options.stiffness))

    if options.folds > 1:
        names, of_name = np.unique(measured.names, return_inverse=True)
        part = np.random.default_rng(1).integers(0, options.folds, len(names))[of_name]
        left_out = measured.best.copy()
        for k in range(options.folds):
            of_part = (part == k)[measured.problem]
            left_out[of_part] = fit_to(part != k)[of_part]
        measured.judge("left out", left_out)
    new = fit(models, measured, np.full(len(measured.names), True), hold, options.power, options.stiffness)
    measured.judge("after", models.predict(new))
    if table is not None:
        table.write(new)


if __name__ == "__main__":
    main()
