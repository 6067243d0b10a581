// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A small product and a small stencil whose results are whole numbers, so that they are compared exactly.
#pragma once

#include "every_fault.hpp"
#include "takes.hpp"

#include <tessera/tessera.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace tessera::test {

/// C = A B of 24 x 24 elements.
struct SmallGemm {
  static constexpr std::int64_t n = 24;
  using Matrix = std::array<float, n * n>;
  Matrix a, b, product;
  static constexpr GemmDesc kDesc{.m = n, .n = n, .k = n};

  SmallGemm() {
    for (std::int64_t i = 0; i < n * n; ++i) a[i] = float(i % 7), b[i] = float(i % 5);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t q = 0; q < n; ++q) sum += a[i * n + q] * b[q * n + j];
        product[i * n + j] = sum;
      }
  }
  void check(const Matrix& c) const {
    if (c != product) throw WrongResult("the product is wrong");
  }
  void on_host(GemmPlan& plan) const {
    Matrix c{};
    plan.execute(1.0f, a, b, 0.0f, c);
    check(c);
  }
};

/// Three steps of the sum of a point and its four neighbours, or of all eight for what takes boxes alone, periodic, on
/// 12 x 16 points.
struct SmallStencil {
  static constexpr std::int64_t rows = 12, columns = 16, steps = 3;
  using Grid = std::array<float, rows * columns>;
  Grid in, out;
  StencilDesc desc{.extents = {rows, columns}, .taps = Taps(2), .boundary = Boundary::periodic, .steps = steps};

  explicit SmallStencil(bool box = false) {
    for (std::int64_t i = -1; i <= 1; ++i)
      for (std::int64_t j = -1; j <= 1; ++j)
        if (box || i == 0 || j == 0) desc.taps.add({i, j, 0}, 1.0);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = float(i % 11);
    out = in;
    for (std::int64_t step = 0; step < steps; ++step) out = swept(out);
  }
  void check(const Grid& result) const {
    if (result != out) throw WrongResult("the stencil's result is wrong");
  }
  void on_host(StencilPlan& plan) const {
    Grid result{};
    plan.execute(in, result);
    check(result);
  }

 private:
  Grid swept(const Grid& x) const {
    Grid y{};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        for (const Tap& tap : desc.taps)
          y[i * columns + j] +=
              x[(i + tap.offset[0] + rows) % rows * columns + (j + tap.offset[1] + columns) % columns];
    return y;
  }
};

/// One that the algorithm takes.
inline const SmallStencil& small_stencil(const std::string& algorithm = "") {
  static const SmallStencil star, box(true);
  return takes_boxes_alone(algorithm) ? box : star;
}

}  // namespace tessera::test
