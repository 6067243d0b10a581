// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../../vector_access.hpp"
#include "../offers.hpp"
#include "../tile_model.hpp"
#include "warpgroup.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;
using plugin::round_up;

constexpr std::array<std::int64_t, 11> kSplits{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};
constexpr std::int64_t kMostSplit = 64;
constexpr std::array<std::int64_t, 3> kClusterSides{1, 2, 4};
constexpr std::array<std::int64_t, 2> kRows{128, 64};
constexpr std::int64_t kMostClusterSide = 4;
constexpr double kMostUnits = 0x7fffffff;  ///< of a launch: see WarpgroupDivisor
/// Panels are whole lines of 128 bytes.
constexpr std::int64_t kPanelUnit = 256;
/// Coordinates of tensors are of 32 bits, distances of rows and matrices below 2^40 bytes.
constexpr std::int64_t kMostExtent = std::int64_t(1) << 30, kMostDistance = std::int64_t(1) << 35;

std::int64_t steps_of(const GemmProblem& p) { return ceil_div(p.k, warpgroup_depth(p)); }

/// The names of parameters that are about rows and columns of D: a turned product has them exchanged.
struct SideNames {
  const char *m, *n;
};
struct Names {
  SideNames tile{"tile_m", "tile_n"}, cluster{"cluster_m", "cluster_n"}, panel{"panel_m", "panel_n"};

  explicit Names(const GemmProblem& problem) {
    if (!warpgroup_turns(problem)) return;
    for (SideNames* names : {&tile, &cluster, &panel}) std::swap(names->m, names->n);
  }
};

/// What a launch computes: all matrices, or one.
GemmProblem of_a_launch(const GemmProblem& p) {
  GemmProblem one = p;
  if (!warpgroup_merges_batch(p)) one.batch = 1;
  return one;
}

/// Bytes of a copy of so many rows of A, or columns of B; 0 where there is none.
std::uint64_t copy_bytes(const GemmProblem& p, std::int64_t extent, bool k_major) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return 0;
  const std::int64_t lines = k_major ? extent : p.k, neighbours = k_major ? p.k : extent;
  return std::uint64_t(lines) * std::uint64_t(warpgroup_copy_ld(p, neighbours)) * plugin::size_of(p.dtype);
}
std::uint64_t copy_bytes_a(const GemmProblem& p, std::int64_t m) {
  return warpgroup_copies_a(p) ? copy_bytes(p, m, !p.trans_a) : 0;
}
std::uint64_t copy_bytes_b(const GemmProblem& p, std::int64_t n) {
  return warpgroup_copies_b(p) ? copy_bytes(p, n, warpgroup_k_major_b(p)) : 0;
}

WarpgroupPanels panels_of(const GemmProblem& p, std::int64_t m, std::int64_t n) {
  return {m, n, copy_bytes_a(p, m), copy_bytes_b(p, n)};
}

/// Of `extent`, equal shares of whole units whose copies fit; 0 where none does. `unit_bytes`: those of a unit's copy.
std::int64_t share_of(std::int64_t extent, std::uint64_t all_bytes, std::uint64_t unit_bytes, std::uint64_t bytes) {
  if (all_bytes <= bytes) return extent;
  const auto fit = std::int64_t(bytes / unit_bytes);
  if (fit == 0) return 0;
  const std::int64_t units = ceil_div(extent, kPanelUnit);
  return ceil_div(units, ceil_div(units, fit)) * kPanelUnit;
}

/// That of a panel by its parameter.
std::int64_t extent_of(std::int64_t parameter, std::int64_t all) { return parameter == 0 ? all : parameter; }

/// The largest panels that fit; with m or n of 0 where none do. Where both operands are copied, B's copies are made
/// once, and A's once for each of them: B has what A leaves of all, or half.
WarpgroupPanels most_panels(const GemmProblem& p, std::uint64_t bytes) {
  const std::uint64_t whole_a = copy_bytes_a(p, p.m), half = bytes / 2;
  const std::uint64_t for_b = whole_a <= half ? bytes - whole_a : half;
  const std::int64_t n = share_of(p.n, copy_bytes_b(p, p.n), copy_bytes_b(p, kPanelUnit), for_b);
  const std::int64_t m = share_of(p.m, whole_a, copy_bytes_a(p, kPanelUnit), bytes - copy_bytes_b(p, n));
  return panels_of(p, m, n);
}

