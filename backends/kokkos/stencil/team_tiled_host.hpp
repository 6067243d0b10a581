// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// team_tiled on the processor: a team is one thread, which takes blocks of rows. Caches hold the tile with its halo;
/// the scratch holds the taps as a row sees them, boundary modes of the outer axes resolved. The CPU backend's kernels
/// sum neighbouring points: rows one by one, or where no boundary of the outer axes is near blocks of rows of two
/// planes, which share what they load.
#pragma once

#include "../host_kernels.hpp"
#include "sweep.hpp"

#include <algorithm>
#include <span>

namespace tessera::kokkos {

/// cpu::RowTerms in scratch memory.
template <class T>
struct ScratchTerms {
  using S = Scalar<T>;
  std::int64_t *along, *offset;
  S* coefficient;
  int count;
  S init;

  static std::size_t bytes(int taps) { return std::size_t(taps) * (2 * sizeof(std::int64_t) + sizeof(S)) + 64; }

  ScratchTerms(unsigned char* memory, int taps) : count(0), init(-0.0) {
    along = reinterpret_cast<std::int64_t*>(memory);
    offset = along + taps;
    coefficient = reinterpret_cast<S*>(offset + taps);
  }
  void clear() { count = 0, init = S(-0.0); }
  void push(std::int64_t row_offset, std::int64_t along_offset, std::int64_t stride, S c) {
    along[count] = along_offset;
    offset[count] = cpu::steps_away(row_offset, along_offset, stride);
    coefficient[count++] = c;
  }
  cpu::RowTaps<T> taps() const { return {offset, along, coefficient, count}; }
};

/// How teams share a domain: as the CPU backend's threads do.
struct StencilHostCut {
  cpu::Cut cut;
  int block_rows;  ///< of a plane, in a block of rows
};

template <class T>
class StencilHostTile {
 public:
  using S = Scalar<T>;
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;

  /// `groups` and `ends` must live as long.
  StencilHostTile(const Sweep<T>& sweep, std::span<const cpu::TapGroup> groups, const cpu::RowEnds<T>& ends,
                  const StencilHostCut& cut)
      : s_(sweep), d_(sweep.domain), groups_(groups), ends_(&ends), cut_(cut.cut), block_rows_(cut.block_rows) {}

  static std::size_t scratch_bytes(int taps) {
    return 2 * ScratchTerms<T>::bytes(taps) + std::size_t(taps) * sizeof(cpu::StridedGroup<S>);
  }

  void operator()(const Member& team) const {
    auto* const memory = static_cast<unsigned char*>(
        team.team_scratch(1).get_shmem_aligned(std::ptrdiff_t(scratch_bytes(s_.tap_count)), 64));
    ScratchTerms<T> mapped(memory + ScratchTerms<T>::bytes(s_.tap_count), s_.tap_count);
    const Plain plain = plain_taps(memory, memory + 2 * ScratchTerms<T>::bytes(s_.tap_count));
    const std::int64_t layers = ceil_div(d_.extents[0], cut_.planes), count = layers * cut_.layer_segments;
    sweep_share(first_of_share(count, team.league_rank(), team.league_size()),
                first_of_share(count, team.league_rank() + 1, team.league_size()), plain, mapped);
  }

 private:
  using Span = cpu::Span;
  /// The taps away from the boundaries of the outer axes, one by one and in groups.
  struct Plain {
    ScratchTerms<T> taps;
    cpu::StridedGroups<S> groups;
    std::int64_t lowest = 0, highest = 0;  ///< from a point to the first and the last that its taps read
  };

  Plain plain_taps(unsigned char* tap_memory, unsigned char* group_memory) const {
    const auto& strides = s_.source_strides;
    auto* const groups = reinterpret_cast<cpu::StridedGroup<S>*>(group_memory);
    Plain plain{ScratchTerms<T>(tap_memory, s_.tap_count), {groups, std::int64_t(groups_.size())}};
    for (int t = 0; t < s_.tap_count; ++t) {
      const auto& [offset, coefficient] = s_.taps[t];
      plain.taps.push(cpu::distance({offset[0], offset[1], 0}, strides), offset[2], strides[2], coefficient);
      const std::int64_t away = cpu::distance({offset[0], offset[1], offset[2]}, strides);
      plain.lowest = std::min(plain.lowest, away);
      plain.highest = std::max(plain.highest, away);
    }
    const S* coefficient = plain.taps.coefficient;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups[g] = cpu::strided_group(groups_[g], strides, coefficient);
      coefficient += cpu::tap_count(groups_[g].pattern);
    }
    return plain;
  }

