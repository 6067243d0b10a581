// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Stencils with integer coefficients on small integers, which are exact: compared bit for bit.

#include "folder.hpp"
#include "reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;

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

/// Runs the program on `in.npy`, which is `in`, and compares `out` with the reference. Returns what is printed.
template <class T>
std::string check(const Folder& folder, const StencilDesc& desc, const std::vector<T>& in, const std::string& options,
                  const std::string& out = "out.npy") {
  const std::string type = std::is_same_v<T, bfloat16> ? " --dtype bf16" : "";
  const std::string output = folder.runs("stencil in.npy -o " + out + " " + options + type);
  folder.check_npy<T>(out, desc.extents, stencil_reference(desc, in.data(), true).value);
  return output;
}

/// 1, 2, ... but for every third, which is 0.
template <class T>
std::vector<T> counting(const Shape& shape) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count_of(shape); ++i) values.push_back(i % 3 == 2 ? T(0) : T(i + 1));
  return values;
}

struct Kernel {
  Shape array, extents;
  std::string origin;
  Shape centre;  ///< the element that is the tap at the point itself
};

/// out[p] = sum over j of kernel[j] in[p + j - centre], as scipy.ndimage.correlate says.
Taps expected_taps(const Kernel& k, const std::vector<double>& kernel) {
  Taps taps(int(k.extents.size()));
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
    std::int64_t rest = std::int64_t(i);
    for (std::size_t axis = k.extents.size(); axis-- > 0; rest /= k.extents[axis])
      offset[axis] = rest % k.extents[axis] - k.centre[axis];
    if (kernel[i] != 0.0) taps.add(offset, kernel[i]);
  }
  return taps;
}

}  // namespace

TEMPLATE_TEST_CASE("1 to 3 axes, either order, taps from JSON, several steps", "[stencil]", float, double, float16,
                   bfloat16) {
  const ComputingFolder folder;
  const Example e = example(GENERATE(1, 2, 3));
  const bool fortran_order = GENERATE(false, true);
  const std::int64_t steps = GENERATE(0, 1, 3);
  CAPTURE(e.shape, fortran_order, steps);
  folder.write("t.json", e.json);
  folder.write_npy("in.npy", integers<TestType>(e.shape, 7), e.shape, fortran_order);
  const StencilDesc desc{
      .extents = e.shape, .taps = e.taps, .boundary = Boundary::periodic, .steps = steps, .dtype = kDType<TestType>};
  const std::string said = check(folder, desc, integers<TestType>(e.shape, 7),
                                 "--taps t.json --boundary periodic --steps " + std::to_string(steps));
  CHECK(said.starts_with("stencil "));
  CHECK((says(" ms (median of 5 executions after a first one),  ...  GStencil/s,  ...  GB/s\n").match(said) ||
         says(" ms (a single execution),  ...  GStencil/s,  ...  GB/s\n").match(said)));
  CHECK((said.find("\n") + 1 == said.size()) != std::is_same_v<TestType, bfloat16>);
  if (std::is_same_v<TestType, bfloat16>) CHECK_THAT(said, says("\nread as  ...  written as bf16 in <u2\n"));
}

TEST_CASE("boundary modes and values", "[stencil]") {
  const BoundarySide constant(Boundary::constant, 5), other(Boundary::constant, -7);
  const std::vector<std::pair<std::string, Boundaries>> rows = {
      {"", Boundary::fixed},
      {"--boundary fixed", Boundary::fixed},
      {"--boundary nearest", Boundary::nearest},
      {"--boundary reflect", Boundary::reflect},
      {"--boundary mirror", Boundary::mirror},
      {"--boundary constant", BoundarySide(Boundary::constant, 0)},
      {"--boundary constant --value 5", constant},
      {"--boundary periodic,mirror", {Boundary::periodic, Boundary::mirror}},
      {"--boundary fixed/nearest,reflect", {BoundaryAxis(Boundary::fixed, Boundary::nearest), Boundary::reflect}},
      {"--boundary constant/constant:-7 --value 5", BoundaryAxis(constant, other)},
  };
  const Example e = example(2);
  const ComputingFolder folder;
  folder.write("t.json", e.json);
  folder.write_npy("in.npy", integers<float>(e.shape, 7), e.shape);
  for (const auto& [options, boundary] : rows) {
    CAPTURE(options);
    const StencilDesc desc{.extents = e.shape, .taps = e.taps, .boundary = boundary, .steps = 2};
    check(folder, desc, integers<float>(e.shape, 7), "--taps t.json --steps 2 " + options);
  }
}

