// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../launch_limits.hpp"
#include "../vector_access.hpp"
#include "model.hpp"
#include "multistage.hpp"
#include "offers.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;
using plugin::Scalar;

/// The splits that are tried.
constexpr std::array<std::int64_t, 17> kSplits{1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
/// With more than so many waves of blocks the device is busy in any case: some begin as others end, which the model
/// does not see.
constexpr double kWavesThatFill = 2.0;
constexpr std::size_t kMostOffers = 32;

std::uint64_t transposed_bytes(const GemmProblem& p, std::int64_t columns) {
  return std::uint64_t(p.k) * std::uint64_t(columns) * plugin::size_of(p.dtype);
}

/// Blocks of the tile that a multiprocessor holds: as many as shared memory allows, of those that it shall.
int blocks_per_sm(const Machine& machine, const MultistageTile& tile) {
  constexpr int kReserved = 1024;  // bytes of each block's shared memory, for the system
  return std::clamp(machine.shared_per_multiprocessor / (tile.shared_bytes + kReserved), 1, tile.blocks_per_sm);
}

/// Of so many blocks that run at once: those on the busiest multiprocessor. 5 % more are tolerated in a later wave,
/// because early finishers of the one before free slots, and of clusters of 3 and more, whose room is less well known.
int busiest(const Machine& machine, int most, std::int64_t cluster, double blocks, bool later) {
  const auto tolerated = [&](int busy) { return later || (busy > 1 && cluster > 2) ? 1.05 : 1.0; };
  int busy = 1;
  while (busy < most && tolerated(busy) * held_at_once(machine, busy, cluster) < blocks) ++busy;
  return busy;
}

/// Work of the busiest multiprocessor, in blocks.
struct Waves {
  double count;  ///< in which blocks run at once
  double full;   ///< blocks in all waves but the last
  double last;   ///< in that one
  int most;      ///< that it holds at once
};

/// A problem in tiles, whatever its slices.
struct Tiling {
  const MultistageTile* tile;
  int blocks_per_sm;
  double blocks;   ///< of a slice
  double copying;  ///< cycles of a block's copies into shared memory, for each of k
  double lines;    ///< bytes of the second-level cache's lines that a block reads, for each of k
  bool aligned_c;  ///< C can be written 16 bytes at a time
  double memory;   ///< seconds in which the operands are read and written
};

/// What a tile's rows of so many bytes read of the cache's lines of 128 bytes, beside what they need: half a line more
/// where the rows of the operand do not begin with one.
double line_share(std::int64_t ld, std::int64_t element, std::int64_t row_elements) {
  return ld * element % 128 == 0 ? 1.0 : 1.0 + 64.0 / double(row_elements * element);
}

template <class A>
Tiling tiling_of(const GemmProblem& p, const Machine& machine, const MultistageTile& tile, bool b_is_transposed) {
  const auto& costs = multistage_costs_of<A>(machine);
  const bool transposes_a = multistage_transposes_a(p, tile);
  const bool transposes_b = multistage_transposes_b(p, tile) && !b_is_transposed;
  const int alignment = std::min(transposes_a ? 16 : multistage_alignment_a(p),
                                 transposes_b || b_is_transposed ? 16 : multistage_alignment_b(p));
  constexpr auto kElement = std::int64_t(sizeof(typename MultistageLayout<A>::T));
  const int bytes = MultistageLayout<A>::kCopyBytes[multistage_copy<A>(alignment)];
  const double slowdown = bytes == 16 ? 1.0 : bytes == 2 ? costs.narrow_copy : tile.k_major ? costs.k_major_copy : 1.0;
  const double copy = costs.copy * double(kElement) / bytes * slowdown;
  const double copying =
      tile.m * (transposes_a ? costs.transposed_copy : copy) + tile.n * (transposes_b ? costs.transposed_copy : copy);
  const double lines =
      kElement * (tile.m * line_share(p.lda, kElement, p.trans_a ? tile.m : tile.k_depth) +
                  (b_is_transposed ? tile.n : tile.n * line_share(p.ldb, kElement, p.trans_b ? tile.k_depth : tile.n)));
  return {&tile,
          blocks_per_sm(machine, tile),
          multistage_blocks(p, {tile}),
          copying,
          lines,
          whole_vectors(p.dtype_d, {p.ldd, p.stride_d, p.n}),
          operand_bytes(p) / (costs.memory * machine.memory_rate)};
}

/// Slices of k. Those of a tile are a cluster of so many blocks, or leave their sums in the workspace.
struct Slices {
  std::int64_t split, cluster;

  bool use_workspace() const { return split > cluster; }
};

Slices slices_of(const Machine& machine, std::int64_t split) {
  return {split, multistage_uses_workspace(machine, split) ? 1 : split};
}

/// Whether the blocks of a tile's slices can run together, where they have to.
bool has_room(const Machine& machine, const Tiling& tiling, const Slices& slices) {
  return held_at_once(machine, tiling.blocks_per_sm, slices.cluster) > 0.0;
}

Waves waves_of(const Machine& machine, const Tiling& tiling, const Slices& slices) {
  const double blocks = tiling.blocks * double(slices.split);
  const int most = tiling.blocks_per_sm;
  const double held = held_at_once(machine, most, slices.cluster);
  const double count = std::ceil(blocks / held);
  const double last = busiest(machine, most, slices.cluster, blocks - (count - 1.0) * held, count > 1.0);
  return {count, (count - 1.0) * most, last, most};
}

/// Whether a block's sums go to C, or to the workspace, from registers and 16 bytes at a time.
bool writes_vectors(const Tiling& tiling, const Slices& slices) { return slices.use_workspace() || tiling.aligned_c; }

/// Seconds in which a block writes its tile through shared memory, a cluster's blocks a share of it each: a thread
/// writes one piece after another. From registers it writes all at once.
template <class A>
double writing_seconds(const Machine& machine, const Tiling& tiling, const Slices& slices) {
  const auto& costs = multistage_costs_of<A>(machine);
  const MultistageTile& tile = *tiling.tile;
  const bool vectors = writes_vectors(tiling, slices);
  if (slices.cluster == 1 && vectors) return 0.0;
  const double width = vectors ? 16.0 / double(sizeof(Scalar<typename MultistageLayout<A>::T>)) : 1.0;
  const double pieces = double(tile.m) * double(tile.n) / (width * tile.threads() * double(slices.cluster));
  return pieces * (slices.cluster > 1 ? costs.cluster_write : costs.write);
}

/// Seconds in which a multiprocessor computes its blocks: products at the rate of as many blocks as it holds, the
/// copies into shared memory, and what is written element by element.
template <class A>
double computing_seconds(const Machine& machine, const Tiling& tiling, const Slices& slices, const Waves& waves,
                         double k) {
  const MultistageTile& tile = *tiling.tile;
  const auto& costs = multistage_costs_of<A>(machine);
  const MultistageTileCosts& rates = costs.tiles[tile.number];
  const double missing = (waves.most - waves.last) / std::max(1.0, waves.most - 1.0);
  const double last_rate = std::min(rates.rate * (1.0 - costs.few_blocks * missing), rates.rate_of_one * waves.last);
  const double elements = double(tile.m) * double(tile.n), products = elements * k / matrix_rate<A>(machine);
  const double writing = writes_vectors(tiling, slices) ? 0.0 : costs.write_one * elements / double(slices.cluster);
  return products * (waves.full / rates.rate + waves.last / last_rate) +
         (waves.full + waves.last) * (k * tiling.copying + writing) / machine.clock_hz;
}

/// A launch without the adding of slices; `depth` of k.
template <class A>
double launch_seconds(std::int64_t depth, const Machine& machine, const Tiling& tiling, const Slices& slices) {
  constexpr double kLatencyDepth = 32.0;
  const MultistageTile& tile = *tiling.tile;
  const auto& costs = multistage_costs_of<A>(machine);
  const double k = double(ceil_div(ceil_div(depth, tile.k_depth), slices.split) * tile.k_depth);
  const Waves waves = waves_of(machine, tiling, slices);
  const double computing =
      (slices.cluster > 1 ? costs.cluster_slowdown : 1.0) * computing_seconds<A>(machine, tiling, slices, waves, k);
  const double lines = tiling.blocks * double(slices.split) * k * tiling.lines;
  const double fixed = costs.tiles[tile.number].fixed + writing_seconds<A>(machine, tiling, slices);
  const double busy = computing + std::max(0.0, waves.count - 1.0) * costs.later_wave * fixed;
  return std::min(1.0, waves.count) * fixed + costs.overlap * std::min(busy, tiling.memory) +
         std::max({busy, tiling.memory, waves.count * k / kLatencyDepth * costs.latency,
                   lines / (costs.cache_rate * machine.cycles_per_second())});
}

/// A product by chunks of so many columns of op(B) that are transposed before.
template <class A>
double transposed_seconds(const GemmProblem& p, const Machine& machine, const MultistageTile& tile,
                          std::int64_t most_columns) {
  const auto& costs = multistage_costs_of<A>(machine);
  const auto chunk_seconds = [&](std::int64_t columns) {
    GemmProblem chunk = p;
    chunk.batch = 1;
    chunk.n = columns;
    const double bytes = 2.0 * double(p.k) * double(columns) * double(plugin::size_of(p.dtype));
    return costs.transpose + bytes / (costs.transpose_memory * machine.memory_rate) +
           costs.transposed * launch_seconds<A>(p.k, machine, tiling_of<A>(chunk, machine, tile, true), {1, 1});
  };
  const std::int64_t chunks = p.n / most_columns, rest = p.n % most_columns;
  return double(p.batch) * (double(chunks) * chunk_seconds(most_columns) + (rest > 0 ? chunk_seconds(rest) : 0.0));
}

/// A product whose slices are added in a cluster, or by another kernel.
template <class A>
double sliced_seconds(const GemmProblem& p, const Machine& machine, const Tiling& tiling, const Slices& slices) {
  const auto& costs = multistage_costs_of<A>(machine);
  const double launch = launch_seconds<A>(p.k, machine, tiling, slices), split = double(slices.split);
  if (!slices.use_workspace()) return (split > 1 ? costs.cluster + costs.cluster_slice * split : 0.0) + launch;
  const double partial = 2.0 * split * double(slice_bytes(p));
  return launch + costs.second_kernel + costs.second_kernel_slice * split +
         partial / (costs.partial_rate * machine.cycles_per_second());
}

/// The splits of a tile that are worth a try.
std::span<const std::int64_t> splits_of(const GemmProblem& p, const Machine& machine, const Tiling& tiling,
                                        std::int64_t most) {
  const double waves = tiling.blocks / (double(tiling.blocks_per_sm) * machine.multiprocessors);
  const std::int64_t last = waves > kWavesThatFill ? 1 : std::min(most, ceil_div(p.k, tiling.tile->k_depth));
  const auto beyond = std::ranges::upper_bound(kSplits, std::max(std::int64_t(1), last));
  return {kSplits.begin(), beyond};
}

/// A configuration and its time: cheaper to sort than an offer.
struct Priced {
  MultistageConfig config;
  double seconds;
};

/// The configurations of a tile.
template <class A>
void add_configs(const GemmProblem& p, const Machine& machine, const MultistageTile& tile,
                 const plugin::GivenParameters& given, std::uint64_t workspace_limit, std::int64_t most_columns,
                 std::vector<Priced>& found) {
  const std::int64_t most_slices = multistage_most_slices(p, machine, workspace_limit);
  const Tiling tiling = tiling_of<A>(p, machine, tile, false);
  const std::int64_t most = multistage_most_transposed(p, tile, workspace_limit);
  const std::array<std::int64_t, 2> columns{0, most};
  const std::vector<std::int64_t> transposes =
      given.in_range("transpose", std::span(columns).first(most > 0 ? 2 : 1), 0, most_columns);
  for (const std::int64_t split : given.in_range("split", splits_of(p, machine, tiling, most_slices), 1, most_slices)) {
    const Slices slices = slices_of(machine, split);
    if (tiling.blocks * double(split) > double(kMaxGridX) || !has_room(machine, tiling, slices)) continue;
    for (const std::int64_t transpose : transposes) {
      if (transpose > 0 && (split > 1 || most == 0)) continue;
      const double multiplying = transpose > 0 ? transposed_seconds<A>(p, machine, tile, transpose)
                                               : sliced_seconds<A>(p, machine, tiling, slices);
      found.push_back({{tile, split, transpose}, multiplying + finishing_seconds(p, machine)});
    }
  }
}

std::vector<Priced> all_configs(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                                std::uint64_t workspace_limit) {
  std::vector<MultistageTile> tiles = multistage_tiles(p, machine);
  const auto arithmetic = given.one_of("compute", multistage_arithmetic(p));
  std::erase_if(tiles, [&](const MultistageTile& tile) { return std::ranges::count(arithmetic, tile.compute()) == 0; });
  keep_given(given, "tile_m", &MultistageTile::m, tiles);
  keep_given(given, "tile_n", &MultistageTile::n, tiles);
  std::int64_t most_columns = 0;
  for (const MultistageTile& tile : tiles)
    most_columns = std::max(most_columns, multistage_most_transposed(p, tile, workspace_limit));
  std::vector<Priced> found;
  for (const MultistageTile& tile : tiles)
    with_arithmetic(p.dtype, tile, [&]<class A>(std::type_identity<A>) {
      add_configs<A>(p, machine, tile, given, workspace_limit, most_columns, found);
    });
  return found;
}

}  // namespace

