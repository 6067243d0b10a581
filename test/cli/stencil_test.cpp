// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Stencils with integer coefficients on small integers, which are exact: compared bit for bit.

#include "element_numbers.hpp"
#include "npy_file.hpp"
#include "program.hpp"
#include "reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tessera::test;
using namespace tessera;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Matches;

namespace {

struct Example {
  std::string json;
  Taps taps;
  Shape shape;
};

/// Lopsided taps, so that a swapped axis or sign shows.
Example example(int rank) {
  if (rank == 1)
    return {R"([{"offset": [-2], "coefficient": 3}, {"offset": [1], "coefficient": -1.0}])",
            Taps(1, {{{-2, 0, 0}, 3}, {{1, 0, 0}, -1}}),
            {11}};
  if (rank == 2)
    return {R"([{"offset": [0, 0], "coefficient": 2}, {"offset": [-1, 2], "coefficient": 1},
                {"coefficient": -3, "offset": [2, 0]}, {"offset": [0, 0], "coefficient": 1}])",
            Taps(2, {{{0, 0, 0}, 3}, {{-1, 2, 0}, 1}, {{2, 0, 0}, -3}}),
            {6, 7}};
  return {R"([{"offset": [1, 0, 0], "coefficient": 2}, {"offset": [0, -1, 0], "coefficient": -1},
              {"offset": [0, 1, 2], "coefficient": 5}])",
          Taps(3, {{{1, 0, 0}, 2}, {{0, -1, 0}, -1}, {{0, 1, 2}, 5}}),
          {4, 5, 6}};
}

template <class T>
std::vector<T> integers(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(number<T>(double((i * 7) % 23 - 11)));
  return values;
}

template <class T>
std::vector<double> expected(const StencilDesc& desc, const std::vector<T>& in) {
  std::vector<double> values;
  for (const auto value : stencil_reference(desc, in.data(), true).value) values.push_back(double(stored<T>(value)));
  return values;
}

template <class T>
std::vector<double> numbers_of(const std::vector<T>& elements) {
  std::vector<double> values;
  for (const T element : elements) values.push_back(double(wide(element)));
  return values;
}

/// Runs the program on `in` and compares with the reference.
template <class T>
void check(const StencilDesc& desc, const std::vector<T>& in, bool fortran_order, std::vector<std::string> arguments,
           const std::string& json = "") {
  const TemporaryDirectory folder;
  const std::string in_file = folder.path() / "in.npy", out_file = folder.path() / "out.npy",
                    taps = folder.path() / "t.json";
  write_npy(in_file, in, desc.extents, fortran_order);
  arguments.insert(arguments.begin(), {"stencil", in_file, "-o", out_file});
  if (std::is_same_v<T, bfloat16>) arguments.insert(arguments.end(), {"--dtype", "bf16"});
  if (!json.empty()) {
    write_file(taps, json);
    arguments.insert(arguments.end(), {"--taps", taps});
  }
  const Outcome outcome = tessera_run(arguments);
  CHECK(outcome.errors == "");
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.output,
             Matches("stencil .* ms \\((median of 5 executions after a first one|a single execution)\\), "
                     ".* GStencil/s, .* GB/s\n" +
                     std::string(std::is_same_v<T, bfloat16> ? "read as .* written as bf16 in <u2\n" : "")));
  CHECK(numbers_of(read_npy<T>(out_file, desc.extents)) == expected(desc, in));
}

}  // namespace

TEMPLATE_TEST_CASE("1 to 3 axes, either order, taps from JSON, several steps", "[stencil]", float, double, float16,
                   bfloat16) {
  need_backend();
  const int rank = GENERATE(1, 2, 3);
  const bool fortran_order = GENERATE(false, true);
  const std::int64_t steps = GENERATE(0, 1, 3);
  CAPTURE(rank, fortran_order, steps);
  const Example e = example(rank);
  const StencilDesc desc{
      .extents = e.shape, .taps = e.taps, .boundary = Boundary::periodic, .steps = steps, .dtype = kDType<TestType>};
  check(desc, integers<TestType>(e.shape), fortran_order, {"--boundary", "periodic", "--steps", std::to_string(steps)},
        e.json);
}