/// Clusters that run at once.
double held(const Machine& machine, const WarpgroupCluster& cluster) {
  return std::floor(held_at_once(machine, 1, cluster.blocks()) / cluster.blocks());
}

/// The clusters' tiles of all matrices, and their slices that are another cluster's work.
double tiles_of(std::int64_t m, std::int64_t n, std::int64_t batch, const WarpgroupConfig& config) {
  const WarpgroupTiles tiles = warpgroup_tiles(m, n, config);
  return double(tiles.rows) * double(tiles.columns) * double(batch);
}
double units_of(std::int64_t m, std::int64_t n, std::int64_t batch, const WarpgroupConfig& config) {
  return tiles_of(m, n, batch, config) * double(config.split / config.cluster.k);
}

/// Requests of 128 bytes for a row of so many elements that a bulk copy reads 128 bytes of: it begins in the middle of
/// a line, or not.
double requests_of(std::int64_t ld, std::int64_t line, bool copied) { return copied || ld % line == 0 ? 1.0 : 2.0; }

/// What a launch does, of a panel, or of the tiles that are left over: `blocks` of them, in slices of `config`.
TileLaunch launch_of(const GemmProblem& p, const Machine& machine, const WarpgroupConfig& config, double blocks) {
  const GemmCosts& c = machine.gemm;
  const WarpgroupTile& tile = config.tile;
  const WarpgroupCluster& cluster = config.cluster;
  const WarpgroupTypeRates& rates = warpgroup_in_tf32(p) ? c.warpgroup.of_tf32 : c.warpgroup.of_16;
  const double units = warpgroup_in_tf32(p) ? machine.units.mma_tf32 : machine.units.mma_16;
  const double depth = double(warpgroup_depth(p)), elements = double(tile.rows) * tile.columns;
  const int room = tile.room(warpgroup_k_major_b(p), plugin::size_of(p.dtype));
  const double requests = requests_of(p.lda, warpgroup_depth(p), warpgroup_copies_a(p)) * tile.rows / cluster.n +
                          requests_of(p.ldb, warpgroup_depth(p), warpgroup_copies_b(p)) * room / cluster.m;
  const bool wide = plugin::size_of(p.dtype_d) == 4;  // D is written by sectors of 8 from registers, other D by rows
  const bool whole = config.split > cluster.k ||
                     (wide ? (p.ldd | p.stride_d) % 8 == 0 : whole_vectors(p.dtype_d, {p.m, p.ldd, p.stride_d}));
  const int in_stage = warpgroup_in_tf32(p) && p.trans_a ? 1 : tile.stage_steps(cluster.m * cluster.n > 1);
  const double busy = std::clamp(blocks / std::max(1.0, held_at_once(machine, 1, cluster.blocks())), 1e-3, 1.0);
  const double reach = c.product.cache_rate * machine.cycles_per_second() / machine.memory_rate;
  const double of_slices = c.product.cluster + c.product.cluster_slice * cluster.k +
                           c.product.cluster_read * elements / (128.0 * WarpgroupTile::kConsumers);
  return {.blocks = blocks,
          .cluster = cluster.blocks(),
          .steps = double(round_up<std::int64_t>(ceil_div(steps_of(p), config.split), in_stage)),
          .units = std::max(depth * elements / (units * rates.rate), double(tile.step_lines(room))),
          .requests = requests * c.product.request * busy,  // all multiprocessors share the cache's rate
          .latency = in_stage > 1 ? rates.in_pair : rates.latency,
          .pipeline = true,
          .fill = c.warpgroup.element * elements,
          .writing_cycles = whole ? 0.0 : c.warpgroup.write_one * elements / cluster.k,
          .writing = cluster.k > 1 ? of_slices : 0.0,
          .bytes = operand_bytes(p) + (wide && !whole ? c.product.sector * result_bytes(p) : 0.0),
          .memory_share = std::min(1.0, busy * reach)};  // the ring holds enough copies under way
}

