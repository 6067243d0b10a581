// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// naive and tiled_shared: a thread for each element of square tiles.
#include "offers.hpp"
#include "tile_model.hpp"

#include <tessera/plugin/math.hpp>

#include <array>

namespace tessera::cuda {
namespace {

/// Of blocks that take `depth` of k at a time, at a share of the units' rate, and wait so long for each of k.
template <class T>
double seconds(const plugin::GemmProblem& p, const Machine& machine, std::int64_t tile, std::int64_t depth, double rate,
               double wait) {
  const auto side = double(tile);
  const TileLaunch launch{
      .blocks = double(plugin::ceil_div(p.m, tile)) * double(plugin::ceil_div(p.n, tile)) * double(p.batch),
      .blocks_per_sm = 8,
      .steps = double(plugin::ceil_div(p.k, depth)),
      .units = element_cycles<T>(side * side * double(depth), machine) / rate,
      .latency = wait * double(depth),
      .fill = machine.gemm.product.element * side * side,
      .bytes = operand_bytes(p)};
  return launch_seconds(launch, machine) + finishing_seconds(p, machine);
}

}  // namespace

void naive_offers(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
                  plugin::OfferList& offers) {
  const ProductCosts& costs = machine.gemm.product;
  const double strided = p.trans_b ? costs.naive_strided : 1.0;
  plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    offers.add({{}, seconds<T>(p, machine, 16, 1, strided * rates_of<T>(machine).naive, costs.naive_wait)});
  });
}

void tiled_shared_offers(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                         std::uint64_t, plugin::OfferList& offers) {
  constexpr std::array<std::int64_t, 2> kTiles{16, 32};
  for (const std::int64_t tile : given.one_of("tile", kTiles))
    plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
      const auto& rates = rates_of<T>(machine);
      const double rate = tile == 16 ? rates.tiled16 : rates.tiled32;
      offers.add({{{"tile", tile}}, seconds<T>(p, machine, tile, tile, rate, machine.gemm.product.tiled_wait)});
    });
}

}  // namespace tessera::cuda
