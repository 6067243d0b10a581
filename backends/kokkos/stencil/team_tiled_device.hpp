// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// team_tiled on a device: a team fetches a tile with its halo into scratch, boundary modes resolved cell by cell where
/// the tile touches the boundary, and sums the taps out of it. Scratch holds numbers of the type of the sums. Short
/// lists of taps travel with the kernel's arguments, which all threads of a warp read at once; longer ones lie in
/// device memory.
#pragma once

#include "../device_tile.hpp"
#include "sweep.hpp"

#include <bit>

namespace tessera::kokkos {

using cuda::kTilePointsPerThread;

/// Of the 48 KiB that Kokkos gives a team, what is left beside its own.
inline constexpr int kTileBytes = 43 << 10;
/// Taps among the arguments, of which Kokkos takes at most 4 KiB.
inline constexpr int kInlineTaps = 128;

template <class S>
struct InlineTaps {
  S coefficients[kInlineTaps];
  int offsets[kInlineTaps];
};

template <class S>
struct TableTaps {
  const S* coefficients;
  const int* offsets;
};

/// value / divisor for both below 2^16, without a division: see cuda/stencil/tile/tile.cuh.
struct Divisor {
  unsigned reciprocal;

  explicit Divisor(int divisor = 1)
      : reciprocal(divisor == 1 ? 0u
                                : unsigned(((std::uint64_t(1) << 32) + unsigned(divisor) - 1) / unsigned(divisor))) {}
  KOKKOS_INLINE_FUNCTION unsigned of(unsigned value) const {
    return reciprocal == 0 ? value : unsigned((std::uint64_t(value) * reciprocal) >> 32);
  }
};

/// kLine: the domain has one axis.
template <class T, class Taps, bool kLine>
class StencilDeviceTile {
 public:
  using S = Scalar<T>;
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<512, cuda::kTileBlocks>>;
  using Member = typename Policy::member_type;

  StencilDeviceTile(const plugin::StencilProblem& problem, const PointTap<S>* point_taps, const cuda::Tile& tile,
                    const Taps& taps)
      : s_(problem, point_taps), taps_(taps), by_row_(tile.cells[2]), by_plane_(tile.cells[1]) {
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      shift_[axis] = std::countr_zero(unsigned(tile.extent[axis]));
      cells_[axis] = tile.cells[axis];
      tiles_[axis] = unsigned((problem.domain.extents[axis] + tile.extent[axis] - 1) >> shift_[axis]);
    }
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      plain_[axis][0] = problem.domain.plain_begin(axis);
      plain_[axis][1] = problem.domain.plain_end(axis) - tile.extent[axis];
    }
    const auto& reach = problem.domain.reach;
    centre_ = int((reach[0][0] * cells_[1] + reach[1][0]) * cells_[2] + reach[2][0]);
  }

  Sweep<T>& sweep() { return s_; }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    S* const tile = near_scratch<S>(team, cells_[0] * cells_[1] * cells_[2] * std::ptrdiff_t(sizeof(S)));
    const unsigned number = unsigned(team.league_rank());
    const unsigned row = kLine ? 0 : number / tiles_[2], plane = kLine ? 0 : row / tiles_[1];
    const std::int64_t origin[] = {std::int64_t(plane) << shift_[0], std::int64_t(row - plane * tiles_[1]) << shift_[1],
                                   std::int64_t(number - row * tiles_[2]) << shift_[2]};
    bool plain = true;
