// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencils row by row, with results that go past the caches.

#include "row_sweep.hpp"

#include <string>

namespace tessera::cpu {
namespace {

std::string why_unsupported(const plugin::StencilProblem& problem, const Machine&) {
  for (const std::int64_t stride : {problem.in_strides[2], problem.out_strides[2]})
    if (stride != 1) return "rows have stride " + std::to_string(stride) + ", not 1";
  return {};
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"streaming", why_unsupported, offer_row_sweep<true>, make_row_sweep<true>, {.narrow = true, .ordered = true}}, 2};

}  // namespace
}  // namespace tessera::cpu