TEST_CASE("boundary modes and values", "[stencil]") {
  need_backend();
  const BoundarySide constant(Boundary::constant, 5), other(Boundary::constant, -7);
  struct Row {
    std::vector<std::string> arguments;
    Boundaries boundary;
  };
  const std::vector<Row> rows = {
      {{}, Boundary::fixed},
      {{"--boundary", "fixed"}, Boundary::fixed},
      {{"--boundary", "nearest"}, Boundary::nearest},
      {{"--boundary", "reflect"}, Boundary::reflect},
      {{"--boundary", "mirror"}, Boundary::mirror},
      {{"--boundary", "constant"}, BoundarySide(Boundary::constant, 0)},
      {{"--boundary", "constant", "--value", "5"}, constant},
      {{"--boundary", "periodic,mirror"}, {Boundary::periodic, Boundary::mirror}},
      {{"--boundary", "fixed/nearest,reflect"}, {BoundaryAxis(Boundary::fixed, Boundary::nearest), Boundary::reflect}},
      {{"--boundary", "constant/constant:-7", "--value", "5"}, BoundaryAxis(constant, other)},
  };
  const Example e = example(2);
  for (Row row : rows) {
    CAPTURE(row.arguments);
    const StencilDesc desc{.extents = e.shape, .taps = e.taps, .boundary = row.boundary, .steps = 2};
    row.arguments.insert(row.arguments.end(), {"--steps", "2"});
    check(desc, integers<float>(e.shape), false, row.arguments, e.json);
  }
}

TEST_CASE("named taps", "[stencil]") {
  need_backend();
  struct Row {
    std::vector<std::string> arguments;
    Taps taps;
  };
  // All coefficients are exact in binary, and so are all sums.
  const std::vector<Row> rows = {
      {{"--named", "identity"}, taps::identity(2)},
      {{"--named", "laplacian:2"}, taps::laplacian(2, 2)},
      {{"--named", "laplacian:2", "--spacing", "0.5"}, taps::laplacian(2, 2, 0.5)},
      {{"--named", "heat:2:0.125"}, taps::identity(2) + 0.125 * taps::laplacian(2, 2)},
      {{"--named", "derivative:0:1:2"}, taps::derivative(2, 0, 1, 2)},
      {{"--named", "derivative:1:2:2", "--spacing", "2"}, taps::derivative(2, 1, 2, 2, 2.0)},
      {{"--named", "box:0"}, taps::box(2, 0)},
      {{"--named", "gaussian:0.1"}, taps::identity(2)},
  };
  const Shape shape{6, 7};
  for (Row row : rows) {
    CAPTURE(row.arguments);
    const StencilDesc desc{.extents = shape, .taps = row.taps, .boundary = Boundary::nearest, .dtype = DType::f64};
    row.arguments.insert(row.arguments.end(), {"--boundary", "nearest"});
    check(desc, integers<double>(shape), false, row.arguments);
  }
}

TEST_CASE("a point becomes the Gaussian that is named", "[stencil]") {
  need_backend();
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "u.npy", out = folder.path() / "v.npy";
  const Shape shape{9, 9};
  std::vector<double> point(81, 0.0);
  point[40] = 1.0;
  write_npy(file, point, shape);
  for (const std::string named : {"gaussian:0.7", "gaussian:0.7:2"}) {
    CAPTURE(named);
    REQUIRE(tessera_run({"stencil", file, "-o", out, "--named", named, "--boundary", "constant"}).exit_code == 0);
    std::vector<double> taps(81, 0.0);
    for (const Tap& tap : named == "gaussian:0.7" ? taps::gaussian(2, 0.7) : taps::gaussian(2, 0.7, 2))
      taps[std::size_t(40 - 9 * tap.offset[0] - tap.offset[1])] = tap.coefficient;
    CHECK(read_npy<double>(out, shape) == taps);  // all other terms are 0
  }
}

