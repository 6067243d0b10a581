// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Integers and booleans in .npy files: read exactly, rounded and clamped when they are written, and said.

#include "npy_file.hpp"
#include "program.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A folder with an input, a run of `--taps` that scale it, and the output.
class Workplace {
 public:
  std::string path(const std::string& name) const { return folder_.path() / name; }

  Outcome run(double factor, std::vector<std::string> arguments = {}) const {
    write_file(path("t.json"), R"([{"offset": [0, 0], "coefficient": )" + std::to_string(factor) + "}]");
    arguments.insert(arguments.begin(), {"stencil", path("in.npy"), "-o", path("out.npy"), "--taps", path("t.json")});
    return tessera_run(arguments);
  }

  Outcome check_runs(double factor, std::vector<std::string> arguments = {}) const {
    Outcome outcome = run(factor, std::move(arguments));
    CAPTURE(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    return outcome;
  }

 private:
  TemporaryDirectory folder_;
};

/// The lowest and the highest number, as far as f64 holds them, and some between.
template <class T>
std::vector<T> numbers() {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const T highest = sizeof(T) < 8 ? std::numeric_limits<T>::max() : T(kExact);
  const T lowest = std::is_unsigned_v<T> ? T(0) : sizeof(T) < 8 ? std::numeric_limits<T>::min() : T(-kExact);
  return {lowest, highest, T(1), T(0), T(highest / 2), T(7)};
}

/// Elements with the bytes of each in reverse.
template <class T>
std::string swapped(const std::vector<T>& values) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T))
    std::reverse(bytes.begin() + std::ptrdiff_t(at), bytes.begin() + std::ptrdiff_t(at + sizeof(T)));
  return bytes;
}

}  // namespace

TEMPLATE_TEST_CASE("every number of a type comes back, in either order of axes and bytes", "[numbers]", std::uint8_t,
                   std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t,
                   float, double) {
  need_backend();
  const Workplace w;
  const Shape shape{2, 3};
  const std::vector<TestType> values = numbers<TestType>();
  const bool fortran_order = GENERATE(false, true);
  SECTION("little-endian") { write_npy(w.path("in.npy"), values, shape, fortran_order); }
  SECTION("big-endian") {
    const std::string descr = ">" + kDescr<TestType>.substr(1);
    write_file(w.path("in.npy"), npy_header(npy_dictionary(descr, fortran_order, shape)) +
                                     swapped(fortran_order ? fortran(values, shape) : values));
  }
  const Outcome outcome = w.check_runs(1.0);
  CHECK(read_npy<TestType>(w.path("out.npy"), shape) == values);
  if (std::is_floating_point_v<TestType>) return;
  CHECK_THAT(outcome.output, ContainsSubstring("read as 2 x 3 " + kDescr<TestType> + (fortran_order ? ", F" : ", c")));
  CHECK_THAT(outcome.output, ContainsSubstring(sizeof(TestType) <= 2 ? "computed in f32" : "computed in f64"));
  CHECK_THAT(outcome.output, ContainsSubstring("rounded, 0 of 6 clamped to "));
}

TEMPLATE_TEST_CASE("results beyond the range are clamped and counted", "[numbers]", std::uint8_t, std::int8_t,
                   std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t) {
  need_backend();
  const Workplace w;
  using Limits = std::numeric_limits<TestType>;
  write_npy<double>(w.path("in.npy"), {1e30, -1e30, double(Limits::max()) + 1.0, double(Limits::min()) - 0.6, 0, 2.5},
                    {2, 3});
  const Outcome outcome = w.check_runs(
      1.0, {"--output-type", std::string(Limits::is_signed ? "i" : "u") + std::to_string(8 * sizeof(TestType))});
  // Half a unit below the lowest number is one that f64 knows of types of up to 32 bits.
  const int below = sizeof(TestType) < 8 || !Limits::is_signed ? 4 : 3;
  CHECK(read_npy<TestType>(w.path("out.npy"), {2, 3}) ==
        std::vector<TestType>{Limits::max(), Limits::min(), Limits::max(), Limits::min(), 0, 2});
  CHECK_THAT(outcome.output, ContainsSubstring(std::to_string(below) + " of 6 clamped to " +
                                               std::to_string(+Limits::min()) + ".." + std::to_string(+Limits::max())));
}

