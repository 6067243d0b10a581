// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of triangles of matrices. A Context that makes them has
///
///     CopyTriangle copying_triangle(const TriangleCopy&);  // for a plan, made with it
///     static double copying_seconds(const Machine&, const TriangleCopy&);
#pragma once

#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <functional>

namespace tessera::plugin {

/// A triangle of each of `count` square matrices, with its diagonal, to the same place of another one; or without it to
/// the other side of the diagonal of the same one.
struct TriangleCopy {
  tessera_dtype dtype;
  bool lower, mirrors;
  std::int64_t count, extent;
  std::int64_t from_ld, from_stride, to_ld, to_stride;  ///< elements

  /// That are read, about.
  double elements() const { return double(count) * double(extent) * double(extent) / 2.0; }
};

/// Makes the copy: queues that, or does it on the host. Allocates nothing.
using CopyTriangle = std::function<void(const void* from, void* to)>;

}  // namespace tessera::plugin
