// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "panels_layout.hpp"

#include "../thread_pool.hpp"
#include "model.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;
using plugin::GivenParameters;
using plugin::round_up;

/// Threads' workspaces begin on pages of their own.
constexpr std::int64_t kPage = 4096;
/// A slice of k that is shorter is not worth a partial result.
constexpr std::int64_t kShortestSlice = 1024;
/// Most tiles of a list. With more of them the search for a tile's kernel takes no time in comparison with the tile,
/// while a list takes room in the first-level cache.
constexpr std::int64_t kMostListedTiles = 128;
constexpr std::int64_t kMostSlices = 4096, kMostBlock = std::int64_t(1) << 20;

bool is_empty(const GemmProblem& p) { return p.m == 0 || p.n == 0 || p.batch == 0; }

/// Bytes of a slice's partial result.
std::int64_t partial_of(const GemmProblem& p) { return round_up(p.m * p.n * scalar_bytes(p), kPage); }
/// Bytes of those of all slices: the first one's is D itself where that holds sums.
std::uint64_t partials_of(const GemmProblem& p, std::int64_t slices) {
  if (slices == 1) return 0;
  return std::uint64_t(partial_of(p)) * std::uint64_t(holds_sums(p) ? slices - 1 : slices);
}

Grid grid_of(const Machine& machine, const GemmProblem& p, int threads, std::int64_t slices) {
  return choose_grid(machine, p, parts_per_product(p.batch, threads), slices,
                     {machine.instructions.tile_rows, panel_width(machine.instructions, scalar_bytes(p))});
}

/// Candidates for the number of slices.
std::vector<std::int64_t> slice_counts(const GemmProblem& p, int threads, std::uint64_t workspace_limit) {
  std::int64_t most = 1;
  if (!is_empty(p) && p.batch == 1) {
    const auto affordable = std::int64_t(workspace_limit / 2 / std::uint64_t(partial_of(p)));
    most = std::min<std::int64_t>(1 + std::min(affordable, p.k / kShortestSlice), threads);
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(most));
  std::iota(counts.begin(), counts.end(), 1);
  return counts;
}

/// Blocks whose copies fit in what partial results leave of the workspace.
Blocks blocks_within(const Machine& machine, const GemmProblem& p, Packing packing, const Grid& grid, int threads,
                     std::uint64_t workspace_limit) {
  const std::uint64_t partials = partials_of(p, grid.slices);
  const std::uint64_t room = (workspace_limit - std::min(workspace_limit, partials)) / std::uint64_t(threads);
  const auto bytes = std::int64_t(std::min<std::uint64_t>(room, std::uint64_t(1) << 62)) / kPage * kPage;
  return choose_blocks(machine, scalar_bytes(p), grid.tile_m, grid.tile_n, grid.slice_k, packing, bytes);
}

std::int64_t tile_count(const InstructionSet& set, const GemmProblem& p) {
  const std::int64_t vectors = ceil_div(p.n, set.vector_bytes / scalar_bytes(p)),
                     across = ceil_div(vectors, set.most_vectors);
  return across * ceil_div<std::int64_t>(p.m, set.most_rows(int(ceil_div(vectors, across))));
}

void offer(const Machine& machine, const GemmProblem& p, Packing packing, const plugin::Parameters& parameters,
           std::uint64_t workspace_limit, plugin::OfferList& offers) {
  const PanelsLayout layout = panels_layout(machine, p, packing, parameters);
  if (layout.workspace_bytes() > workspace_limit) return;
  const double seconds =
      panels_seconds(machine, p, layout.grid, layout.blocks, packing, layout.threads, lists_tiles(machine, p, layout));
  offers.add({parameters, seconds, layout.workspace_bytes()});
}

/// Of ordered sums that are no chains: the blocks of k are those of whatever other rows there are.
std::pair<std::int64_t, std::int64_t> block_k_of(const Machine& machine, const GemmProblem& p, Packing packing) {
  if (is_empty(p) || p.k == 0) return {1, kMostBlock};
  if (packing.panels_k > 0) return {packing.panels_k, packing.panels_k};
  if (!p.ordered || packing.chained) return {1, kMostBlock};
  const std::int64_t k = packed_block_k(machine, scalar_bytes(p), p.k, packing);
  return {k, k};
}

/// All offers of so many threads.
void offer_blocks(const Machine& machine, const GemmProblem& p, Packing packing, const GivenParameters& given,
                  std::span<const plugin::Parameters::Entry> own, int threads, std::uint64_t workspace_limit,
                  plugin::OfferList& offers) {
  const bool whole = p.batch > 1 || is_empty(p) || p.k == 0 || packing.turned || p.ordered || packing.panels_k > 0;
  const std::int64_t most_slices = whole ? 1 : std::min(p.k, kMostSlices);
  const std::vector<std::int64_t> counts =
      whole || packing.chained ? std::vector<std::int64_t>{1} : slice_counts(p, threads, workspace_limit);
  for (const std::int64_t slices : given.in_range("slices", counts, 1, most_slices)) {
    std::vector<Blocks> candidates{{1, 1, 1, 0, 0}};
    if (!is_empty(p) && p.k > 0) {
      const Grid grid = grid_of(machine, p, threads, slices);
      candidates = {blocks_within(machine, p, packing, grid, threads, workspace_limit)};
      const Blocks product{p.m, p.n, p.k, 0, 0};
      if (p.bytes() <= double(p.batch) * double(machine.caches.level2) / 4 &&
          lists_tiles(machine, p, {threads, packing, grid, product, 0, 0}))
        candidates.push_back(product);
    }
    const auto [least_k, most_k] = block_k_of(machine, p, packing);
    for (const Blocks& b : candidates) {
      plugin::Parameters parameters{{"threads", threads},
                                    {"slices", slices},
                                    {"block_m", given.in_range("block_m", b.m, 1, kMostBlock)},
                                    {"block_n", given.in_range("block_n", b.n, 1, kMostBlock)},
                                    {"block_k", given.in_range("block_k", b.k, least_k, most_k)}};
      if (const std::int64_t k = parameters.at("block_k"); k < least_k || k > most_k) continue;  // lacks the workspace
      const bool begins_within_panels =
          parameters.at("block_n") % panel_width(machine.instructions, scalar_bytes(p)) != 0;
      if (packing.panels_k > 0 && !is_empty(p) && begins_within_panels) continue;
      for (const plugin::Parameters::Entry& parameter : own) parameters.add(parameter);
      offer(machine, p, packing, parameters, workspace_limit, offers);
    }
  }
}

}  // namespace