std::vector<MultistageTile> multistage_tiles(const GemmProblem& p, const Machine& machine) {
  std::vector<MultistageTile> tiles;
  const auto add = [&]<class A>(std::type_identity<A>) {
    for (const MultistageTile& tile : kMultistageTiles<A>) {
      const bool long_k_major = tile.long_a() ? !p.trans_a : p.trans_b;
      const bool fits = !tile.narrow() || !tile.transposes || tile.k_major == long_k_major;
      if (fits && tile.shared_bytes <= machine.shared_per_block) tiles.push_back(tile);
    }
  };
  plugin::with_types(p.dtype, add);
  if (multistage_arithmetic(p).size() > 1) add(std::type_identity<Tf32>{});
  return tiles;
}

bool multistage_transposes_a(const GemmProblem& p, const MultistageTile& tile) {
  return tile.transposes && !p.trans_a && !(tile.k_major && tile.long_a());
}

bool multistage_transposes_b(const GemmProblem& p, const MultistageTile& tile) {
  return tile.transposes && p.trans_b && !(tile.k_major && !tile.long_a());
}

int multistage_alignment_a(const GemmProblem& p) {
  return alignment_of(p.dtype, {p.lda, p.stride_a, p.trans_a ? p.m : p.k});
}

int multistage_alignment_b(const GemmProblem& p) {
  return alignment_of(p.dtype, {p.ldb, p.stride_b, p.trans_b ? p.k : p.n});
}

