// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a tap reads beyond an end of an axis. Written from the text of tessera_boundary and not with the library's own
/// functions, so that a mistake of theirs is found.
#pragma once

#include <tessera/boundary.hpp>

#include <cstdint>

namespace tessera::test {

constexpr std::int64_t wrap(std::int64_t i, std::int64_t n) { return ((i % n) + n) % n; }

/// The point of an axis of n points that stands for i, which may lie outside. Not for constant and fixed.
constexpr std::int64_t source_of(Boundary mode, std::int64_t i, std::int64_t n) {
  if (mode == Boundary::nearest) return i < 0 ? 0 : i < n ? i : n - 1;
  if (mode == Boundary::periodic || n == 1) return wrap(i, n);
  // There and back again: the points at the ends come twice (reflect) or once (mirror).
  const std::int64_t ends = mode == Boundary::reflect ? 1 : 0, period = 2 * (n - 1 + ends), at = wrap(i, period);
  return at < n ? at : period - ends - at;
}

}  // namespace tessera::test
