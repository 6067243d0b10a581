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

/// The names of parameters that are about rows and columns of D: a turned product has them exchanged.
struct SideNames {
  const char *m, *n;
};
struct Names {
  SideNames tile{"tile_m", "tile_n"}, cluster{"cluster_m", "cluster_n"}, panel{"panel_m", "panel_n"};

  explicit Names(bool turned) {
    if (!turned) return;
    for (SideNames* names : {&tile, &cluster, &panel}) std::swap(names->m, names->n);
  }
};

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

/// The same for a triangle: the usual ones, and those whose tiles just fill a few waves.
std::vector<std::int64_t> columns_of_triangle(const GemmProblem& p, const Machine& machine, std::int64_t rows) {
  constexpr int kMostWaves = 4;
  const std::int64_t unit = warpgroup_column_unit(p);
  std::vector<std::int64_t> columns{256, 192, 128, 64};
  int waves = kMostWaves;
  for (std::int64_t n = unit; n <= WarpgroupTile::kMostColumns; n += unit) {
    const WarpgroupConfig config{true, {int(rows), int(n)}, {}, 1, 1, {}, p.triangle};
    const double tiles = warpgroup_all_tiles(p.m, p.n, p.batch, config);
    if (tiles > double(waves) * machine.multiprocessors) continue;
    columns.push_back(n);
    while (waves > 0 && tiles <= double(waves) * machine.multiprocessors) --waves;
  }
  std::ranges::sort(columns, std::greater{});
  columns.erase(std::ranges::unique(columns).begin(), columns.end());
  return columns;
}

