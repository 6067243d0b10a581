// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../../launch_limits.hpp"
#include "../../vector_access.hpp"
#include "../offers.hpp"
#include "../tile_model.hpp"
#include "warpgroup_f32.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;
using plugin::round_up;

constexpr std::array<std::int64_t, 10> kSplits{1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr std::int64_t kMostSplit = 64;
constexpr std::int64_t kMostExtent = std::int64_t(1) << 30;

/// Places in the workspace are multiples of so many bytes.
std::uint64_t place(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/// Lines of an operand of so many matrices, in whole tiles.
std::uint64_t whole_lines(std::int64_t lines, std::int64_t tile, std::int64_t matrices) {
  return std::uint64_t(round_up(lines, tile)) * std::uint64_t(matrices);
}

/// What an operand's lines take, one after the other: parts, the largest elements, scales.
std::array<std::uint64_t, 3> parts_bytes(const WarpgroupF32Tile& tile, int parts, std::uint64_t lines, std::int64_t k) {
  const std::uint64_t depth = std::uint64_t(round_up(k, tile.depth()));
  const bool scales = tile.compute == TESSERA_COMPUTE_F16X3;
  constexpr std::uint64_t kWord = 4, kShares = 16;
  return {place(lines * depth * std::uint64_t(2 * parts)), scales ? place(lines * kShares * kWord) : 0,
          scales ? place(lines * kWord) : 0};
}

PartsPlaces take(std::uint64_t& at, const std::array<std::uint64_t, 3>& bytes) {
  const PartsPlaces places{at, at + bytes[0], at + bytes[0] + bytes[1]};
  at = places.scale + bytes[2];
  return places;
}

bool is_empty(const GemmProblem& p) { return p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0; }

bool is_prepared(const GemmProblem& p, int operand) { return p.form != nullptr && p.form->operand == operand; }

/// Lines of a block of an operand's parts.
std::int64_t lines_of(const WarpgroupF32Tile& tile, int operand) { return operand == 0 ? tile.m() : tile.n; }

/// Whether a tile reads an operand of the problem's form.
bool reads_form(const WarpgroupF32Tile& tile, const GemmProblem& p) {
  return p.form == nullptr ||
         (tile.compute == p.form->at("compute") && lines_of(tile, p.form->operand) == p.form->at("lines") &&
          tile.slabs == p.form->at("slabs"));
}

/// Equal shares of k, of whole steps, whose parts fit for one matrix; a step where none do.
std::int64_t panel_of(const GemmProblem& p, const WarpgroupF32Tile& tile, std::uint64_t limit) {
  const auto panel = [&](std::int64_t panels) { return round_up(ceil_div(p.k, panels), tile.depth()); };
  std::int64_t fewest = 1, enough = ceil_div(p.k, tile.depth());
  while (fewest < enough) {
    const std::int64_t middle = fewest + (enough - fewest) / 2;
    if (warpgroup_f32_workspace(p, {tile, 1, panel(middle)}).bytes <= limit)
      enough = middle;
    else
      fewest = middle + 1;
  }
  return std::min(p.k, panel(enough));
}

/// Clusters that run at once.
double held(const Machine& machine, const WarpgroupF32Tile& tile) {
  return std::floor(held_at_once(machine, 1, tile.cluster) / tile.cluster);
}
double tiles_of(const GemmProblem& p, std::int64_t batch, const WarpgroupF32Tile& tile) {
  if (p.triangle != TESSERA_TRIANGLE_NONE) return double(warpgroup_f32_triangle(p, tile).tiles) * double(batch);
  return double(ceil_div(p.m, tile.m() * tile.cluster)) * double(ceil_div(p.n, tile.n)) * double(batch);
}

/// Multiply-adds of an element and a multiprocessor's unit in a cycle.
double products_a_cycle(const Machine& machine, const WarpgroupF32Tile& tile) {
  return machine.units.mma_16 / double(tile.products());
}

/// A launch of products, of a panel.
TileLaunch launch_of(const GemmProblem& p, const Machine& machine, const WarpgroupF32Tile& tile, std::int64_t split) {
  const GemmCosts& c = machine.gemm;
  const double elements = double(tile.m()) * double(tile.n), units = tiles_of(p, p.batch, tile) * double(split);
  const double alone = split > 1 || whole_vectors(p.dtype_d, {p.ldd, p.stride_d, p.n}) ? 0.0 : 1.0;
  const double rate = products_a_cycle(machine, tile) * c.warpgroup.of_f32[std::size_t(tile.number)];
  return {.blocks = units * tile.cluster,
          .cluster = tile.cluster,
          .steps = double(ceil_div(ceil_div(p.k, tile.depth()), split)),
          .units = double(tile.depth()) * elements / rate,
          .pipeline = true,
          .fill = c.warpgroup.element * elements,
          .writing_cycles = alone * c.warpgroup.write_one * elements,
          .bytes = operand_bytes(p) + alone * c.product.sector * result_bytes(p),
          .memory_share = std::clamp(units / std::max(1.0, held(machine, tile)), 1e-3, 1.0)};
}

double seconds(const GemmProblem& problem, const Machine& machine, const WarpgroupF32Config& config) {
  const WarpgroupF32Tile& tile = config.tile;
  GemmProblem p = problem;
  if (!config.whole()) p.batch = std::min<std::int64_t>(1, problem.batch), p.k = std::min(p.k, config.panel_k);
  const double panels = p.k > 0 ? double(ceil_div(problem.k, p.k)) : 1.0;
  const double launches = p.batch > 0 ? double(problem.batch / p.batch) * panels : 0.0;
  const auto splitting = [&](std::int64_t lines, std::int64_t stride, tessera_dtype dtype, int parts) {
    const double elements = double(lines) * double(p.k) * double(warpgroup_f32_matrices(p.batch, stride, config));
    // f16x3 reads the operand twice, in two kernels.
    const double element = double(plugin::size_of(dtype)) + 2.0 * parts;
    return tile.compute == TESSERA_COMPUTE_F16X3
               ? pass_seconds(elements * element / 2.0, machine) + pass_seconds(elements * 2.0, machine)
               : pass_seconds(elements * element / 2.0, machine);
  };
  const double more = panels > 1.0 ? result_bytes(p) / machine.memory_rate : 0.0;  // D is read, too
  const double adding =
      config.split > 1 ? adding_seconds(double(config.split), double(config.split) * double(slice_bytes(p)), machine)
                       : 0.0;
  return machine.gemm.product.launch * (launches == 0.0) + finishing_seconds(problem, machine) +
         launches * (launch_seconds(launch_of(p, machine, tile, config.split), machine) + more + adding +
                     (is_prepared(p, 0) ? 0.0 : splitting(p.m, p.stride_a, p.dtype, tile.parts_a)) +
                     (is_prepared(p, 1) ? 0.0 : splitting(p.n, p.stride_b, p.dtype_b, tile.parts_b)));
}

std::vector<WarpgroupF32Tile> tiles_to_try(const GemmProblem& p, const Machine& machine,
                                           const plugin::GivenParameters& given) {
  std::vector<std::int64_t> arithmetic;
  for (const std::int64_t compute : permitted_arithmetic(p))
    if (compute == TESSERA_COMPUTE_BF16X6 || (compute == TESSERA_COMPUTE_F16X3 && !p.mixed()))
      arithmetic.push_back(compute);
  if (p.ordered) arithmetic = {p.mixed() ? TESSERA_COMPUTE_BF16X6 : p.compute};
  arithmetic = given.one_of("compute", arithmetic);
  std::vector<WarpgroupF32Tile> tiles;
  for (const WarpgroupF32Tile& tile : kWarpgroupF32Tiles)
    if (std::ranges::count(arithmetic, tile.compute) != 0 && tile.is_for(p) &&
        tile.shared_bytes() <= machine.shared_per_block && (!p.ordered || tile.ordered()) && reads_form(tile, p))
      tiles.push_back(tile);
  keep_given(given, "tile_m", &WarpgroupF32Tile::m, tiles);
  keep_given(given, "tile_n", &WarpgroupF32Tile::n, tiles);
  return tiles;
}

/// The splits that are worth a try; slices of ordered sums are added one after another, or each is a unit of work.
std::vector<std::int64_t> splits_of(const GemmProblem& p, const plugin::GivenParameters& given) {
  if (!p.ordered) return given.in_range("split", kSplits, 1, kMostSplit);
  const std::array<std::int64_t, 2> both{1, ordered_parts_slices(p)};
  return given.one_of("split", std::span(both).first(both[1] > 1 ? 2 : 1));
}

/// The splits and panels of a tile that fit into the limit.
void add_configs(const GemmProblem& p, const Machine& machine, const WarpgroupF32Tile& tile,
                 const plugin::GivenParameters& given, std::uint64_t limit,
                 std::vector<Priced<WarpgroupF32Config>>& found) {
  const bool fits = warpgroup_f32_workspace(p, {tile}).bytes <= limit;
  const bool whole = p.ordered || p.form != nullptr;
  if (whole && !fits) return;  // panels are slices, too, and an operand's form is of all k
  const std::int64_t panel = given.in_range("panel_k", fits ? 0 : panel_of(p, tile, limit), 0, whole ? 0 : p.k);
  const std::int64_t most_slices =
      panel == 0 ? std::clamp<std::int64_t>(ceil_div(p.k, tile.depth()), 1, kMostSplit) : 1;
  for (const std::int64_t split : splits_of(p, given)) {
    if (split > 1 && p.triangle != TESSERA_TRIANGLE_NONE) continue;  // another kernel would add them, of all of D
    if (split > most_slices || (split > 1 && tiles_of(p, p.batch, tile) > held(machine, tile))) continue;
    const WarpgroupF32Config config{tile, split, panel};
    if (warpgroup_f32_workspace(p, config).bytes <= limit) found.push_back({config, seconds(p, machine, config)});
  }
}

}  // namespace

std::int64_t warpgroup_f32_matrices(std::int64_t batch, std::int64_t stride, const WarpgroupF32Config& config) {
  return stride != 0 && config.whole() ? batch : std::min<std::int64_t>(batch, 1);
}

WarpgroupF32Workspace warpgroup_f32_workspace(const GemmProblem& p, const WarpgroupF32Config& config) {
  if (is_empty(p)) return {};
  const WarpgroupF32Tile& tile = config.tile;
  const std::int64_t k = config.whole() ? p.k : std::min(p.k, config.panel_k);
  const auto bytes_of = [&](std::int64_t lines, int block, std::int64_t stride, int parts) {
    return parts_bytes(tile, parts, whole_lines(lines, block, warpgroup_f32_matrices(p.batch, stride, config)), k);
  };
  WarpgroupF32Workspace workspace{};
  if (config.split > 1) workspace.partial_bytes = std::uint64_t(config.split) * slice_bytes(p);
  std::uint64_t at = place(workspace.partial_bytes), in_form = 0;
  workspace.a = take(is_prepared(p, 0) ? in_form : at, bytes_of(p.m, tile.m(), p.stride_a, tile.parts_a));
  workspace.b = take(is_prepared(p, 1) ? in_form : at, bytes_of(p.n, tile.n, p.stride_b, tile.parts_b));
  workspace.bytes = at, workspace.form_bytes = in_form;
  return workspace;
}

std::vector<plugin::Parameters> warpgroup_f32_forms(const GemmProblem& p, const Machine& machine, int operand) {
  std::vector<plugin::Parameters> forms;
  if (is_empty(p)) return forms;
  for (const WarpgroupF32Tile& tile : tiles_to_try(p, machine, {}))
    forms.push_back({{"compute", tile.compute}, {"lines", lines_of(tile, operand)}, {"slabs", tile.slabs}});
  return forms;
}

WarpgroupF32Tile warpgroup_f32_tile_of_form(const GemmProblem& p) {
  for (const WarpgroupF32Tile& tile : kWarpgroupF32Tiles)
    if (tile.is_for(p) && reads_form(tile, p)) return tile;
  throw plugin::Error(TESSERA_INTERNAL, "warpgroup_f32 has no tile for the form " + p.form->text());
}

std::uint64_t warpgroup_f32_form_bytes(const GemmProblem& p, const Machine&) {
  return warpgroup_f32_workspace(p, {warpgroup_f32_tile_of_form(p)}).form_bytes;
}

TriangleTiles warpgroup_f32_triangle(const GemmProblem& p, const WarpgroupF32Tile& tile) {
  constexpr std::uint32_t kBand = 8;  // rows of clusters' tiles that are taken side by side
  const bool upper = p.triangle == TESSERA_TRIANGLE_UPPER, mirrored = p.triangle == TESSERA_TRIANGLE_MIRRORED;
  return {std::uint32_t(p.n), std::uint32_t(tile.m() * tile.cluster), std::uint32_t(tile.n), kBand, upper, mirrored};
}

std::int64_t warpgroup_f32_blocks(const GemmProblem& p, std::int64_t batch, const Machine& machine,
                                  const WarpgroupF32Config& config) {
  const double units = tiles_of(p, batch, config.tile) * double(config.split);
  return std::int64_t(std::min(units, double(machine.multiprocessors / config.tile.cluster))) * config.tile.cluster;
}

plugin::Parameters warpgroup_f32_parameters(const WarpgroupF32Config& config) {
  return {{"tile_m", config.tile.m()},
          {"tile_n", config.tile.n},
          {"split", config.split},
          {"compute", config.tile.compute},
          {"panel_k", config.panel_k}};
}

WarpgroupF32Config warpgroup_f32_config(const GemmProblem& problem, const plugin::Parameters& parameters) {
  for (const WarpgroupF32Tile& tile : kWarpgroupF32Tiles)
    if (tile.is_for(problem) && tile.compute == parameters.at("compute") && tile.m() == parameters.at("tile_m") &&
        tile.n == parameters.at("tile_n"))
      return {tile, parameters.at("split"), parameters.at("panel_k")};
  throw plugin::Error(TESSERA_INTERNAL, "warpgroup_f32 has no such tile");
}

std::string warpgroup_f32_why_unsupported(const GemmProblem& p, const Machine& machine) {
  if (std::string why = why_not_hopper(machine); !why.empty()) return why;
  if (plugin::size_of(p.wider()) != sizeof(std::uint32_t)) return "it is for f32";
  if (p.compute == TESSERA_COMPUTE_STRICT)
    return "it computes in bf16x6 and f16x3, and the product permits strict alone";
  if (p.ordered && p.compute == TESSERA_COMPUTE_TF32) return "the device's ordered sums of tf32 are those of warpgroup";
  if (p.triangle != TESSERA_TRIANGLE_NONE && p.n > kMostTriangle)
    return "it computes triangles of at most " + std::to_string(kMostTriangle) + " rows";
  const double most =
      double(std::max({p.m, p.n, std::int64_t(1)})) * double(p.k) * double(std::max<std::int64_t>(p.batch, 1));
  if (std::max({p.m, p.n, p.k, p.batch}) >= kMostExtent || most >= 4e12)
    return "m, n, k or batch is not below " + std::to_string(kMostExtent) + ", or an operand has 4e12 elements";
  return {};
}

void warpgroup_f32_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                          std::uint64_t workspace_limit, plugin::OfferList& offers) {
  std::vector<Priced<WarpgroupF32Config>> found;
  for (const WarpgroupF32Tile& tile : tiles_to_try(p, machine, given))
    add_configs(p, machine, tile, given, workspace_limit, found);
  keep_cheapest(found, offers);
  for (const auto& [config, seconds] : found)
    offers.add({warpgroup_f32_parameters(config), seconds, warpgroup_f32_workspace(p, config).bytes});
}

}  // namespace tessera::cuda