/// One launch, of a panel, and that for the tiles that are left over.
double panel_seconds(const GemmProblem& p, const Machine& machine, const WarpgroupConfig& config) {
  const double units = units_of(p.m, p.n, p.batch, config), blocks = config.cluster.blocks();
  const double left = double(warpgroup_tail_tiles(p.m, p.n, p.batch, machine, config));
  const double sharing = config.cluster.m * config.cluster.n > 1 ? machine.gemm.product.sharing : 0.0;
  const double all = sharing + launch_seconds(launch_of(p, machine, config, (units - left) * blocks), machine);
  if (left == 0.0) return all;
  WarpgroupConfig sliced{config.tile, {1, 1, int(config.tail)}, 1, config.tail};
  TileLaunch tail = launch_of(p, machine, sliced, double(config.tail));
  tail.bytes = 0.0;  // those of the panel
  return all + launch_seconds(tail, machine);
}

double seconds(const GemmProblem& product, const Machine& machine, const WarpgroupConfig& config) {
  const GemmProblem p = of_a_launch(product);
  const double launches = double(p.batch > 0 ? product.batch / p.batch : 0);
  const auto copying = [&](std::uint64_t bytes) { return bytes == 0 ? 0.0 : pass_seconds(double(bytes), machine); };
  const WarpgroupPanels& panels = config.panels;
  const double panels_m = double(ceil_div(p.m, std::max<std::int64_t>(panels.m, 1))),
               panels_n = double(ceil_div(p.n, std::max<std::int64_t>(panels.n, 1)));
  GemmProblem panel = p;
  panel.m = std::min(p.m, panels.m), panel.n = std::min(p.n, panels.n);
  const std::uint64_t partial = warpgroup_partial_bytes(product, config);
  const double adding = partial > 0 ? adding_seconds(double(config.split), double(partial), machine) : 0.0;
  const double a_copies = panels_m > 1.0 ? panels_m * panels_n : 1.0;
  return machine.gemm.product.launch * (launches == 0.0) + finishing_seconds(product, machine) +
         launches * (panels_m * panels_n * panel_seconds(panel, machine, config) + adding +
                     a_copies * copying(panels.bytes_a) + panels_n * copying(panels.bytes_b));
}

/// Columns of tiles of so many rows that are worth a try: of equal parts, as few as there can be and a few more, unless
/// there are so many that the last one makes no difference, or as many as just fill some waves; and of many parts the
/// usual ones. Narrow tiles are for one wave or two.
std::vector<std::int64_t> columns_to_try(const GemmProblem& p, const Machine& machine, std::int64_t rows) {
  constexpr std::int64_t kMany = 12, kMostWaves = 8, kNarrow = 64;
  const std::int64_t unit = warpgroup_column_unit(p), extent = std::max<std::int64_t>(p.n, 1);
  const std::int64_t fewest = ceil_div<std::int64_t>(extent, WarpgroupTile::kMostColumns);
  std::vector<std::int64_t> columns;
  if (fewest <= kMany)
    for (const std::int64_t parts : {fewest, fewest + 1, fewest + 2, 2 * fewest, 4 * fewest})
      columns.push_back(round_up(ceil_div(extent, parts), unit));
  const std::int64_t beside = std::max<std::int64_t>(ceil_div(p.m, rows) * p.batch, 1);
  for (auto waves = ceil_div<std::int64_t>(fewest * beside, machine.multiprocessors); waves <= kMostWaves; ++waves) {
    const std::int64_t filling = round_up(ceil_div(extent, waves * machine.multiprocessors / beside), unit);
    if (waves <= 2 || filling >= kNarrow) columns.push_back(filling);
  }
  if (fewest > 1) columns.insert(columns.end(), {256, 192, 128, 64});
  std::ranges::sort(columns, std::greater{});
  columns.erase(std::ranges::unique(columns).begin(), columns.end());
  return columns;
}

