// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../../launch_limits.hpp"
#include "../offers.hpp"
#include "../ordered_chains.hpp"
#include "../tile_model.hpp"
#include "chains.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;

/// What an H200 takes for a step of a warp that is alone: cycles, for each of the few, for each of k, and for both.
struct StepCosts {
  double step, few, k, few_k;
};
template <class T>
constexpr StepCosts kStep = sizeof(T) == 4 ? StepCosts{190, 20, 5, 1.9} : StepCosts{150, 0, 10, 4.0};
/// Times as long where elements are copied one by one; instructions of a warp for each of k, and of the few and k,
/// which the warps of a scheduler issue in turn; how much longer a step takes for each further warp of a block; seconds
/// to add slices in a cluster.
constexpr double kOnes = 2.0, kPerK = 2.0, kPerFewAndK = 3.0, kBeside = 0.06;
constexpr std::int64_t kSchedulers = 4;
constexpr double kClusterSeconds = 6e-7;
/// Of the rate at which other kernels read memory.
template <class T>
constexpr double kMemoryShare = sizeof(T) == 4 ? 0.93 : 0.83;

/// Blocks, in clusters of so many. Not an integer, which could overflow.
double blocks_of(const GemmProblem& p, std::int64_t cluster) {
  return std::ceil(double(chains_many(p)) / kChainsLines) * double(p.batch) * double(cluster);
}

template <class T>
double seconds(const GemmProblem& p, const Machine& machine, const ChainsConfig& config) {
  const StepCosts& c = kStep<T>;
  const double few = chains_few(p), step = double(config.step), ones = chains_vectors(p) ? 1.0 : kOnes;
  const double alone = c.step + c.few * few + (c.k + c.few_k * few) * step;
  const double latency = alone * (1.0 + kBeside * double(config.warps() - 1));
  const double instructions = (kPerK + kPerFewAndK * few) * step * double(ceil_div(config.warps(), kSchedulers));
  const int room = machine.shared_per_multiprocessor / int(chains_shared_bytes<T>(p, config) + kReservedBytes);
  const TileLaunch launch{.blocks = blocks_of(p, config.cluster),
                          .blocks_per_sm = std::clamp(room, 1, int(kMostClusteredBlocksPerSm)),
                          .cluster = config.cluster,
                          .steps = double(ceil_div(ordered_chain_length(p.k, config.chains), config.step)),
                          .units = instructions * ones,
                          .lines = double(config.warps()) * (double(kChainsLines) + few) * step * double(sizeof(T)),
                          .latency = latency * ones / machine.clock_hz,
                          .pipeline = true,
                          .fill = config.cluster > 1 ? kClusterSeconds : 0.0,
                          .bytes = operand_bytes(p),
                          .memory_share = kMemoryShare<T>};
  return launch_seconds(launch, machine) + finishing_seconds(p, machine);
}

template <class T>
void add_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                plugin::OfferList& offers) {
  const std::int64_t chains = ordered_chains(p, machine);
  const bool has_long = chains_has_long_steps<T>(chains_few(p), skinny_k_major(p));
  const auto steps = std::span(kChainsSteps<T>).first(has_long ? 2 : 1);
  std::vector<std::int64_t> clusters;
  for (std::int64_t cluster = 1; cluster <= chains; ++cluster) {
    const std::int64_t bytes = chains_shared_bytes<T>(p, {chains, cluster, steps.front()});
    if (chains % cluster == 0 && bytes <= machine.shared_per_block && blocks_of(p, cluster) <= double(kMaxGridX) &&
        held_at_once(machine, 1, cluster) > 0.0)
      clusters.push_back(cluster);
  }
  for (const std::int64_t cluster : given.one_of("cluster", clusters))
    for (const std::int64_t step : given.one_of("step", steps)) {
      const ChainsConfig config{chains, cluster, step};
      if (chains_shared_bytes<T>(p, config) > machine.shared_per_block) continue;
      offers.add({{{"cluster", cluster}, {"step", step}}, seconds<T>(p, machine, config)});
    }
}

}  // namespace

std::string chains_why_unsupported(const GemmProblem& p, const Machine& machine) {
  constexpr std::int64_t kLeast = 4096;  // others are as fast, and need not ask the device
  if (p.ordered && p.compute != TESSERA_COMPUTE_STRICT)
    return "the device's ordered sums of bf16x6, f16x3 and tf32 are those of other algorithms";
  if (p.ordered && plugin::size_of(p.dtype) == 8 && !why_not_hopper(machine).empty())
    return "the device's ordered sums of f64 are those of multistage";
  if (std::min(p.m, p.n) > kChainsMostFew)
    return "D has more than " + std::to_string(kChainsMostFew) + " rows and columns: " + std::to_string(p.m) + " x " +
           std::to_string(p.n);
  if (double(chains_many(p)) * double(p.k) < double(kLeast))
    return "the larger of A and B has fewer than " + std::to_string(kLeast) + " elements";
  if (blocks_of(p, 1) > double(kMaxGridX) || double(p.k) >= double(kMaxGridX))
    return "the larger extent of D has more than " + std::to_string(kMaxGridX) +
           " parts of 32 in all matrices, or k is not below that";
  if (!machine.clusters()) return "it is for devices with clusters, of compute capability 9.0 and later";
  return {};
}

void chains_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given, std::uint64_t,
                   plugin::OfferList& offers) {
  plugin::with_types<plugin::WideTypes>(
      p.dtype, [&]<class T>(std::type_identity<T>) { add_offers<T>(p, machine, given, offers); });
}

}  // namespace tessera::cuda
