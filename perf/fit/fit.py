#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Fits the coefficients of a backend's models of time to measured offers, and writes them into its table.

    bin/tessera-perf-offers --backend cpu --op gemm --json gemm.jsonl
    perf/fit/fit.py --models bin/tessera-models-cpu --table backends/cpu/costs.hpp gemm.jsonl

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
    """The numbers of a header of constants, as many as the models have, in their order. Comments hold none."""

    def __init__(self, path, count):
        self.path, self.text = Path(path), Path(path).read_text()
        code = re.sub(r"(//|#)[^\n]*", lambda m: " " * len(m.group()), self.text)
        places, names, within, name = [], [], [], ""
        for token in re.finditer(rf"(\w+)\s*(?=[={{])|([{{}}])|{NUMBER.pattern}", code):
            if token[1]:
                name = token[1]
            elif token[2] == "{":
                within, name = within + [name], ""
            elif token[2] == "}":
                within = within[:-1]
            else:
                places.append(token.span())
                names.append(".".join(filter(None, within + [name])))  # "f32.multistage.warps"; lists have one name
        self.places, self.names = places[:count], names[:count]

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


def suite_cases(path, op, backend):
    """The cases of a baseline of the suite as lines of measured offers."""
    cases = {}
    for row in json.loads(Path(path).read_text())["benchmarks"]:
        named = re.fullmatch(rf"{op}/([^/]+)/([^/]+)/(\w+)/tessera:{backend}:(\w+)", row["name"])
        if named:
            offers = cases.setdefault(named.groups()[:3], [named[2], named[1], {}])[2]
            offers[named[4]] = [[row["real_time"]]]
    return list(cases.values())


def gather(measured, baseline, times):
    """The lines of a file of measured offers, and those of a baseline so many times.

    `peeled` that peels nothing is multistage's choice at the time of the measurement: no model knows what it was."""
    head, *lines = [json.loads(line) for line in Path(measured).read_text().splitlines()]
    for _, _, offers, *_ in lines:
        for form in [form for form in offers if form.startswith("peeled:rows,columns")]:
            offers[form] = [row for row in offers[form] if row[:2] != [0, 0]]
    if baseline:
        lines += times * suite_cases(baseline, head["op"], head["backend"])
    return [head] + lines


class Measured:
    """Measured seconds, and which of them belong to one problem."""

    def __init__(self, lines):
        self.names = [f"{name} {dtype}" for dtype, name, *_ in lines]
        times = [[1e-6 * row[-1] for rows in offers.values() for row in rows] for _, _, offers, *_ in lines]
        self.seconds, counts = np.concatenate(times), [len(seconds) for seconds in times]
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
    parser.add_argument("--models", required=True, help="tessera-models-<backend>")
    parser.add_argument("--table", help="header to write the coefficients into")
    parser.add_argument("--baseline", help="figures of the suite, whose cases count three times")
    parser.add_argument("--hold", help="regular expression: coefficients that keep their values, by their names")
    parser.add_argument("--folds", type=int, default=0, help="parts that the problems are dealt to, to be left out")
    parser.add_argument("--power", type=float, default=2.0, help="of the share of the best that weighs an offer (2)")
    parser.add_argument("--stiffness", type=float, default=0.1, help="how much coefficients resist a change (0.1)")
    return parser.parse_args()


def main():
    options = parse_options()
    lines = gather(options.measured, options.baseline, 3)
    measured = Measured(lines[1:])
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
        file.flush()
        models = Models(options.models, file.name)
    table, hold = None, []
    if options.table:
        table = Table(options.table, len(models.initial))
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
