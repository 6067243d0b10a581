// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The plan cache behind one-call forms and borrowed plans: what it holds, and its limits.
#pragma once

#include <tessera/error.hpp>
#include <tessera/integer.hpp>

#include <cstdint>

namespace tessera::plan_cache {

/// What the cache holds: see tessera_plan_cache_info.
struct Info {
  std::int64_t idle;      ///< plans that wait for a caller
  std::int64_t lent;      ///< plans that a caller has and that will be kept
  std::uint64_t bytes;    ///< host and device memory of the idle ones
  std::int64_t max_idle;  ///< the limits
  std::uint64_t max_bytes;
  std::uint64_t found;  ///< borrowed plans that were there, since the process began
  std::uint64_t made;   ///< borrowed plans that had to be made
};

/// What it holds now.
inline Info info() {
  tessera_plan_cache_info c{};
  c.struct_size = sizeof c;
  detail::call(tessera_get_plan_cache_info, &c);
  return {c.idle, c.lent, c.bytes, c.max_idle, c.max_bytes, c.found, c.made};
}

/// Keeps at most so many idle plans of so many bytes together; the least recently borrowed go first.
inline void limit(Integer plans, Integer bytes) {
  detail::call(tessera_plan_cache_limit, std::int64_t(plans), std::int64_t(bytes));
}

/// Destroys the idle plans. Those that are lent go when they come back.
inline void clear() { detail::call(tessera_plan_cache_clear); }

}  // namespace tessera::plan_cache
