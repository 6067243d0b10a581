// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "offers.hpp"
#include "tile_model.hpp"

#include <tessera/plugin/math.hpp>

namespace tessera::cuda {

using plugin::ceil_div;

void naive_offers(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
                  plugin::OfferList& offers) {
  constexpr int kTile = 16;
  plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    const double strided = p.trans_b ? machine.gemm.product.naive_strided : 1.0;
    const TileLaunch launch{.blocks = double(ceil_div(p.m, kTile)) * double(ceil_div(p.n, kTile)) * double(p.batch),
                            .blocks_per_sm = 8,
                            .steps = double(p.k),
                            .units = element_cycles<T>(kTile * kTile, machine) / (strided * rates_of<T>(machine).naive),
                            .latency = machine.gemm.product.naive_wait,
                            .fill = machine.gemm.product.element * kTile * kTile,
                            .bytes = operand_bytes(p)};
    offers.add({{}, launch_seconds(launch, machine) + finishing_seconds(p, machine)});
  });
}

}  // namespace tessera::cuda
