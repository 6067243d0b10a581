// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "data.hpp"

#include "npy.hpp"

#include <tessera/gemm.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace showcase {
namespace {

using tessera::DType;
using tessera::Transpose;

Field load(const std::filesystem::path& file) {
  const tessera::npy::Array array = tessera::npy::read(file);
  if (array.shape.size() != 2 || array.fortran_order)
    throw tessera::npy::Error(file, "holds " + array.describe() + "; expected a matrix in C order");
  const float* const data = array.data<float>();
  return {array.shape[0], array.shape[1], std::vector<double>(data, data + array.size)};
}

double dot(const Field& x, std::int64_t left, std::int64_t right) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < x.rows; ++i)
    sum += x.values[std::size_t(i * x.columns + left)] * x.values[std::size_t(i * x.columns + right)];
  return sum;
}

/// Gram-Schmidt, column by column, in place.
void orthonormalise(Field& x) {
  for (std::int64_t column = 0; column < x.columns; ++column) {
    for (std::int64_t previous = 0; previous < column; ++previous) {
      const double share = dot(x, previous, column);
      for (std::int64_t i = 0; i < x.rows; ++i)
        x.values[std::size_t(i * x.columns + column)] -= share * x.values[std::size_t(i * x.columns + previous)];
    }
    const double length = std::sqrt(dot(x, column, column));
    for (std::int64_t i = 0; i < x.rows; ++i) x.values[std::size_t(i * x.columns + column)] /= length;
  }
}

}  // namespace

Field load_terrain(const std::filesystem::path& folder) { return load(folder / "terrain.npy"); }

Field load_digits(const std::filesystem::path& folder) {
  Field x = load(folder / "digits.npy");
  for (std::int64_t j = 0; j < x.columns; ++j) {
    double mean = 0.0;
    for (std::int64_t i = 0; i < x.rows; ++i) mean += x.values[std::size_t(i * x.columns + j)] / double(x.rows);
    for (std::int64_t i = 0; i < x.rows; ++i) x.values[std::size_t(i * x.columns + j)] -= mean;
  }
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const auto row = x.values.begin() + i * x.columns;
    const double length = std::sqrt(std::inner_product(row, row + x.columns, row, 0.0));
    std::for_each(row, row + x.columns, [length](double& value) { value /= length; });
  }
  return x;
}

Field principal_directions(const Field& x, std::int64_t count) {
  constexpr int kIterations = 30;
  const std::int64_t n = x.columns;
  std::vector<double> covariance(std::size_t(n * n));
  tessera::GemmPlan square({.m = n, .n = n, .k = x.rows, .dtype = DType::f64, .trans_a = Transpose::yes});
  square.execute(1.0, x.values, x.values, 0.0, covariance);

  Field directions{n, count, std::vector<double>(std::size_t(n * count))};
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (double& value : directions.values) value = normal(random);
  std::vector<double> image(directions.values.size());
  tessera::GemmPlan step({.m = n, .n = count, .k = n, .dtype = DType::f64});
  for (int i = 0; i < kIterations; ++i) {
    orthonormalise(directions);
    step.execute(1.0, covariance, directions.values, 0.0, image);
    directions.values.swap(image);
  }
  orthonormalise(directions);
  return directions;
}

std::vector<std::int64_t> order_by_angle(const Field& x, const Field& directions) {
  const std::int64_t count = directions.columns;
  std::vector<double> projected(std::size_t(x.rows * count));
  tessera::GemmPlan project({.m = x.rows, .n = count, .k = x.columns, .dtype = DType::f64});
  project.execute(1.0, x.values, directions.values, 0.0, projected);
  const auto angle = [&](std::int64_t row) {
    return std::atan2(projected[std::size_t(row * count + 1)], projected[std::size_t(row * count)]);
  };
  std::vector<std::int64_t> order(std::size_t(x.rows));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return angle(a) < angle(b); });
  return order;
}

}  // namespace showcase