TEST_CASE("named taps", "[stencil]") {
  // All coefficients are exact in binary, and so are all sums.
  const std::vector<std::pair<std::string, Taps>> rows = {
      {"identity", taps::identity(2)},
      {"laplacian:2", taps::laplacian(2, 2)},
      {"laplacian:2 --spacing 0.5", taps::laplacian(2, 2, 0.5)},
      {"heat:2:0.125", taps::identity(2) + 0.125 * taps::laplacian(2, 2)},
      {"derivative:0:1:2", taps::derivative(2, 0, 1, 2)},
      {"derivative:1:2:2 --spacing 2", taps::derivative(2, 1, 2, 2, 2.0)},
      {"box:0", taps::box(2, 0)},
      {"gaussian:0.1", taps::identity(2)},
  };
  const Shape shape{6, 7};
  const ComputingFolder folder;
  folder.write_npy("in.npy", integers<double>(shape, 7), shape);
  for (const auto& [named, taps] : rows) {
    CAPTURE(named);
    check(folder, {.extents = shape, .taps = taps, .boundary = Boundary::nearest, .dtype = DType::f64},
          integers<double>(shape, 7), "--boundary nearest --named " + named);
  }
}

TEST_CASE("a point becomes the Gaussian that is named", "[stencil]") {
  const ComputingFolder folder;
  std::vector<double> point(81, 0.0);
  point[40] = 1.0;
  folder.write_npy("u.npy", point, {9, 9});
  for (const std::string named : {"gaussian:0.7", "gaussian:0.7:2"}) {
    std::vector<double> taps(81, 0.0);
    for (const Tap& tap : named == "gaussian:0.7" ? taps::gaussian(2, 0.7) : taps::gaussian(2, 0.7, 2))
      taps[std::size_t(40 - 9 * tap.offset[0] - tap.offset[1])] = tap.coefficient;
    const std::string command = "stencil u.npy -o v.npy --boundary constant --named " + named;
    folder.runs(command + " --sums ordered");
    CHECK(folder.read_npy<double>("v.npy", {9, 9}) == taps);  // all other terms are 0
    // As a product of a factor for each axis: 8 roundings at most between these and the taps, and that of the product.
    folder.runs(command);
    const std::vector<double> any = folder.read_npy<double>("v.npy", {9, 9});
    REQUIRE(any.size() == taps.size());
    constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2.0;
    for (std::size_t t = 0; t < taps.size(); ++t) CHECK(std::abs(any[t] - taps[t]) <= 9.0 * kUnit * taps[t]);
  }
}

TEST_CASE("the order of sums", "[stencil]") {
  const ComputingFolder folder;
  CHECK_THAT(folder.runs("stencil a.npy -o v.npy --named heat:2:0.125 --sums ordered"), says(" ordered"));
  CHECK_THAT(folder.runs("stencil a.npy -o v.npy --named heat:2:0.125 --sums any"), !says(" ordered"));
}

TEST_CASE("the output may be the input", "[stencil]") {
  const Example e = example(2);
  const ComputingFolder folder;
  folder.write("t.json", e.json);
  folder.write_npy("in.npy", integers<float>(e.shape, 7), e.shape, true);
  check(folder, {.extents = e.shape, .taps = e.taps}, integers<float>(e.shape, 7), "--taps t.json", "in.npy");
}

TEMPLATE_TEST_CASE("kernels of 1 to 3 axes, with and without an origin", "[stencil]", float, double, std::uint8_t,
                   std::int64_t) {
  const ComputingFolder folder;
  const Kernel k = GENERATE(values<Kernel>({
      {{11}, {3}, "", {1}},
      {{11}, {4}, "--origin 0", {2}},
      {{11}, {4}, "--origin -2", {0}},
      {{7, 9}, {3, 5}, "", {1, 2}},
      {{7, 9}, {3, 5}, "--origin 1", {2, 3}},
      {{7, 9}, {2, 3}, "--origin=-1,1", {0, 2}},
      {{5, 6, 7}, {3, 1, 3}, "", {1, 0, 1}},
      {{5, 6, 7}, {2, 3, 2}, "--origin 0,-1,-1", {1, 0, 0}},
  }));
  CAPTURE(k.extents, k.origin);
  const auto in = counting<float>(k.array);
  const auto kernel = counting<TestType>(k.extents);
  folder.write_npy("in.npy", in, k.array);
  folder.write_npy("k.npy", kernel, k.extents, GENERATE(false, true));
  const Taps taps = expected_taps(k, std::vector<double>(kernel.begin(), kernel.end()));
  check(folder, {.extents = k.array, .taps = taps, .boundary = Boundary::nearest}, in,
        "--boundary nearest --taps k.npy " + k.origin);
}
