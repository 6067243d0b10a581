# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The rules on lengths and includes can fail: each finds what was put into a source, and nothing else."""

import sys
import tempfile
import unittest
from pathlib import Path

import includes
import lengths
import options
import size
import source_files
import words

CXX = Path("a.cpp")


def body(lines):
    return "".join(f"  call({i});\n" for i in range(lines - 2))


def function_of(lines, head="int f(int a)"):
    return f"{head} {{\n{body(lines)}}}\n"


def found(text, path=CXX):
    return [(line, what.split(", more")[0]) for line, what in lengths.offenders(path, text)]


class Functions(unittest.TestCase):
    def test_the_limit_itself_is_right(self):
        self.assertEqual(found(function_of(40)), [])
        self.assertEqual(found(function_of(41)), [(1, "a function of 41 lines")])

    def test_every_kind_of_function(self):
        heads = ["void f()", "template <class T, int N = 3>\nauto g(T x) -> std::vector<T>",
                 "int A::f() const noexcept",
                 "A::A(int a)\n    : a_{a}, b_(a)", "bool operator==(const A& a)", 'TEST_CASE("a name; {", "[x]")',
                 "static std::map<int, int> f(int a = g({1}))", "requires std::integral<T> T f(T a)",
                 "const Table kTable = [](int a)", "void f(Options options = {})", 'extern "C" int f(void)']
        for head in heads:
            text = "\n\n" + function_of(41 - head.count("\n"), head)
            self.assertEqual(found(text), [(3, "a function of 41 lines")], head)

    def test_functions_of_classes_and_tables(self):
        member = function_of(41, "  void f() const override")
        self.assertEqual(found("namespace a {\nstruct B : C {\n public:\n" + member + "};\n}\n"),
                         [(4, "a function of 41 lines")])
        self.assertEqual(found("template <class T>\n  requires R<T>\nclass B {\n" + member + "};\n"),
                         [(4, "a function of 41 lines")])
        table = "const Entry kTable{{\"a\",\n" + function_of(41, "[](int a)") + "}, 3};\n"
        self.assertEqual(found(table), [(2, "a function of 41 lines")])

    def test_what_is_no_function(self):
        for head in ["namespace a", "class A : public B<int(int)>", "struct A", "enum class E : int", "union U",
                     "constexpr int kList[] =", "const std::array<int, size(3)> kList", 'extern "C"']:
            self.assertEqual(found(f"{head} {{\n" + "  1,\n" * 50 + "};\n"), [], head)

    def test_two_functions_are_not_one(self):
        self.assertEqual(found(function_of(30) + function_of(30)), [])
        self.assertEqual(found(function_of(30) + function_of(41)), [(31, "a function of 41 lines")])

    def test_braces_that_are_text(self):
        text = function_of(20).replace("call(3);", "call(\"}\", '}', R\"x(})\" } )x\", 1'000, /* } */ 2);  // }")
        self.assertEqual(found(text.replace("call(5);", "#define X }") + function_of(30)), [])

    def test_kernels_may_be_long(self):
        self.assertEqual(found(function_of(60, "__global__ void f()"), Path("a.cu")), [])
        self.assertEqual(found(function_of(60), Path("a.cu")), [(1, "a function of 60 lines")])

    def test_python(self):
        long_one = "def f():\n" + "    pass\n" * 40
        self.assertEqual(found("x = 1\n" + long_one, Path("a.py")), [(2, "a function of 41 lines")])


class FilesAndLines(unittest.TestCase):
    def test_files(self):
        self.assertEqual(found("int a;\n" * 400), [])
        self.assertEqual(found("int a;\n" * 401), [(401, "a file of 401 lines")])
        self.assertEqual(found("int a;\n" * 500, Path("a.cuh")), [])
        self.assertEqual(found("int a;\n" * 501, Path("a.cuh")), [(501, "a file of 501 lines")])

    def test_lines(self):
        self.assertEqual(found("// " + "x" * 117), [])
        self.assertEqual(found("\n// " + "x" * 118), [(2, "a line of 121 characters")])
        self.assertEqual(found("# " + "x" * 120, Path("CMakeLists.txt")), [(1, "a line of 122 characters")])


class Includes(unittest.TestCase):
    def cycle(self, **texts):
        graph = includes.graph_of({Path(name.replace("__", "/") + ".hpp"): text for name, text in texts.items()})
        return [(str(path), line, str(target)) for path, line, target in includes.find_cycle(graph)]

    def test_no_cycle(self):
        self.assertEqual(self.cycle(a='#include "b.hpp"\n#include "c.hpp"', b='#include "c.hpp"', c="#include <map>"),
                         [])

    def test_a_cycle_is_found(self):
        self.assertEqual(self.cycle(a='#include "b.hpp"', b='\n#include "c.hpp"', c='#include "b.hpp"'),
                         [("b.hpp", 2, "c.hpp"), ("c.hpp", 1, "b.hpp")])
        self.assertEqual(self.cycle(a='#include "a.hpp"'), [("a.hpp", 1, "a.hpp")])

    def test_names_of_other_folders(self):
        self.assertEqual(self.cycle(include__t__a='#include <t/b.hpp>', include__t__b='# include "../t/a.hpp"'),
                         [("include/t/a.hpp", 1, "include/t/b.hpp"), ("include/t/b.hpp", 1, "include/t/a.hpp")])
        # Of two that end alike the nearer one is meant.
        self.assertEqual(self.cycle(lib__x__a='#include "b.hpp"', lib__b="", perf__b='#include "x/a.hpp"'), [])


