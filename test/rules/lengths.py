# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""lengths.py REPOSITORY: lines, functions and files must not be too long. Prints every offender as file:line.

A function begins with its declaration and ends with its closing brace; what is declared inside counts as a part of it.
C++ is read by matching braces, which is enough for sources that clang-format has laid out."""

import ast
import re
import sys
from pathlib import Path

import source_files

LONGEST_LINE = 120
LONGEST_FUNCTION = 40  # of host code: a kernel may be longer
LONGEST_FILE = 400
LONGEST_DEVICE_FILE = 500

DEVICE_FUNCTION = re.compile(r"\b__(?:global|device)__\b")
SCOPE = re.compile(
    r"(?:(?:typedef|static|inline|constexpr|const|extern)\s+)*(?:class|struct|union|enum|namespace)\b|extern\s*$")
LAMBDA = re.compile(
    r"(?:^|[^\w\])\s])\s*\[[^\[\]]*\]\s*(?:<[^{}]*>)?\s*(?:\([^{}]*\))?\s*"
    r"(?:mutable\s*|noexcept\s*)*(?:->[^{};()]+)?$")
INITIALIZERS = re.compile(r"\(\)\s*(?:noexcept\s*)?:(?!:)")  # of a constructor
QUALIFIER = re.compile(r"\b(?:const|noexcept|override|final|mutable)$")
FUNCTION = re.compile(  # its parameters, qualifiers, and the type of its result or a constructor's initializers
    r"\(\)\s*(?:(?:const|noexcept|override|final|mutable|try|&|&&)\b\s*(?:\(\)\s*)?)*(?:->.*|:(?!:).*)?$", re.DOTALL)


def without_brackets(text, opening, closing):
    """The text with what stands between the brackets left out."""
    result, depth = [], 0
    for character in text:
        depth -= character == closing and depth > 0
        if depth == 0:
            result.append(character)
        depth += character == opening
    return "".join(result)


def without_template(head):
    while found := re.match(r"\s*template\s*<", head):
        depth, at = 1, found.end()
        while depth > 0 and at < len(head):
            depth += (head[at] == "<") - (head[at] == ">")
            at += 1
        head = head[at:]
    return head


def kind_of(head, nested):
    """What the brace behind `head` opens: a "scope", a "function" or a "value". `nested`: in parentheses or a value."""
    if LAMBDA.search(head):
        return "function"
    if nested:
        return "value"
    head = re.sub(r"^\s*(?:(?:public|private|protected)\s*:\s*)+", "", head)
    flat = without_brackets(without_template(head), "(", ")").strip()
    if SCOPE.match(flat) or re.match(r"requires\b.*\b(?:class|struct)\s+\w+$", flat, re.DOTALL):
        return "scope"
    if not FUNCTION.search(flat) or "=" in re.sub(r"\boperator\s*[^\s(]+", "", flat):
        return "value"
    if INITIALIZERS.search(flat) and re.search(r"[\w>]$", flat) and not QUALIFIER.search(flat):
        return "value"  # of a member
    return "function"


def cxx_functions(text):
    """(first line, last line, head) of each function that is not inside another one."""
    code = source_files.code_of(text)
    # Of each open brace: what it opened, where the declaration before it began, the parentheses around it, and where a
    # function begins.
    open_braces, head_start, depth, functions = [], 0, 0, []
    inside = 0  # braces since a function began
    for at, character in enumerate(code):
        if inside > 0:
            inside += (character == "{") - (character == "}")
            if inside == 0:
                functions.append((open_braces[-1][3], at))
        if inside == 0 and character == "}" and open_braces:
            kind, start, depth, _ = open_braces.pop()
            goes_on = kind == "value" or depth > 0 or inside_value(open_braces)
            head_start = start if goes_on else at + 1
        elif inside > 0:
            continue
        elif character == "{":
            nested = depth > 0 or inside_value(open_braces)
            head = code[head_start:at].rstrip()
            kind = kind_of(head, nested)
            capture = LAMBDA.search(head)
            open_braces.append((kind, head_start, depth, head_start + (capture.start() + 1 if capture else 0)))
            inside, depth, head_start = int(kind == "function"), 0, at + 1
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character == ";" and depth == 0:
            head_start = at + 1
    return [located(code, start, end) for start, end in functions]


def inside_value(open_braces):
    return bool(open_braces) and open_braces[-1][0] == "value"


def located(code, start, end):
    head = code[start:code.index("{", start)]
    own = re.match(r"\s*(?:(?:public|private|protected)\s*:\s*)*", head).end()
    return code.count("\n", 0, start + own) + 1, code.count("\n", 0, end) + 1, head


def python_functions(text):
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [(node.lineno, node.end_lineno, node.name) for node in nodes]


def long_functions(path, text):
    functions = python_functions(text) if path.suffix == ".py" else []
    if path.suffix in source_files.CXX:
        functions = [f for f in cxx_functions(text) if not DEVICE_FUNCTION.search(f[2])]
    return [(first, f"a function of {last - first + 1} lines, more than {LONGEST_FUNCTION}")
            for first, last, _ in functions if last - first + 1 > LONGEST_FUNCTION]


def offenders(path, text):
    """(line, what is wrong) for everything in a file that is too long."""
    lines = text.splitlines()
    found = [(number, f"a line of {len(line)} characters, more than {LONGEST_LINE}")
             for number, line in enumerate(lines, 1) if len(line) > LONGEST_LINE]
    found += long_functions(path, text)
    most = LONGEST_DEVICE_FILE if path.suffix in source_files.DEVICE else LONGEST_FILE
    if len(lines) > most:
        found.append((most + 1, f"a file of {len(lines)} lines, more than {most}"))
    return sorted(found)


def main(root):
    files = source_files.find(root)
    if len(files) < 100:
        sys.exit(f"FAILED: only {len(files)} source files in {root}")
    broken = 0
    for path in files:
        for line, what in offenders(path, (Path(root) / path).read_text()):
            print(f"{path}:{line}: {what}")
            broken += 1
    print(f"{len(files)} files, {broken} too long")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
