// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Dense kernels in .npy files. Integer coefficients on small integers are exact: compared bit for bit.

#include "npy_file.hpp"
#include "program.hpp"
#include "reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <numeric>

using namespace tessera::test;
using namespace tessera;
using Catch::Matchers::ContainsSubstring;

namespace {

class Workplace {
 public:
  std::string path(const std::string& name) const { return folder_.path() / name; }
  /// Runs with the kernel of that file.
  Outcome run(std::vector<std::string> arguments = {}, const std::string& kernel = "k.npy") const {
    arguments.insert(arguments.begin(), {"stencil", path("in.npy"), "-o", path("out.npy"), "--boundary", "nearest",
                                         "--taps", path(kernel)});
    return tessera_run(arguments);
  }

 private:
  TemporaryDirectory folder_;
};

/// 1, 2, ... but for every third, which is 0.
template <class T>
std::vector<T> counting(const Shape& shape) {
  const auto count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(i % 3 == 2 ? T(0) : T(i + 1));
  return values;
}

struct Example {
  Shape array, kernel;
  std::vector<std::string> origin;
  Shape centre;  ///< the element that is the tap at the point itself
};

/// out[p] = sum over j of kernel[j] in[p + j - centre], as scipy.ndimage.correlate says.
Taps expected_taps(const Example& e, const std::vector<double>& kernel) {
  Taps taps(int(e.kernel.size()));
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
    std::int64_t rest = std::int64_t(i);
    for (std::size_t axis = e.kernel.size(); axis-- > 0; rest /= e.kernel[axis])
      offset[axis] = rest % e.kernel[axis] - e.centre[axis];
    if (kernel[i] != 0.0) taps.add(offset, kernel[i]);
  }
  return taps;
}

}  // namespace

TEMPLATE_TEST_CASE("kernels of 1 to 3 axes, with and without an origin", "[kernel]", float, double, std::uint8_t,
                   std::int64_t) {
  need_backend();
  const Workplace w;
  const Example e = GENERATE(values<Example>({
      {{11}, {3}, {}, {1}},
      {{11}, {4}, {"--origin", "0"}, {2}},
      {{11}, {4}, {"--origin", "-2"}, {0}},
      {{7, 9}, {3, 5}, {}, {1, 2}},
      {{7, 9}, {3, 5}, {"--origin", "1"}, {2, 3}},
      {{7, 9}, {2, 3}, {"--origin=-1,1"}, {0, 2}},
      {{5, 6, 7}, {3, 1, 3}, {}, {1, 0, 1}},
      {{5, 6, 7}, {2, 3, 2}, {"--origin", "0,-1,-1"}, {1, 0, 0}},
  }));
  CAPTURE(e.kernel, e.origin);
  const bool fortran_order = GENERATE(false, true);
  const auto in = counting<float>(e.array);
  const auto kernel = counting<TestType>(e.kernel);
  write_npy(w.path("in.npy"), in, e.array);
  write_npy(w.path("k.npy"), kernel, e.kernel, fortran_order);
  const Outcome outcome = w.run(e.origin);
  CAPTURE(outcome.errors);
  REQUIRE(outcome.exit_code == 0);
  const StencilDesc desc{.extents = e.array,
                         .taps = expected_taps(e, std::vector<double>(kernel.begin(), kernel.end())),
                         .boundary = Boundary::nearest};
  const auto value = stencil_reference(desc, in.data(), true).value;
  CHECK(read_npy<float>(w.path("out.npy"), e.array) == std::vector<float>(value.begin(), value.end()));
}

TEST_CASE("kernels that are not what they should be", "[kernel]") {
  const Workplace w;
  write_npy<float>(w.path("in.npy"), std::vector<float>(12, 1.0f), {3, 4});
  const auto fails = [&](const std::string& bytes, const std::vector<std::string>& arguments,
                         const std::string& message) {
    CAPTURE(message);
    write_file(w.path("k.npy"), bytes);
    const Outcome outcome = w.run(arguments);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.errors, ContainsSubstring("k.npy: ") && ContainsSubstring(message));
    CHECK_FALSE(std::filesystem::exists(w.path("out.npy")));
  };
  const auto kernel = [&](const std::vector<double>& values, const Shape& shape) {
    write_npy(w.path("made.npy"), values, shape);
    return read_file(w.path("made.npy"));
  };
  const std::string good = kernel({1, 2, 3, 4, 5, 6}, {2, 3});
  fails(good, {}, "axis 0 has 2 elements, an even number, so that none is in the middle; give an origin (--origin 0");
  fails(good, {"--origin", "0,2"}, "axis 1 has 3 elements, so that its origin lies in [-1, 1]; --origin says 2");
  fails(good, {"--origin", "1"}, "axis 0 has 2 elements, so that its origin lies in [-1, 0]; --origin says 1");
  fails(good, {"--origin", "0,0,0"}, "--origin says one for each of 3 axes");
  fails(kernel({1, 2, 3}, {3}), {}, "holds a kernel of 1 axis (3 <f8); the array has 2");
  fails(kernel({0, 0, 0}, {1, 3}), {}, "holds zeros only");
  fails(kernel({0, 0, 0, 0, INFINITY, 0}, {2, 3}), {"--origin", "0"}, "element 4, counted in C order, is not finite");
  fails(kernel(std::vector<double>(4099, 1.0), {4099, 1}), {},
        "taps from -2049 to 2049; they must lie in [-1024, 1024]");
  fails(good.substr(0, good.size() - 1), {"--origin", "0"}, "is cut off");
  fails(R"([{"offset": [0, 1], "coefficient": 2}])", {"--origin", "0"}, "--origin is one of a kernel in a .npy file");
  for (const char* origin : {"x", "", "1,", "1.5", "99999999999999999999"})
    CHECK(w.run({"--origin", origin}).exit_code == 2);
}
