// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencils row by row, with results that stay in the caches.

#include "row_sweep.hpp"

namespace tessera::cpu {
namespace {

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"rows",
     plugin::supports_all<plugin::StencilProblem, Machine>,
     offer_row_sweep<false>,
     make_row_sweep<false>,
     {.narrow = true, .ordered = true}},
    1};

}  // namespace
}  // namespace tessera::cpu
