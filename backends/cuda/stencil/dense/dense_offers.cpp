// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dense.hpp"

#include "../../launch_limits.hpp"
#include "../box_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

/// Blocks of a multiprocessor for whose shared memory stages are cut.
constexpr int kBlocks = 2;
/// That a block may have; on a line the last.
constexpr std::int64_t kWarps[] = {2, kDenseThreads / kDenseWarp};

std::int64_t floor_div(std::int64_t n, std::int64_t size) { return n >= 0 ? n / size : -((size - 1 - n) / size); }

/// The tiles of `size` points, the first of which begins at -early, whose points [first, first + count) all lie in
/// [low, high).
TileRange tiles_within(std::int64_t size, std::int64_t early, std::int64_t first, std::int64_t count, std::int64_t low,
                       std::int64_t high) {
  const std::int64_t begin = std::max<std::int64_t>(0, -floor_div(first - early - low, size));
  const std::int64_t end = floor_div(high - count - first + early, size) + 1;
  return {int(std::min<std::int64_t>(begin, kMaxGridX)), int(std::clamp<std::int64_t>(end, 0, kMaxGridX))};
}

/// Tiles of all kinds, on an axis of so many points and `early` ones before them.
void lay_out(DenseLayout& l, const plugin::Domain& d, int axis, std::int64_t points, std::int64_t cells,
             std::int64_t early) {
  const std::int64_t extent = d.extents[axis];
  const auto within = [&](std::int64_t first, std::int64_t count, std::int64_t low, std::int64_t high) {
    return tiles_within(points, early, first, count, low, high);
  };
  l.tiles[axis] = int(std::min<std::int64_t>(plugin::ceil_div(extent + early, points), kMaxGridX));
  l.inside[axis] = within(0, points, 0, extent);
  l.whole[axis] = within(l.first[axis], cells, 0, extent);
  const bool low = d.mode[axis][0] == TESSERA_BOUNDARY_FIXED, high = d.mode[axis][1] == TESSERA_BOUNDARY_FIXED;
  l.computed[axis] = within(0, points, low ? d.reach[axis][0] : -points, extent + (high ? -d.reach[axis][1] : points));
}

/// Cuts a row of taps into vectors. Returns what the first one lacks.
int cut_taps(DenseLayout& l, int width, std::int64_t extent) {
  const int odd = l.taps[2] % width;
  // With vectors of two both ways are there for odd numbers of taps: one more takes fewer loads.
  const bool aligned = (l.first[2] - points_before(l.first[2], width, extent, l.width)) % width == 0;
  const bool part = odd == width - 1 && (width > 2 || !aligned);
  l.row = part ? DenseRow::kPartFirst : odd == 1 && l.taps[2] > 1 ? DenseRow::kOneMore : DenseRow::kAny;
  l.vectors = plugin::ceil_div(l.taps[2], width);
  l.last = odd == 0 ? width : odd;
  return part ? 1 : 0;
}

/// Sizes that follow from the box and the points of a thread.
template <class Points>
DenseLayout layout_of(const StencilProblem& p, const plugin::TapBox& box, int threads) {
  constexpr int kWidth = Points::kWidth;
  const int vector = 16 / int(plugin::size_of(p.dtype));
  DenseLayout l{};
  l.threads = threads, l.element_bytes = int(plugin::size_of(p.dtype));
  l.depth = Points::kAxis == 0 ? Points::kRows : 1;
  l.width = Points::kSpan, l.height = threads / Points::kLanes * Points::kDown;
  for (std::size_t axis = 0; axis < box.first.size(); ++axis)
    l.first[axis] = int(box.first[axis]), l.taps[axis] = int(box.count[axis]);
  int lacks = 0;
  if (p.rank == 1) {
    const TapVectors vectors(l.first[2], l.taps[2], kWidth);
    lacks = vectors.lead, l.last = vectors.rest, l.vectors = plugin::ceil_div(lacks + l.taps[2], kWidth);
  } else {
    lacks = cut_taps(l, kWidth, p.domain.extents[2]);
  }
  l.first[2] -= lacks;
  l.early = points_before(l.first[2], kWidth, p.domain.extents[2], l.width);
  l.before = cells_before(l.first[2] - l.early, kWidth, vector);
  l.first[2] -= l.before;
  l.columns = l.pitch = plugin::round_up(l.before + l.width + std::max(lacks + l.taps[2] - 1, 1), vector);
  // Sixteen threads that load 8 bytes each meet all banks, in two rows of a thread's distance.
  const int apart = vector == kWidth || p.rank == 1 ? 0 : Points::kAxis == 1 ? vector : 4 * vector;
  while (apart > 0 && l.pitch % (2 * apart) != apart) l.pitch += vector;
  l.write_bytes = kDenseBarrierBytes + threads * Points::kColumns * int(sizeof(typename Points::Value));
  lay_out(l, p.domain, 0, l.depth, l.planes(), 0);
  lay_out(l, p.domain, 1, l.height, l.height + l.taps[1] - 1, 0);
  lay_out(l, p.domain, 2, l.width, l.columns, l.early);
  return l;
}

