// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Integers and booleans in .npy files: read exactly, rounded and clamped when they are written, and said.

#include "folder.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <limits>

using namespace tessera::test;

namespace {

const Shape kShape{2, 3};

/// A folder with an input, taps that scale it, and the output.
struct Scaling : ComputingFolder {
  template <class T>
  void input(const std::vector<T>& values) const {
    write_npy("in.npy", values, Shape{std::int64_t(values.size()) / 3, 3});
  }
  std::string scales(double factor, const std::string& options = "") const {
    write("t.json", R"([{"offset": [0, 0], "coefficient": )" + std::to_string(factor) + "}]");
    return runs("stencil in.npy -o out.npy --taps t.json " + options);
  }
  /// Scales, and checks what is written. Returns what is printed.
  template <class T>
  std::string gives(const std::vector<T>& values, double factor = 1.0, const std::string& options = "") const {
    const std::string said = scales(factor, options);
    CAPTURE(options);
    CHECK(read_npy<T>("out.npy", Shape{std::int64_t(values.size()) / 3, 3}) == values);
    return said;
  }
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
  const Scaling s;
  const std::vector<TestType> values = numbers<TestType>();
  const std::string descr = kDescr<TestType>;
  const bool fortran_order = GENERATE(false, true);
  SECTION("little-endian") { s.write_npy("in.npy", values, kShape, fortran_order); }
  SECTION("big-endian") {
    s.write("in.npy", npy_header(">" + descr.substr(1), fortran_order, kShape) +
                          swapped(fortran_order ? fortran(values, kShape) : values));
  }
  const std::string said = s.gives(values);
  if (std::is_floating_point_v<TestType>) return;
  CHECK_THAT(said, says("read as 2 x 3 " + descr + (fortran_order ? ", F" : ", c")));
  CHECK_THAT(said, says(sizeof(TestType) <= 2 ? "computed in f32" : "computed in f64"));
  CHECK_THAT(said, says("rounded, 0 of 6 clamped to "));
}

TEMPLATE_TEST_CASE("results beyond the range are clamped and counted", "[numbers]", std::uint8_t, std::int8_t,
                   std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t) {
  using Limits = std::numeric_limits<TestType>;
  const Scaling s;
  s.input<double>({1e30, -1e30, double(Limits::max()) + 1.0, double(Limits::min()) - 0.6, 0, 2.5});
  const std::string type = (Limits::is_signed ? "i" : "u") + std::to_string(8 * sizeof(TestType));
  const std::string said = s.gives<TestType>({Limits::max(), Limits::min(), Limits::max(), Limits::min(), 0, 2}, 1.0,
                                             "--output-type " + type);
  // Half a unit below the lowest number is one that f64 knows of types of up to 32 bits.
  const int below = sizeof(TestType) < 8 || !Limits::is_signed ? 4 : 3;
  CHECK_THAT(said, says(std::to_string(below) + " of 6 clamped to " + std::to_string(+Limits::min()) + ".." +
                        std::to_string(+Limits::max())));
}

TEST_CASE("results are rounded to the nearest integer, halves to even", "[numbers]") {
  const Scaling s;
  s.input<std::uint8_t>({1, 3, 5, 7, 254, 255});
  s.gives<std::uint8_t>({0, 2, 2, 4, 127, 128}, 0.5);
}

TEST_CASE("booleans", "[numbers]") {
  const Scaling s;
  const std::string header = npy_header("|b1", false, kShape);
  s.write("in.npy", header + std::string("\0\1\2\xff\0\1", 6));  // any byte but 0 is true
  s.scales(0.75);
  CHECK(s.read("out.npy") == header + std::string("\0\1\1\1\0\1", 6));
  CHECK_THAT(s.gives<std::uint8_t>({0, 3, 3, 3, 0, 3}, 3.0, "--output-type u8"),
             says("read as 2 x 3 |b1, computed in f32, written as u8"));
}

TEST_CASE("the type that is computed in and the one that is written", "[numbers]") {
  const Scaling s;
  s.input<std::uint8_t>({1, 2, 3, 4, 5, 6});
  s.scales(0.1, "--output-type f64");
  CHECK(s.read_npy<double>("out.npy", kShape)[1] == double(2.0f * 0.1f));
  s.scales(0.1, "--output-type f64 --dtype f64");
  CHECK(s.read_npy<double>("out.npy", kShape)[1] == 2.0 * 0.1);
  s.fill("in.npy", 0.1f, kShape);
  CHECK_THAT(s.scales(0.1, "--dtype f64"), says("read as 2 x 3 <f4, computed in f64, written as f32\n"));
  CHECK(s.read_npy<float>("out.npy", kShape)[0] == float(double(0.1f) * 0.1));
}

TEST_CASE("every number of 16 bits comes back; bf16 in a file of u16, of either order, or as JAX writes it",
          "[numbers]") {
  const Scaling s;
  const std::string descr = GENERATE("<f2", "<u2", ">u2", "<V2", "|V2");
  CAPTURE(descr);
  const int fraction = descr == "<f2" ? 10 : 7;
  const std::size_t infinity = std::size_t{0x7fff} >> fraction << fraction;
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i)  // NaNs are quiet, as arithmetic leaves them
    bits[i] = std::uint16_t((i & 0x7fff) > infinity ? i | std::size_t{1} << (fraction - 1) : i);
  const std::string all(reinterpret_cast<const char*>(bits.data()), 2 * bits.size());
  s.write("in.npy", npy_header(descr, false, {256, 256}) + (descr[0] == '>' ? swapped(bits) : all));
  if (descr == "<f2") {
    CHECK_THAT(s.scales(1.0, "--steps 0"), !says("read as"));
    CHECK((s.read("out.npy") == s.read("in.npy")));  // too long to be printed
    return;
  }
  CHECK_THAT(s.scales(1.0, "--steps 0 --dtype bf16"),
             says("read as 256 x 256 <u2 as bf16, computed in f32 and rounded to bf16, written as bf16 in <u2\n"));
  CHECK((s.read_npy<std::uint16_t>("out.npy", {256, 256}) == bits));
}