bool multistage_uses_workspace(const Machine& machine, std::int64_t split) {
  return split > 1 && !(split <= std::int64_t(kMostInCluster) && machine.clusters());
}

std::uint64_t multistage_workspace(const GemmProblem& p, const Machine& machine, const MultistageConfig& config) {
  if (config.transpose > 0) return transposed_bytes(p, config.transpose);
  return multistage_uses_workspace(machine, config.split) ? std::uint64_t(config.split) * slice_bytes(p) : 0;
}

std::int64_t multistage_most_slices(const GemmProblem& p, const Machine& machine, std::uint64_t workspace_limit) {
  if (slice_bytes(p) == 0) return 1;  // C is empty
  const auto fit = std::int64_t(std::min(workspace_limit / slice_bytes(p), std::uint64_t(kMultistageMostSplit)));
  constexpr std::int64_t kInCluster = kMostInCluster;
  return fit >= kInCluster ? fit : std::max(fit, machine.clusters() ? kInCluster : 1);
}

std::int64_t multistage_most_transposed(const GemmProblem& p, const MultistageTile& tile,
                                        std::uint64_t workspace_limit) {
  if (!multistage_transposes_a(p, tile) || !multistage_transposes_b(p, tile)) return 0;
  if (p.batch == 0 || p.m == 0 || p.n == 0 || p.k == 0) return 0;
  // In doubles: whole numbers overflow for a k that no memory holds.
  if (double(p.k) * double(tile.n) * double(plugin::size_of(p.dtype)) > double(workspace_limit)) return 0;
  const auto fit = std::int64_t(workspace_limit / transposed_bytes(p, tile.n));  // tiles
  const std::int64_t tiles = ceil_div(p.n, tile.n);
  return ceil_div(tiles, ceil_div(tiles, fit)) * tile.n;
}

