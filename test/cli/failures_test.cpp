// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Runs that must fail: with the right exit code, at once, with a message that helps and that a terminal can hold, and
/// no trace in the file system. Most are lines of failures.txt.

#include "folder.hpp"

#include <cmath>

using namespace tessera::test;

namespace {

const std::string kGemm = "gemm a.npy b.npy ", kStencil = "stencil a.npy --named identity ";

/// With the files that failures.txt names.
struct Inputs : Folder {
  Inputs() {
    const double infinity = std::numeric_limits<double>::infinity();
    fill("double.npy", 1.0, {3, 2}), fill("vector.npy", 1.0f, {3}), fill("deep.npy", 1.0f, {1, 1, 1, 1});
    fill("bits.npy", std::uint16_t{1}, {3, 2}), fill("volume.npy", 1.0f, {2, 2, 2}), fill("wide.npy", 1.0f, {3, 4});
    fill("two.npy", 1.0f, {2}), fill("six.npy", 1.0f, {6}), fill("row.npy", 1.0f, {1, 4}), fill("four.npy", 1.0, {4});
    fill("zeros.npy", 0.0, {1, 3}), fill("tall.npy", 1.0, {4099, 1});
    const tessera::float16 one(1.0f);
    fill("half.npy", one, {2, 3}), write_npy("fortran.npy", std::vector(4, one), {2, 2}, true);
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
    for (const std::string line : {"gemm a.npy bad.npy", "stencil bad.npy --named identity"})
      folder.fails(line, 1, "bad.npy: ... " + message);
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
  for (const auto& [option, line] : failures("numbers"))
    for (const std::string number : {"1e999", "-1e999", "nan", "inf", "0x10", "", "1 2"})
      inputs.fails(line + " " + option + " '" + number + "'", 2, option);
  for (const auto& [line, message] : failures("bare")) {
    const Outcome outcome = inputs.run(line);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.errors, says(message) && !says("systems"));
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
