// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The axis along which sweeps and tiles advance.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <utility>

namespace tessera::cpu {

/// The problem with its sweep axis first: a domain of rank 2 becomes one of planes that are single rows.
inline plugin::StencilProblem sweep_axis_first(plugin::StencilProblem p) {
  if (p.rank != 2) return p;
  std::swap(p.domain.extents[0], p.domain.extents[1]);
  std::swap(p.domain.reach[0], p.domain.reach[1]);
  std::swap(p.domain.mode[0], p.domain.mode[1]);
  std::swap(p.domain.value[0], p.domain.value[1]);
  std::swap(p.in_strides[0], p.in_strides[1]);
  std::swap(p.out_strides[0], p.out_strides[1]);
  for (auto& tap : p.taps) std::swap(tap.offset[0], tap.offset[1]);
  return p;
}

}  // namespace tessera::cpu
