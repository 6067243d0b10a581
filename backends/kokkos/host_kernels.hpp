// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What kernels on the processor take from the CPU backend: registers as vectors, packing, the register tile, bias
/// and activation, blocks of rows.
#pragma once

#include "../cpu/gemm/finish.hpp"
#include "../cpu/gemm/pack.hpp"
#include "../cpu/stencil/register_block_kernel.hpp"
#include "../cpu/stencil/row_ends.hpp"
#include "../cpu/stencil/sweep_cut.hpp"
#include "../cpu/thread_pool.hpp"
#include "../cpu/vector.hpp"

#include <tessera/plugin/math.hpp>

namespace tessera::kokkos {

using plugin::ceil_div;
using plugin::round_up;

/// First of `units` units of work that member `rank` of `size` does; the next one's first ends its range.
constexpr std::int64_t first_of_share(std::int64_t units, std::int64_t rank, std::int64_t size) {
  return units / size * rank + units % size * rank / size;
}

}  // namespace tessera::kokkos