std::vector<WarpgroupTile> tiles_to_try(const GemmProblem& p, const Machine& machine,
                                        const plugin::GivenParameters& given, const SideNames& names) {
  std::vector<std::int64_t> allowed;
  const std::int64_t unit = warpgroup_column_unit(p);
  for (std::int64_t n = unit; n <= WarpgroupTile::kMostColumns; n += unit) allowed.push_back(n);
  std::vector<WarpgroupTile> tiles;
  for (const std::int64_t rows : given.one_of(names.m, kRows))
    for (const std::int64_t n : given.one_of(names.n, columns_to_try(p, machine, rows), allowed))
      tiles.push_back({int(rows), int(n)});
  return tiles;
}

/// Whether blocks of a cluster can copy equal shares of a tile: eight rows of 128 bytes, which the swizzle permutes.
bool can_share(const GemmProblem& p, const WarpgroupTile& tile, const WarpgroupCluster& cluster) {
  return !warpgroup_k_major_b(p) || tile.columns % (8 * cluster.m) == 0;
}

/// Of blocks that share operands, or of the slices.
std::vector<WarpgroupCluster> clusters_to_try(const plugin::GivenParameters& given, const SideNames& names,
                                              std::int64_t split) {
  std::vector<WarpgroupCluster> clusters;
  const std::array<std::int64_t, 2> slices{1, split};
  const bool fits = split > 1 && std::size_t(split) <= kMostInCluster;
  const auto of_k = given.in_range("cluster_k", std::span(slices).first(fits ? 2 : 1), 1, kMostInCluster);
  const auto sides = std::span(kClusterSides).first(split > 1 ? 2 : kClusterSides.size());
  for (const std::int64_t m : given.in_range(names.m, sides, 1, kMostClusterSide))
    for (const std::int64_t n : given.in_range(names.n, sides, 1, kMostClusterSide))
      for (const std::int64_t k : of_k)
        if (std::has_single_bit(std::uint64_t(m)) && std::has_single_bit(std::uint64_t(n)) &&
            std::size_t(m * n) <= kMostInCluster && (k == 1 || (k == split && m * n == 1)))
          clusters.push_back({int(m), int(n), int(k)});
  return clusters;
}

/// How k is cut, and what blocks of a cluster have in common.
struct Cut {
  std::int64_t split;
  WarpgroupCluster cluster;
};
std::vector<Cut> cuts_to_try(const plugin::GivenParameters& given, const SideNames& names, std::int64_t most_slices) {
  std::vector<Cut> cuts;
  for (const std::int64_t split : given.in_range("split", kSplits, 1, kMostSplit))
    for (const WarpgroupCluster& cluster : clusters_to_try(given, names, split))
      if (split <= most_slices) cuts.push_back({split, cluster});
  return cuts;
}

/// None, and as many slices of the tiles that are left over as the device has room for.
std::vector<std::int64_t> tails_to_try(const GemmProblem& p, const Machine& machine, const WarpgroupConfig& config,
                                       const plugin::GivenParameters& given) {
  std::vector<std::int64_t> fit{1};
  const WarpgroupConfig tailed{config.tile, config.cluster, 2, config.split, config.panels};
  const double tiles = double(warpgroup_tail_tiles(p.m, p.n, p.batch, machine, tailed) * config.cluster.blocks());
  const std::int64_t steps = steps_of(p);
  if (config.split == 1 && tiles > 0 && p.multiprocessors == 0)
    for (std::int64_t tail = std::min<std::int64_t>(kMostInCluster, steps); tail > 1; --tail)
      if (tiles * double(tail) <= held_at_once(machine, 1, tail)) {
        fit.push_back(tail);
        break;
      }
  std::vector<std::int64_t> tails = given.in_range("tail", fit, 1, kMostInCluster);
  std::erase_if(tails, [&](std::int64_t tail) {
    return tail > 1 && (fit.size() == 1 || tail > steps || tiles * double(tail) > held_at_once(machine, 1, tail));
  });
  return tails;
}

}  // namespace

