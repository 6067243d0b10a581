#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Fits the coefficients of a backend's models of time to measured offers, and writes them into its table.

    bin/tessera-perf-offers --backend cpu --op gemm --json gemm.jsonl
    perf/fit/fit.py --models bin/tessera-models-cpu --table backends/cpu/costs.hpp:kAvx512Costs gemm.jsonl

The models themselves are those of the backend: this script varies numbers, and tessera-models-<backend> predicts with
them. It minimises the squares of log(predicted / measured), each offer weighed by how near it is to the problem's best
one, since only near the best a wrong prediction costs anything. Coefficients that the data say nothing about stay.
"""

import argparse
import json
import re
import subprocess
import sys
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


class Measured:
    """Measured seconds, and which of them belong to one problem."""

    def __init__(self, path):
        lines = [json.loads(line) for line in Path(path).read_text().splitlines()][1:]
        self.names = [line["name"] + " " + line["dtype"] for line in lines]
        self.seconds = np.array([offer[2] for line in lines for offer in line["offers"]])
        counts = [len(line["offers"]) for line in lines]
        self.first = np.cumsum([0] + counts)
        self.best = np.concatenate([np.full(len(s), min(s)) for s in self.by_problem(self.seconds)])
        self.share = self.best / self.seconds

    def by_problem(self, values):
        return [values[a:b] for a, b in zip(self.first, self.first[1:])]

    def choice(self, predicted):
        """Share of the best that the choice reaches, for each problem."""
        return np.array([min(m) / m[np.argmin(p)]
                         for m, p in zip(self.by_problem(self.seconds), self.by_problem(predicted))])

    def judge(self, label, predicted):
        shares, errors = self.choice(predicted), np.log(predicted / self.seconds)
        worst = np.argmin(shares)
        print(f"{label}: the choice reaches {np.exp(np.mean(np.log(shares))):.4f} of the best (geometric mean), "
              f"{shares[worst]:.3f} at worst ({self.names[worst]}), {np.mean(shares < 0.95):.1%} below 0.95; "
              f"mean error {np.mean(np.abs(errors)):.3f}, of the best offers "
              f"{np.mean(np.abs(errors[self.share == 1.0])):.3f}")


def fit(models, measured, power, stiffness):
    """New coefficients; those without influence and those that are 0 keep their values."""
    start = models.initial
    base = models.predict(start)
    weight = measured.share ** power
    varied = []
    for i in np.flatnonzero(start > 0.0):
        changed = start.copy()
        changed[i] *= 1.01
        if np.any(np.abs(models.predict(changed) / base - 1.0) > 1e-9):
            varied.append(i)
    print(f"{len(varied)} of {len(start)} coefficients have a say in {len(base)} offers")

    def coefficients(x):
        result = start.copy()
        result[varied] *= np.exp(x)
        return result

    def residuals(x):
        predicted = models.predict(coefficients(x))
        errors = weight * np.log(predicted / measured.seconds)
        # A slow offer that looks faster than the best one is taken: worse than any other error.
        tempting = (1.0 - measured.share) * np.maximum(0.0, np.log(measured.best / predicted))
        return np.concatenate([errors, 2.0 * tempting, stiffness * x])

    found = least_squares(residuals, np.zeros(len(varied)), loss="soft_l1", f_scale=0.1, diff_step=1e-3,
                          bounds=(-3.0, 3.0), max_nfev=60)
    return coefficients(found.x)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", help="figures of tessera-perf-offers")
    parser.add_argument("--models", required=True, help="tessera-models-<backend>")
    parser.add_argument("--table", help="HEADER:NAME of the aggregate to write the coefficients into")
    parser.add_argument("--power", type=float, default=2.0, help="of the share of the best that weighs an offer (2)")
    parser.add_argument("--stiffness", type=float, default=0.3, help="how much coefficients resist a change (0.3)")
    options = parser.parse_args()

    measured, models = Measured(options.measured), Models(options.models, options.measured)
    table = None
    if options.table:
        table = Table(*options.table.rsplit(":", 1))
        if len(table.values()) != len(models.initial) or not np.allclose(table.values(), models.initial, rtol=1e-12):
            sys.exit(f"{options.table} is not the table that {options.models} was built with")
    measured.judge("before", models.predict(models.initial))
    new = fit(models, measured, options.power, options.stiffness)
    measured.judge("after", models.predict(new))
    if table is not None:
        table.write(new)


if __name__ == "__main__":
    main()
