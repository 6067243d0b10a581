// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Runs that must fail: with the right exit code, a message that helps, and no trace in the file system.

#include "npy_file.hpp"
#include "program.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

using Arguments = std::vector<std::string>;

const std::string kGoodTaps = R"([{"offset": [0, 1], "coefficient": 2}])";

/// A folder with good inputs; a failing run must leave it as it was.
class Workplace {
 public:
  Workplace() {
    write_npy<float>(path("a.npy"), std::vector<float>(6, 1.0f), {2, 3});
    write_npy<float>(path("b.npy"), std::vector<float>(6, 1.0f), {3, 2});
    write_npy<double>(path("double.npy"), std::vector<double>(6, 1.0), {3, 2});
    write_npy<float>(path("vector.npy"), {1, 2, 3}, {3});
    write_npy<float>(path("deep.npy"), {1}, {1, 1, 1, 1});
    write_file(path("taps.json"), kGoodTaps);
    write_file(path("old.npy"), "the old output");
  }
  std::string path(const std::string& name) const { return folder_.path() / name; }

  /// Runs with "@" before a name replaced by the folder.
  Outcome run(Arguments arguments) const {
    for (std::string& argument : arguments)
      if (argument.starts_with('@')) argument = path(argument.substr(1));
    return tessera_run(arguments);
  }

  void check_fails(Arguments arguments, int exit_code, const std::vector<std::string>& message) const {
    CAPTURE(arguments);
    for (const std::string output : {"@old.npy", "@new.npy"}) {
      const std::vector<std::string> before = list(folder_.path());
      Arguments with_output = arguments;
      with_output.insert(with_output.end(), {"-o", output});
      const Outcome outcome = run(with_output);
      CHECK(outcome.exit_code == exit_code);
      CHECK(outcome.output == "");
      CHECK_THAT(outcome.errors, StartsWith("tessera: error: "));
      for (const std::string& part : message) CHECK_THAT(outcome.errors, ContainsSubstring(part));
      CHECK(list(folder_.path()) == before);
      CHECK(read_file(path("old.npy")) == "the old output");
    }
  }

 private:
  TemporaryDirectory folder_;
};

std::string floats(int count) { return std::string(std::size_t(count) * sizeof(float), '\0'); }

std::string header(const std::string& dictionary) { return npy_header(dictionary); }

struct BadFile {
  std::string bytes;
  std::string message;
};

void check_refused(const std::vector<BadFile>& files) {
  const Workplace w;
  for (const BadFile& file : files) {
    CAPTURE(file.message);
    write_file(w.path("bad.npy"), file.bytes);
    w.check_fails({"gemm", "@a.npy", "@bad.npy"}, 1, {"bad.npy: ", file.message});
    w.check_fails({"stencil", "@bad.npy", "--named", "identity"}, 1, {"bad.npy: ", file.message});
  }
}

}  // namespace

TEST_CASE("files that are not what they should be", "[failures]") {
  const std::string shape_32 = npy_dictionary("<f4", false, {3, 2});
  check_refused({
      {"", "a .npy file"},
      {"\x93NUMP", "a .npy file"},
      {"PK\x03\x04 and so on", "a .npy file"},
      {std::string("\x93NUMPY\x04\0", 8), "version 4.0"},
      {std::string("\x93NUMPY\x01\0", 8), "is cut off within the .npy header"},
      {header(shape_32).substr(0, 60), "is cut off within the .npy header"},
      {std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), "malformed .npy header: it claims 4294967295 bytes"},
      {header(shape_32) + floats(6).substr(1), "is cut off: 3 x 2 <f4 takes 24 bytes behind the header, found 23"},
      {header(shape_32) + floats(6) + "x", "has bytes behind the array"},
      {header(shape_32), "found 0"},
      {header(npy_dictionary("<f4", false, {1LL << 62, 2})), "more than 2^63 bytes"},
      {header(npy_dictionary("<f4", false, {1LL << 40, 1LL << 20})) + floats(6), "is cut off"},
      {header(npy_dictionary("<f4", false, {3, 0})), "has no elements"},
      {header(npy_dictionary("<i4", false, {3, 0})), ""},
      {header(npy_dictionary("<c8", false, {3, 2})) + floats(12),
       "take a part of what is complex, with NumPy array.real, "},
      {header(npy_dictionary("<u3", false, {3, 2})) + floats(6), "'<u3'"},
      {header(npy_dictionary("|i4", false, {3, 2})) + floats(6), "'|i4'"},
      {header(npy_dictionary("", false, {3, 2})) + floats(6), "type ''"},
      {header(npy_dictionary("<f2", false, {3, 2})) + floats(6), "3 x 2 <f2 takes 12 bytes"},
      {header("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (3, 2), }") + floats(6), "has records"},
  });
}