  /// Segments [first, last): one block of each layer after the other.
  void sweep_share(std::int64_t first, std::int64_t last, const Plain& plain, ScratchTerms<T>& mapped) const {
    const std::int64_t layer = cut_.layer_segments, block = cut_.block_segments;
    for (std::int64_t b = 0; b < layer; b += block)
      for (std::int64_t l = first / layer * layer; l < last; l += layer)
        sweep_segments(std::max(first, l + b), std::min(last, l + std::min(b + block, layer)), plain, mapped);
  }

  /// Segments [first, last) of a layer.
  void sweep_segments(std::int64_t first, std::int64_t last, const Plain& plain, ScratchTerms<T>& mapped) const {
    const std::int64_t i = first / cut_.layer_segments * cut_.planes;
    const std::int64_t plane_end = std::min(i + cut_.planes, d_.extents[0]);
    const bool in_blocks = plane_end - i == cpu::kBlockPlanes && d_.plain_on(0, i) && d_.plain_on(0, plane_end - 1);
    std::int64_t j = first / cut_.row_segments % d_.extents[1], begin = first % cut_.row_segments * cut_.segment_points;
    for (std::int64_t segment = first; segment < last;) {
      if (in_blocks && d_.plain_on(1, j)) {  // then a segment is a row
        const bool several = segment + block_rows_ <= last && d_.plain_on(1, j + block_rows_ - 1);
        const int rows = several ? block_rows_ : 1;
        sweep_block(i, j, rows, plain);
        segment += rows, j += rows;
        continue;
      }
      const Span points{begin, std::min(begin + cut_.segment_points, d_.extents[2])};
      for (std::int64_t plane = i; plane < plane_end; ++plane) sweep_row(plane, j, points, plain.taps, mapped);
      ++segment;
      if ((begin += cut_.segment_points) >= d_.extents[2]) begin = 0, ++j;
    }
  }

  void sweep_row(std::int64_t i, std::int64_t j, Span points, const ScratchTerms<T>& plain,
                 ScratchTerms<T>& mapped) const {
    if (d_.frozen_on(0, i) || d_.frozen_on(1, j)) return copy_points(i, j, points);
    if (d_.plain_on(0, i) && d_.plain_on(1, j)) return sweep_points(i, j, points, s_.source_at(i, j, 0), plain);
    map_taps(i, j, mapped);
    sweep_points(i, j, points, s_.source, mapped);
  }

  /// Whole rows from j on of two planes, none of which has a boundary on the outer axes.
  void sweep_block(std::int64_t i, std::int64_t j, int rows, const Plain& plain) const {
    // Points near the ends of rows are summed as well, so that rows begin where cache lines do; their sums are not
    // used.
    const Span all{0, d_.extents[2]}, inner{ends_->low(), ends_->high()};
    const Span summed = may_read(i, j, rows, plain, 0) ? all : inner;
    cpu::RowBlock<T> block{};
    block.in = s_.source_at(i, j, summed.begin);
    block.in_plane = s_.source_strides[0], block.in_row = s_.source_strides[1];
    block.out = s_.target_at(i, j, summed.begin);
    block.out_plane = s_.target_strides[0], block.out_row = s_.target_strides[1];
    block.n = summed.end - summed.begin, block.rows = rows;
    if constexpr (sizeof(T) != 2) cpu::apply_row_block(block, plain.groups);  // their cut has no blocks
    const bool in_vectors = ends_->worth_vectors() && may_read(i, j, rows, plain, ends_->around());
    for (std::int64_t row = j; row < j + rows; ++row) {
      const T* const from = s_.source_at(i, row, 0);
      T* const to = s_.target_at(i, row, 0);
      ends_->sum({from, from, 1, plain.taps.taps(), plain.taps.init, s_.source_strides[0], cpu::kBlockPlanes},
                 in_vectors, {to, to + ends_->high(), s_.target_strides[0]});
    }
  }

  /// Whether what taps read around whole rows of a block is inside the array, and so many elements more.
  bool may_read(std::int64_t i, std::int64_t j, int rows, const Plain& plain, std::int64_t more) const {
    const T* const end = s_.source_at(d_.extents[0] - 1, d_.extents[1] - 1, d_.extents[2]);
    const T* const last = s_.source_at(i + cpu::kBlockPlanes - 1, j + rows - 1, d_.extents[2]);
    return s_.source_at(i, j, 0) - s_.source >= more - plain.lowest && end - last >= more + plain.highest;
  }

