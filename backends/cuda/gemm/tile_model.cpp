// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "tile_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tessera::cuda {
namespace {

using plugin::GemmProblem;

/// Of so many blocks that run at once: those on the busiest multiprocessor. 5 % more are tolerated in a later wave,
/// because early finishers of the one before free slots, and of clusters of 3 and more, whose room is less well known.
int busiest(const TileLaunch& l, const Machine& machine, double blocks, bool later) {
  const double tolerated = later || l.cluster > 2 ? 1.05 : 1.0;
  int busy = 1;
  while (busy < l.blocks_per_sm && tolerated * held_at_once(machine, busy, l.cluster) < blocks) ++busy;
  return busy;
}

/// Of a wave with so many blocks on each multiprocessor.
double wave_seconds(const TileLaunch& l, const Machine& machine, int blocks) {
  const ProductCosts& c = machine.gemm.product;
  const double reached = l.warps_wanted > 0.0 ? 1.0 - std::exp(-blocks * l.warps / l.warps_wanted) : 1.0;
  const double products = blocks * (l.units / reached + l.copies), requests = blocks * l.requests;
  constexpr double kNotHidden = 0.1;  // of products or requests, by the others
  const double both = std::max(products, requests) + kNotHidden * std::min(products, requests);
  const double cycles = std::max(both, blocks * l.lines / c.cache_rate);
  const double busy = cycles / machine.clock_hz, step = l.pipeline ? std::max(busy, l.latency) : busy + l.latency;
  const double in_turn = blocks * (l.ahead * l.copies + l.writing_cycles) / machine.clock_hz;
  return c.fill + l.fill + in_turn + l.steps * step + l.writing;
}

}  // namespace

double launch_seconds(const TileLaunch& l, const Machine& machine) {
  const ProductCosts& c = machine.gemm.product;
  const double held = std::max(1.0, held_at_once(machine, l.blocks_per_sm, l.cluster));
  const double waves = std::ceil(l.blocks / held);
  const int last = busiest(l, machine, l.blocks - (waves - 1.0) * held, waves > 1.0);
  const double whole = waves > 1.0 ? (waves - 1.0) * wave_seconds(l, machine, l.blocks_per_sm) : 0.0;
  const double computing = whole + wave_seconds(l, machine, last);
  const double memory = l.bytes / (c.memory * l.memory_share * machine.memory_rate);
  return c.launch + std::max(computing, memory) + c.overlap * std::min(computing, memory);
}

double pass_seconds(double bytes, const Machine& machine) {
  return machine.gemm.product.pass + 2.0 * bytes / machine.memory_rate;
}

double adding_seconds(double slices, double bytes, const Machine& machine) {
  const ProductCosts& c = machine.gemm.product;
  return c.adding + c.adding_slice * slices + 2.0 * bytes / (c.partial_rate * machine.memory_rate);
}

double finishing_seconds(const GemmProblem& p, const Machine& machine) {
  constexpr double kBias = 8.0, kActivation = 25.0;
  const double instructions =
      (p.bias != TESSERA_BIAS_NONE ? kBias : 0.0) + (p.activation != TESSERA_ACTIVATION_NONE ? kActivation : 0.0);
  const double elements = double(p.batch) * double(p.m) * double(p.n);
  return instructions * elements / (machine.units.fma_f32 * machine.cycles_per_second());
}

double operand_bytes(const GemmProblem& p) {
  const auto bytes = [](tessera_dtype dtype, std::int64_t rows, std::int64_t columns) {
    return double(plugin::size_of(dtype)) * double(rows) * double(columns);
  };
  return double(p.batch) * (bytes(p.dtype, p.m, p.k) + bytes(p.dtype_b, p.k, p.n) + bytes(p.dtype_d, p.m, p.n));
}

double held_at_once(const Machine& machine, int blocks, std::int64_t cluster) {
  const double room = double(blocks) * machine.multiprocessors;
  if (cluster == 1 || machine.count_clusters == nullptr) return room;
  const double counted = machine.count_clusters(machine.device)[std::size_t(blocks - 1)][std::size_t(cluster - 1)];
  return std::min(counted, room);  // which a limit may make smaller
}

}  // namespace tessera::cuda
