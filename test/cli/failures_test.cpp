// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Runs that must fail: with the right exit code, at once, with a message that helps and that a terminal can hold, and
/// no trace in the file system. Most are lines of failures.txt.

#include "folder.hpp"

#include <cmath>
#include <sstream>

using namespace tessera::test;

namespace {

const std::string kGemm = "gemm a.npy b.npy ", kStencil = "stencil a.npy --named identity ";

/// What is given, and what the message says.
using Failures = std::vector<std::pair<std::string, std::string>>;

/// Those of a section of failures.txt.
Failures failures(const std::string& section) {
  Failures rows;
  std::istringstream lines(read_file(TESSERA_FAILURES));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find(" | ");
    if (bar != std::string::npos && inside) rows.emplace_back(line.substr(0, bar), line.substr(bar + 3));
    if (bar == std::string::npos) inside = line.empty() ? inside : line.starts_with("[" + section + "]");
  }
  REQUIRE(rows.size() > 4);
  return rows;
}

std::string repeated(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

/// With the files that failures.txt names.
struct Inputs : Folder {
  Inputs() {
    const double infinity = std::numeric_limits<double>::infinity();
    const auto ones = [&]<class T>(const char* name, T one, const Shape& shape, bool fortran_order = false) {
      write_npy(name, std::vector<T>(std::size_t(count_of(shape)), one), shape, fortran_order);
    };
    ones("double.npy", 1.0, {3, 2}), ones("vector.npy", 1.0f, {3}), ones("deep.npy", 1.0f, {1, 1, 1, 1});
    ones("bits.npy", std::uint16_t{1}, {3, 2}), ones("volume.npy", 1.0f, {2, 2, 2}), ones("wide.npy", 1.0f, {3, 4});
    ones("half.npy", tessera::float16(1.0f), {2, 3}), ones("fortran.npy", tessera::float16(1.0f), {2, 2}, true);
    ones("two.npy", 1.0f, {2}), ones("six.npy", 1.0f, {6}), ones("row.npy", 1.0f, {1, 4}), ones("four.npy", 1.0, {4});
    ones("zeros.npy", 0.0, {1, 3}), ones("tall.npy", 1.0, {4099, 1});
    write_npy<double>("k23.npy", {1, 2, 3, 4, 5, 6}, {2, 3});
    write_npy<double>("infinite.npy", {0, 0, 0, 0, infinity, 0}, {2, 3});
    write_npy<float>("nan.npy", {0, 1, 2, 3, std::nanf(""), 5}, {2, 3});
    write_npy<std::int32_t>("i32.npy", {0, 1, 2, -16777217, 4, 5}, {3, 2});
    write_npy<std::uint64_t>("u64.npy", {0, std::uint64_t{1} << 63, 2, 3, 4, 5}, {2, 3});
    write_npy<std::int64_t>("i64.npy", {(std::int64_t{1} << 53) + 1, 1, 2, 3, 4, 5}, {2, 3});
    write_npy<std::int16_t>("i16.npy", {0, 1, 257, 2049, 4, 5}, {2, 3});
    write("cut.npy", read("k23.npy").substr(0, 128 + 47));
    write("grey.png", "\x89PNG\r\n\x1a\n and so on");
    write("taps.json", R"([{"offset": [0, 1], "coefficient": 2}])");
  }
};

/// Files as a matrix and as an array.
void check_arrays(const Failures& files) {
  const Folder folder;
  for (const auto& [bytes, message] : files) {
    folder.write("bad.npy", bytes);
    folder.fails("gemm a.npy bad.npy", 1, "bad.npy: ... " + message);
    folder.fails("stencil bad.npy --named identity", 1, "bad.npy: ... " + message);
  }
}

void check_taps(const Failures& files) {
  const Folder folder;
  for (const auto& [text, message] : files) {
    folder.write("bad.json", text);
    folder.fails("stencil a.npy --taps bad.json", 1, "bad.json: " + message);
    const std::string errors = folder.run("stencil a.npy --taps bad.json -o new.npy").errors;
    CHECK_THAT(errors, !says("json.exception") && !says("\x1b"));
  }
}

}  // namespace

