// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "model.hpp"

#include "dense_kernel.hpp"
#include "row_kernel.hpp"
#include "sweep_axis.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::cpu {
namespace {

using plugin::StencilProblem;

/// Two things that go on at the same time and hinder each other where both take long.
double overlapped(double a, double b) { return std::pow(std::pow(a, 4.0) + std::pow(b, 4.0), 0.25); }

/// Loads of a tap that belongs to a box: of its factor for three vectors, and of a vector for as many rows.
constexpr double kLoadsOfBox = 1.0 / 3.0 + 1.0 / kDenseRows;

/// Loads of a tap among neighbours along a row.
constexpr double kLoadsOfNeighbour = 0.6;

/// Taps that a loop over a single row adds up.
constexpr double kTapsOfLoop = 9.0;

/// The sums of a line of results where all that they read is in the first-level cache.
double sums_seconds(const StencilCosts& c, const StencilWork& work, bool in_blocks) {
  const double taps = double(work.problem.taps.size());
  if (in_blocks) return c.line + taps * c.multiply_add + work.block_loads * c.load;
  const double loops = std::max(std::ceil((taps - work.shared) / kTapsOfLoop) - 1.0, 0.0);
  return c.line + taps * c.multiply_add + work.row_loads * c.load + loops * c.loop;
}

/// The part of a step's lines that the shared cache still has from the step before. Others use that cache, too.
double shared_hits(const Machine& machine, double bytes) {
  return std::clamp(1.0 - bytes / (machine.costs.stencil.level3_share * double(machine.caches.level3)), 0.0, 1.0);
}

/// How often a line of the input is read: blocks of segments share rows with their neighbours.
double reads_of_a_line(const StencilProblem& p, const Cut& cut) {
  if (cut.block_segments >= cut.layer_segments) return 1.0;
  const double shared = double((p.domain.reach[1][0] + p.domain.reach[1][1]) * cut.row_segments);
  return 1.0 + shared / double(cut.block_segments);
}

constexpr Cut kUncut{1, 1, 1, 1, 1};

/// A line of results on its way between memory, or the caches, and a core: the average of all steps.
double transfer_seconds(const Machine& machine, const StencilWork& work, const Cut& cut, bool nontemporal,
                        int threads) {
  const StencilCosts& c = machine.costs.stencil;
  const StencilProblem& p = work.problem;
  const double arrays = 2.0 * work.lines() * double(kLineBytes), reads = reads_of_a_line(p, cut);
  const double line = double(kLineBytes) / machine.bandwidth(threads);
  // What the caller has left in a cache need not be in that of the core that asks for it; what a step leaves is.
  const double own = 0.75 * double(machine.caches.level2);
  const bool found_warm = arrays <= own * std::sqrt(double(threads)), stays_warm = arrays <= own * threads;
  const double first = 1.0 / double(std::max<std::int64_t>(p.steps, 1));
  const double cold = found_warm ? 0.0 : stays_warm ? first : 1.0;  // the part of steps that find nothing in a cache
  if (nontemporal) return ((found_warm ? 0.0 : reads) + 1.0) * line;
  const double hits = std::max(0.0, 1.0 - first) * shared_hits(machine, arrays);
  return cold * (reads + 2.0) * (hits * c.level3_line + (1.0 - hits) * line);
}

/// The ends of a row, and what it takes to begin it.
double row_seconds(const StencilCosts& c, const StencilWork& work) {
  const auto& reach = work.problem.domain.reach[2];
  return c.row + double(reach[0] + reach[1]) * double(work.problem.taps.size()) * c.end_tap;
}

/// The same where taps fill a box: ends are vectors of cells, which are copied for several rows at a time.
double boxed_row_seconds(const StencilCosts& c, const StencilWork& work) {
  const double taps = double(work.problem.taps.size()), rows_of_taps = taps / double(work.box->count[2]);
  const double end = c.line + taps * (c.multiply_add + kLoadsOfBox * c.load) + 0.5 * rows_of_taps * c.row;
  const auto& reach = work.problem.domain.reach[2];
  return c.row + (double(reach[0] > 0) + double(reach[1] > 0)) * end;
}

/// The points of a row that fill no register, where rows go one by one: they are summed like those of the ends, unless
/// a whole vector of the row may be computed twice.
double rest_seconds(const Machine& machine, const StencilWork& work) {
  const plugin::Domain& d = work.problem.domain;
  const std::int64_t points = d.plain_end(2) - d.plain_begin(2);
  const std::int64_t lanes = machine.instructions.vector_bytes / work.element();
  const bool twice = points >= lanes && double(work.problem.taps.size()) <= kTapsOfLoop;
  return twice ? 0.0 : double(points % lanes) * double(work.problem.taps.size()) * machine.costs.stencil.end_tap;
}

/// Parts of all rows.
struct RowKinds {
  double summed;  ///< that do not keep their values
  double mapped;  ///< of which taps leave the domain across an outer axis: where they read has to be looked up
};

RowKinds kinds_of_rows(const plugin::Domain& d) {
  double summed = 1.0, plain = 1.0;
  for (int axis = 0; axis < 2; ++axis) {
    std::int64_t frozen = 0;
    for (int side = 0; side < 2; ++side)
      if (d.mode[axis][side] == TESSERA_BOUNDARY_FIXED) frozen += d.reach[axis][side];
    const double all = double(std::max<std::int64_t>(d.extents[axis], 1));
    summed *= double(std::max<std::int64_t>(d.extents[axis] - frozen, 0)) / all;
    plain *= double(d.plain_end(axis) - d.plain_begin(axis)) / all;
  }
  return {summed, std::max(summed - plain, 0.0)};
}

/// What a tile does for each point of its core, in a pass or in a step of it.
struct Overlap {
  double loaded;          ///< points, in a pass
  double computed, rows;  ///< points and rows, in a step
};

Overlap overlap_of(const StencilProblem& p, const TemporalShape& s) {
  const TileAxis middle(p.domain, 1), along(p.domain, 2);
  const double core = double(s.tile) * double(s.width), steps = double(s.fused_steps);
  Overlap result{};
  for (std::int64_t left = s.fused_steps; left >= 0; --left) {
    // A tile in the middle of the domain; one that spans the axis has margins only where it is periodic.
    const auto grown = [&](const TileAxis& axis, std::int64_t n) {
      return n >= axis.extent() && !axis.endless() ? n : n + 2 * left * axis.radius();
    };
    const double height = double(grown(middle, s.tile)), points = height * double(grown(along, s.width));
    if (left == s.fused_steps) result.loaded = points / core;
    if (left < s.fused_steps) result.computed += points / core / steps, result.rows += height / core / steps;
  }
  return result;
}

/// None for elements of 16 bits, whose rows go one by one, nor for taps in the order of their offsets.
std::vector<TapGroup> ordered(StencilProblem& p, bool by_offset) {
  const auto earlier = [](const plugin::Tap& a, const plugin::Tap& b) { return a.offset < b.offset; };
  if (by_offset) return std::sort(p.taps.begin(), p.taps.end(), earlier), std::vector<TapGroup>{};
  if (plugin::size_of(p.dtype) != 2) return group_taps(p.taps);
  order_by_rows(p.taps);
  return {};
}

/// How often so many taps, one behind the other, read neighbours along a row.
double times_together(const std::vector<plugin::Tap>& taps, int count) {
  double times = 0.0;
  int length = 0;
  plugin::Index3 next{};
  for (const plugin::Tap& tap : taps) {
    length = length > 0 && tap.offset == next ? length + 1 : 1;
    next = {tap.offset[0], tap.offset[1], steps_away(tap.offset[2], 1, 1)};
    if (length == count) times += 1.0, length = 0;
  }
  return times;
}

}  // namespace

