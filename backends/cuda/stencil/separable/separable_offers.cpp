// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "separable.hpp"

#include "../../launch_limits.hpp"
#include "../box_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::StencilProblem;

/// Blocks of a multiprocessor for which the kernel leaves registers.
constexpr int kBlocks = 8;

/// All but the cut into blocks.
template <class T, bool kVolume>
SeparableLayout layout_of(const StencilProblem& p, const plugin::TapTerms& f) {
  using S = Scalar<T>;
  using Points = SeparablePoints<S, kVolume>;
  constexpr int kWidth = Points::kWidth, kBytes = int(sizeof(S)), kCells = int(16 / sizeof(T));
  SeparableLayout l{};
  l.span = Points::kSpan, l.batch = Points::kRows;
  for (std::size_t axis = 0; axis < std::size_t(plugin::kAxes); ++axis) {
    l.first[axis] = int(f.box.first[axis]), l.taps[axis] = int(f.box.count[axis]);
    // But on axis 2, so that taps end with a vector.
    const TapVectors vectors(axis == 2 ? l.first[2] : -l.taps[axis], l.taps[axis], kWidth);
    l.lead[axis] = vectors.lead, l.rest = vectors.rest;
    l.groups += plugin::ceil_div(l.lead[axis] + l.taps[axis], kWidth);
  }
  l.terms = int(f.count());
  l.march = kVolume ? 0 : 1;
  l.before = cells_before(l.first[2] - l.lead[2], kWidth, kCells);
  l.first[2] -= l.lead[2] + l.before;
  l.columns = l.pitch = plugin::round_up(l.before + l.span + l.lead[2] + l.taps[2] - 1, kCells);
  // Eight threads that load 16 bytes each meet all banks; of 16 that load 8, in planes two at most meet in one.
  const int apart = kCells > kWidth ? 32 : kVolume ? l.pitch : kWidth;
  while (l.pitch % (2 * apart) != apart % (2 * apart)) l.pitch += kCells;
  const int halo = l.taps[1] - 1;
  constexpr int kSumRow = Points::kSumPitch * kBytes;
  if (kVolume) {
    l.lag = l.taps[0] - 1;
    l.rows = l.batch + halo;
    l.sum_bytes = plugin::round_up(l.lead[1] + l.rows, kWidth) * kSumRow;
    l.ring_bytes = l.taps[0] * kSeparableThreads * Points::kPoints * kBytes;
  } else {
    l.lag = plugin::ceil_div(halo, l.batch);
    l.skip = l.lag * l.batch - halo;
    l.rows = l.batch;
    l.sum_bytes = plugin::round_up(l.batch + halo, kWidth) * kSumRow;
  }
  l.cell_bytes = l.rows * l.pitch * int(sizeof(T));
  l.tiles[2] = int(std::min<std::int64_t>(plugin::ceil_div(p.domain.extents[2], l.span), kMaxGridX));
  return l;
}

/// Stages of points of the whole domain.
std::int64_t all_stages(const StencilProblem& p, const SeparableLayout& l) {
  return l.march == 0 ? p.domain.extents[0] : plugin::ceil_div<std::int64_t>(p.domain.extents[1], l.batch);
}

/// The most stages of points that a block takes.
std::int64_t most_stages(const StencilProblem& p, const SeparableLayout& l) {
  return std::clamp<std::int64_t>(all_stages(p, l), 1, kFarthestPart / l.batch - 1);
}

/// Cuts the domain into blocks of so many stages.
void cut(const StencilProblem& p, SeparableLayout& l, std::int64_t segment) {
  const std::int64_t stages = std::max<std::int64_t>(all_stages(p, l), 1);
  l.segment = int(std::min(segment, most_stages(p, l)));
  const auto grid = [](std::int64_t blocks) { return int(std::min<std::int64_t>(blocks, kMaxGridX)); };
  const int along = grid(plugin::ceil_div<std::int64_t>(stages, l.segment));
  l.tiles[0] = l.march == 0 ? along : grid(p.domain.extents[0]);
  l.tiles[1] = l.march == 0 ? grid(plugin::ceil_div<std::int64_t>(p.domain.extents[1], l.batch)) : along;
}