TEST_CASE("command lines that are wrong", "[failures]") {
  const Inputs inputs;
  for (const auto& [line, message] : failures("usage")) inputs.fails(line, 2, message);
  for (const auto& [options, message] : failures("boundaries")) inputs.fails(kStencil + options, 2, message);
  // Without an output.
  const Failures bare = {{"", "no subcommand was given; there are info, gemm, stencil, tune, wisdom"},
                         {"nonsense", "there is no subcommand 'nonsense'"},
                         {"info --nonsense", "--nonsense\n"},
                         {kGemm, "--output is required"},
                         {kStencil, "--output is required"},
                         {"tune", "say one of gemm SIZE, stencil EXTENTS, --log FILE"},
                         {"tune --log x", "--output is required"},
                         {"tune gemm 64", "--output is required"},
                         {"wisdom merge a.npy", "--output is required"}};
  for (const auto& [line, message] : bare) {
    const Outcome outcome = inputs.run(line);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.errors, says(message) && !says("did you mean") && !says("systems"));
  }
}

TEST_CASE("inputs that do not suit each other or the operation", "[failures]") {
  const Inputs inputs;
  for (const auto& [line, message] : failures("inputs")) inputs.fails(line, 1, message);
  need_backend();
  for (const auto& [line, message] : failures("backend")) inputs.fails(line, 1, message);
}

TEST_CASE("outputs that cannot be written", "[failures]") {
  const Folder folder;
  for (const auto& [output, message] : failures("outputs"))
    for (const std::string& line : {kGemm, kStencil})
      folder.fails(line + "--backend nonsense -o " + output, 1, message);
  folder.fails(kGemm + "-o c.png", 1, "c.png: cannot be written: a product is written as a .npy file");
  folder.fails(kStencil + "-o o.tiff", 1, "'.tiff' is unknown; there are .npy, .png and none, which means .npy");
  if (!std::filesystem::exists("/dev/full")) return;
  need_backend();
  CHECK_THAT(folder.run(kGemm + "-o /dev/full").errors, says("/dev/full: cannot be written: No space left"));
}

TEST_CASE("files that are not what they should be", "[failures]") {
  const std::string good = read_file(Folder() / "b.npy");
  check_arrays({
      {"", "a .npy file"},
      {"\x93NUMP", "a .npy file"},
      {"PK\x03\x04 and so on", "a .npy file"},
      {std::string("\x93NUMPY\x04\0", 8), "version 4.0"},
      {std::string("\x93NUMPY\x01\0", 8), "is cut off within the .npy header"},
      {std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), "malformed .npy header: it claims 4294967295 bytes"},
      {good.substr(0, 60), "is cut off within the .npy header"},
      {good.substr(0, good.size() - 1), "is cut off: 3 x 2 <f4 takes 24 bytes behind the header, found 23"},
      {good.substr(0, good.size() - 24), "found 0"},
      {good + "x", "has bytes behind the array"},
      {npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }" + std::string(1, '\0')), "text behind"},
  });
  Failures headers = failures("headers");
  for (auto& [text, message] : headers) text = npy_header(text) + std::string(24, '\0');
  check_arrays(headers);
}

TEST_CASE("a header cut off at every byte", "[failures]") {
  const Folder folder;
  const std::string whole = folder.read("b.npy");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    folder.write("bad.npy", whole.substr(0, length));
    CHECK(folder.run("gemm a.npy bad.npy -o new.npy").exit_code == 1);
  }
}