GemmProblem warpgroup_product(const GemmProblem& problem) {
  GemmProblem p = problem;
  if (!warpgroup_turns(problem)) return p;
  std::swap(p.m, p.n), std::swap(p.lda, p.ldb), std::swap(p.stride_a, p.stride_b);
  p.trans_a = !problem.trans_b, p.trans_b = !problem.trans_a;
  if (problem.bias != TESSERA_BIAS_NONE)
    p.bias = problem.bias == TESSERA_BIAS_PER_ROW ? TESSERA_BIAS_PER_COLUMN : TESSERA_BIAS_PER_ROW;
  return p;
}

std::uint64_t warpgroup_partial_bytes(const GemmProblem& p, const WarpgroupConfig& config) {
  if (config.split == config.cluster.k) return 0;
  GemmProblem rows = of_a_launch(p);
  rows.m = round_up(rows.m, 4);  // whichever way D lies
  return std::uint64_t(config.split) * slice_bytes(rows);
}

WarpgroupTiles warpgroup_tiles(std::int64_t m, std::int64_t n, const WarpgroupConfig& config) {
  return {ceil_div(m, std::int64_t(config.tile.rows) * config.cluster.m),
          ceil_div(n, std::int64_t(config.tile.columns) * config.cluster.n)};
}

std::int64_t warpgroup_group(std::int64_t b_bytes, const Machine& machine, const WarpgroupConfig& config) {
  // Where all of op(B) stays in the second-level cache, C is written in long runs, which memory takes faster.
  if (b_bytes <= std::int64_t(8) << 20) return 1;
  const double at_once = double(machine.multiprocessors) * config.tile.rows * config.tile.columns;
  return std::max<std::int64_t>(1, std::llround(std::sqrt(at_once) / (config.tile.rows * config.cluster.m)));
}

std::int64_t warpgroup_tail_tiles(std::int64_t m, std::int64_t n, std::int64_t batch, const Machine& machine,
                                  const WarpgroupConfig& config) {
  if (config.tail == 1) return 0;
  const auto units = std::int64_t(units_of(m, n, batch, config)), at_once = std::int64_t(held(machine, config.cluster));
  return units > at_once ? units % at_once : 0;
}

std::int64_t warpgroup_blocks(std::int64_t m, std::int64_t n, std::int64_t batch, const Machine& machine,
                              const WarpgroupConfig& config) {
  const std::int64_t blocks = config.cluster.blocks();
  return std::int64_t(std::min(units_of(m, n, batch, config), std::max(1.0, held(machine, config.cluster)))) * blocks;
}

plugin::Parameters warpgroup_parameters(const GemmProblem& problem, const WarpgroupConfig& config) {
  const GemmProblem p = warpgroup_product(problem);
  struct Sides {
    std::int64_t m, n;
  };
  const auto in_d = [turned = warpgroup_turns(problem)](std::int64_t m, std::int64_t n) {
    return turned ? Sides{n, m} : Sides{m, n};
  };
  const Sides tile = in_d(config.tile.rows, config.tile.columns), cluster = in_d(config.cluster.m, config.cluster.n);
  const Sides panel = in_d(config.panels.m < p.m ? config.panels.m : 0, config.panels.n < p.n ? config.panels.n : 0);
  plugin::Parameters parameters{{"tile_m", tile.m},
                                {"tile_n", tile.n},
                                {"cluster_m", cluster.m},
                                {"cluster_n", cluster.n},
                                {"cluster_k", config.cluster.k},
                                {"split", config.split},
                                {"tail", config.tail},
                                {"panel_m", panel.m},
                                {"panel_n", panel.n}};
  if (warpgroup_in_tf32(p)) parameters.add({"compute", TESSERA_COMPUTE_TF32});
  return parameters;
}

WarpgroupConfig warpgroup_config(const GemmProblem& problem, const plugin::Parameters& parameters) {
  const GemmProblem p = warpgroup_product(problem);
  const Names names(problem);
  const WarpgroupPanels panels =
      panels_of(p, extent_of(parameters.at(names.panel.m), p.m), extent_of(parameters.at(names.panel.n), p.n));
  return {{int(parameters.at(names.tile.m)), int(parameters.at(names.tile.n))},
          {int(parameters.at(names.cluster.m)), int(parameters.at(names.cluster.n)), int(parameters.at("cluster_k"))},
          parameters.at("tail"),
          parameters.at("split"),
          panels};
}