/// Cuts the box into stages of so many rows.
template <class Points>
void cut(DenseLayout& l, int rows) {
  constexpr std::int64_t kTooMany = 1 << 29;  // bytes: far beyond what is there, and twice as many are an int
  const auto bytes = [&](std::int64_t count) { return int(std::min(count, kTooMany)); };
  l.stage_rows = rows;
  l.cell_bytes = bytes((std::int64_t(l.height) + rows - 1) * l.pitch * l.element_bytes);
  l.stage_bytes = bytes(l.cell_bytes + (Points::kAxis == 1 ? std::int64_t(rows) * l.vectors * 16 : 0));
  l.buffers = l.stages() > 1 ? 2 : 1;
}

template <class Points>
std::optional<DenseLayout> layout_with(const StencilProblem& p, const Machine& machine, const plugin::TapBox& box,
                                       int threads) {
  DenseLayout l = layout_of<Points>(p, box, threads);
  const auto holds = [&](int rows, int bytes) { return cut<Points>(l, rows), l.shared_bytes() <= bytes; };
  const int shared = machine.shared_per_multiprocessor / kBlocks - kReservedBytes;
  if (Points::kAxis == 0) {
    const std::int64_t bytes = std::int64_t(l.taps[0]) * l.taps[1] * l.vectors * 16;
    l.tap_bytes = int(std::min<std::int64_t>(bytes, shared));
    if (bytes > shared || !holds(l.taps[1], std::min(shared, machine.shared_per_block))) return {};
    return l;
  }
  int rows = l.taps[1];
  while (rows > 1 && !holds(rows, shared)) rows = plugin::ceil_div(rows, 2);
  if (!holds(rows, machine.shared_per_block)) return {};
  return l;
}

template <class S>
std::optional<DenseLayout> layout_of_type(const StencilProblem& p, const Machine& machine, const plugin::TapBox& box,
                                          int threads) {
  if (p.rank == 1) return layout_with<DenseLine<S>>(p, machine, box, threads);
  if (box.count[0] >= DensePlanes<S>::kRows)
    if (const auto planes = layout_with<DensePlanes<S>>(p, machine, box, threads)) return planes;
  return layout_with<DenseRows<S>>(p, machine, box, threads);
}

}  // namespace

std::optional<DenseLayout> dense_layout(const StencilProblem& p, const Machine& machine, int threads) {
  const std::optional<plugin::TapBox> box = plugin::filled_box(p.taps);
  if (!box || !is_near(*box) || !holds_constants(p)) return {};
  const auto layout = with_types(
      p.dtype, [&]<class T>(std::type_identity<T>) { return layout_of_type<Scalar<T>>(p, machine, *box, threads); });
  if (!layout || std::max(layout->tiles[0], layout->tiles[1]) > kMaxGridYz || layout->tiles[2] >= kMaxGridX) return {};
  return layout;
}

std::string why_not_dense(const StencilProblem& p, const Machine& machine) {
  if (p.in_strides[2] != 1 || p.out_strides[2] != 1) return "takes rows of stride 1";
  if (!plugin::filled_box(p.taps)) return "takes taps that fill a box";
  return dense_layout(p, machine, kDenseThreads) ? ""
                                                 : "takes boxes of taps near the point, whose rows a multiprocessor "
                                                   "can hold, up to 65535 planes, and constant "
                                                   "sides whose values its elements hold";
}

namespace {

/// Multiply-adds are the same for all blocks, but those at an end compute points that do not exist. A multiprocessor
/// that has one block more than others is the last.
double sweep_seconds(const StencilProblem& p, const Machine& machine, const DenseLayout& l) {
  const DenseCosts& costs = machine.stencil.dense;
  const bool wide = value_bytes(p.dtype) == int(sizeof(double));
  const double points = double(l.depth) * l.width * l.height, taps = double(l.taps[0]) * l.taps[1] * l.taps[2];
  const double cells = double(l.planes()) * l.columns * (l.height + l.taps[1] - 1);
  const double cycles = points * ((wide ? costs.tap_f64 : costs.tap) * taps + costs.point) +
                        (plugin::size_of(p.dtype) == 2 ? costs.cell_16 : costs.cell) * cells + costs.stage * l.stages();
  const double blocks = l.blocks(), most = std::ceil(blocks / machine.multiprocessors);
  const int held = std::max(1, std::min(machine.threads_per_multiprocessor / l.threads,
                                        int(machine.shared_per_multiprocessor / (l.shared_bytes() + kReservedBytes))));
  const double busy = std::min(1.0, std::min<double>(held, most) * l.threads / costs.enough_threads);
  // Of 82 problems, blocks of 64 threads took 0.92 of the time at best, and 1.63 at worst: nothing here tells where.
  const double small_block = p.rank > 1 && l.threads < kDenseThreads ? 1.1 : 1.0;
  return seconds_of({.memory = costs.memory * copy_seconds(p, machine),
                     .computing = small_block * most * cycles / busy / machine.clock_hz,
                     .overlap = costs.overlap},
                    machine);
}

}  // namespace

void offer_dense(const StencilProblem& p, const Machine& machine, const plugin::GivenParameters& given, std::uint64_t,
                 plugin::OfferList& offers) {
  std::span<const std::int64_t> allowed(kWarps);
  if (p.rank == 1) allowed = allowed.last(1);
  for (const std::int64_t warps : given.one_of("warps", allowed))
    if (const auto layout = dense_layout(p, machine, int(warps) * kDenseWarp))
      offer_sweeps(p, {{"warps", warps}}, sweep_seconds(p, machine, *layout), offers);
}

}  // namespace tessera::cuda
