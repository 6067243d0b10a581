// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by teams: tiles of both operands in scratch, a block of D in registers.

#include "../flavour.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include "team_tiled_device.hpp"
#else
#include "team_tiled_host.hpp"
#endif

namespace tessera::kokkos {
namespace {

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& p,
                                   const plugin::Parameters& parameters) {
  context.require_no_fault();
  return make_team_tiled(context, p, parameters);
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"team_tiled",
     plugin::supports_all<plugin::GemmProblem, Machine>,
     offer_team_tiled,
     make,
     {.narrow = true, .epilogue = true, .aux = true, .ordered = true}},
    1};

}  // namespace
}  // namespace tessera::kokkos