#pragma unroll
    for (int axis = kLine ? 2 : 0; axis < plugin::kAxes; ++axis)
      plain = plain && origin[axis] >= plain_[axis][0] && origin[axis] <= plain_[axis][1];
    const unsigned thread = unsigned(team.team_rank()), threads = unsigned(team.team_size());
    plain ? fetch_plain(origin, thread, threads, tile) : fetch_boundary(origin, thread, threads, tile);
    team.team_barrier();
    sum_points(origin, plain, thread, threads, tile);
  }

 private:
  using Origin = const std::int64_t (&)[plugin::kAxes];

  KOKKOS_INLINE_FUNCTION void place(unsigned cell, unsigned (&c)[plugin::kAxes]) const {
    const unsigned row = kLine ? 0 : by_row_.of(cell);
    c[0] = kLine ? 0 : by_plane_.of(row);
    c[1] = row - c[0] * unsigned(cells_[1]);
    c[2] = cell - row * unsigned(cells_[2]);
  }

  /// Several loads in flight before the first is stored; a thread without a cell left repeats the last one.
  KOKKOS_INLINE_FUNCTION void fetch_plain(Origin origin, unsigned thread, unsigned threads, S* tile) const {
    constexpr int kBatch = 4;
    const auto& reach = s_.domain.reach;
    const T* const first = s_.source_at(origin[0] - reach[0][0], origin[1] - reach[1][0], origin[2] - reach[2][0]);
    const unsigned cells = unsigned(cells_[0] * cells_[1] * cells_[2]);
    for (unsigned base = thread; base < cells; base += kBatch * threads) {
      T value[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const unsigned cell = base + i * threads;
        unsigned c[plugin::kAxes];
        place(cell < cells ? cell : cells - 1, c);
        const std::int64_t outer = kLine ? 0 : c[0] * s_.source_strides[0] + c[1] * s_.source_strides[1];
        value[i] = first[outer + c[2] * s_.source_strides[2]];
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        if (base + i * threads < cells) tile[base + i * threads] = widened(value[i]);
    }
  }

  KOKKOS_INLINE_FUNCTION void fetch_boundary(Origin origin, unsigned thread, unsigned threads, S* tile) const {
    const unsigned cells = unsigned(cells_[0] * cells_[1] * cells_[2]);
#pragma unroll 1
    for (unsigned cell = thread; cell < cells; cell += threads) {
      unsigned c[plugin::kAxes];
      place(cell, c);
      std::int64_t at[plugin::kAxes];
#pragma unroll
      for (int axis = 0; axis < plugin::kAxes; ++axis) at[axis] = origin[axis] - s_.domain.reach[axis][0] + c[axis];
      tile[cell] = boundary_cell(at);
    }
  }

  /// Cells that only points outside the domain or frozen points would read are zero: nothing exists there.
  KOKKOS_INLINE_FUNCTION S boundary_cell(Origin at) const {
    const plugin::Domain& d = s_.domain;
#pragma unroll
    for (int axis = 0; axis < plugin::kAxes; ++axis) {
      const std::int64_t i = at[axis], n = d.extents[axis];
      if (i < 0 && d.mode[axis][0] == TESSERA_BOUNDARY_FIXED) return S(0);
      if (i >= n && (d.mode[axis][1] == TESSERA_BOUNDARY_FIXED || i >= n + d.reach[axis][1])) return S(0);
    }
    const plugin::Sample s = d.sample(at[0], at[1], at[2]);
    return s.constant ? S(s.value) : widened(*s_.source_at(s.index[0], s.index[1], s.index[2]));
  }

  KOKKOS_INLINE_FUNCTION void sum_points(Origin origin, bool plain, unsigned thread, unsigned threads,
                                         const S* tile) const {
    int point[kTilePointsPerThread][plugin::kAxes], cell[kTilePointsPerThread];
    S sum[kTilePointsPerThread];
#pragma unroll
    for (int j = 0; j < kTilePointsPerThread; ++j) {
      const int p = int(thread + j * threads);
      point[j][2] = kLine ? p : p & ((1 << shift_[2]) - 1);
      point[j][1] = kLine ? 0 : (p >> shift_[2]) & ((1 << shift_[1]) - 1);
      point[j][0] = kLine ? 0 : p >> (shift_[2] + shift_[1]);
      cell[j] = kLine ? p : (point[j][0] * cells_[1] + point[j][1]) * cells_[2] + point[j][2];
      sum[j] = S(0);
    }
#pragma unroll 4
    for (int t = 0; t < s_.tap_count; ++t) {
      const S coefficient = taps_.coefficients[t];
      const S* const shifted = tile + taps_.offsets[t];
#pragma unroll
      for (int j = 0; j < kTilePointsPerThread; ++j) sum[j] += coefficient * shifted[cell[j]];
    }
#pragma unroll
    for (int j = 0; j < kTilePointsPerThread; ++j) {
      const std::int64_t i0 = origin[0] + point[j][0], i1 = origin[1] + point[j][1], i2 = origin[2] + point[j][2];
      if (!plain) {
        if (i0 >= s_.domain.extents[0] || i1 >= s_.domain.extents[1] || i2 >= s_.domain.extents[2]) continue;
        if (s_.domain.frozen(i0, i1, i2)) {
          if constexpr (sizeof(T) == 2) {  // whose NaN would lose its payload on the way through a wider type
            *s_.target_at(i0, i1, i2) = *s_.source_at(i0, i1, i2);
            continue;
          }
          sum[j] = tile[cell[j] + centre_];
        }
      }
      *(kLine ? s_.target + i2 * s_.target_strides[2] : s_.target_at(i0, i1, i2)) = rounded<T>(sum[j]);
    }
  }

  Sweep<T> s_;
  Taps taps_;
  Divisor by_row_, by_plane_;
  int shift_[plugin::kAxes], cells_[plugin::kAxes];
  unsigned tiles_[plugin::kAxes];
  std::int64_t plain_[plugin::kAxes][2];  ///< first and last origin of a tile that no boundary touches
  int centre_;                            ///< distance from a point's first cell to its own
};

