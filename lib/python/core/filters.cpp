// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "filter_passes.hpp"
#include "hints.hpp"
#include "module.hpp"
#include "numpy_arrays.hpp"

#include <nanobind/stl/array.h>

#include <algorithm>

namespace tessera::python {
namespace {

/// extent, points before, number of the mode: for each axis.
using WindowNumbers = std::vector<std::array<std::int64_t, 3>>;

Window window_of(const std::array<std::int64_t, 3>& numbers) {
  return {numbers[0], numbers[1], Beyond(numbers[2]), false};
}

struct Arrays {
  Elements in, out;
  std::vector<Window> windows;

  Arrays(nb::handle input, nb::handle output, const WindowNumbers& numbers)
      : in(numpy::elements_of(input, "input", false)), out(numpy::elements_of(output, "output", true)) {
    if (in.rank != out.rank || !std::equal(in.shape.begin(), in.shape.begin() + in.rank, out.shape.begin()))
      throw nb::value_error("output: its shape is not the input's");
    if (numbers.size() != std::size_t(in.rank)) throw nb::value_error("windows: must be one for each axis");
    for (const auto& numbers_of_axis : numbers) windows.push_back(window_of(numbers_of_axis));
  }
  bool empty() const { return std::count(in.shape.begin(), in.shape.begin() + in.rank, 0) > 0; }
};

void weighted(Any input, Any output, const WindowNumbers& numbers, Any weights, int order, double constant,
              int threads) {
  const Arrays arrays(input, output, numbers);
  const Elements values = numpy::elements_of(weights, "weights", false);
  std::int64_t count = 1, given = 1;
  for (const Window& window : arrays.windows) count *= window.extent;
  for (int axis = 0; axis < values.rank; ++axis) given *= values.shape[std::size_t(axis)];
  if (values.type != Element::f64 || count != given) throw nb::value_error("weights: f64, one for each point");
  if (arrays.empty()) return;
  const std::span<const double> all(reinterpret_cast<const double*>(values.data), std::size_t(count));
  unlocked([&] { weighted_pass(arrays.in, arrays.out, arrays.windows, all, SumOrder(order), constant, threads); });
}

void running(Any input, Any output, int axis, const WindowNumbers& numbers, double constant, int threads) {
  const Arrays arrays(input, output, numbers);
  if (arrays.empty()) return;
  unlocked([&] { running_mean(arrays.in, arrays.out, axis, arrays.windows[std::size_t(axis)], constant, threads); });
}

void box(Any input, Any output, const WindowNumbers& numbers, double constant, int threads) {
  const Arrays arrays(input, output, numbers);
  if (arrays.in.type != arrays.out.type || arrays.in.type < Element::f32)
    throw nb::type_error("box_mean: must be arrays of float32 or of float64");
  if (arrays.empty()) return;
  unlocked([&] { box_mean(arrays.in, arrays.out, arrays.windows, constant, threads); });
}

}  // namespace

void define_filters(nb::module_& module) {
  using namespace nb::literals;
  nb::module_ passes = module.def_submodule("passes", "Passes of tessera.ndimage that are not stencils.");
  passes.def("weighted", weighted, "input"_a, "output"_a, "windows"_a, "weights"_a, "order"_a, "constant"_a,
             "threads"_a,
             "Sums in float64, cast as C does. windows: (extent, points before, mode) of each axis; modes: 0 nearest, "
             "1 wrap, 2 reflect, 3 mirror, 4 constant; weights: float64 in C order; order: 0 plain, without tiny "
             "weights, 1 the last first, 2 symmetric, 3 antisymmetric.");
  passes.def("running_mean", running, "input"_a, "output"_a, "axis"_a, "windows"_a, "constant"_a, "threads"_a,
             "A mean along an axis by a running sum in float64.");
  passes.def("box_mean", box, "input"_a, "output"_a, "windows"_a, "constant"_a, "threads"_a,
             "A mean over the windows in the arrays' own type.");
}

}  // namespace tessera::python