TEST_CASE("results are rounded to the nearest integer, halves to even", "[numbers]") {
  need_backend();
  const Workplace w;
  write_npy<std::uint8_t>(w.path("in.npy"), {1, 3, 5, 7, 254, 255}, {2, 3});
  w.check_runs(0.5);
  CHECK(read_npy<std::uint8_t>(w.path("out.npy"), {2, 3}) == std::vector<std::uint8_t>{0, 2, 2, 4, 127, 128});
}

TEST_CASE("booleans", "[numbers]") {
  need_backend();
  const Workplace w;
  // Any byte but 0 is true.
  write_file(w.path("in.npy"), npy_header(npy_dictionary("|b1", false, {2, 3})) + std::string("\0\1\2\xff\0\1", 6));
  w.check_runs(0.75);
  CHECK(read_file(w.path("out.npy")) ==
        npy_header(npy_dictionary("|b1", false, {2, 3})) + std::string("\0\1\1\1\0\1", 6));
  const Outcome outcome = w.check_runs(3.0, {"--output-type", "u8"});
  CHECK(read_npy<std::uint8_t>(w.path("out.npy"), {2, 3}) == std::vector<std::uint8_t>{0, 3, 3, 3, 0, 3});
  CHECK_THAT(outcome.output, ContainsSubstring("read as 2 x 3 |b1, computed in f32, written as u8"));
}

TEST_CASE("the type that is computed in and the one that is written", "[numbers]") {
  need_backend();
  const Workplace w;
  const Shape shape{2, 3};
  write_npy<std::uint8_t>(w.path("in.npy"), {1, 2, 3, 4, 5, 6}, shape);
  w.check_runs(0.1, {"--output-type", "f64"});
  CHECK(read_npy<double>(w.path("out.npy"), shape)[1] == double(2.0f * 0.1f));
  w.check_runs(0.1, {"--output-type", "f64", "--dtype", "f64"});
  CHECK(read_npy<double>(w.path("out.npy"), shape)[1] == 2.0 * 0.1);
  write_npy<float>(w.path("in.npy"), std::vector<float>(6, 0.1f), shape);
  const Outcome outcome = w.check_runs(0.1, {"--dtype", "f64"});
  CHECK(read_npy<float>(w.path("out.npy"), shape)[0] == float(double(0.1f) * 0.1));
  CHECK_THAT(outcome.output, ContainsSubstring("read as 2 x 3 <f4, computed in f64, written as f32\n"));
}

TEST_CASE("every number of 16 bits comes back; bf16 in a file of u16, of either order, or as JAX writes it",
          "[numbers]") {
  need_backend();
  const Workplace w;
  const std::string descr = GENERATE("<f2", "<u2", ">u2", "<V2", "|V2");
  CAPTURE(descr);
  const int fraction = descr == "<f2" ? 10 : 7;
  const std::size_t infinity = std::size_t{0x7fff} >> fraction << fraction;
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i)  // NaNs are quiet, as arithmetic leaves them
    bits[i] = std::uint16_t((i & 0x7fff) > infinity ? i | std::size_t{1} << (fraction - 1) : i);
  const std::string all(reinterpret_cast<const char*>(bits.data()), 2 * bits.size());
  write_file(w.path("in.npy"),
             npy_header(npy_dictionary(descr, false, {256, 256})) + (descr[0] == '>' ? swapped(bits) : all));
  if (descr == "<f2") {
    CHECK(w.check_runs(1.0, {"--steps", "0"}).output.find("read as") == std::string::npos);
    CHECK((read_file(w.path("out.npy")) == read_file(w.path("in.npy"))));  // too long to be printed
    return;
  }
  CHECK_THAT(w.check_runs(1.0, {"--steps", "0", "--dtype", "bf16"}).output,
             ContainsSubstring("read as 256 x 256 <u2 as bf16, computed in f32 and rounded to bf16, written as bf16 in "
                               "<u2\n"));
  CHECK((read_npy<std::uint16_t>(w.path("out.npy"), {256, 256}) == bits));
}