double multistage_blocks(const GemmProblem& p, const MultistageConfig& config) {
  return double(ceil_div(p.m, config.tile.m)) * double(ceil_div(p.n, config.tile.n)) * double(p.batch) *
         double(config.split);
}

double multistage_seconds(const GemmProblem& p, const Machine& machine, const MultistageConfig& config) {
  return finishing_seconds(p, machine) + with_arithmetic(p.dtype, config.tile, [&]<class A>(std::type_identity<A>) {
           if (config.transpose > 0) return transposed_seconds<A>(p, machine, config.tile, config.transpose);
           return sliced_seconds<A>(p, machine, tiling_of<A>(p, machine, config.tile, false),
                                    slices_of(machine, config.split));
         });
}

plugin::Parameters multistage_parameters(const GemmProblem& p, const MultistageConfig& config) {
  plugin::Parameters parameters{
      {"tile_m", config.tile.m}, {"tile_n", config.tile.n}, {"split", config.split}, {"transpose", config.transpose}};
  if (multistage_arithmetic(p).size() > 1) parameters.add({"compute", config.tile.compute()});
  return parameters;
}

MultistageConfig multistage_config(const GemmProblem& p, const Machine& machine, const plugin::Parameters& parameters) {
  const std::int64_t compute =
      multistage_arithmetic(p).size() > 1 ? parameters.at("compute") : std::int64_t(TESSERA_COMPUTE_STRICT);
  for (const MultistageTile& tile : multistage_tiles(p, machine))
    if (tile.m == parameters.at("tile_m") && tile.n == parameters.at("tile_n") && tile.compute() == compute)
      return {tile, parameters.at("split"), parameters.at("transpose")};
  throw plugin::Error(TESSERA_INTERNAL, "multistage has no such tile for these operands");
}