/// The device with the shared memory that Kokkos leaves a team.
inline cuda::Machine team_machine(const Machine& machine) {
  cuda::Machine team = machine.device;
  team.shared_per_block = kTileBytes;
  return team;
}

/// The problem in the type that its tiles hold, that of the sums.
inline plugin::StencilProblem tile_problem(plugin::StencilProblem problem) {
  problem.dtype = plugin::with_types(
      problem.dtype, []<class T>(std::type_identity<T>) { return static_cast<tessera_dtype>(kDType<Scalar<T>>); });
  return problem;
}

template <class T>
class StencilTeamTiledPlan final : public plugin::Plan {
 public:
  using S = Scalar<T>;
  StencilTeamTiledPlan(Context& context, const plugin::StencilProblem& problem, const plugin::Parameters& parameters)
      : context_(context),
        problem_(problem),
        tile_(cuda::tile_of(tile_problem(problem), team_machine(context.machine()), parameters)),
        points_(make_point_taps<S>(context, problem)),
        values_(cuda::coefficients<S>(problem)),
        offsets_(cuda::tile_offsets(problem, tile_)),
        value_table_(context, values_.data(), values_.size() * sizeof(S)),
        offset_table_(context, offsets_.data(), offsets_.size() * sizeof(int)) {}

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    if (problem_.taps.size() > kInlineTaps)
      return choose(e, TableTaps<S>{value_table_.template as<const S>(), offset_table_.template as<const int>()});
    InlineTaps<S> taps;
    std::copy(values_.begin(), values_.end(), taps.coefficients);
    std::copy(offsets_.begin(), offsets_.end(), taps.offsets);
    choose(e, taps);
  }

 private:
  template <class Taps>
  void choose(const plugin::Execution& e, const Taps& taps) {
    problem_.rank == 1 ? run<StencilDeviceTile<T, Taps, true>>(e, taps)
                       : run<StencilDeviceTile<T, Taps, false>>(e, taps);
  }

  template <class Kernel, class Taps>
  void run(const plugin::Execution& e, const Taps& taps) {
    Kernel kernel(problem_, points_.template as<const PointTap<S>>(), tile_, taps);
    plugin::for_each_sweep(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& from, T* target, const plugin::Index3& to) {
          kernel.sweep().set_arrays(source, from, target, to);
          context_.dispatch([&](const Launcher& launch) {
            typename Kernel::Policy policy(launch.space(), int(tile_.count(problem_)), tile_.threads());
            policy.set_scratch_size(0, Kokkos::PerTeam(int(tile_.bytes) + 16));
            // With the arguments, not through constant memory: there a launch would wait for the one before.
            launch(Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                   kernel);
          });
        });
  }

  Context& context_;
  plugin::StencilProblem problem_;
  cuda::Tile tile_;
  Table points_;
  std::vector<S> values_;
  std::vector<int> offsets_;
  Table value_table_, offset_table_;
};

inline std::string why_not_team_tiled(const plugin::StencilProblem& problem, const Machine& machine) {
  if (cuda::why_no_tile(tile_problem(problem), team_machine(machine)).empty()) return {};
  return "no tile with its halo fits into a team's " + std::to_string(kTileBytes) + " bytes of scratch";
}

inline void offer_team_tiled(const plugin::StencilProblem& p, const Machine& machine,
                             const plugin::GivenParameters& given, std::uint64_t, plugin::OfferList& offers) {
  const cuda::Machine team = team_machine(machine);
  const plugin::StencilProblem tiled = tile_problem(p);
  const auto tiles = cuda::fastest_tiles(tiled, team, team.stencil.tile.ldg, given);
  for (const auto& [tile, seconds] : tiles)
    offers.add({cuda::parameters_of(p, tile),
                stencil_seconds(machine, p, machine.costs.stencil_team_tiled * tiles.front().seconds / seconds),
                p.sweep_workspace()});
}

}  // namespace tessera::kokkos