/// Blocks of a multiprocessor at a time.
int held(const SeparableLayout& l, const Machine& machine) {
  return std::clamp(int(machine.shared_per_multiprocessor / (l.shared_bytes() + kReservedBytes)), 1, kBlocks);
}

double sweep_seconds(const StencilProblem& p, const Machine& machine, const SeparableLayout& l) {
  const SeparableCosts& costs = machine.stencil.separable;
  const bool wide = value_bytes(p.dtype) == int(sizeof(double));
  const double points = double(l.span) * l.batch, sums = double(l.rows) * l.span;  // along rows
  const double tap = wide ? costs.tap_f64 : costs.tap;
  const double along = l.terms * sums * (tap * l.taps[2] + costs.sum);
  const double across = points * (l.terms * tap * l.taps[1] + costs.sum);
  const double planes = l.march == 0 ? points * (tap * costs.plane * l.taps[0] + costs.sum) : 0.0;
  const double cells = (plugin::size_of(p.dtype) == 2 ? costs.cell_16 : costs.cell) * double(l.rows) * l.pitch;
  const double cycles = (l.segment + l.lag) * (along + cells + costs.stage) +
                        (l.segment + (l.march == 0 ? l.lag : 0)) * across + l.segment * (planes + points * costs.point);
  const double blocks = l.blocks(), most = std::ceil(blocks / machine.multiprocessors);
  const double busy =
      std::min(1.0, std::min<double>(held(l, machine), most) * kSeparableThreads / costs.enough_threads);
  return seconds_of({.memory = costs.memory * copy_seconds(p, machine),
                     .computing = most * cycles / busy / machine.clock_hz,
                     .overlap = costs.overlap},
                    machine);
}

/// The stages of a block that take the least time: few blocks repeat little, and many fill the device.
std::int64_t best_segment(const StencilProblem& p, const Machine& machine, SeparableLayout l) {
  const std::int64_t stages = all_stages(p, l);
  std::int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t parts = 1; parts <= stages; parts += 1 + parts / 16) {
    const std::int64_t segment = plugin::ceil_div(stages, parts);
    cut(p, l, segment);
    const double seconds = sweep_seconds(p, machine, l);
    if (seconds < least) least = seconds, best = segment;
  }
  return best;
}

}  // namespace

std::optional<SeparableLayout> separable_layout(const StencilProblem& p, const Machine& machine,
                                                const plugin::TapTerms& f, std::int64_t segment) {
  if (!is_near(f.box) || !holds_constants(p)) return {};
  SeparableLayout l = with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    return f.box.count[0] > 1 ? layout_of<T, true>(p, f) : layout_of<T, false>(p, f);
  });
  if (l.shared_bytes() > machine.shared_per_block) return {};
  cut(p, l, segment > 0 ? segment : best_segment(p, machine, l));
  if (std::max(l.tiles[0], l.tiles[1]) > kMaxGridYz || l.tiles[2] >= kMaxGridX) return {};
  return l;
}

std::string why_not_separable(const StencilProblem& p, const Machine& machine) {
  if (p.in_strides[2] != 1 || p.out_strides[2] != 1) return "takes rows of stride 1";
  const auto terms = plugin::tap_terms(p);
  if (!terms)
    return "takes taps that fill a box and are products of a factor for each axis, or in planes a sum of up to four, "
           "within their rounding";
  return separable_layout(p, machine, *terms, 0) ? ""
                                                 : "takes taps near the point, whose sums a multiprocessor can hold, "
                                                   "up to 65535 planes, and constant sides "
                                                   "whose values its elements hold";
}

void offer_separable(const StencilProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                     std::uint64_t, plugin::OfferList& offers) {
  const auto terms = plugin::tap_terms(p);
  if (!terms) return;
  const auto automatic = separable_layout(p, machine, *terms, 0);
  if (!automatic) return;
  const std::int64_t most = most_stages(p, *automatic);
  const std::int64_t segment = given.in_range("segment", automatic->segment, 1, most);
  if (const auto layout = separable_layout(p, machine, *terms, segment))
    offer_sweeps(p, {{"segment", layout->segment}}, sweep_seconds(p, machine, *layout), offers);
}

}  // namespace tessera::cuda
