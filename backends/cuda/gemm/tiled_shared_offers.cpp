// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "offers.hpp"
#include "tile_model.hpp"

#include <tessera/plugin/math.hpp>

#include <array>

namespace tessera::cuda {

using plugin::ceil_div;

void tiled_shared_offers(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                         std::uint64_t, plugin::OfferList& offers) {
  constexpr std::array<std::int64_t, 2> kTiles{16, 32};
  for (const std::int64_t tile : given.one_of("tile", kTiles))
    plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
      const auto& rates = rates_of<T>(machine);
      const auto side = double(tile);
      const TileLaunch launch{
          .blocks = double(ceil_div(p.m, tile)) * double(ceil_div(p.n, tile)) * double(p.batch),
          .blocks_per_sm = 8,
          .steps = double(ceil_div(p.k, tile)),
          .units = element_cycles<T>(side * side * side, machine) / (tile == 16 ? rates.tiled16 : rates.tiled32),
          .latency = machine.gemm.product.tiled_wait * side,
          .fill = machine.gemm.product.element * side * side,
          .bytes = operand_bytes(p)};
      offers.add({{{"tile", tile}}, launch_seconds(launch, machine) + finishing_seconds(p, machine)});
    });
}

}  // namespace tessera::cuda