std::string multistage_why_unsupported(const GemmProblem& p, const Machine&) {
  constexpr int kTile = 64;  // of every machine the largest one is at least as large
  const double blocks = std::ceil(double(p.m) / kTile) * std::ceil(double(p.n) / kTile) * double(p.batch);
  if (blocks <= double(kMaxGridX) && double(p.k) < double(kMaxGridX)) return {};
  return "C has more than " + std::to_string(kMaxGridX) + " tiles of 64 x 64, or k is above " +
         std::to_string(kMaxGridX);
}

void multistage_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                       std::uint64_t workspace_limit, plugin::OfferList& offers) {
  std::vector<Priced> found = all_configs(p, machine, given, workspace_limit);
  std::span<Priced> wanted(found);
  if (offers.only_cheapest()) {
    const auto cheapest = std::ranges::min_element(wanted, {}, &Priced::seconds);
    wanted = {cheapest, std::min<std::size_t>(1, wanted.size())};
  } else {
    std::ranges::stable_sort(wanted, {}, &Priced::seconds);
    wanted = wanted.first(std::min(kMostOffers, wanted.size()));
  }
  for (const auto& [config, seconds] : wanted)
    offers.add({multistage_parameters(p, config), seconds, multistage_workspace(p, machine, config)});
}

}  // namespace tessera::cuda
