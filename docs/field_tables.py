#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/reference.md from the public headers: entry points, fields of structs, methods of classes.

The page marks the place of each table:

    <!-- generated: GemmDesc, by docs/field_tables.py -->
    ...
    <!-- end -->

The meaning in a row is the first sentence of the docstring. Without arguments the page is written. With --check
nothing is, and a stale page is an error. Needs the standard library alone.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parent.parent
LONGEST_LINE = 119  # as in test/rules/pages.py
# What programs begin with, by header. Functions have parentheses.
ENTRIES = {
    "gemm.hpp": ("gemm()", "GemmPlan"),
    "gemm_desc.hpp": ("GemmDesc",),
    "stencil.hpp": ("stencil()", "StencilPlan", "StencilDesc", "Boundaries"),
    "taps.hpp": ("Taps", "taps::identity()", "taps::laplacian()", "taps::derivative()", "taps::box()",
                 "taps::gaussian()", "taps::from_dense()"),
    "system.hpp": ("StencilSystem",),
    "expression.hpp": ("SystemField", "Expression"),
    "system_plan.hpp": ("SystemPlan",),
    "plan.hpp": ("Plan", "PlanOptions"),
    "context.hpp": ("Context", "ContextOptions"),
    "buffer.hpp": ("Buffer",),
    "prepare.hpp": ("prepare()",),
    "prepared.hpp": ("PreparedOperand",),
    "backends.hpp": ("backends()",),
    "plan_cache.hpp": ("plan_cache::limit()",),
    "wisdom.hpp": ("wisdom::load()", "wisdom::save()"),
    "error.hpp": ("Error",),
    "distributed.hpp": ("Comm", "DistributedStencilPlan", "DistributedSystemPlan", "DistributedGemmPlan"),
}
STRUCTS = {"GemmDesc": "gemm_desc.hpp", "StencilDesc": "stencil.hpp", "PlanOptions": "plan.hpp",
           "FieldOptions": "system.hpp", "UpdateOptions": "system.hpp", "SeriesPoints": "system.hpp",
           "SystemSeries": "system_plan.hpp"}
CLASSES = {"StencilSystem": "system.hpp", "SystemPlan": "system_plan.hpp", "Plan": "plan.hpp"}
_BLOCK = re.compile(r"(?P<mark><!-- generated: (?P<name>[\w-]+), by docs/field_tables\.py -->\n).*?"
                    r"(?P<end><!-- end -->)", re.S)
_FIELD = re.compile(r"  (?P<type>[A-Za-z][\w:<>, *]*?) (?P<name>\w+)(?: = (?P<default>[^;=]+))?; *"
                    r"(?:///< (?P<doc>.*))?$")
_ENUM = re.compile(r"^enum class (\w+) [^{;]*\{(.*?)\};", re.S | re.M)


class Fault(Exception):
    """What keeps a table from being made; the message says where."""


def headers() -> Path:
    return ROOT / "include/tessera"


def first_sentence(doc: str) -> str:
    """As a cell of a table: with a capital, unless it begins with code, and without its full stop."""
    text = re.match(r"(.*?)(?:\.(?= |$)|$)", " ".join(doc.split()))[1].replace("|", "\\|")
    return text[:1].upper() + text[1:] if re.match(r"[a-z]+[ :]", text) else text


def row(*cells: str) -> str:
    line = f"| {' | '.join(cells)} |"
    if len(line) > LONGEST_LINE:
        raise Fault(f"{len(line)} characters, at most {LONGEST_LINE}: shorten the docstring's first sentence: {line}")
    return line


def body(header: str, name: str) -> list[str]:
    """The lines of a struct or class between its braces."""
    found = re.search(rf"^(?:struct|class) {name}\b[^;{{]*\{{\n(.*?)^\}};$", (headers() / header).read_text("utf-8"),
                      re.S | re.M)
    if not found:
        raise Fault(f"{header} has no struct or class {name}")
    return found[1].splitlines()


def fields(name: str) -> str:
    """A table of a struct's fields, in their order."""
    header, above, found = STRUCTS[name], "", []
    for line in body(header, name):
        if words := re.match(r"  ///(?!<)(.*)", line):
            above += words[1]
        elif (words := re.match(r" +///< (.*)", line)) and found:  # goes on from the line before
            found[-1]["doc"] += " " + words[1]
        elif field := _FIELD.match(line):
            found.append(field.groupdict() | {"doc": field["doc"] or above})
            above = ""
        else:
            raise Fault(f"{header}: {name}: not one field in one line: {line.strip()}")
    rows = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for field in found:
        if not field["doc"]:
            raise Fault(f"{header}: {name}::{field['name']} has no docstring")
        default = f"`{field['default'].split('::')[-1]}`" if field["default"] else ""  # f32, not DType::f32
        rows.append(row(f"`.{field['name']}`", f"`{field['type'].replace('std::', '')}`", default,
                        first_sentence(field["doc"])))
    return "\n".join(rows)