std::string warpgroup_why_unsupported(const GemmProblem& p, const Machine& machine) {
  if (std::string why = why_not_hopper(machine); !why.empty()) return why;
  if (plugin::size_of(p.dtype) == 8) return "it is for f16, bf16 and f32 in tf32";
  if (warpgroup_in_tf32(p) && p.compute != TESSERA_COMPUTE_TF32)
    return "it computes f32 in tf32, which the product does not permit";
  if (p.multiprocessors > 0 && warpgroup_copies(warpgroup_product(p)))
    return "it copies operands, which keeps no sm_limit: make rows of A and B multiples of 16 bytes, in tf32 one of "
           "them along k";
  if (std::max({p.m, p.n, p.k, p.batch}) >= kMostExtent)
    return "m, n, k or batch is not below " + std::to_string(kMostExtent);
  if (std::max({p.lda, p.ldb, p.stride_a, p.stride_b}) < kMostDistance) return {};
  return "a leading dimension or stride is not below " + std::to_string(kMostDistance);
}

void warpgroup_offers(const GemmProblem& problem, const Machine& whole_machine, const plugin::GivenParameters& given,
                      std::uint64_t workspace_limit, plugin::OfferList& offers) {
  const Machine machine = whole_machine.limited(problem.multiprocessors);
  if (problem.multiprocessors > 0) workspace_limit = 0;  // kernels beside the product's keep no limit
  const GemmProblem product = warpgroup_product(problem), p = of_a_launch(product);
  const Names names(problem);
  if (warpgroup_in_tf32(p)) given.in_range("compute", TESSERA_COMPUTE_TF32, TESSERA_COMPUTE_TF32, TESSERA_COMPUTE_TF32);
  const WarpgroupPanels most = most_panels(product, workspace_limit);
  const auto panel = [&](const char* key, bool copies, std::int64_t extent, std::int64_t fits) {
    return extent_of(given.in_range(key, fits < extent ? fits : 0, 0, copies && extent > 0 ? extent - 1 : 0), extent);
  };
  const WarpgroupPanels panels = panels_of(product, panel(names.panel.m, warpgroup_copies_a(product), p.m, most.m),
                                           panel(names.panel.n, warpgroup_copies_b(product), p.n, most.n));
  const bool whole = panels.m == p.m && panels.n == p.n;
  std::vector<Priced<WarpgroupConfig>> found;
  const std::int64_t most_slices = whole ? std::clamp<std::int64_t>(steps_of(p), 1, kMostSplit) : 1;
  const std::vector<Cut> cuts = cuts_to_try(given, names.cluster, most_slices);
  given.in_range("tail", 1, 1, kMostInCluster);  // known, also where no tile has one
  for (const WarpgroupTile& tile : tiles_to_try(p, machine, given, names.tile))
    for (const auto& [split, cluster] : cuts) {
      const WarpgroupConfig config{tile, cluster, 1, split, panels};
      const double blocks = cluster.blocks(), all = blocks * units_of(p.m, p.n, p.batch, config);
      if (!can_share(p, tile, cluster) || blocks > machine.multiprocessors || all > kMostUnits) continue;
      // A cluster's slices are of one tile, and there is no use for others where tiles are many.
      if (split > 1 && tiles_of(p.m, p.n, p.batch, config) > held(machine, cluster)) continue;
      if (panels.bytes() + warpgroup_partial_bytes(product, config) > workspace_limit) continue;
      for (const std::int64_t tail : tails_to_try(p, machine, config, given)) {
        const WarpgroupConfig tailed{tile, cluster, tail, split, panels};
        found.push_back({tailed, seconds(product, machine, tailed)});
      }
    }
  keep_cheapest(found, offers);
  for (const auto& [config, seconds] : found)
    offers.add({warpgroup_parameters(problem, config), seconds,
                config.panels.bytes() + warpgroup_partial_bytes(product, config)});
}

}  // namespace tessera::cuda
