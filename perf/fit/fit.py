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

What the choice loses has steps, which no gradient sees. --climb changes coefficients at random instead, for so many
seconds, and keeps what makes the choice better, each file by its weight: file.jsonl:0.5.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
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


def gather(measured, baseline=None, times=0):
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


class Sample:
    """A file of measured offers, and the models that predict them."""

    def __init__(self, program, lines, weight=1.0):
        self.measured, self.weight = Measured(lines[1:]), weight
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines))
            file.flush()
            self.models = Models(program, file.name)

    def score(self, coefficients):
        """How good the choice is, and a little how near it is to another one, and how far predictions are off."""
        measured, predicted = self.measured, self.models.predict(coefficients)
        shares, weight = np.log(measured.choice(predicted)), measured.share ** 2
        error = np.average(np.abs(np.log(predicted / measured.seconds)), weights=weight)
        return self.weight * (np.mean(shares + 0.5 * np.minimum(0.0, shares + 0.05)) - 0.25 * error
                              - 0.5 * np.mean(measured.expected_loss(predicted, 40.0)))


def climb(samples, start, varied, seconds):
    """Coefficients that random steps from `start` have led to."""
    random, end = np.random.default_rng(3), time.monotonic() + seconds
    best, steps = start.copy(), np.full(len(start), 0.15)

    def score(coefficients):
        far = np.sum(np.log(coefficients[varied] / start[varied]) ** 2)
        return sum(sample.score(coefficients) for sample in samples) - 0.02 * far

    reached = score(best)
    while time.monotonic() < end:
        some = random.choice(varied, size=min(len(varied), random.integers(1, 4)), replace=False)
        tried = best.copy()
        tried[some] *= np.exp(random.normal(0.0, steps[some]))
        found = score(tried)
        if found > reached:
            reached, best, steps[some] = found, tried, np.minimum(0.3, 1.3 * steps[some])
        else:
            steps[some] = np.maximum(0.01, 0.97 * steps[some])
    return best


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", nargs="+", help="figures of tessera-perf-offers; several are for --climb")
    parser.add_argument("--models", required=True, help="tessera-models-<backend>")
    parser.add_argument("--table", help="header to write the coefficients into")
    parser.add_argument("--baseline", help="figures of the suite, whose cases count three times")
    parser.add_argument("--hold", help="regular expression: coefficients that keep their values, by their names")
    parser.add_argument("--climb", type=float, metavar="SECONDS", help="take random steps for so long")
    parser.add_argument("--folds", type=int, default=0, help="parts that the problems are dealt to, to be left out")
    parser.add_argument("--power", type=float, default=2.0, help="of the share of the best that weighs an offer (2)")
    parser.add_argument("--stiffness", type=float, default=0.1, help="how much coefficients resist a change (0.1)")
    return parser.parse_args()


def fitted_to_all(options, sample, hold):
    """Coefficients fitted to all problems, after those that --folds leaves out have been judged."""
    measured, models = sample.measured, sample.models

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
    return fit(models, measured, np.full(len(measured.names), True), hold, options.power, options.stiffness)


def main():
    options = parse_options()
    samples = []
    for argument in options.measured:
        path, _, weight = argument.partition(":")
        samples.append(Sample(options.models, gather(path, options.baseline, 3), float(weight or 1.0)))
    measured, models = samples[0].measured, samples[0].models
    table, hold = None, []
    if options.table:
        table = Table(options.table, len(models.initial))
        if len(table.values()) != len(models.initial) or not np.allclose(table.values(), models.initial, rtol=1e-12):
            sys.exit(f"{options.table} is not the table that {options.models} was built with")
    if options.hold:
        if table is None:
            sys.exit("--hold goes by the names in a --table")
        hold = [i for i, name in enumerate(table.names) if re.search(options.hold, name)]
    for sample in samples:
        sample.measured.judge("before", sample.models.predict(models.initial))
    if options.climb:
        varied = [i for i in np.flatnonzero(models.initial > 0.0) if i not in hold]
        new = climb(samples, models.initial, varied, options.climb)
    elif len(samples) > 1:
        sys.exit("several files are for --climb")
    else:
        new = fitted_to_all(options, samples[0], hold)
    for sample in samples:
        sample.measured.judge("after", sample.models.predict(new))
    if table is not None:
        table.write(new)


if __name__ == "__main__":
    main()
