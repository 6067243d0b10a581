# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the JSON of tessera-perf (Google Benchmark's format) into rows, one per measured name.

A name is `<op>/<case>/<dtype>/<cache>/<subject>`, the subject `tessera:<backend>[:<algorithm>[:<params>]]`,
`peer:<name>` or `ceiling:<place>` (the case is the ceiling's name then). `<algorithm>@64MiB` is the algorithm with a
limit of its workspace. The place is "host" or the kind of device, "cuda". Values are medians over the repetitions; the
spread is the coefficient of variation (a fraction). tessera-perf condenses the repetitions itself into one entry a name
(counters `spread`, `repetitions`; of a run in several passes the list `passes`); files with Google Benchmark's own
repetitions and aggregates read as well.
"""

from __future__ import annotations

import json
import math
import re
import signal
import statistics
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, NoReturn

from model import DISTRIBUTED_FIGURES, OPS, Result, Row, Subject

# Other names under which the same facts are found.
ALIASES = {"cpu_model": "cpu", "gpu_name": "gpu", "gpu_model": "gpu", "git_commit": "commit", "git_dirty": "dirty"}
COUNTERS = ("rate", "traffic", "ceiling", "max_error")
# Algorithms of older files under the names that they have now.
RENAMED = {"thin": "skinny", "resident": "persistent"}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}

# What Google Benchmark appends to a name, in any order.
_SUFFIX = re.compile(
    r"/(manual_time|real_time|process_time|(repeats|iterations|threads|min_time|min_warmup_time):[^/]*)$"
)
_TESSERA = re.compile(r"tessera:(?P<backend>[^:]+(?::\d+)?)(?::(?P<algorithm>[^:]+)(?::(?P<params>.+))?)?$")


class ResultError(Exception):
    """A file that cannot be read as results; the message names the file and the reason."""


def parse_subject(text: str) -> Subject | None:
    if match := _TESSERA.match(text):
        algorithm, at, limit = (match["algorithm"] or "").partition("@")
        algorithm, limit, parameters = RENAMED.get(algorithm, algorithm), at + limit, match["params"] or ""
        text = ":".join(part for part in ("tessera", match["backend"], algorithm + limit, parameters) if part)
        return Subject(text, "tessera", match["backend"], algorithm, limit + parameters)
    kind, _, name = text.partition(":")
    return Subject(text, kind, name=name) if kind in ("peer", "ceiling") and name else None


def strip_suffixes(name: str) -> str:
    while (stripped := _SUFFIX.sub("", name)) != name:
        name = stripped
    return name


def _parse_name(name: str) -> tuple[str, str, str, str, Subject] | None:
    parts = strip_suffixes(name).split("/", 4)
    if len(parts) != 5 or parts[0] not in OPS or not all(parts[:4]):
        return None
    subject = parse_subject(parts[4])
    return (parts[0], parts[1], parts[2], parts[3], subject) if subject else None


def number(value: Any) -> float | None:
    """A finite float, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def _seconds(entry: dict[str, Any]) -> float | None:
    time = number(entry.get("real_time"))
    return None if time is None else time * SECONDS.get(entry.get("time_unit", "ns"), 1e-9)


def _median(entries: list[dict[str, Any]], get: Callable[[dict[str, Any]], float | None]) -> float | None:
    values = [value for entry in entries if (value := get(entry)) is not None]
    return statistics.median(values) if values else None


def _sample_cv(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < 2 or not (mean := statistics.fmean(known)):
        return None
    return statistics.stdev(known) / abs(mean)


def _spread(runs: list[dict[str, Any]], aggregates: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Coefficients of variation: from the repetitions themselves, else from Google Benchmark's aggregates."""
    found: dict[str, float | None] = {}
    for key, field_name in (("time", "real_time"), *((counter, counter) for counter in COUNTERS[:3])):
        get = _seconds if key == "time" else (lambda entry, name=field_name: number(entry.get(name)))
        found[key] = _sample_cv([get(run) for run in runs])
        if found[key] is None and "cv" in aggregates:
            found[key] = number(aggregates["cv"].get(field_name))
        if found[key] is None and {"mean", "stddev"} <= aggregates.keys():
            mean, deviation = get(aggregates["mean"]), get(aggregates["stddev"])
            found[key] = deviation / mean if mean and deviation is not None else None
    if found["time"] is None and len(runs) == 1:
        found["time"] = number(runs[0].get("spread"))
    return {key: value for key, value in found.items() if value is not None}


def _passes(entries: list[dict[str, Any]]) -> dict[str, list[float]]:
    """The medians of each pass, of times as speeds."""
    medians = entries[0].get("passes") if len(entries) == 1 else None
    if not isinstance(medians, dict):
        return {}
    known = {
        key: [number(value) or 0.0 for value in values] for key, values in medians.items() if isinstance(values, list)
    }
    known = {key: values for key, values in known.items() if len(values) > 1 and min(values) > 0}
    return {"speed" if key == "real_time" else key: [1 / value for value in values] if key == "real_time" else values
            for key, values in known.items()}


def _error(entries: list[dict[str, Any]]) -> str:
    for entry in entries:
        if entry.get("error_occurred") or entry.get("skipped"):
            return str(entry.get("error_message") or entry.get("skip_message") or "no reason given")
    return ""


def _row(name: tuple[str, str, str, str, Subject], entries: list[dict[str, Any]]) -> Row:
    place = str(entries[0].get("place", ""))
    if error := _error(entries):
        return Row(*name, error=error, place=place)
    runs = [entry for entry in entries if entry.get("run_type", "iteration") != "aggregate"]
    aggregates = {str(entry.get("aggregate_name")): entry for entry in entries if entry.get("run_type") == "aggregate"}
    middle = next(([aggregates[kind]] for kind in ("median", "mean") if kind in aggregates), runs)
    seconds = _median(middle, _seconds)
    if not seconds:
        return Row(*name, error="no time in the file", place=place)
    counters = {key: _median(middle, lambda entry, key=key: number(entry.get(key))) for key in COUNTERS}
    figures = {key: value for key in DISTRIBUTED_FIGURES if (value := number(middle[0].get(key))) is not None}
    errors = [value for run in runs if (value := number(run.get("max_error"))) is not None]
    counters["max_error"] = max(errors, default=counters["max_error"])
    labels = [str(entry["label"]) for entry in (*middle, *runs) if entry.get("label")]
    repetitions = max(len(runs), int(number(middle[0].get("repetitions")) or 1))
    automatic = any(number(entry.get("automatic")) for entry in middle)
    ends = [_seconds({**middle[0], "real_time": middle[0].get(key)}) for key in ("low", "high")]
    if name[0] == "ceiling" and "GB/s" in labels:
        counters |= {"traffic": counters["rate"], "rate": None}
    return Row(*name, seconds=seconds, **counters, binds=labels[0] if labels else "", automatic=automatic, place=place,
               spread=_spread(runs, aggregates) if repetitions > 1 or aggregates else {}, repetitions=repetitions,
               passes=_passes(middle), figures=figures, interval=tuple(ends) if all(ends) else None)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultError(f"{path}: no such file") from None
    except OSError as error:
        raise ResultError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ResultError(f"{path}: is not JSON: not even text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise ResultError(f"{path}: is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), list):
        raise ResultError(f'{path}: is not a benchmark file: it has no list "benchmarks"')
    if not isinstance(document.get("context"), dict):
        raise ResultError(f'{path}: is not a benchmark file: it has no object "context"')
    return document


def _placed(rows: list[Row]) -> list[Row]:
    """Tells the rows of several places apart, by what they say. Rows of older files do not: there a backend with
    ceilings of its own is a place, the others share the host, and a peer follows in the file the algorithms that it
    was measured with."""
    if all(row.place for row in rows):
        return rows if len({row.place for row in rows}) > 1 else [replace(row, place="") for row in rows]
    places = {row.subject.name for row in rows if row.op == "ceiling"}
    if len(places) < 2:
        return [replace(row, place="") for row in rows]
    latest: dict[tuple[str, ...], str] = {}
    found = []
    for row in rows:
        if row.op == "ceiling":
            place = row.subject.name
        elif row.subject.ours:
            place = latest[row.key[:4]] = row.subject.backend if row.subject.backend in places else "host"
        else:
            place = latest.get(row.key[:4], "")
        found.append(replace(row, place=place))
    return found


def _left_out(document: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in document.get("left_out") or []:
        if isinstance(entry, dict):
            found.setdefault(str(entry.get("reason", "no reason given")), []).append(
                strip_suffixes(str(entry.get("name")))
            )
    return found


def load(path: str | Path) -> Result:
    """Reads one file. Throws ResultError when it is missing, malformed or holds none of our rows."""
    path = Path(path)
    document = _read(path)
    names: dict[tuple[str, ...], tuple[str, str, str, str, Subject]] = {}
    entries: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    ignored: list[str] = []
    for index, entry in enumerate(document["benchmarks"]):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise ResultError(f"{path}: benchmarks[{index}] is not an object with a name")
        text = str(entry.get("run_name") or entry["name"].removesuffix(f"_{entry.get('aggregate_name')}"))
        name = _parse_name(text)
        if name is None:
            ignored.append(text)
            continue
        key = (*name[:4], name[4].text)
        names[key] = name
        entries.setdefault(key, []).append(entry)
    if not names:
        raise ResultError(
            f"{path}: holds no row named <op>/<case>/<dtype>/<cache>/<subject> with op one of {', '.join(OPS)}"
        )
    rows = _placed([_row(names[key], entries[key]) for key in names])
    context = {ALIASES.get(key, key): value for key, value in document["context"].items()}
    return Result(path, context, rows, list(dict.fromkeys(ignored)), _left_out(document))


def run(main: Callable[[], int]) -> NoReturn:
    """Runs a program's main; a reader that stops early (`| head`) is no error."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())


def fail(error: Exception) -> NoReturn:
    """Ends a program that cannot read its files, the way all of them do."""
    print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
    sys.exit(2)
