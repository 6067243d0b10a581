// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of triangles of matrices. A Context that makes them has
///
///     CopyTriangle copying_triangle(const TriangleCopy&);  // for a plan, made with it
///     static double copying_seconds(const Machine&, const TriangleCopy&);
#pragma once

#include <tessera/plugin/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace tessera::plugin {

/// A triangle of each of `count` square matrices, with its diagonal, to the same place of another one; or without it to
/// the other side of the diagonal of the same one.
struct TriangleCopy {
  std::size_t element_size;
  bool lower, mirrors;
  std::int64_t count, extent;
  std::int64_t from_ld, from_stride, to_ld, to_stride;  ///< elements

  /// That are read, about.
  double bytes() const { return double(count) * double(extent) * double(extent) / 2.0 * double(element_size); }
};

/// Makes the copy: queues that, or does it on the host. Allocates nothing.
using CopyTriangle = std::function<void(const void* from, void* to)>;

/// An element of c128.
struct SixteenBytes {
  std::uint64_t first, second;
};

/// Calls body(std::type_identity<T>{}) with a type that has as many bytes as an element: 2, 4, 8 or 16.
template <class Body>
decltype(auto) with_type_of_size(std::size_t element_size, Body&& body) {
  if (element_size == 2) return std::forward<Body>(body)(std::type_identity<std::uint16_t>{});
  if (element_size == 4) return std::forward<Body>(body)(std::type_identity<std::uint32_t>{});
  if (element_size == 8) return std::forward<Body>(body)(std::type_identity<std::uint64_t>{});
  return std::forward<Body>(body)(std::type_identity<SixteenBytes>{});
}

}  // namespace tessera::plugin