GemmProblem as_computed(const GemmProblem& problem, bool turned) {
  GemmProblem p = problem;
  if (turned) {
    std::swap(p.m, p.n), std::swap(p.lda, p.ldb), std::swap(p.stride_a, p.stride_b);
    p.trans_a = !problem.trans_b, p.trans_b = !problem.trans_a;
  }
  if (p.form != nullptr) p.trans_b = false;
  return p;
}

PanelsForm::PanelsForm(const Machine& machine, const GemmProblem& p)
    : block_k(p.form->at("block_k")), pairs(has_pairs(p) && p.form->at("dot") != 0) {
  const std::int64_t width = panel_width(machine.instructions, scalar_bytes(p));
  columns = round_up(p.n, width), stretch = 8 * width;
  matrix = columns * (pairs ? ceil_div<std::int64_t>(p.k, 2) : p.k);
  matrices = p.stride_b != 0 ? p.batch : 1;
  blocks = ceil_div(p.k, block_k), stretches = ceil_div(columns, stretch);
}

std::uint64_t PanelsForm::bytes(std::int64_t element) const {
  if (double(matrices) * double(matrix) * double(element) > 0x1p61) return INT64_MAX;  // there is no such memory
  return std::uint64_t(matrices * matrix * element + (pairs ? items() * std::int64_t(sizeof(std::int32_t)) : 0));
}

Panels PanelsForm::at(const void* form, std::int64_t element, std::int64_t item, std::int64_t j) const {
  const auto* const data = static_cast<const std::byte*>(form);
  const std::int64_t number = matrices > 1 ? item : 0;
  Panels panels{data + number * matrix * element, columns, j, nullptr, stretch, stretches};
  if (pairs)
    panels.least_exponents =
        reinterpret_cast<const std::int32_t*>(data + matrices * matrix * element) + number * blocks * stretches;
  return panels;
}

bool turns_columns(const Machine& machine, const GemmProblem& p, std::int64_t rows) {
  const std::size_t element = plugin::size_of(p.dtype);
  const bool pays = rows > 1 && p.k * std::int64_t(element) >= machine.instructions.vector_bytes;
  return element != 2 && p.trans_b && (pays || p.ordered) && rows <= machine.instructions.few_rows(element);
}

PanelsLayout panels_layout(const Machine& machine, const GemmProblem& p, Packing packing,
                           const plugin::Parameters& parameters) {
  PanelsLayout layout{int(parameters.at("threads")), packing, {}, {}, 0, 0};
  if (is_empty(p)) return layout;
  layout.grid = grid_of(machine, p, layout.threads, parameters.at("slices"));
  layout.partial_bytes = partials_of(p, layout.grid.slices);
  if (p.k == 0) return layout;
  layout.blocks = make_blocks(machine.instructions, scalar_bytes(p), {layout.grid.tile_n, layout.grid.slice_k},
                              parameters.at("block_m"), parameters.at("block_n"), parameters.at("block_k"), packing);
  const std::int64_t bytes = layout.blocks.elements() * scalar_bytes(p);
  if (bytes > kStackBytes) layout.thread_bytes = std::uint64_t(round_up(bytes, kPage));
  return layout;
}

bool lists_tiles(const Machine& machine, const GemmProblem& p, const PanelsLayout& layout) {
  const Blocks& b = layout.blocks;
  return !layout.packing.a && !layout.packing.b && layout.grid.units() == 1 && b.m >= p.m && b.n >= p.n && b.k >= p.k &&
         tile_count(machine.instructions, p) <= kMostListedTiles;
}

void offer_panels(const Machine& machine, const GemmProblem& p, Packing packing, const GivenParameters& given,
                  std::span<const plugin::Parameters::Entry> own, std::uint64_t workspace_limit,
                  plugin::OfferList& offers) {
  int threads = 1;
  if (!given.has("threads")) {
    plugin::OfferList alone;
    offer_blocks(machine, p, packing, given, own, 1, workspace_limit, alone);
    if (!alone.empty()) threads = machine.useful_threads(alone.cheapest().seconds);
  }
  threads = int(given.in_range("threads", threads, 1, kMostThreads));
  const std::size_t before = offers.all().size();
  offer_blocks(machine, p, packing, given, own, threads, workspace_limit, offers);
  // Blocks of ordered sums do not shrink with the workspace of a thread: then there are fewer threads.
  while (p.ordered && offers.all().size() == before && threads > 1 && !given.has("threads"))
    offer_blocks(machine, p, packing, given, own, threads /= 2, workspace_limit, offers);
}

}  // namespace tessera::cpu