TEST_CASE("headers that are not what they should be", "[failures]") {
  const std::string shape_32 = npy_dictionary("<f4", false, {3, 2});
  check_refused({
      {header(""), "malformed .npy header"},
      {header("{}"), "expected the keys"},
      {header("{'descr': '<f4', 'fortran_order': False, }"), "expected the keys"},
      {header("{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 2), }"), "expected True or False"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': [3, 2], }"), "expected '('"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, -2), }"), "expected an extent"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2.5), }"), "expected ','"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 99999999999999999999), }"), "64 bits"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), 'more': 'x', }"), "key 'more'"},
      {header("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"), "there twice"},
      {header("{'descr': '<f4, 'fortran_order': False, 'shape': (3, 2), }"), "malformed .npy header"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } x"), "text behind"},
      {header(shape_32 + std::string(1, '\0')) + floats(6), "text behind"},
      {header(shape_32.substr(0, 40)), "malformed .npy header"},
  });
}

TEST_CASE("a header cut off at every byte", "[failures]") {
  const Workplace w;
  const std::string whole = read_file(w.path("b.npy"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    write_file(w.path("bad.npy"), whole.substr(0, length));
    CHECK(w.run({"gemm", "@a.npy", "@bad.npy", "-o", "@new.npy"}).exit_code == 1);
  }
}

TEST_CASE("inputs that do not suit each other or the operation", "[failures]") {
  const Workplace w;
  w.check_fails({"gemm", "@a.npy", "@missing.npy"}, 1, {"missing.npy: cannot be read: No such file"});
  w.check_fails({"gemm", "@a.npy", "@."}, 1, {"is not a regular file"});
  w.check_fails({"gemm", "@a.npy", "@a.npy"}, 1, {"a.npy", "op(B) has 2 rows", "op(A) has 3 columns", "--trans-b"});
  w.check_fails({"gemm", "@a.npy", "@b.npy", "--trans-a"}, 1, {"op(A) has 2 columns"});
  w.check_fails({"gemm", "@a.npy", "@double.npy"}, 1, {"double.npy", "<f8", "a.npy", "<f4", "types must be the same"});
  w.check_fails({"gemm", "@a.npy", "@vector.npy"}, 1,
                {"vector.npy", "1 axis (", "expected a matrix", "reshape(-1, 1)"});
  w.check_fails({"gemm", "@deep.npy", "@b.npy"}, 1, {"deep.npy", "4 axes"});
  w.check_fails({"gemm", "@a.npy", "@b.npy", "--c", "@b.npy"}, 1, {"b.npy", "3 x 2", "the product is 2 x 2"});
  w.check_fails({"gemm", "@a.npy", "@b.npy", "--c", "@double.npy"}, 1, {"C0 must have the same type"});
  write_npy<std::int32_t>(w.path("whole.npy"), std::vector<std::int32_t>(6, 1), {3, 2});
  w.check_fails({"gemm", "@a.npy", "@whole.npy"}, 1, {"whole.npy", "'<i4'; expected '<f2'", "astype"});
  w.check_fails({"stencil", "@deep.npy", "--named", "identity"}, 1, {"deep.npy", "4 axes", "1, 2 or 3"});
  w.check_fails({"stencil", "@a.npy", "--named", "laplacian:7"}, 1, {"accuracy = 7", "2, 4, 6 or 8"});
  w.check_fails({"stencil", "@a.npy", "--named", "derivative:2:1:2"}, 1, {"axis = 2"});
  w.check_fails({"stencil", "@a.npy", "--named", "identity", "--boundary", "fixed,nearest,mirror"}, 1, {"3 axes"});
}

TEST_CASE("names that the library does not know", "[failures]") {
  need_backend();
  const Workplace w;
  for (const Arguments& start :
       {Arguments{"gemm", "@a.npy", "@b.npy"}, Arguments{"stencil", "@a.npy", "--named", "identity"}}) {
    Arguments backend = start, algorithm = start;
    backend.insert(backend.end(), {"--backend", "nonsense"});
    algorithm.insert(algorithm.end(), {"--algorithm", "nonsense"});
    w.check_fails(backend, 1, {"nonsense"});
    w.check_fails(algorithm, 1, {"nonsense"});
  }
}

TEST_CASE("taps that cannot be read", "[failures]") {
  const std::vector<std::string> bad = {
      "",
      "[",
      "[] trailing",
      "[]",
      "{}",
      "17",
      "[17]",
      R"([{"offset": [0, 1]}])",
      R"([{"offset": [0, 1], "coefficient": 1, "more": 1}])",
      R"([{"offset": [0], "coefficient": 1}])",
      R"([{"offset": [0, 1, 2], "coefficient": 1}])",
      R"([{"offset": [0, 0.5], "coefficient": 1}])",
      R"([{"offset": [0, "1"], "coefficient": 1}])",
      R"([{"offset": [0, 1e3], "coefficient": 1}])",
      R"([{"offset": [0, 9223372036854775808], "coefficient": 1}])",
      R"([{"offset": [0, -9223372036854775808], "coefficient": 1}])",
      R"([{"offset": 1, "coefficient": 1}])",
      R"([{"offset": [0, 1], "coefficient": "1"}])",
      R"([{"offset": [0, 1], "coefficient": null}])",
      R"([{"offset": [0, 1], "coefficient": 1e999}])",
      R"([{"offset": [0, 1], "coefficient": NaN}])",
  };
  const Workplace w;
  for (const std::string& text : bad) {
    CAPTURE(text);
    write_file(w.path("bad.json"), text);
    w.check_fails({"stencil", "@a.npy", "--taps", "@bad.json"}, 1, {"bad.json: "});
  }
  w.check_fails({"stencil", "@a.npy", "--taps", "@missing.json"}, 1, {"missing.json: cannot be read: No such file"});
}

TEST_CASE("a message about taps tells the place, and shows no byte that is not printable", "[failures]") {
  const Workplace w;
  const auto says = [&](const std::string& text, const std::string& message) {
    write_file(w.path("bad.json"), text);
    w.check_fails({"stencil", "@a.npy", "--taps", "@bad.json"}, 1, {"bad.json: " + message});
    const std::string errors = w.run({"stencil", "@a.npy", "--taps", "@bad.json", "-o", "@new.npy"}).errors;
    CHECK_THAT(errors, !ContainsSubstring("json.exception") && !ContainsSubstring("\x1b"));
  };
  says("[{\"offset\": [0, 1],\n  coefficient: 1}]", "is not JSON at line 2, column 3; expected [{\"offset\"");
  says("\x1b[31m", "is not JSON at line 1, column 1; ");
  says("[", "is not JSON at its end; ");
  says("[{\"offset\": [0, 1],\n\"coefficient\": 1e999}]", "has a number beyond the range of double at line 2, column ");
  says(R"([{"\u001b[31m": 1}])", R"(entry 0: key "\u001b[31m" is unknown)");
  says(R"([{"offset": "\u001b[31m"}])", R"(entry 0: offset is "\u001b[31m"; )");
}

TEST_CASE("an image is no kernel and no matrix", "[failures]") {
  const Workplace w;
  write_file(w.path("grey.png"), "\x89PNG\r\n\x1a\n and so on");
  w.check_fails({"stencil", "@a.npy", "--taps", "@grey.png"}, 1,
                {"grey.png: is a PNG image, which is no kernel; give a"});
  w.check_fails({"gemm", "@grey.png", "@b.npy"}, 1,
                {"grey.png: is a PNG image; the matrices of a product are read from"});
  const Outcome outcome = w.run({"gemm", "@a.npy", "@b.npy", "-o", "@c.png"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.errors, ContainsSubstring("c.png: cannot be written: a product is written as a .npy file"));
  CHECK_FALSE(std::filesystem::exists(w.path("c.png")));
}

TEST_CASE("outputs that cannot be written", "[failures]") {
  const Workplace w;
  const auto check = [&](const std::string& output, const std::string& reason) {
    CAPTURE(output);
    for (const Arguments& start :
         {Arguments{"gemm", "@a.npy", "@b.npy"}, Arguments{"stencil", "@a.npy", "--named", "identity"}}) {
      Arguments arguments = start;
      // That the backend is unknown would be the error if the output were looked at later.
      arguments.insert(arguments.end(), {"--backend", "nonsense", "-o", output});
      const std::vector<std::string> before = list(w.path(""));
      const Outcome outcome = w.run(arguments);
      CHECK(outcome.exit_code == 1);
      CHECK_THAT(outcome.errors, ContainsSubstring("cannot be written: " + reason));
      CHECK(list(w.path("")) == before);
    }
  };
  check("@no/such/folder/out.npy", "No such file or directory");
  check("@a.npy/out.npy", "Not a directory");
  check("@.", "Is a directory");
  if (std::filesystem::exists("/dev/full")) {
    need_backend();
    const Outcome outcome = w.run({"gemm", "@a.npy", "@b.npy", "-o", "/dev/full"});
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.errors, ContainsSubstring("/dev/full: cannot be written: No space left"));
  }
}

TEST_CASE("an ending that is no format's is refused", "[failures]") {
  const Workplace w;
  const auto check = [&](Arguments arguments, const std::string& output, const std::string& message) {
    CAPTURE(output);
    arguments.insert(arguments.end(), {"-o", "@" + output});
    const Outcome outcome = w.run(arguments);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.errors, ContainsSubstring(output + ": cannot be written: its ending " + message));
    CHECK_FALSE(std::filesystem::exists(w.path(output)));
  };
  const Arguments gemm = {"gemm", "@a.npy", "@b.npy"}, stencil = {"stencil", "@a.npy", "--named", "identity"};
  check(stencil, "o2.tiff", "'.tiff' is unknown; there are .npy, .png and none, which means .npy");
  check(stencil, "new.npy.PNG", "'.PNG' is unknown");
  check(gemm, "c.jpg", "'.jpg' is unknown; there are .npy and none");
}

TEST_CASE("words that are not expected are printed in order, with the option that was meant", "[failures]") {
  const Workplace w;
  w.check_fails({"stencil", "@a.npy", "--named", "identity", "--boundry", "mirror", "more"}, 2,
                {"error: not expected here: --boundry mirror more; did you mean --boundary?"});
  w.check_fails({"stencil", "@a.npy", "--tap", "x", "--named", "identity"}, 2, {"--tap x; did you mean --taps?"});
  w.check_fails({"gemm", "@a.npy", "@b.npy", "--alhpa=2"}, 2, {"--alhpa=2; did you mean --alpha?"});
  CHECK_THAT(w.run({"info", "--nonsense"}).errors,
             ContainsSubstring("--nonsense\n") && !ContainsSubstring("did you mean"));
}

TEST_CASE("a value that no side of the boundary takes is refused", "[failures]") {
  const Workplace w;
  const Arguments start = {"stencil", "@a.npy", "--named", "identity", "--value", "3"};
  w.check_fails(start, 2, {"--value is for constant sides", "boundary 'fixed' has none"});
  for (const std::string boundary : {"mirror", "constant:5", "constant:5/nearest,fixed"}) {
    Arguments arguments = start;
    arguments.insert(arguments.end(), {"--boundary", boundary});
    w.check_fails(arguments, 2, {"--value is for constant sides", "'" + boundary + "' has none"});
  }
}

TEST_CASE("command lines that are wrong", "[failures]") {
  const Workplace w;
  CHECK(w.run({}).exit_code == 2);
  CHECK(w.run({"nonsense"}).exit_code == 2);
  CHECK(w.run({"info", "--nonsense"}).exit_code == 2);
  CHECK(w.run({"gemm", "@a.npy", "@b.npy"}).exit_code == 2);  // no output
  CHECK(w.run({"stencil", "@a.npy", "--named", "identity"}).exit_code == 2);
  w.check_fails({"gemm"}, 2, {"required"});
  w.check_fails({"gemm", "@a.npy"}, 2, {"required"});
  w.check_fails({"gemm", "@a.npy", "@b.npy", "@b.npy"}, 2, {});
  w.check_fails({"gemm", "@a.npy", "@b.npy", "--alpha", "x"}, 2, {"alpha"});
  w.check_fails({"gemm", "@a.npy", "@b.npy", "--beta", "1"}, 2, {"--c"});
  w.check_fails({"stencil", "@a.npy"}, 2, {});
  w.check_fails({"stencil", "@a.npy", "--named", "identity", "--taps", "@taps.json"}, 2, {});
  w.check_fails({"stencil", "@a.npy", "--taps", "@taps.json", "--spacing", "2"}, 2, {"--spacing"});
  w.check_fails({"stencil", "@a.npy", "--named", "identity", "--steps", "-1"}, 2, {"steps"});
  w.check_fails({"stencil", "@a.npy", "--named", "identity", "--steps", "1.5"}, 2, {"steps"});
  for (const char* taps : {"nonsense", "laplacian", "laplacian:", "laplacian:x", "laplacian:2:3", "laplacian:2.5",
                           "heat:8", "heat:8:nan", "derivative:0:1", "box:1e9", "identity:1", ":"})
    w.check_fails({"stencil", "@a.npy", "--named", taps}, 2, {});
  w.check_fails({"stencil", "@a.npy", "--named", "box:1", "--spacing", "2"}, 2, {"--spacing has no meaning"});
  for (const char* boundary :
       {"nonsense", "", "fixed,", "fixed/", "fixed/fixed/fixed", "constant:", "constant:x", "nearest:1", "halo"})
    w.check_fails({"stencil", "@a.npy", "--named", "identity", "--boundary", boundary}, 2, {"boundary"});
  w.check_fails({"stencil", "@a.npy", "--named", "identity", "--steps", "-3"}, 2,
                {"'-3' is not a whole number from 0 to 2^63 - 1"});
}

TEST_CASE("modes that other programs name are explained", "[failures]") {
  const Workplace w;
  const std::pair<const char*, const char*> names[] = {
      {"wrap", "wrap is periodic"},        {"grid-wrap", "is periodic"},
      {"grid-mirror", "is reflect"},       {"grid-constant", "is constant"},
      {"edge", "NumPy's edge is nearest"}, {"symmetric", "is reflect"},
      {"mirror/wrap", "wrap is periodic"}, {"mean", "nothing here is like NumPy's mean"},
      {"halo", "no ghost points"}};
  for (const auto& [name, advice] : names)
    w.check_fails({"stencil", "@a.npy", "--named", "identity", "--boundary", name}, 2, {advice, "there are fixed"});
}

TEST_CASE("a word that is no subcommand is named beside those there are", "[failures]") {
  const Workplace w;
  const auto says = [&](const Arguments& arguments, const std::string& text) {
    const Outcome outcome = w.run(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.errors,
               ContainsSubstring(text) && ContainsSubstring("there are info, gemm, stencil, tune, wisdom"));
  };
  says({"bench"}, "there is no subcommand 'bench'");
  says({"bench", "--size", "8"}, "there is no subcommand 'bench'");
  says({}, "no subcommand was given");
  CHECK_THAT(w.run({"bench"}).errors, !ContainsSubstring("systems"));
}

TEST_CASE("who asks for systems learns where they are", "[failures]") {
  const Workplace w;
  w.check_fails({"system", "@wave.json", "--field", "u=zeros"}, 2,
                {"there is no subcommand 'system'; there are info, gemm, stencil, tune, wisdom; systems of fields are "
                 "stepped in C++ and in Python, as docs/systems.md shows"});
}