class Options(unittest.TestCase):
    FILES = {"a.cmake": "option(TESSERA_ONE \"one\" ON)\ntessera_auto_option(TESSERA_AUTO \"\" OFF)\n"
                        "  set(TESSERA_${x}_TWO 1 CACHE\n    STRING \"\")\nset(TESSERA_NOT 1)"}
    PAGE = "| `TESSERA_ONE` | `ON` | |\n| `TESSERA_AUTO` | | |\n| `TESSERA_A_TWO` | `1` | |\n"

    def found(self, page=PAGE, cache=""):
        return [breach.split(" ")[0 if breach.startswith("TESSERA") else 1]
                for breach in options.breaches(self.FILES, cache, page)]

    def test_what_is_not_listed(self):
        self.assertEqual(self.found(), [])
        self.assertEqual(self.found(self.PAGE.replace("TESSERA_ONE", "OTHER")), ["TESSERA_ONE"])
        self.assertEqual(self.found(self.PAGE.replace("TESSERA_AUTO", "OTHER")), ["TESSERA_AUTO"])
        self.assertEqual(self.found(self.PAGE.replace("TESSERA_A_TWO", "OTHER")), ["TESSERA_${x}_TWO"])

    def test_what_is_in_the_cache_alone(self):
        cache = ("TESSERA_B_TWO:STRING=1\nTESSERA_I:INTERNAL=1\n"
                 "TESSERA_FOUND:FILEPATH=x\nTESSERA_FOUND-ADVANCED:INTERNAL=1\n")
        self.assertEqual(self.found(cache=cache), ["TESSERA_B_TWO"])

    def test_what_is_only_listed(self):
        self.assertEqual(self.found(self.PAGE + "| `TESSERA_GONE` | | |\n"), ["TESSERA_GONE"])


class Sources(unittest.TestCase):
    def test_blanked_text_keeps_its_place(self):
        text = 'a("x{") /* {\n{ */ {  // }\n#define A { \\\n {\n\'{\' 1\'000'
        code = source_files.code_of(text)
        self.assertEqual((len(code), code.count("\n")), (len(text), text.count("\n")))
        self.assertEqual(code.split(), ["a(", ")", "{", "1'000"])



class Sizes(unittest.TestCase):
    PAGE = "| folder | lines |\n|---|--:|\n| `lib` | 1,000 | |\n| `lib/cli` | 100 | tables |\n"

    def test_budgets(self):
        allowed = size.budgets(self.PAGE)
        self.assertEqual(allowed, {"lib": 1000, "lib/cli": 100})
        self.assertEqual(size.offenders({"lib": 1000, "lib/cli": 80}, [], allowed), [])
        self.assertIn("lib: 1001 lines, more", size.offenders({"lib": 1001, "lib/cli": 90}, [], allowed)[0])
        self.assertIn("lower it", size.offenders({"lib": 800, "lib/cli": 90}, [], allowed)[0])
        self.assertIn("a.cpp: no folder", size.offenders({"lib": 1000, "lib/cli": 90}, ["a.cpp"], allowed)[0])

    def test_a_file_counts_for_the_nearest_folder(self):
        with tempfile.TemporaryDirectory() as root:
            for name, lines in (("lib/a.cpp", 3), ("lib/cli/b/c.hpp", 5), ("perf/d.py", 7), ("lib/e.md", 11)):
                (Path(root) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(root) / name).write_text("\n" * lines)
            self.assertEqual(size.counts(root, ["lib", "lib/cli"]), ({"lib": 3, "lib/cli": 5}, [Path("perf/d.py")]))


class Words(unittest.TestCase):
    def test_words_are_found_in_names_as_well(self):
        page = "| **no** | x | y |\n## Glossary\n| word | what | not |\n|---|---|---|\n| **pool** | a | herd, flock |\n"
        glossary = words.glossary(page + "| **tap** | b | |\n")
        self.assertEqual(glossary, {"pool": ["herd", "flock"], "tap": []})
        text = "a herd of\nint HerdSize, of_herd, kHerd; shepherd, herder\nFlock"
        found = [(line, what) for line, what, _ in words.offenders(text, {"herd": "pool", "flock": "pool"})]
        self.assertEqual(found, [(1, "herd"), (2, "Herd"), (2, "Herd"), (2, "herd"), (3, "Flock")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