StencilWork::StencilWork(const StencilProblem& as_given, const InstructionSet& instructions)
    : problem(sweep_axis_first(as_given)),
      box(dense_box(problem)),
      by_offset(box || few_long_rows(problem)),
      groups(ordered(problem, by_offset)),
      block_rows(by_offset ? 0 : cpu::block_rows(instructions, groups)),
      block_loads(by_offset ? kLoadsOfBox * double(problem.taps.size()) : loads_per_result(groups, block_rows)) {
  const int together = neighbours_at_a_time(instructions, element());
  const double times = together > 0 ? times_together(problem.taps, together) : 0.0;
  shared = times * together;
  row_loads = double(problem.taps.size()) - 2.0 * times;
}

double sweeps_seconds(const Machine& machine, const StencilWork& work, const Cut& cut, bool nontemporal, int threads) {
  const StencilCosts& c = machine.costs.stencil;
  const StencilProblem& p = work.problem;
  const bool boxed = work.box && !nontemporal, copied = boxed && rows_are_mapped(p.domain);
  const bool in_blocks = work.box ? boxed : cut.planes == kBlockPlanes;
  const double near = double(p.domain.reach[0][0] + p.domain.reach[0][1]) / double(cut.planes);
  const auto [summed, mapped] = kinds_of_rows(p.domain);
  const double alone = copied ? 0.0 : in_blocks ? mapped : summed;
  const double sums = (1.0 - summed) * c.line + alone * sums_seconds(c, work, false) +
                      (summed - alone) * sums_seconds(c, work, true) +
                      near * (c.plane + (nontemporal && in_blocks ? c.nontemporal_plane : 0.0));
  const double line =
      overlapped(sums * machine.slowdown(threads), transfer_seconds(machine, work, cut, nontemporal, threads));
  const double whole_lines = !nontemporal ? 0.0 : in_blocks ? c.block_edges : c.put_together;
  const double rest = nontemporal ? 0.0 : alone * rest_seconds(machine, work);
  const double lookup = copied ? 0.0 : mapped * double(p.taps.size()) * c.mapped_tap;
  const double begun = boxed ? boxed_row_seconds(c, work) : row_seconds(c, work);
  const double row = (summed * (begun + whole_lines) + rest + lookup) * machine.slowdown(threads);
  const double step = (work.lines() * line + work.rows() * row) / threads;
  return machine.overhead(threads) + double(p.steps) * (step + (threads > 1 ? c.barrier : 0.0));
}