TEST_CASE("taps that cannot be read", "[failures]") {
  check_taps(failures("taps"));
  check_taps({{"\x1b[31m", "is not JSON at line 1, column 1; "},
              {"[{\"offset\": [0, 1],\n  coefficient: 1}]", "is not JSON at line 2, column 3; expected [{\"offset\""},
              {"[{\"offset\": [0, 1],\n\"coefficient\": 1e999}]",
               "has a number beyond the range of double at line 2, column "}});
  constexpr int kMany = 200000;
  const std::string start = R"([{"offset": [0, 0], "coefficient": )", many = repeated("x", kMany);
  check_taps({
      {repeated("[", kMany), "entry 0 is an array"},
      {repeated("{\"offset\":", kMany), "expected [{"},
      {"[" + repeated("{\"offset\":", kMany), "entry 0: offset is an object"},
      {"[{\"offset\": " + repeated("[", kMany), "entry 0: offset[0] is an array"},
      {start + repeated("[", kMany) + repeated("]", kMany) + "}]", "entry 0: coefficient is an array"},
      {start + "\"" + many + "\"}]", "entry 0: coefficient is \"xxx"},
      {start + many + "}]", "is not JSON"},
      {start + repeated("9", kMany) + "}]", "has a number beyond the range of double"},
      {start + "1, \"" + many + "\": 1}]", "entry 0: key \"xxx ... xxx...\" is unknown"},
      {"[{\"offset\": [" + repeated("0,", kMany) + "0]}]", "entry 0: offset has 3 or more numbers; expected 2"},
  });
  const Folder folder;
  folder.write("bad.json", "");
  std::filesystem::resize_file(folder / "bad.json", (std::uintmax_t{1} << 28) + 1);
  folder.fails("stencil a.npy --taps bad.json", 1, "taps are read from files of at most 268435456");
}

TEST_CASE("many taps in any order are read at once", "[failures]") {
  constexpr std::int64_t kCount = 600000, kStep = 77777;  // coprime: every offset once
  std::string text = "[";
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t offset = i * kStep % kCount;
    text += (i > 0 ? ",{\"offset\": [" : "{\"offset\": [") + std::to_string(offset / 1000) + ", " +
            std::to_string(offset % 1000) + "], \"coefficient\": 1}";
  }
  const Folder folder;
  folder.write("taps.json", text + "]");
  folder.fails("stencil a.npy --taps taps.json -o no/such/folder.npy", 1, "No such file");
}

TEST_CASE("arguments that are long", "[failures]") {
  const Folder folder;
  const std::string text = repeated("x", 100000), named = "stencil a.npy --named ";
  for (const std::string start : {"", "laplacian:", "heat:2:", "identity:"})
    folder.fails(named + start + text, 2, "xxx...'");
  folder.fails(named + repeated(":", 100000), 2, "are unknown");
  for (const std::string start : {"", "constant:", "fixed,", "fixed/", "fixed/fixed/", "fixed:"})
    folder.fails(kStencil + "--boundary " + start + text, 2, "xxx...'");
  folder.fails(kStencil + "--steps " + text, 2, "xxx...'");
  folder.fails("stencil a.npy --taps " + text, 1, "xxx...: cannot be read");
  for (const std::string start : {"--alpha ", "--", ""}) folder.fails(kGemm + start + text, 2, "xxx...");
  folder.fails("gemm " + text + " " + text, 1, "xxx...: cannot be read");
  folder.fails(kGemm + "-o " + text, 1, "xxx...: cannot be written");
  folder.fails(text, 2, "subcommand");
  folder.fails(kGemm + "--backend " + text, 1, "xxx");
  folder.fails(kGemm + "--algorithm " + text, 1, "");
}

TEST_CASE("numbers beyond their range", "[failures]") {
  const Folder folder;
  const auto fails = [&](const std::string& line, const std::string& option, const std::string& number) {
    folder.fails(line + option + " '" + number + "'", 2, option);
  };
  for (const char* steps : {"99999999999999999999", "9223372036854775808", "-1", "1.5", "1e3", "0x10", "", " 1", "1 "})
    fails(kStencil, "--steps", steps);
  for (const char* number : {"1e999", "-1e999", "nan", "inf", "0x10", "", "1 2"}) {
    fails("stencil a.npy --named laplacian:2 ", "--spacing", number);
    fails(kStencil, "--value", number);
    fails(kGemm, "--alpha", number);
    fails(kGemm + "--c a.npy ", "--beta", number);
  }
}
