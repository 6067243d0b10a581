// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../../launch_limits.hpp"
#include "../../vector_access.hpp"
#include "../bf16_parts.hpp"
#include "../offers.hpp"
#include "../tile_model.hpp"
#include "skinny_parts.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;

constexpr std::array<std::int64_t, 4> kSplits{1, 2, 4, 8};
constexpr std::array<std::int64_t, 2> kTurns{0, 1};
constexpr std::array<std::int64_t, 1> kArithmetic{TESSERA_COMPUTE_BF16X6};

double blocks_of(const GemmProblem& p, const SkinnyPartsConfig& config) {
  const std::int64_t few = config.turned ? p.n : p.m, many = config.turned ? p.m : p.n;
  return double(ceil_div(few, config.tile.few)) * double(ceil_div(many, config.tile.many)) * double(p.batch) *
         double(config.split);
}

/// The share of the tensor cores' rate that mma.sync reaches, instructions to split an element, and seconds: of a
/// chunk, which is a step of the model, and more where few are read ahead; of one that is read element by element,
/// whose instructions are kEach times as many; of the last where k ends within it; and to add slices. On an H200.
constexpr double kRate = 0.5, kSplitting = 6.5, kEach = 2.0;
constexpr double kStepSeconds = 2.5e-7, kWaitSeconds = 7.5e-7, kEachSeconds = 7e-7, kLastSeconds = 7e-7,
                 kClusterSeconds = 6e-7;

/// Whether both operands can be read by wide reads.
bool is_wide(const GemmProblem& p, const SkinnyPartsConfig& config) {
  const int few = config.tile.few / config.tile.warps / 8, many = config.tile.many / 8;  // lines of a group
  const auto lines = [](std::int64_t extent, bool k_major, int count) { return k_major || extent % count == 0; };
  const bool a = lines(p.m, !p.trans_a, config.turned ? many : few),
             b = lines(p.n, p.trans_b, config.turned ? few : many);
  return a && b && skinny_parts_vectors(p.dtype, p.lda, p.stride_a) &&
         skinny_parts_vectors(p.dtype_b, p.ldb, p.stride_b);
}

/// A block's warps have a slice of k each, or two share one.
TileLaunch launch_of(const GemmProblem& p, const Machine& machine, const SkinnyPartsConfig& config) {
  const SkinnyPartsTile& tile = config.tile;
  const int products = bf16_products(bf16_parts(p.dtype), bf16_parts(p.dtype_b));
  const double few = double(tile.few) * tile.slices(), many = double(tile.many) * SkinnyPartsTile::kWarps;
  const double multiplying =
      few * tile.many * SkinnyPartsTile::kChunk * products / (double(machine.units.mma_16) * kRate);
  const double splitting = (few + many) * SkinnyPartsTile::kChunk * kSplitting / double(machine.units.fma_f32);
  const bool wide = is_wide(p, config), ends_within = p.k % tile.step() != 0;
  return {.blocks = blocks_of(p, config),
          .blocks_per_sm = tile.blocks,
          .cluster = config.split,
          .steps = double(ceil_div(skinny_parts_slice(p, config), SkinnyPartsTile::kChunk)),
          .units = (multiplying + splitting) * (wide ? 1.0 : kEach),
          .latency = wide ? kStepSeconds + kWaitSeconds / tile.ahead : kEachSeconds,
          .pipeline = true,
          .fill = (config.split > 1 ? kClusterSeconds : 0.0) + (wide && ends_within ? kLastSeconds : 0.0),
          .bytes = operand_bytes(p)};
}

/// Blocks of a cluster that the slices of ordered sums take.
std::int64_t ordered_split(const GemmProblem& p, const SkinnyPartsTile& tile) {
  return ceil_div(ordered_parts_slices(p), std::int64_t(tile.slices()));
}
static_assert(std::ranges::all_of(kSkinnyPartsTiles, [](const SkinnyPartsTile& tile) {
  return kOrderedPartsUnit % tile.step() == 0 && kOrderedPartsMost <= tile.slices() * std::int64_t(kMostInCluster);
}));

