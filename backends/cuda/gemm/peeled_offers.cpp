// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "peeled.hpp"

namespace tessera::cuda {
namespace {

double predicted_time(plugin::GemmProblem p, const MultistageDevice& device, std::int64_t m, std::int64_t n) {
  p.m = m, p.n = n;
  const MultistageChoice choice = choose_multistage(p, device, 0, multistage_tiles(p, device));
  return multistage_time(p, device, choice.tile, choice.split);
}

/// Of `extent`, beyond the last whole tile; 0 where that is too much to be computed apart.
std::int64_t beyond_tiles(std::int64_t extent) {
  constexpr std::int64_t kTile = 128;  // of the tiles of large products
  const std::int64_t rest = extent % kTile;
  return extent > kTile && rest <= kMostPeeled ? rest : 0;
}

}  // namespace

Peel choose_peel(const plugin::GemmProblem& p, const MultistageDevice& device) {
  constexpr double kClearly = 0.95;
  const std::int64_t rows = beyond_tiles(p.m), columns = beyond_tiles(p.n);
  Peel best{0, 0};
  if (rows == 0 && columns == 0) return best;
  double least = kClearly * predicted_time(p, device, p.m, p.n);
  for (const Peel& peel : {Peel{rows, 0}, Peel{0, columns}, Peel{rows, columns}}) {
    double time = predicted_time(p, device, p.m - peel.rows, p.n - peel.columns);
    if (peel.rows > 0) time += predicted_time(p, device, peel.rows, p.n);
    if (peel.columns > 0) time += predicted_time(p, device, p.m - peel.rows, peel.columns);
    if (time < least) best = peel, least = time;
  }
  return best;
}

}  // namespace tessera::cuda
