// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How many tiles and blocks the algorithm warpgroup makes of a product, and how long they take.
#include "../../vector_access.hpp"
#include "../offers.hpp"
#include "../tile_model.hpp"
#include "warpgroup.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cmath>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;
using plugin::round_up;

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
  const bool wide = plugin::size_of(p.dtype_d) == 4;   // D is written by sectors of 8 from registers, other D by rows
  const std::int64_t row = config.turned ? p.m : p.n;  // of D
  const bool whole = config.split > cluster.k ||
                     (wide ? (p.ldd | p.stride_d) % 8 == 0 : whole_vectors(p.dtype_d, {row, p.ldd, p.stride_d}));
  const int in_stage = warpgroup_in_tf32(p) && p.trans_a ? 1 : tile.stage_steps(cluster.m * cluster.n > 1);
  const double busy = std::clamp(blocks / std::max(1.0, held_at_once(machine, 1, cluster.blocks())), 1e-3, 1.0);
  const double reach = c.product.cache_rate * machine.cycles_per_second() / machine.memory_rate;
  const double of_slices = c.warpgroup.cluster + c.warpgroup.slice * cluster.k +
                           c.warpgroup.slice_read * elements / (128.0 * WarpgroupTile::kConsumers);
  const double of_triangle = c.warpgroup.triangle_column * tile.columns * (tile.in_turns() ? 2.0 : 1.0) +
                             (tile.in_turns() ? c.warpgroup.triangle_turn : 0.0);
  return {.blocks = blocks,
          .cluster = cluster.blocks(),
          .steps = double(round_up<std::int64_t>(ceil_div(warpgroup_steps(p), config.split), in_stage)),
          .units = std::max(depth * elements / (units * rates.rate), double(tile.step_lines(room))),
          .requests = requests * c.product.request * busy,  // all multiprocessors share the cache's rate
          .latency = in_stage > 1 ? rates.in_pair : rates.latency,
          .pipeline = true,
          .fill = c.warpgroup.element * elements,
          .writing_cycles = whole ? 0.0 : c.warpgroup.write_one * elements / cluster.k,
          .writing = cluster.k > 1                              ? of_slices
                     : config.triangle != TESSERA_TRIANGLE_NONE ? of_triangle
                                                                : 0.0,
          .bytes = operand_bytes(p) + (wide && !whole ? c.product.sector * result_bytes(p) : 0.0),
          .memory_share = std::min(1.0, busy * reach)};  // the ring holds enough copies under way
}

/// One launch, of a panel, and that for the tiles that are left over.
double panel_seconds(const GemmProblem& p, const Machine& machine, const WarpgroupConfig& config) {
  const double units = warpgroup_units(p.m, p.n, p.batch, config), blocks = config.cluster.blocks();
  const double left = double(warpgroup_tail_tiles(p.m, p.n, p.batch, machine, config));
  const double sharing = config.cluster.m * config.cluster.n > 1 ? machine.gemm.product.sharing : 0.0;
  const double all = sharing + launch_seconds(launch_of(p, machine, config, (units - left) * blocks), machine);
  if (left == 0.0) return all;
  WarpgroupConfig sliced{config.turned, config.tile, {1, 1, int(config.tail)}, 1, config.tail};
  TileLaunch tail = launch_of(p, machine, sliced, double(config.tail));
  tail.bytes = 0.0;  // those of the panel
  return all + launch_seconds(tail, machine);
}

}  // namespace

GemmProblem warpgroup_of_a_launch(const GemmProblem& p) {
  GemmProblem one = p;
  if (!warpgroup_merges_batch(p)) one.batch = 1;
  return one;
}

std::int64_t warpgroup_steps(const GemmProblem& p) { return ceil_div(p.k, warpgroup_depth(p)); }

double warpgroup_held(const Machine& machine, const WarpgroupCluster& cluster) {
  return std::floor(held_at_once(machine, 1, cluster.blocks()) / cluster.blocks());
}

double warpgroup_all_tiles(std::int64_t m, std::int64_t n, std::int64_t batch, const WarpgroupConfig& config) {
  if (config.triangle != TESSERA_TRIANGLE_NONE) return double(warpgroup_triangle(m, config, 1).tiles) * double(batch);
  const WarpgroupTiles tiles = warpgroup_tiles(m, n, config);
  return double(tiles.rows) * double(tiles.columns) * double(batch);
}
double warpgroup_units(std::int64_t m, std::int64_t n, std::int64_t batch, const WarpgroupConfig& config) {
  return warpgroup_all_tiles(m, n, batch, config) * double(config.split / config.cluster.k);
}

std::uint64_t warpgroup_partial_bytes(const GemmProblem& p, const WarpgroupConfig& config) {
  if (config.split == config.cluster.k) return 0;
  GemmProblem rows = warpgroup_of_a_launch(p);
  rows.m = round_up(rows.m, 4);  // whichever way D lies
  return std::uint64_t(config.split) * slice_bytes(rows);
}

WarpgroupTiles warpgroup_tiles(std::int64_t m, std::int64_t n, const WarpgroupConfig& config) {
  return {ceil_div(m, std::int64_t(config.tile.rows) * config.cluster.m),
          ceil_div(n, std::int64_t(config.tile.columns) * config.cluster.n)};
}

TriangleTiles warpgroup_triangle(std::int64_t m, const WarpgroupConfig& config, std::int64_t band) {
  return {std::uint32_t(m),
          std::uint32_t(config.tile.rows * config.cluster.m),
          std::uint32_t(config.tile.columns * config.cluster.n),
          std::uint32_t(band),
          config.triangle != TESSERA_TRIANGLE_LOWER,
          config.triangle == TESSERA_TRIANGLE_MIRRORED};
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
  const auto units = std::int64_t(warpgroup_units(m, n, batch, config)),
             at_once = std::int64_t(warpgroup_held(machine, config.cluster));
  return units > at_once ? units % at_once : 0;
}

std::int64_t warpgroup_blocks(std::int64_t m, std::int64_t n, std::int64_t batch, const Machine& machine,
                              const WarpgroupConfig& config) {
  const std::int64_t blocks = config.cluster.blocks();
  return std::int64_t(
             std::min(warpgroup_units(m, n, batch, config), std::max(1.0, warpgroup_held(machine, config.cluster)))) *
         blocks;
}

double warpgroup_seconds(const GemmProblem& product, const Machine& machine, const WarpgroupConfig& config) {
  const GemmProblem p = warpgroup_of_a_launch(product);
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

}  // namespace tessera::cuda