double passes_seconds(const Machine& machine, const StencilWork& work, const TemporalShape& shape, int threads) {
  const StencilCosts& c = machine.costs.stencil;
  const StencilProblem& p = work.problem;
  if (p.points() == 0) return machine.overhead(threads);
  const TileLayout layout = tile_layout(p, shape, work.block_rows);
  const TileGrid grid = tile_grid(p, shape, threads);
  const auto [loaded, computed, rows_begun] = overlap_of(p, shape);
  const double sums = sums_seconds(c, work, layout.blocks) + (layout.blocks ? c.level_line : 0.0);
  const double line_rows = double(kLineBytes) / double(work.element()) * rows_begun;  // that a line of results begins
  const auto [summed, mapped] = kinds_of_rows(unrolled(p.domain));
  const double ends = summed * row_seconds(c, work) + (layout.blocks ? c.level_block_row : c.level_row) +
                      mapped * double(p.taps.size()) * c.mapped_tap;
  const double transfer = (loaded + 1.0) / double(shape.fused_steps) * double(kLineBytes) / machine.bandwidth(threads);
  const double line =
      (computed * summed * sums + line_rows * ends) * machine.slowdown(threads) + c.transfer_of_pass * transfer;
  const double passes = std::ceil(double(p.steps) / double(shape.fused_steps));
  return machine.overhead(threads) + double(p.steps) * work.lines() * line * grid.idle(threads) / threads +
         passes * (threads > 1 ? c.barrier : 0.0);
}

bool separable_passes_caches(const Machine& machine, const StencilWork& work, int threads) {
  const auto seconds = [&](bool nontemporal) { return transfer_seconds(machine, work, kUncut, nontemporal, threads); };
  return work.element() > 2 && seconds(true) < seconds(false);
}

double separable_seconds(const Machine& machine, const StencilWork& work, const plugin::TapTerms& f, int threads) {
  const StencilCosts& c = machine.costs.stencil;
  const StencilProblem& p = work.problem;
  const double bytes = std::max(4.0, double(work.element()));  // of a sum
  const double lines = double(p.points()) * bytes / double(kLineBytes);
  const double along = double(f.box.count[2]);
  const bool shared = neighbours_at_a_time(machine.instructions, std::int64_t(bytes)) != 0;
  double sums = c.line + along * (c.multiply_add + (shared ? kLoadsOfNeighbour : 1.0) * c.load);
  sums *= double(f.count());
  for (int axis = 0; axis < 2; ++axis) {
    const double taps = double(f.box.count[std::size_t(axis)] * f.count());
    if (f.box.count[std::size_t(axis)] > 1) sums += c.line + taps * (c.multiply_add + kLoadsOfBox * c.load);
  }
  const bool nontemporal = separable_passes_caches(machine, work, threads);
  if (work.element() == 2 || nontemporal) sums += c.line;  // written once more
  const double moved = transfer_seconds(machine, work, kUncut, nontemporal, threads) * work.lines() / lines;
  sums *= machine.slowdown(threads);
  const double line = overlapped(sums, moved) + sums / 8.0;  // sums along columns wait for those along rows
  // Ends of rows are copied and summed apart: a vector of each, and what begins a loop.
  const double row = 3.0 * (c.row + along * (c.multiply_add + c.load)) * machine.slowdown(threads);
  const double step = (lines * line + work.rows() * row) / threads;
  return machine.overhead(threads) + double(p.steps) * (step + (threads > 1 ? c.barrier : 0.0));
}

double reference_seconds(const Machine& machine, const StencilProblem& p) {
  const StencilCosts& c = machine.costs.stencil;
  return machine.overhead(1) +
         double(p.steps) * double(p.points()) * (c.reference_point + double(p.taps.size()) * c.reference_tap);
}

}  // namespace tessera::cpu
