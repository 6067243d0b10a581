// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "model.hpp"
#include "offers.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;

constexpr std::array<std::int64_t, 2> kTiles{16, 32};
constexpr int kBlocksPerSm = 8;

template <class T>
double seconds(const plugin::GemmProblem& p, const Machine& machine, std::int64_t tile) {
  const TiledCosts& costs = tile == 16 ? costs_of<T>(machine).tiled16 : costs_of<T>(machine).tiled32;
  const double blocks = double(ceil_div(p.m, tile)) * double(ceil_div(p.n, tile)) * double(p.batch);
  const double steps = double(ceil_div(p.k, tile));
  const double on_one = std::ceil(blocks / machine.multiprocessors);  // blocks of the busiest multiprocessor
  const double products = on_one * double(tile) * double(tile) * double(tile) * steps;
  return costs.launch + finishing_seconds(p, machine) +
         std::max({waves(machine, blocks, kBlocksPerSm) * steps * costs.step,
                   on_one * costs.block + products / (costs.rate * element_rate<T>(machine)),
                   operand_bytes(p) / (costs.memory * machine.memory_rate)});
}

}  // namespace

void tiled_shared_offers(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                         std::uint64_t, plugin::OfferList& offers) {
  for (const std::int64_t tile : given.one_of("tile", kTiles))
    plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
      offers.add({{{"tile", tile}}, seconds<T>(p, machine, tile)});
    });
}

}  // namespace tessera::cuda