TEST_CASE("f64 to f16 and bf16, where f32 between them would make a half", "[numbers]") {
  need_backend();
  const Workplace w;
  write_npy<double>(w.path("in.npy"), {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 1 + 0x3p-11, 0x1p-25 + 0x1p-60, -65520, 2.5},
                    {2, 3});
  w.check_runs(1.0, {"--output-type", "f16"});
  CHECK(read_file(w.path("out.npy")).substr(128) == std::string("\1\x3c\0\x3c\2\x3c\1\0\0\xfc\0\x41", 12));
  write_npy<double>(w.path("in.npy"), {1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8, 1 + 0x3p-8, 0, -1e39, 2.5}, {2, 3});
  w.check_runs(1.0, {"--output-type", "bf16"});
  CHECK(read_npy<std::uint16_t>(w.path("out.npy"), {2, 3}) ==
        std::vector<std::uint16_t>{0x3f81, 0x3f80, 0x3f82, 0, 0xff80, 0x4020});
}

TEST_CASE("numbers that elements do not hold, and results that integers do not", "[numbers]") {
  const Workplace w;
  const auto fails = [&](const std::vector<std::string>& arguments, int exit_code, const std::string& message) {
    const Outcome outcome = w.run(1.0, arguments);
    CHECK(outcome.exit_code == exit_code);
    CHECK_THAT(outcome.errors, ContainsSubstring(message));
    CHECK_FALSE(std::filesystem::exists(w.path("out.npy")));
  };
  write_npy<std::int32_t>(w.path("in.npy"), {0, 1, 2, -16777217, 4, 5}, {2, 3});
  fails({"--dtype", "f32"}, 1, "number 3 is -16777217, beyond +-2^24, up to which f32 holds every integer: compute in");
  write_npy<std::uint64_t>(w.path("in.npy"), {0, std::uint64_t{1} << 63, 2, 3, 4, 5}, {2, 3});
  fails({}, 1, "number 1 is 9223372036854775808, beyond +-2^53");
  write_npy<std::int64_t>(w.path("in.npy"), {(std::int64_t{1} << 53) + 1, 1, 2, 3, 4, 5}, {2, 3});
  fails({}, 1, "number 0 is 9007199254740993, beyond +-2^53");
  fails({"--dtype", "i32"}, 2, "--dtype: 'i32' is not a type; there are f32, f64, f16, bf16");
  fails({"--output-type", "f8"}, 2, "--output-type: 'f8' is not a type; there are bool, u8");
  write_npy<std::int32_t>(w.path("in.npy"), {0, 1, 2, 2049, 4, 5}, {2, 3});
  fails({"--dtype", "f16"}, 1, "number 3 is 2049, beyond +-2^11, up to which f16 holds every integer: compute in f64");
  write_npy<std::int16_t>(w.path("in.npy"), {0, 1, 2, 257, 4, 5}, {2, 3});
  fails({"--dtype", "bf16"}, 1, "number 3 is 257, beyond +-2^8, up to which bf16 holds every integer: compute in f64");
  need_backend();
  write_npy<float>(w.path("in.npy"), {0, 1, 2, 3, std::numeric_limits<float>::quiet_NaN(), 5}, {2, 3});
  fails({"--output-type", "i16"}, 1, "result 4 is not a number, which no i16 can say: write floating-point numbers");
}