std::vector<WarpgroupTile> tiles_to_try(const GemmProblem& p, const Machine& machine,
                                        const plugin::GivenParameters& given, const SideNames& names) {
  std::vector<std::int64_t> allowed;
  const std::int64_t unit = warpgroup_column_unit(p);
  for (std::int64_t n = unit; n <= WarpgroupTile::kMostColumns; n += unit) allowed.push_back(n);
  const auto columns = p.triangle == TESSERA_TRIANGLE_NONE ? columns_to_try : columns_of_triangle;
  std::vector<WarpgroupTile> tiles;
  for (const std::int64_t rows : given.one_of(names.m, kRows))
    for (const std::int64_t n : given.one_of(names.n, columns(p, machine, rows), allowed))
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

/// Slices of ordered sums, whatever rows there are: a device has work for all of it where tiles of few rows are narrow,
/// unless D has few columns; tiles of tf32 are wider. Many rows lose by them.
std::int64_t ordered_slices(const GemmProblem& p) {
  constexpr std::int64_t kFewColumns = 256, kFewTf32Columns = 1024;
  const bool tf32 = warpgroup_in_tf32(p);
  const std::int64_t columns = p.fixed_extent(), shortest = tf32 ? 1024 : 2048;
  const std::int64_t most = columns <= kFewColumns ? (tf32 ? 4 : 2) : tf32 && columns <= kFewTf32Columns ? 2 : 1;
  return std::clamp<std::int64_t>(p.k / shortest, 1, most);
}

/// Why it does not compute the triangle that a product asks for.
std::string why_no_triangle(const GemmProblem& p) {
  if (p.triangle == TESSERA_TRIANGLE_NONE) return {};
  if (plugin::size_of(p.dtype_d) != 2) return "it computes triangles of D in f16 and bf16";
  if (p.trans_a == p.trans_b) return "it computes triangles where one of A and B is transposed";
  if (p.n > kMostTriangle) return "it computes triangles of at most " + std::to_string(kMostTriangle) + " rows";
  const std::int64_t slices = p.ordered ? ordered_slices(p) : 1;
  return slices == 1 ? "" : "it computes triangles in one slice of k, not in " + std::to_string(slices);
}

/// How k is cut, and what blocks of a cluster have in common.
struct Cut {
  std::int64_t split;
  WarpgroupCluster cluster;
};
std::vector<Cut> cuts_to_try(const GemmProblem& p, const plugin::GivenParameters& given, const SideNames& names,
                             std::int64_t most_slices) {
  std::vector<Cut> cuts;
  const std::int64_t ordered = ordered_slices(p);
  const auto splits = p.ordered ? std::vector{given.in_range("split", ordered, ordered, ordered)}
                                : given.in_range("split", kSplits, 1, kMostSplit);
  for (const std::int64_t split : splits)
    for (const WarpgroupCluster& cluster : clusters_to_try(given, names, split))
      if (split <= most_slices) cuts.push_back({split, cluster});
  return cuts;
}

/// None, and as many slices of the tiles that are left over as the device has room for.
std::vector<std::int64_t> tails_to_try(const GemmProblem& p, const Machine& machine, const WarpgroupConfig& config,
                                       const plugin::GivenParameters& given) {
  if (p.ordered || p.triangle != TESSERA_TRIANGLE_NONE) return {given.in_range("tail", 1, 1, 1)};
  std::vector<std::int64_t> fit{1};
  const WarpgroupConfig tailed{config.turned, config.tile, config.cluster, 2, config.split, config.panels};
  const double tiles = double(warpgroup_tail_tiles(p.m, p.n, p.batch, machine, tailed) * config.cluster.blocks());
  const std::int64_t steps = warpgroup_steps(p);
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

/// Whether the product is turned, or D computed as it lies. Tiles that a caller names without a word about it are of
/// turned products.
std::vector<std::int64_t> turns_to_try(const GemmProblem& problem, const plugin::GivenParameters& given) {
  if (warpgroup_in_tf32(problem)) return {warpgroup_turns(problem) ? 1 : 0};
  static constexpr std::array<std::int64_t, 2> kBoth{1, 0};
  const bool both = warpgroup_may_keep(problem) && problem.triangle == TESSERA_TRIANGLE_NONE;
  const std::span<const std::int64_t> allowed = std::span(kBoth).first(both ? 2 : 1);
  const bool tile_given = given.has("tile_m") || given.has("tile_n");
  return given.one_of("turned", allowed.first(tile_given ? 1 : allowed.size()), allowed);
}

/// Adds the ways to run the problem's product, turned or not, that the parameters and the workspace permit.
void add_configs(const GemmProblem& problem, bool turned, const Machine& machine, const plugin::GivenParameters& given,
                 std::uint64_t workspace_limit, std::vector<Priced<WarpgroupConfig>>& found) {
  const GemmProblem product = warpgroup_product(problem, turned), p = warpgroup_of_a_launch(product);
  const Names names(turned);
  const WarpgroupPanels most = most_panels(product, workspace_limit);
  const auto panel = [&](const char* key, bool copies, std::int64_t extent, std::int64_t fits) {
    return extent_of(given.in_range(key, fits < extent ? fits : 0, 0, copies && extent > 0 ? extent - 1 : 0), extent);
  };
  const WarpgroupPanels panels = panels_of(product, panel(names.panel.m, warpgroup_copies_a(product), p.m, most.m),
                                           panel(names.panel.n, warpgroup_copies_b(product), p.n, most.n));
  const bool whole = panels.m == p.m && panels.n == p.n;
  const std::int64_t most_slices = whole || p.ordered ? std::clamp<std::int64_t>(warpgroup_steps(p), 1, kMostSplit) : 1;
  const std::vector<Cut> cuts = cuts_to_try(problem, given, names.cluster, most_slices);
  given.in_range("tail", 1, 1, kMostInCluster);  // known, also where no tile has one
  std::vector<WarpgroupTile> tiles = tiles_to_try(p, machine, given, names.tile);
  const bool keeps = !turned && !warpgroup_in_tf32(problem);
  if (keeps && !given.has("turned"))  // turned products have these tiles, too
    std::erase_if(tiles, [](const WarpgroupTile& tile) { return tile.columns == 64 || tile.columns == 128; });
  for (const WarpgroupTile& tile : tiles)
    for (const auto& [split, cluster] : cuts) {
      const WarpgroupConfig config{turned, tile, cluster, 1, split, panels, p.triangle};
      if (p.triangle != TESSERA_TRIANGLE_NONE && !(whole && split == 1)) continue;
      const double blocks = cluster.blocks(), all = blocks * warpgroup_units(p.m, p.n, p.batch, config);
      if (!can_share(p, tile, cluster) || blocks > machine.multiprocessors || all > kMostUnits) continue;
      // A cluster's slices are of one tile, and there is no use for others where tiles are many.
      const double held = split > 1 ? warpgroup_held(machine, cluster) : 1.0;
      if (held < 1.0 || (split > 1 && !p.ordered && warpgroup_all_tiles(p.m, p.n, p.batch, config) > held)) continue;
      const std::uint64_t partial = warpgroup_partial_bytes(product, config);
      if (panels.bytes() + partial > workspace_limit) continue;
      if ((keeps || !whole) && partial > 0) continue;  // no kernel writes them, or they are of all panels
      for (const std::int64_t tail : tails_to_try(p, machine, config, given)) {
        const WarpgroupConfig tailed{turned, tile, cluster, tail, split, panels, p.triangle};
        found.push_back({tailed, warpgroup_seconds(product, machine, tailed)});
      }
    }
}

}  // namespace

GemmProblem warpgroup_product(const GemmProblem& problem, bool turned) {
  GemmProblem p = problem;
  if (!turned) return p;
  std::swap(p.m, p.n), std::swap(p.lda, p.ldb), std::swap(p.stride_a, p.stride_b);
  p.trans_a = !problem.trans_b, p.trans_b = !problem.trans_a;
  if (problem.triangle == TESSERA_TRIANGLE_LOWER || problem.triangle == TESSERA_TRIANGLE_UPPER)
    p.triangle = TESSERA_TRIANGLE_LOWER + TESSERA_TRIANGLE_UPPER - problem.triangle;
  if (problem.bias != TESSERA_BIAS_NONE)
    p.bias = problem.bias == TESSERA_BIAS_PER_ROW ? TESSERA_BIAS_PER_COLUMN : TESSERA_BIAS_PER_ROW;
  return p;
}

plugin::Parameters warpgroup_parameters(const GemmProblem& problem, const WarpgroupConfig& config) {
  const GemmProblem p = warpgroup_product(problem, config.turned);
  struct Sides {
    std::int64_t m, n;
  };
  const auto in_d = [turned = config.turned](std::int64_t m, std::int64_t n) {
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
  if (warpgroup_in_tf32(p))
    parameters.add({"compute", TESSERA_COMPUTE_TF32});
  else
    parameters.add({"turned", config.turned ? 1 : 0});
  return parameters;
}

WarpgroupConfig warpgroup_config(const GemmProblem& problem, const plugin::Parameters& parameters) {
  const bool turned = warpgroup_in_tf32(problem) ? warpgroup_turns(problem) : parameters.at("turned") != 0;
  const GemmProblem p = warpgroup_product(problem, turned);
  const Names names(turned);
  const WarpgroupPanels panels =
      panels_of(p, extent_of(parameters.at(names.panel.m), p.m), extent_of(parameters.at(names.panel.n), p.n));
  return {turned,
          {int(parameters.at(names.tile.m)), int(parameters.at(names.tile.n))},
          {int(parameters.at(names.cluster.m)), int(parameters.at(names.cluster.n)), int(parameters.at("cluster_k"))},
          parameters.at("tail"),
          parameters.at("split"),
          panels,
          p.triangle};
}

std::string warpgroup_why_unsupported(const GemmProblem& p, const Machine& machine) {
  if (std::string why = why_not_hopper(machine); !why.empty()) return why;
  if (plugin::size_of(p.dtype) == 8) return "it is for f16, bf16 and f32 in tf32";
  if (warpgroup_in_tf32(p) && p.compute != TESSERA_COMPUTE_TF32)
    return "it computes f32 in tf32, which the product does not permit";
  if (p.multiprocessors > 0 && warpgroup_copies(warpgroup_product(p, warpgroup_turns(p))))
    return "it copies operands, which keeps no sm_limit: make rows of A and B multiples of 16 bytes, in tf32 one of "
           "them along k";
  if (const std::int64_t slices = ordered_slices(p); p.ordered && p.multiprocessors > 0 && p.multiprocessors < slices)
    return "ordered sums of this n and k have " + std::to_string(slices) +
           " slices, each of which needs a multiprocessor: sm_limit must be at least as many";
  if (std::string why = why_no_triangle(p); !why.empty()) return why;
  if (std::max({p.m, p.n, p.k, p.batch}) >= kMostExtent)
    return "m, n, k or batch is not below " + std::to_string(kMostExtent);
  if (std::max({p.lda, p.ldb, p.stride_a, p.stride_b}) < kMostDistance) return {};
  return "a leading dimension or stride is not below " + std::to_string(kMostDistance);
}

void warpgroup_offers(const GemmProblem& problem, const Machine& whole_machine, const plugin::GivenParameters& given,
                      std::uint64_t workspace_limit, plugin::OfferList& offers) {
  const Machine machine = whole_machine.limited(problem.multiprocessors);
  if (problem.multiprocessors > 0) workspace_limit = 0;  // kernels beside the product's keep no limit
  if (warpgroup_in_tf32(problem))
    given.in_range("compute", TESSERA_COMPUTE_TF32, TESSERA_COMPUTE_TF32, TESSERA_COMPUTE_TF32);
  std::vector<Priced<WarpgroupConfig>> found;
  for (const std::int64_t turned : turns_to_try(problem, given))
    add_configs(problem, turned != 0, machine, given, workspace_limit, found);
  keep_cheapest(found, offers);
  for (const auto& [config, seconds] : found)
    offers.add({warpgroup_parameters(problem, config), seconds,
                config.panels.bytes() + warpgroup_partial_bytes(warpgroup_product(problem, config.turned), config)});
}

}  // namespace tessera::cuda