TEST_CASE("results rescaled to the range of what is written", "[stencil]") {
  need_backend();
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "u.npy", out = folder.path() / "v.npy";
  const Shape shape{2, 3};
  const auto rescaled = [&](const std::string& type) {
    return tessera_run({"stencil", file, "-o", out, "--named", "identity", "--rescale", "--output-type", type});
  };
  write_npy<float>(file, {0.5f, 1.0f, 0.625f, 0.75f, 0.5009765625f, 1.0f}, shape);  // 0, 1, 1/4, 1/2, 1/512, 1 of it
  const Outcome u8 = rescaled("u8");
  REQUIRE(u8.exit_code == 0);
  CHECK_THAT(u8.output, ContainsSubstring("computed in f32, written as u8: 0.5..1 mapped to 0..255\n"));
  CHECK(read_npy<std::uint8_t>(out, shape) == std::vector<std::uint8_t>{0, 255, 64, 128, 0, 255});  // 63.75, 127.5
  REQUIRE(rescaled("u16").exit_code == 0);
  CHECK(read_npy<std::uint16_t>(out, shape) == std::vector<std::uint16_t>{0, 65535, 16384, 32768, 128, 65535});
  REQUIRE(rescaled("i8").exit_code == 0);
  CHECK(read_npy<std::int8_t>(out, shape) == std::vector<std::int8_t>{-128, 127, -64, 0, -128, 127});  // -64.25, -0.5
  REQUIRE(rescaled("i16").exit_code == 0);
  CHECK(read_npy<std::int16_t>(out, shape) == std::vector<std::int16_t>{-32768, 32767, -16384, 0, -32640, 32767});
  REQUIRE(rescaled("f64").exit_code == 0);
  CHECK(read_npy<double>(out, shape) == std::vector<double>{0, 1, 0.25, 0.5, 1.0 / 512, 1});
  // What has one number everywhere has no range.
  write_npy<float>(file, std::vector<float>(6, 7.0f), shape);
  CHECK_THAT(rescaled("u8").output, ContainsSubstring("7..7 mapped to 0..255\n"));
  CHECK(read_npy<std::uint8_t>(out, shape) == std::vector<std::uint8_t>(6, 0));
  // The largest numbers have a difference that no double holds.
  write_npy<double>(file, {-1e308, 1e308, 0.0, 1e308, -1e308, 0.0}, shape);
  REQUIRE(rescaled("f32").exit_code == 0);
  CHECK(read_npy<float>(out, shape) == std::vector<float>{0.0f, 1.0f, 0.5f, 1.0f, 0.0f, 0.5f});
}

TEST_CASE("results that cannot be rescaled", "[stencil]") {
  need_backend();
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "u.npy", out = folder.path() / "v.npy";
  const auto check_fails = [&](const std::string& type, const std::string& message) {
    const Outcome outcome =
        tessera_run({"stencil", file, "-o", out, "--named", "identity", "--rescale", "--output-type", type});
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.errors, ContainsSubstring(message));
    CHECK_FALSE(std::filesystem::exists(out));
  };
  write_npy<float>(file, {1.0f, NAN, 3.0f}, {3});
  check_fails("u8", "result 1 is nan: --rescale maps finite numbers alone");
  write_npy<float>(file, {1.0f, 2.0f, -INFINITY}, {3});
  check_fails("f32", "result 2 is -inf: --rescale maps finite numbers alone");
  for (const std::string type : {"bool", "u32", "i64"})
    check_fails(type, "--rescale maps to integers of 8 or 16 bits or to 0..1 in floating point; the result is " + type);
}

TEST_CASE("the order of sums", "[stencil]") {
  need_backend();
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "u.npy", out = folder.path() / "v.npy";
  write_npy(file, integers<float>({6, 7}), {6, 7});
  const auto with = [&](const std::string& sums) {
    return tessera_run({"stencil", file, "-o", out, "--named", "heat:2:0.125", "--sums", sums});
  };
  CHECK_THAT(with("ordered").output, ContainsSubstring(" ordered"));
  CHECK_THAT(with("any").output, !ContainsSubstring(" ordered"));
  const Outcome outcome = with("fast");
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.errors, ContainsSubstring("--sums: 'fast' is unknown; there are any|ordered"));
}

TEST_CASE("the output may be the input", "[stencil]") {
  need_backend();
  const Example e = example(2);
  const auto in = integers<float>(e.shape);
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "u.npy", taps = folder.path() / "t.json";
  write_npy(file, in, e.shape, true);
  write_file(taps, e.json);
  REQUIRE(tessera_run({"stencil", file, "-o", file, "--taps", taps}).exit_code == 0);
  CHECK(numbers_of(read_npy<float>(file, e.shape)) == expected({.extents = e.shape, .taps = e.taps}, in));
}