/// Blocks of a cluster that are worth a try with one of the tiles.
std::vector<std::int64_t> splits_of(const GemmProblem& p, const plugin::GivenParameters& given,
                                    const std::vector<SkinnyPartsTile>& tiles) {
  if (!p.ordered) return given.one_of("split", kSplits);
  std::set<std::int64_t> splits;
  for (const SkinnyPartsTile& tile : tiles) splits.insert(ordered_split(p, tile));
  return given.one_of("split", std::vector<std::int64_t>(splits.begin(), splits.end()));
}

}  // namespace

std::int64_t skinny_parts_slice(const GemmProblem& p, const SkinnyPartsConfig& config) {
  if (p.ordered) return ordered_parts_slice(p);
  const std::int64_t step = config.tile.step();
  return ceil_div(ceil_div(p.k, step), config.tile.slices() * config.split) * step;
}

SkinnyPartsConfig skinny_parts_config(const GemmProblem& p, const plugin::Parameters& parameters) {
  for (const SkinnyPartsTile& tile : kSkinnyPartsTiles)
    if (tile.is_for(p.mixed()) && tile.few == parameters.at("tile") && tile.many == parameters.at("width"))
      return {tile, parameters.at("turned") != 0, parameters.at("split")};
  throw plugin::Error(TESSERA_INTERNAL, "skinny_parts has no such tile");
}

bool skinny_parts_vectors(tessera_dtype dtype, std::int64_t ld, std::int64_t stride) {
  return alignment_of(dtype, {ld, stride}) >= int(4 * plugin::size_of(dtype));
}

std::string skinny_parts_why_unsupported(const GemmProblem& p, const Machine& machine) {
  if (plugin::size_of(p.wider()) != 4) return "it is for f32";
  if (p.compute == TESSERA_COMPUTE_STRICT) return "it computes by parts, and the product permits strict alone";
  if (p.ordered && !why_not_hopper(machine).empty()) return "the device's ordered sums are those of multistage";
  if (p.ordered && (p.mixed() || p.compute != TESSERA_COMPUTE_BF16X6))
    return "the device's ordered sums of f16x3, tf32 and two types are those of the warpgroups' algorithms";
  if (!machine.clusters()) return "it is for devices with clusters, of compute capability 9.0 and later";
  if (std::min(p.m, p.n) > kSkinnyPartsMost)
    return "D has more than " + std::to_string(kSkinnyPartsMost) + " rows and columns: " + std::to_string(p.m) + " x " +
           std::to_string(p.n);
  if (blocks_of(p, {kSkinnyPartsTiles[0], p.m > p.n, 1}) > double(kMaxGridX))
    return "D has more than " + std::to_string(kMaxGridX) + " tiles of 16 x 16 in all matrices";
  return {};
}

void skinny_parts_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                         std::uint64_t, plugin::OfferList& offers) {
  std::vector<SkinnyPartsTile> tiles;
  for (const SkinnyPartsTile& tile : kSkinnyPartsTiles)
    if (tile.is_for(p.mixed())) tiles.push_back(tile);
  keep_given(given, "tile", &SkinnyPartsTile::few, tiles);
  keep_given(given, "width", &SkinnyPartsTile::many, tiles);
  const std::int64_t compute = given.one_of("compute", kArithmetic).front();
  const std::vector<std::int64_t> both = given.in_range("turned", kTurns, 0, 1), splits = splits_of(p, given, tiles);
  for (const std::int64_t turned : both) {
    const std::int64_t few = turned != 0 ? p.n : p.m, many = turned != 0 ? p.m : p.n;
    if (both.size() > 1 && few > many) continue;
    for (const SkinnyPartsTile& tile : tiles) {
      if (tiles.size() > 1 && tile.few > 16 && few <= tile.few / 2) continue;  // a lower one has them all
      for (const std::int64_t split : splits) {
        if (p.ordered && split != ordered_split(p, tile)) continue;
        const SkinnyPartsConfig config{tile, turned != 0, split};
        const double blocks = blocks_of(p, config);
        if (blocks > double(kMaxGridX)) break;
        if (!p.ordered && splits.size() > 1 && split > 1 && blocks > 2.0 * machine.multiprocessors) break;
        offers.add(
            {{{"tile", tile.few}, {"width", tile.many}, {"turned", turned}, {"split", split}, {"compute", compute}},
             launch_seconds(launch_of(p, machine, config), machine) + finishing_seconds(p, machine)});
      }
    }
  }
}

}  // namespace tessera::cuda