TEST_CASE("f64 to f16 and bf16, where f32 between them would make a half", "[numbers]") {
  const Scaling s;
  s.input<double>({1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 1 + 0x3p-11, 0x1p-25 + 0x1p-60, -65520, 2.5});
  s.scales(1.0, "--output-type f16");
  CHECK(s.read("out.npy").substr(128) == std::string("\1\x3c\0\x3c\2\x3c\1\0\0\xfc\0\x41", 12));
  s.input<double>({1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8, 1 + 0x3p-8, 0, -1e39, 2.5});
  s.gives<std::uint16_t>({0x3f81, 0x3f80, 0x3f82, 0, 0xff80, 0x4020}, 1.0, "--output-type bf16");
}

TEST_CASE("results rescaled to the range of what is written", "[numbers]") {
  const Scaling s;
  const auto rescaled = [&]<class T>(const std::string& type, const std::vector<T>& values) {
    return s.gives(values, 1.0, "--rescale --output-type " + type);
  };
  s.input<float>({0.5f, 1.0f, 0.625f, 0.75f, 0.5009765625f, 1.0f});  // 0, 1, 1/4, 1/2, 1/512, 1 of it
  rescaled("u16", std::vector<std::uint16_t>{0, 65535, 16384, 32768, 128, 65535});
  rescaled("i8", std::vector<std::int8_t>{-128, 127, -64, 0, -128, 127});  // -64.25, -0.5
  rescaled("i16", std::vector<std::int16_t>{-32768, 32767, -16384, 0, -32640, 32767});
  rescaled("f64", std::vector<double>{0, 1, 0.25, 0.5, 1.0 / 512, 1});
  s.fill("in.npy", 7.0f, kShape);  // which has no range
  CHECK_THAT(rescaled("u8", std::vector<std::uint8_t>(6, 0)), says("7..7 mapped to 0..255\n"));
  s.input<double>({-1e308, 1e308, 0.0, 1e308, -1e308, 0.0});  // whose difference no double holds
  rescaled("f32", std::vector<float>{0.0f, 1.0f, 0.5f, 1.0f, 0.0f, 0.5f});
}
