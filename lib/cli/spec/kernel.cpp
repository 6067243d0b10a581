// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "npy.hpp"
#include "spec.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace tessera::cli {
namespace {

/// How far the element that stands for the point itself lies from extent / 2.
std::int64_t shift_of(const npy::Array& kernel, std::size_t axis, const std::vector<std::int64_t>& origin) {
  const std::int64_t extent = kernel.shape[axis];
  const std::string where =
      "holds " + kernel.describe() + ": axis " + std::to_string(axis) + " has " + std::to_string(extent) + " elements";
  if (origin.empty() && extent % 2 == 0)
    throw npy::Error(kernel.file, where + ", an even number, so that none is in the middle; give an origin (--origin " +
                                      "0 takes element " + std::to_string(extent / 2) + ", as scipy does)");
  const std::int64_t shift = origin.empty() ? 0 : origin[origin.size() == 1 ? 0 : axis];
  const std::int64_t lowest = -(extent / 2), highest = extent - 1 - extent / 2;
  if (shift < lowest || shift > highest)
    throw npy::Error(kernel.file, where + ", so that its origin lies in [" + std::to_string(lowest) + ", " +
                                      std::to_string(highest) + "]; --origin says " + std::to_string(shift));
  const std::int64_t first = -(extent / 2 + shift), last = first + extent - 1;
  if (std::max(-first, last) > TESSERA_MAX_RADIUS)
    throw npy::Error(kernel.file, where + ", taps from " + std::to_string(first) + " to " + std::to_string(last) +
                                      "; they must lie in [-" + std::to_string(TESSERA_MAX_RADIUS) + ", " +
                                      std::to_string(TESSERA_MAX_RADIUS) + "]");
  return shift;
}

/// Throws where the kernel has another number of axes than the array or than the origin says.
void check_rank(const npy::Array& kernel, int rank, const std::vector<std::int64_t>& origin) {
  const std::size_t axes = kernel.shape.size();
  if (axes != std::size_t(rank))
    throw npy::Error(kernel.file, "holds a kernel of " + npy::axes_text(axes) + " (" + kernel.describe() +
                                      "); the array has " + std::to_string(rank) +
                                      ": give it as many, with NumPy "
                                      "kernel.reshape, 1 along axes without taps");
  if (origin.size() > 1 && origin.size() != axes)
    throw npy::Error(kernel.file, "holds " + kernel.describe() + ", but --origin says one for each of " +
                                      std::to_string(origin.size()) + " axes: give one for each or one for all");
}

}  // namespace

Taps read_kernel(const std::filesystem::path& file, int rank, const std::vector<std::int64_t>& origin) {
  const npy::Array kernel = npy::read(file, DType::f64);
  check_rank(kernel, rank, origin);
  Tap shift{};
  for (std::size_t axis = 0; axis < kernel.shape.size(); ++axis) shift.offset[axis] = shift_of(kernel, axis, origin);
  const std::vector<double> values = kernel.in_c_order<double>();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw npy::Error(file, "element " + std::to_string(i) + ", counted in C order, is not finite");
  const Taps centred = taps::from_dense(values, kernel.shape);
  if (centred.size() == 0) throw npy::Error(file, "holds zeros only (" + kernel.describe() + "): there are no taps");
  Taps taps(rank);
  for (Tap tap : centred) {
    for (std::size_t axis = 0; axis < kernel.shape.size(); ++axis) tap.offset[axis] -= shift.offset[axis];
    taps.add(tap.offset, tap.coefficient);
  }
  return taps;
}

}  // namespace tessera::cli
