# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""includes.py REPOSITORY: no file includes itself by way of others. Prints each cycle, a line for each step."""

import re
import sys
from pathlib import Path

import source_files

INCLUDE = re.compile(r"""^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]""", re.MULTILINE)


def resolve(path, name, files):
    """The repository's files that `path` may mean by `name`: the one beside it, else the nearest that end so."""
    beside = Path(*normal((path.parent / name).parts))
    if beside in files:
        return [beside]
    wanted = normal(Path(name).parts)
    found = [(shared(path.parts, file.parts), file) for file in files if file.parts[-len(wanted):] == wanted]
    most = max((count for count, _ in found), default=0)
    return [file for count, file in found if count == most]


def shared(a, b):
    """How many parts two paths begin with in common."""
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def normal(parts):
    """The parts of a path without "..", as far as they go."""
    result = []
    for part in parts:
        if part == ".." and result:
            result.pop()
        elif part != "..":
            result.append(part)
    return tuple(result)


def graph_of(texts):
    """Of each file the (line, file) pairs that it includes. `texts`: the files and what they hold."""
    graph = {}
    for path, text in texts.items():
        graph[path] = [(text.count("\n", 0, found.start()) + 1, target)
                       for found in INCLUDE.finditer(text) for target in resolve(path, found.group(1), texts)]
    return graph


def find_cycle(graph):
    """The steps (file, line, included file) of one cycle, or none."""
    finished, trail = set(), []

    def visit(path):
        for line, target in graph[path]:
            if target in finished:
                continue
            trail.append((path, line, target))
            begin = [step[0] for step in trail].index(target) if target in [step[0] for step in trail] else None
            if begin is not None:
                return trail[begin:]
            if cycle := visit(target):
                return cycle
            trail.pop()
        finished.add(path)
        return []

    for path in graph:
        if path not in finished and (cycle := visit(path)):
            return cycle
    return []


def main(root):
    files = [path for path in source_files.find(root) if path.suffix in source_files.CXX]
    if len(files) < 100:
        sys.exit(f"FAILED: only {len(files)} source files in {root}")
    graph = graph_of({path: (Path(root) / path).read_text() for path in files})
    edges = sum(len(targets) for targets in graph.values())
    cycle = find_cycle(graph)
    for path, line, target in cycle:
        print(f"{path}:{line}: includes {target}")
    print(f"{len(files)} files, {edges} includes of each other, {'a cycle' if cycle else 'no cycle'}")
    return 1 if cycle or edges < len(files) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