  void copy_points(std::int64_t i, std::int64_t j, Span points) const {
    for (std::int64_t l = points.begin; l < points.end; ++l) *s_.target_at(i, j, l) = *s_.source_at(i, j, l);
  }

  /// The taps of a row that leave across an outer axis: rows that stand for others, or constants.
  void map_taps(std::int64_t i, std::int64_t j, ScratchTerms<T>& taps) const {
    taps.clear();
    for (int t = 0; t < s_.tap_count; ++t) {
      const auto& [offset, coefficient] = s_.taps[t];
      const plugin::Sample s = d_.sample(i + offset[0], j + offset[1], 0);  // index 0 of axis 2 is inside
      if (s.constant)
        taps.init += coefficient * S(s.value);
      else
        taps.push(s.index[0] * s_.source_strides[0] + s.index[1] * s_.source_strides[1], offset[2],
                  s_.source_strides[2], coefficient);
    }
  }

  /// `base` is what the taps' distances count from.
  void sweep_points(std::int64_t i, std::int64_t j, Span points, const T* base, const ScratchTerms<T>& taps) const {
    const std::int64_t begin = std::clamp(d_.plain_begin(2), points.begin, points.end);
    const std::int64_t end = std::clamp(d_.plain_end(2), begin, points.end);
    const std::int64_t from = s_.source_strides[2], to = s_.target_strides[2];
    const cpu::EndRows<T> row{s_.source_at(i, j, 0), base, from, taps.taps(), taps.init};
    for (const Span& span : {Span{points.begin, begin}, Span{end, points.end}})
      ends_->sum_points(row, 0, span, s_.target_at(i, j, span.begin), to);
    if (begin < end)
      cpu::apply_row(base + begin * from, from, taps.taps(), taps.init, s_.target_at(i, j, begin), to, end - begin);
  }

  Sweep<T> s_;
  plugin::Domain d_;
  std::span<const cpu::TapGroup> groups_;
  const cpu::RowEnds<T>* ends_;
  cpu::Cut cut_;
  int block_rows_;
};

template <class T>
class StencilTeamTiledPlan final : public plugin::Plan {
 public:
  StencilTeamTiledPlan(Context& context, const plugin::StencilProblem& problem, const plugin::Parameters& parameters)
      : context_(context),
        problem_(problem),
        groups_(cpu::group_taps(problem_.taps)),
        ends_(problem_.domain),
        taps_(make_point_taps<Scalar<T>>(context, problem_)) {
    threads_ = int(parameters.at("threads"));
    const std::int64_t planes = cpu::common_planes(problem_, false);
    cut_ = {cpu::cut_of(problem_, threads_, planes, context.machine().device.caches.level2),
            cpu::block_rows(cpu::kInstructionSet, groups_)};
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    Sweep<T> sweep(problem_, taps_.template as<const PointTap<Scalar<T>>>());
    const std::int64_t teams = threads_;
    plugin::for_each_sweep(problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
                           [&](const T* source, const plugin::Index3& from, T* target, const plugin::Index3& to) {
                             sweep.set_arrays(source, from, target, to);
                             context_.dispatch([&](const Launcher& launch) {
                               typename StencilHostTile<T>::Policy policy(launch.space(), int(teams), 1);
                               const std::size_t bytes = StencilHostTile<T>::scratch_bytes(sweep.tap_count) + 64;
                               launch(policy.set_scratch_size(1, Kokkos::PerTeam(int(bytes))),
                                      StencilHostTile<T>(sweep, groups_, ends_, cut_));
                             });
                           });
  }

 private:
  Context& context_;
  plugin::StencilProblem problem_;  ///< taps as grouped
  std::vector<cpu::TapGroup> groups_;
  cpu::RowEnds<T> ends_;
  Table taps_;
  int threads_;
  StencilHostCut cut_{};
};

inline std::string why_not_team_tiled(const plugin::StencilProblem&, const Machine&) { return {}; }

inline void offer_team_tiled(const plugin::StencilProblem& p, const Machine& machine,
                             const plugin::GivenParameters& given, std::uint64_t, plugin::OfferList& offers) {
  const std::int64_t threads = given.in_range("threads", machine.device.threads, 1, cpu::kMostThreads);
  offers.add(
      {{{"threads", threads}}, stencil_seconds(machine, p, machine.costs.stencil_team_tiled), p.sweep_workspace()});
}

}  // namespace tessera::kokkos
