// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "model.hpp"
#include "offers.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;

constexpr int kTile = 16, kBlocksPerSm = 8;

template <class T>
double seconds(const plugin::GemmProblem& p, const Machine& machine) {
  const NaiveCosts& costs = costs_of<T>(machine).naive;
  const double blocks = double(ceil_div(p.m, kTile)) * double(ceil_div(p.n, kTile)) * double(p.batch);
  const double latency = waves(machine, blocks, kBlocksPerSm) * (costs.block + double(p.k) * costs.product);
  const double products = blocks * kTile * kTile * double(p.k);
  const double rate = (p.trans_b ? costs.strided : costs.rate) * element_rate<T>(machine) * machine.multiprocessors;
  return costs.launch + std::max(latency, products / rate) + finishing_seconds(p, machine);
}

}  // namespace

void naive_offers(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
                  plugin::OfferList& offers) {
  plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) { offers.add({{}, seconds<T>(p, machine)}); });
}

}  // namespace tessera::cuda
