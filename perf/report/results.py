# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the JSON of tessera-perf into rows, one per measured name.

A name is `<op>/<case>/<dtype>/<cache>/<subject>`, the subject `tessera:<backend>[:<algorithm>]`, `peer:<name>` or
`ceiling:<place>` (the case is the ceiling's name then). `<algorithm>@64MiB` is the algorithm with a limit of its
workspace. The place is "host" or the kind of device, "cuda". Values are medians over the repetitions;
`spread` is their coefficient of variation (a fraction), `passes` has the medians of each pass where there were several.
"""

from __future__ import annotations

import json
import math
import re
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, NoReturn

from model import DISTRIBUTED_FIGURES, OPS, Result, Row, Subject

# Context keys under the names that they have here.
ALIASES = {"cpu_model": "cpu", "git_commit": "commit"}

_TESSERA = re.compile(r"tessera:(?P<backend>[^:]+(?::\d+)?)(?::(?P<algorithm>[^:@]+)(?P<limit>@.+)?)?$")


class ResultError(Exception):
    """A file that cannot be read as results; the message names the file and the reason."""


def parse_subject(text: str) -> Subject | None:
    if match := _TESSERA.match(text):
        return Subject(text, "tessera", match["backend"], match["algorithm"] or "", match["limit"] or "")
    kind, _, name = text.partition(":")
    return Subject(text, kind, name=name) if kind in ("peer", "ceiling") and name else None


def _parse_name(name: str) -> tuple[str, str, str, str, Subject] | None:
    parts = name.split("/", 4)
    if len(parts) != 5 or parts[0] not in OPS or not all(parts[:4]):
        return None
    subject = parse_subject(parts[4])
    return (parts[0], parts[1], parts[2], parts[3], subject) if subject else None


def number(value: Any) -> float | None:
    """A finite float, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def _seconds(entry: dict[str, Any], key: str) -> float | None:
    """Files have microseconds."""
    time = number(entry.get(key))
    return None if time is None else time * 1e-6


def _passes(entry: dict[str, Any]) -> dict[str, list[float]]:
    """The medians of each pass, of times as speeds."""
    medians = entry.get("passes")
    lists = medians.items() if isinstance(medians, dict) else ()
    known = {key: [number(value) or 0.0 for value in values] for key, values in lists if isinstance(values, list)}
    known = {key: values for key, values in known.items() if len(values) > 1 and min(values) > 0}
    if times := known.pop("real_time", None):
        known["speed"] = [1 / value for value in times]
    return known


def _row(name: tuple[str, str, str, str, Subject], entry: dict[str, Any]) -> Row:
    place, seconds = str(entry.get("place", "")), _seconds(entry, "real_time")
    if entry.get("error_occurred") or not seconds:
        return Row(*name, error=str(entry.get("error_message") or "no time in the file"), place=place)
    values = {key: number(entry.get(key)) for key in ("rate", "traffic", "ceiling", "max_error", "ulps", "misrounded")}
    label = str(entry.get("label") or "")
    if name[0] == "ceiling" and label == "GB/s":
        values |= {"traffic": values["rate"], "rate": None}
    figures = {key: value for key in DISTRIBUTED_FIGURES if (value := number(entry.get(key))) is not None}
    repetitions = int(number(entry.get("repetitions")) or 1)
    ends = (_seconds(entry, "low"), _seconds(entry, "high"))
    return Row(*name, seconds=seconds, **values, binds=label, automatic=bool(number(entry.get("automatic"))),
               in_parts=bool(number(entry.get("in_parts"))), place=place, family=str(entry.get("family", "")),
               figures=figures, repetitions=repetitions, cv=number(entry.get("spread")) if repetitions > 1 else None,
               passes=_passes(entry), interval=ends if all(ends) else None)


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


def _left_out(document: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in document.get("left_out") or []:
        if isinstance(entry, dict):
            found.setdefault(str(entry.get("reason", "no reason given")), []).append(str(entry.get("name")))
    return found


def load(path: str | Path) -> Result:
    """Reads one file. Throws ResultError when it is missing, malformed or has no rows."""
    path = Path(path)
    document = _read(path)
    rows: dict[str, Row] = {}
    for index, entry in enumerate(document["benchmarks"]):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise ResultError(f"{path}: benchmarks[{index}] is not an object with a name")
        if entry.get("run_type") == "aggregate" or entry["name"] in rows:
            raise ResultError(f"{path}: {entry['name']}: a row has one entry, without repetitions and aggregates")
        name = _parse_name(entry["name"])
        if not name:
            raise ResultError(f"{path}: {entry['name']}: a row is named <op>/<case>/<dtype>/<cache>/<subject> with op "
                              f"one of {', '.join(OPS)}")
        rows[entry["name"]] = _row(name, entry)
    if not rows:
        raise ResultError(f"{path}: holds no row")
    found = list(rows.values())
    if len({row.place for row in found}) == 1:  # nothing to tell apart
        found = [replace(row, place="") for row in found]
    context = {ALIASES.get(key, key): value for key, value in document["context"].items()}
    return Result(path, context, found, _left_out(document))


def run(main: Callable[[], int]) -> NoReturn:
    """Runs a program's main; a reader that stops early (`| head`) is no error."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())


def fail(error: Exception) -> NoReturn:
    """Ends a program that cannot read its files, the way all of them do."""
    print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
    sys.exit(2)