def public_members(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The declarations and docstrings of a class's public methods."""
    public, doc, declaration, depth = False, "", "", 0
    for line in lines:
        text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line.strip())
        if not declaration and (access := re.fullmatch(r"(public|protected|private):", text)):
            public = access[1] == "public"
        elif not declaration and (not text or text.startswith("///")):
            doc = doc + line.strip()[3:] if text else ""
        else:
            declaration += " " + text
            depth += text.count("{") - text.count("}")
            if depth == 0 and text.endswith((";", "}")):
                if public and not re.match(r" (class|struct|friend|using) ", declaration):
                    yield declaration.strip(), doc
                doc, declaration = "", ""


def signature(declaration: str) -> tuple[str, str, str]:
    """What a method returns, its name, and its parameters with their defaults, but without their types."""
    found = re.match(r"(?:explicit |static )*(?P<type>.*?)(?P<name>\w+)\(", declaration)
    if not found:
        raise Fault(f"not the declaration of a method: {declaration}")
    parts, depth = [""], 1
    for letter in declaration[found.end():]:
        depth += (letter in "(<{") - (letter in ")>}")
        if depth == 0:
            break
        if letter == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += letter
    names = [re.sub(r"^.*?(\w+(?: = .*)?)$", r"\1", part.strip()) for part in parts]
    returned = found["type"].strip()
    return "" if returned == "void" else returned, found["name"], re.sub(r"\w+::", "", ", ".join(names))


def methods(name: str) -> str:
    """A table of a class's public methods."""
    header, rows = CLASSES[name], ["| call | returns | meaning |", "|---|---|---|"]
    for declaration, doc in public_members(body(header, name)):
        returned, method, parameters = signature(declaration)
        if not doc:
            raise Fault(f"{header}: {name}::{method} has no docstring")
        returned = f"`{returned.replace('std::', '')}`" if returned else ""
        rows.append(row(f"`{method}({parameters})`", returned, first_sentence(doc)))
    return "\n".join(rows)


def enumerations() -> str:
    """A table of the enumerations that the structs' fields have."""
    values = {}
    for path in sorted(headers().glob("*.hpp")):
        for name, content in _ENUM.findall(path.read_text("utf-8")):
            values[name] = ", ".join(f"`{value}`" for value in re.findall(r"(\w+) =", re.sub(r"//.*", "", content)))
    used = dict.fromkeys(word for name, header in STRUCTS.items() for line in body(header, name)
                         for word in re.findall(r"\w+", line.partition("///")[0]) if word in values)
    return "\n".join(["| type | values |", "|---|---|"] + [row(f"`{name}`", values[name]) for name in used])


def entry_points() -> str:
    """A list of them, with a sentence each. The links lead to the headers; docs/build_site turns them to the API's
    pages."""
    lines = []
    for header, names in ENTRIES.items():
        text = (headers() / header).read_text("utf-8")
        for name in names:
            last = name.split("::")[-1]
            declared = rf"[^/\n]*\b{re.escape(last[:-1])}" if last.endswith("()") else rf"(?:class|struct) {last}\b"
            found = re.search(rf"((?:^///.*\n)+)(?:^(?:template|requires).*\n)*^{declared}", text, re.M)
            if not found:
                raise Fault(f"{header} has no {name} behind a docstring")
            doc = first_sentence(re.sub(r"^///(?:    .*)?", "", found[1], flags=re.M))  # without code
            lines += textwrap.wrap(f"- [`{name}`](../include/tessera/{header}): {doc.rstrip(':')}.", LONGEST_LINE,
                                   subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


OTHERS = {"entry-points": entry_points, "enumerations": enumerations}


def table(name: str) -> str:
    if name in STRUCTS:
        return fields(name)
    if name in CLASSES:
        return methods(name)
    if name not in OTHERS:
        raise Fault(f"there is no table '{name}'; there are {', '.join([*STRUCTS, *CLASSES, *OTHERS])}")
    return OTHERS[name]()


def filled(content: str) -> str:
    """The page with its tables made anew."""
    new, count = _BLOCK.subn(lambda found: f"{found['mark']}{table(found['name'])}\n{found['end']}", content)
    if count == 0 or count != content.count("<!-- generated: "):
        raise Fault("a mark <!-- generated: NAME, by docs/field_tables.py --> is malformed or lacks its end, or there "
                    "is none")
    return new


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where the page is stale")
    options = parser.parse_args()
    page = ROOT / "docs/reference.md"
    content = page.read_text("utf-8")
    try:
        new = filled(content)
    except Fault as fault:
        print(f"field_tables: {fault}", file=sys.stderr)
        return 1
    if new == content:
        return 0
    if options.check:
        print("docs/reference.md is not what the headers say: run docs/field_tables.py", file=sys.stderr)
        return 1
    page.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
