// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../../launch_limits.hpp"
#include "../../vector_access.hpp"
#include "../offers.hpp"
#include "../ordered_chains.hpp"
#include "../tile_model.hpp"
#include "multistage.hpp"

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

/// The splits that are tried.
constexpr std::array<std::int64_t, 17> kSplits{1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
/// With more than so many waves of blocks the device is busy in any case: some begin as others end, which the model
/// does not see.
constexpr double kWavesThatFill = 2.0;

std::uint64_t transposed_bytes(const GemmProblem& p, std::int64_t columns) {
  return std::uint64_t(p.k) * std::uint64_t(columns) * plugin::size_of(p.dtype);
}

/// Blocks of the tile that a multiprocessor holds: as many as shared memory allows, of those that it shall.
int blocks_per_sm(const Machine& machine, const MultistageTile& tile) {
  return std::clamp(machine.shared_per_multiprocessor / (tile.shared_bytes + kReservedBytes), 1, tile.blocks_per_sm);
}

/// Bytes of the copies that bring operands into shared memory, of those that are not transposed on their way.
template <class A>
int copy_bytes(const GemmProblem& p, const MultistageTile& tile, bool b_is_transposed) {
  const bool transposes_b = multistage_transposes_b(p, tile) || b_is_transposed;
  const int alignment = std::min(multistage_transposes_a(p, tile) ? 16 : multistage_alignment_a(p),
                                 transposes_b ? 16 : multistage_alignment_b(p));
  return MultistageLayout<A>::kCopyBytes[multistage_copy<A>(alignment)];
}

/// Cycles in which a block's threads copy a step into shared memory. Copies of less than 4 bytes, and those of an
/// operand that is transposed on its way, pass through registers; so do short ones into a narrow K-major tile. The
/// kernels of tf32 that copy large tiles word by word have no registers left for it.
template <class A>
double copy_cycles(const GemmProblem& p, const ProductCosts& c, const MultistageTile& tile, bool b_is_transposed) {
  constexpr auto kElement = double(sizeof(typename MultistageLayout<A>::T));
  constexpr double kSpilled = 3.0;
  const bool transposes_a = multistage_transposes_a(p, tile);
  const bool transposes_b = multistage_transposes_b(p, tile) && !b_is_transposed;
  const int bytes = copy_bytes<A>(p, tile, b_is_transposed);
  double copy = c.copy;
  if (bytes < 16 && tile.k_major) copy = c.word;
  if (bytes == 2) copy = c.two_bytes;
  if (bytes == 4 && tile.tf32 && tile.m > 64) copy = kSpilled * c.word;
  copy *= kElement / bytes;
  return tile.k_depth * (tile.m * (transposes_a ? c.word : copy) + tile.n * (transposes_b ? c.word : copy));
}

/// Seconds of a step, at least: its elements that each wait in a register on their way to shared memory.
template <class A>
double waiting_seconds(const GemmProblem& p, const ProductCosts& c, const MultistageTile& tile, bool b_is_transposed) {
  if (copy_bytes<A>(p, tile, b_is_transposed) != 2) return 0.0;
  return c.two_bytes_wait * tile.k_depth * (tile.m + tile.n) / tile.threads();
}

/// What a tile's rows of so many bytes read of the cache's lines of 128 bytes, beside what they need: half a line more
/// where the rows of the operand do not begin with one.
double line_share(std::int64_t ld, std::int64_t element, std::int64_t row_elements) {
  return ld * element % 128 == 0 ? 1.0 : 1.0 + 64.0 / double(row_elements * element);
}

/// What a launch of so many slices does. Those of a tile are a cluster, or leave their sums in the workspace.
template <class A>
TileLaunch launch_of(const GemmProblem& p, const Machine& machine, const MultistageTile& tile, std::int64_t split,
                     bool b_is_transposed = false) {
  constexpr auto kElement = std::int64_t(sizeof(typename MultistageLayout<A>::T));
  const ProductCosts& c = machine.gemm.product;
  const auto& rates = multistage_rates<A>(machine);
  const std::int64_t cluster = multistage_uses_workspace(machine, split) ? 1 : split;
  const bool vectors = split > cluster || whole_vectors(p.dtype_d, {p.ldd, p.stride_d, p.n});
  const double elements = double(tile.m) * double(tile.n), depth = tile.k_depth;
  const double lines_a = tile.m * line_share(p.lda, kElement, p.trans_a ? tile.m : tile.k_depth);
  const double lines_b =
      tile.n * (b_is_transposed ? 1.0 : line_share(p.ldb, kElement, p.trans_b ? tile.k_depth : tile.n));
  // Another block's sums are read 16 bytes at a time, if they are written so.
  const double reads = elements / tile.threads() * (vectors ? 0.25 : 1.0);
  const double alone = vectors ? 0.0 : elements / double(cluster);
  return {.blocks = multistage_blocks(p, {tile, split}),
          .blocks_per_sm = blocks_per_sm(machine, tile),
          .cluster = cluster,
          .steps = double(ceil_div(ceil_div(p.k, std::int64_t(tile.k_depth)), split)),
          .units = elements * depth / (machine.units.*kMatrixUnits<A> * rates.tiles[tile.number]),
          .warps_wanted = rates.warps,
          .warps = tile.threads() / 32,
          .copies = copy_cycles<A>(p, c, tile, b_is_transposed),
          .lines = double(kElement) * depth * (lines_a + lines_b),
          .latency = std::max(rates.latency * depth / 32.0, waiting_seconds<A>(p, c, tile, b_is_transposed)),
          .pipeline = true,
          .ahead = tile.stages - 1,
          .fill = rates.element * elements + c.fill_depth * depth / 16.0,
          .writing_cycles = alone * c.write_one,
          .writing = cluster > 1 ? c.cluster + c.cluster_read * reads : alone / tile.threads() * c.write_wait,
          .bytes = operand_bytes(p)};
}

/// A product by chunks of so many columns of op(B) that are transposed before.
template <class A>
double transposed_seconds(const GemmProblem& p, const Machine& machine, const MultistageConfig& config) {
  const std::int64_t most_columns = config.transpose;
  const auto chunk_seconds = [&](std::int64_t columns) {
    GemmProblem chunk = p;
    chunk.batch = 1, chunk.n = columns;
    return pass_seconds(double(transposed_bytes(p, columns)), machine) +
           launch_seconds(launch_of<A>(chunk, machine, config.tile, config.split, true), machine);
  };
  const std::int64_t chunks = p.n / most_columns, rest = p.n % most_columns;
  return double(p.batch) * (double(chunks) * chunk_seconds(most_columns) + (rest > 0 ? chunk_seconds(rest) : 0.0));
}

template <class A>
double config_seconds(const GemmProblem& p, const Machine& machine, const MultistageConfig& config) {
  const auto& [tile, split, transpose] = config;
  const double finishing = finishing_seconds(p, machine);
  if (transpose > 0) return finishing + transposed_seconds<A>(p, machine, config);
  const bool alone = sizeof(typename MultistageLayout<A>::T) == 2 && !p.trans_a && p.trans_b &&
                     !whole_vectors(p.dtype_d, {p.ldd, p.stride_d, p.n});
  const double longer = alone ? machine.gemm.product.k_major_alone : 1.0;
  const double launch = finishing + longer * launch_seconds(launch_of<A>(p, machine, tile, split), machine);
  if (!multistage_uses_workspace(machine, split)) return launch;
  return launch + adding_seconds(double(split), double(split) * double(slice_bytes(p)), machine);
}

/// The splits of a tile that are worth a try.
std::span<const std::int64_t> splits_of(const GemmProblem& p, const Machine& machine, const MultistageTile& tile,
                                        std::int64_t most) {
  const double waves = multistage_blocks(p, {tile}) / (double(blocks_per_sm(machine, tile)) * machine.multiprocessors);
  const std::int64_t last = waves > kWavesThatFill ? 1 : std::min(most, ceil_div(p.k, tile.k_depth));
  const auto beyond = std::ranges::upper_bound(kSplits, std::max(std::int64_t(1), last));
  return {kSplits.begin(), beyond};
}

/// Whether the blocks fit into a grid, and those of a tile's slices run together where they have to.
bool has_room(const GemmProblem& p, const Machine& machine, const MultistageConfig& config) {
  const std::int64_t cluster = multistage_uses_workspace(machine, config.split) ? 1 : config.split;
  return multistage_blocks(p, config) <= double(kMaxGridX) &&
         held_at_once(machine, blocks_per_sm(machine, config.tile), cluster) > 0.0;
}

/// That of ordered sums: the slices of a tile are as many blocks' or one's.
std::int64_t ordered_split(const GemmProblem& p, const Machine& machine, const MultistageTile& tile) {
  return tile.folds ? 1 : ordered_chains(p, machine);
}

/// The configurations of a tile.
template <class A>
void add_configs(const GemmProblem& p, const Machine& machine, const MultistageTile& tile,
                 const plugin::GivenParameters& given, std::uint64_t workspace_limit, std::int64_t most_columns,
                 std::vector<Priced<MultistageConfig>>& found) {
  const std::int64_t most_slices = multistage_most_slices(p, machine, workspace_limit);
  const std::int64_t most = multistage_most_transposed(p, tile, workspace_limit);
  const std::array<std::int64_t, 2> columns{0, most};
  const std::vector<std::int64_t> transposes =
      given.in_range("transpose", std::span(columns).first(most > 0 ? 2 : 1), 0, most_columns);
  const std::vector<std::int64_t> splits =
      p.ordered ? std::vector{ordered_split(p, machine, tile)}
                : given.in_range("split", splits_of(p, machine, tile, most_slices), 1, most_slices);
  for (const std::int64_t split : splits)
    for (const std::int64_t transpose : transposes) {
      const MultistageConfig config{tile, split, transpose};
      const bool triangle = p.triangle != TESSERA_TRIANGLE_NONE, together = !multistage_uses_workspace(machine, split);
      const bool may_transpose = most > 0 && (split == 1 || ((p.ordered || triangle) && together));
      // A triangle's tiles are of all of D, written by one kernel.
      if (triangle && !(together && (transpose == 0 || transpose >= p.n))) continue;
      if ((transpose == 0 || may_transpose) && has_room(p, machine, config))
        found.push_back({config, config_seconds<A>(p, machine, config)});
    }
}

std::vector<Priced<MultistageConfig>> all_configs(const GemmProblem& p, const Machine& machine,
                                                  const plugin::GivenParameters& given, std::uint64_t workspace_limit) {
  std::vector<MultistageTile> tiles = multistage_tiles(p, machine);
  std::span<const std::int64_t> permitted = multistage_arithmetic(p);
  if (p.ordered) permitted = permitted.last(1);  // the same for few rows and many
  const auto arithmetic = given.one_of("compute", permitted);
  std::erase_if(tiles, [&](const MultistageTile& tile) { return std::ranges::count(arithmetic, tile.compute()) == 0; });
  keep_given(given, "tile_m", &MultistageTile::m, tiles);
  keep_given(given, "tile_n", &MultistageTile::n, tiles);
  const auto split_of = [&](const MultistageTile& tile) { return ordered_split(p, machine, tile); };
  if (p.ordered) keep_given(given, "split", split_of, tiles);
  std::int64_t most_columns = 0;
  for (const MultistageTile& tile : tiles)
    most_columns = std::max(most_columns, multistage_most_transposed(p, tile, workspace_limit));
  std::vector<Priced<MultistageConfig>> found;
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
      if (p.triangle != TESSERA_TRIANGLE_NONE && (tile.narrow() || tile.tf32)) continue;
      if (tile.folds && !(p.ordered && ordered_chains(p, machine) > 1)) continue;
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

TriangleTiles multistage_triangle(const GemmProblem& p, const MultistageTile& tile) {
  constexpr std::uint32_t kBand = 16;  // rows of tiles that blocks take side by side
  const bool upper = p.triangle == TESSERA_TRIANGLE_UPPER, mirrored = p.triangle == TESSERA_TRIANGLE_MIRRORED;
  return {std::uint32_t(p.n), std::uint32_t(tile.m), std::uint32_t(tile.n), kBand, upper, mirrored};
}

double multistage_blocks(const GemmProblem& p, const MultistageConfig& config) {
  if (p.triangle != TESSERA_TRIANGLE_NONE)
    return double(multistage_triangle(p, config.tile).tiles) * double(p.batch) * double(config.split);
  return double(ceil_div(p.m, config.tile.m)) * double(ceil_div(p.n, config.tile.n)) * double(p.batch) *
         double(config.split);
}

double multistage_seconds(const GemmProblem& p, const Machine& machine, const MultistageConfig& config) {
  return with_arithmetic(p.dtype, config.tile,
                         [&]<class A>(std::type_identity<A>) { return config_seconds<A>(p, machine, config); });
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
  const std::int64_t split = parameters.at("split");
  for (const MultistageTile& tile : multistage_tiles(p, machine))
    if (tile.m == parameters.at("tile_m") && tile.n == parameters.at("tile_n") && tile.compute() == compute &&
        (!p.ordered || split == ordered_split(p, machine, tile)))
      return {tile, split, parameters.at("transpose")};
  throw plugin::Error(TESSERA_INTERNAL, "multistage has no such tile for these operands");
}

std::string multistage_why_unsupported(const GemmProblem& p, const Machine& machine) {
  const bool warpgroups = plugin::size_of(p.dtype) == 2 || p.compute != TESSERA_COMPUTE_STRICT;
  if (p.ordered && warpgroups && why_not_hopper(machine).empty())
    return "the device's ordered sums of 16 bits, bf16x6, f16x3 and tf32 are those of the warpgroups' algorithms";
  if (p.triangle != TESSERA_TRIANGLE_NONE) {
    if (warpgroups) return "it computes triangles of f32 and f64 in strict arithmetic";
    if (p.n > kMostTriangle) return "it computes triangles of at most " + std::to_string(kMostTriangle) + " rows";
  }
  constexpr int kTile = 64;  // of every machine the largest one is at least as large
  const double blocks = std::ceil(double(p.m) / kTile) * std::ceil(double(p.n) / kTile) * double(p.batch);
  if (blocks <= double(kMaxGridX) && double(p.k) < double(kMaxGridX)) return {};
  return "C has more than " + std::to_string(kMaxGridX) + " tiles of 64 x 64, or k is above " +
         std::to_string(kMaxGridX);
}

void multistage_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                       std::uint64_t workspace_limit, plugin::OfferList& offers) {
  auto found = all_configs(p, machine, given, workspace_limit);
  keep_cheapest(found, offers);
  for (const auto& [config, seconds] : found)
    offers.add({multistage_parameters(p, config), seconds, multistage_workspace(p, machine, config)});
}

}  // namespace tessera::cuda
