// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// team_tiled on a device: a team of 16 x 16 threads computes a tile of D, each thread a block of it in registers.
/// Tiles of both operands pass through scratch, two buffers of each, so that the next ones travel while the present
/// ones are used. Threads read 16 bytes of scratch at once.
#pragma once

#include "../context.hpp"
#include "arguments.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::kokkos {

inline constexpr int kSide = 16;  ///< threads of a team along either axis of D
inline constexpr int kTeam = kSide * kSide;

/// 16 bytes, which a thread reads at once.
template <class T>
struct alignas(16) Pack {
  static constexpr int kElements = 16 / int(sizeof(T));
  T element[kElements];
};

/// Columns of a tile of D of so many rows: as many, but 64 where elements have 8 bytes, so that a thread's sums take as
/// many registers.
constexpr int tile_columns(int rows, std::size_t element_bytes) { return element_bytes == 8 ? 64 : rows; }

/// kTile rows of D, whose sums are of type T. With 8 k a tile the elements that a thread moves fit into 128 registers
/// with 64 sums.
template <class T, int kTile>
struct DeviceShape {
  static constexpr int kPack = Pack<T>::kElements;
  static constexpr int kRows = kTile, kColumns = tile_columns(kTile, sizeof(T));
  static constexpr int kTileK = 8;
  static constexpr int kRowPacks = kRows / kSide / kPack, kColumnPacks = kColumns / kSide / kPack;
  static constexpr int kRowPitch = kRows + kPack, kColumnPitch = kColumns + kPack;  ///< of one k, in scratch
  static constexpr int kElements = kTileK * (kRowPitch + kColumnPitch);             ///< of scratch, a pair of tiles
  static constexpr int kBytes = 2 * kElements * int(sizeof(T));
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<kTeam, kTile == 128 ? 2 : 3>>;
};

/// Moves tiles of one operand to scratch, where they lie one k after the other, as numbers that are computed with: a
/// thread has kCount elements of each.
template <class T, int kWidth, int kTileK, int kPitch>
class TileMover {
 public:
  /// `across` and `along` are the distances in memory of rows (columns) and of neighbouring k; neighbouring threads
  /// follow the smaller one.
  KOKKOS_INLINE_FUNCTION TileMover(const T* first, std::int64_t across, std::int64_t along, std::int64_t width_left,
                                   int thread)
      : width_left_(width_left < kWidth ? int(width_left) : kWidth) {
    const bool along_k = along < across;
    k_ = along_k ? thread % kTileK : thread / kWidth;
    width_ = along_k ? thread / kTileK : thread % kWidth;
    k_step_ = along_k ? 0 : kTeam / kWidth;
    width_step_ = along_k ? kTeam / kTileK : 0;
    from_ = first + width_ * across + k_ * along;
    step_ = width_step_ * across + k_step_ * along;
    advance_ = kTileK * along;
  }

  /// Reads the next tile, zeros where the operand ends.
  KOKKOS_INLINE_FUNCTION void fetch(std::int64_t k_left) {
    const T* from = from_;
    if (width_left_ == kWidth && k_left >= kTileK) {
#pragma unroll
      for (int i = 0; i < kCount; ++i, from += step_) held_[i] = *from;
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i, from += step_)
        held_[i] = width_ + i * width_step_ < width_left_ && k_ + i * k_step_ < k_left ? *from : T{};
    }
    from_ += advance_;
  }

  KOKKOS_INLINE_FUNCTION void store(Scalar<T>* scratch) const {
    Scalar<T>* to = scratch + k_ * kPitch + width_;
    const int step = k_step_ * kPitch + width_step_;
#pragma unroll
    for (int i = 0; i < kCount; ++i, to += step) *to = widened(held_[i]);
  }

 private:
  static constexpr int kCount = kWidth * kTileK / kTeam;
  static_assert(kCount * kTeam == kWidth * kTileK && kTeam % kWidth == 0 && kTeam % kTileK == 0);

  const T* from_;
  std::int64_t step_, advance_;
  int width_, k_, width_step_, k_step_, width_left_;
  T held_[kCount];
};

/// kGeneral: which Writer it has.
template <class T, int kTile, bool kGeneral>
class GemmDeviceTile {
 public:
  using S = Scalar<T>;
  using Shape = DeviceShape<S, kTile>;
  using Member = typename Shape::Policy::member_type;

  GemmDeviceTile(const plugin::GemmProblem& problem, const plugin::Execution& execution)
      : g_(arguments_of<T>(problem, execution)),
        d_(problem, execution),
        row_tiles_(tiles_along(g_.m, Shape::kRows)),
        column_tiles_(tiles_along(g_.n, Shape::kColumns)) {}

  static std::int64_t tiles_along(std::int64_t extent, int tile) { return plugin::ceil_div(extent, tile); }
  std::int64_t tiles() const { return row_tiles_ * column_tiles_ * g_.batch; }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    S* const scratch = near_scratch<S>(team, std::ptrdiff_t(Shape::kBytes));
    for (std::int64_t tile = team.league_rank(); tile < row_tiles_ * column_tiles_ * g_.batch;
         tile += team.league_size())
      compute(team, tile, scratch);
  }

 private:
  using Sums = S[Shape::kRowPacks * Shape::kPack][Shape::kColumnPacks * Shape::kPack];

  KOKKOS_INLINE_FUNCTION void compute(const Member& team, std::int64_t tile, S* scratch) const {
    const std::int64_t column = tile % column_tiles_ * Shape::kColumns;
    const std::int64_t row = tile / column_tiles_ % row_tiles_ * Shape::kRows;
    const std::int64_t item = tile / (column_tiles_ * row_tiles_);
    const int thread = team.team_rank();
    Sums sum = {};
    if (g_.k > 0) {
      TileMover<T, Shape::kRows, Shape::kTileK, Shape::kRowPitch> a(g_.a + item * g_.stride_a + row * g_.a_row,
                                                                    g_.a_row, g_.a_k, g_.m - row, thread);
      TileMover<T, Shape::kColumns, Shape::kTileK, Shape::kColumnPitch> b(
          g_.b + item * g_.stride_b + column * g_.b_column, g_.b_column, g_.b_k, g_.n - column, thread);
      sum_tiles(team, a, b, scratch, sum);
    }
    write(item, row + thread / kSide * Shape::kPack, column + thread % kSide * Shape::kPack, sum);
  }

  template <class MoverA, class MoverB>
  KOKKOS_INLINE_FUNCTION void sum_tiles(const Member& team, MoverA& a, MoverB& b, S* scratch, Sums& sum) const {
    constexpr int kTileB = Shape::kTileK * Shape::kRowPitch;
    a.fetch(g_.k);
    b.fetch(g_.k);
    team.team_barrier();  // the scratch may still be read for the tile of D before
    a.store(scratch);
    b.store(scratch + kTileB);
    team.team_barrier();
    S *present = scratch, *next = scratch + Shape::kElements;
    for (std::int64_t left = g_.k - Shape::kTileK;; left -= Shape::kTileK) {
      if (left > 0) a.fetch(left), b.fetch(left);
      add_products(present, present + kTileB, team.team_rank(), sum);
      if (left <= 0) return;
      a.store(next);
      b.store(next + kTileB);
      team.team_barrier();
      S* const used = present;
      present = next;
      next = used;
    }
  }

  KOKKOS_INLINE_FUNCTION static void add_products(const S* a_tile, const S* b_tile, int thread, Sums& sum) {
    constexpr int kPack = Shape::kPack;
    const S* const a_from = a_tile + thread / kSide * kPack;
    const S* const b_from = b_tile + thread % kSide * kPack;
#pragma unroll
    for (int k = 0; k < Shape::kTileK; ++k) {
      Pack<S> a[Shape::kRowPacks], b[Shape::kColumnPacks];
#pragma unroll
      for (int i = 0; i < Shape::kRowPacks; ++i)
        a[i] = *reinterpret_cast<const Pack<S>*>(a_from + k * Shape::kRowPitch + i * kSide * kPack);
#pragma unroll
      for (int j = 0; j < Shape::kColumnPacks; ++j)
        b[j] = *reinterpret_cast<const Pack<S>*>(b_from + k * Shape::kColumnPitch + j * kSide * kPack);
#pragma unroll
      for (int i = 0; i < Shape::kRowPacks * kPack; ++i)
#pragma unroll
        for (int j = 0; j < Shape::kColumnPacks * kPack; ++j)
          sum[i][j] += a[i / kPack].element[i % kPack] * b[j / kPack].element[j % kPack];
    }
  }

  /// `row` and `column` are those of the thread's first pack; its next ones are kSide packs further.
  KOKKOS_INLINE_FUNCTION void write(std::int64_t item, std::int64_t row, std::int64_t column, const Sums& sum) const {
    constexpr int kPack = Shape::kPack;
#pragma unroll
    for (int i = 0; i < Shape::kRowPacks * kPack; ++i) {
      const std::int64_t at_row = row + i / kPack * kSide * kPack + i % kPack;
      const auto to = d_.row(item, at_row);
#pragma unroll
      for (int j = 0; j < Shape::kColumnPacks * kPack; ++j) {
        const std::int64_t at_column = column + j / kPack * kSide * kPack + j % kPack;
        if (at_row < g_.m && at_column < g_.n) d_.write(to, at_column, sum[i][j]);
      }
    }
  }

  GemmArguments<T> g_;
  Writer<T, kGeneral> d_;
  std::int64_t row_tiles_, column_tiles_;
};

template <class T>
class GemmTeamTiledPlan final : public plugin::Plan {
 public:
  GemmTeamTiledPlan(Context& context, const plugin::GemmProblem& problem, const plugin::Parameters& parameters)
      : context_(context), problem_(problem), tile_(int(parameters.at("tile"))) {}

  void execute(const plugin::Execution& execution) override {
    with_writer<T>(problem_, [&]<bool kGeneral>(std::bool_constant<kGeneral>) {
      tile_ == 64 ? launch(GemmDeviceTile<T, 64, kGeneral>(problem_, execution))
                  : launch(GemmDeviceTile<T, 128, kGeneral>(problem_, execution));
    });
  }

 private:
  template <class Tile>
  void launch(const Tile& tile) {
    const std::int64_t teams = std::min<std::int64_t>(tile.tiles(), std::numeric_limits<int>::max());
    context_.dispatch([&](const Launcher& launch) {
      typename Tile::Shape::Policy policy(launch.space(), int(teams), kTeam);
      launch(policy.set_scratch_size(0, Kokkos::PerTeam(Tile::Shape::kBytes + 16)), tile);
    });
  }

  Context& context_;
  plugin::GemmProblem problem_;
  int tile_;
};

inline std::unique_ptr<plugin::Plan> make_team_tiled(Context& context, const plugin::GemmProblem& p,
                                                     const plugin::Parameters& parameters) {
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<GemmTeamTiledPlan<T>>(context, p, parameters);
  });
}

/// The share of its time that the busiest multiprocessor has work of D, if all had as much: rows and columns of the
/// tiles at the edges count in full, and small tiles are slower.
inline double tile_share(const plugin::GemmProblem& p, const Machine& machine, std::int64_t tile) {
  const std::int64_t columns = tile_columns(int(tile), scalar_bytes(p.dtype));
  const double tiles = double(plugin::ceil_div(p.m, tile)) * double(plugin::ceil_div(p.n, columns)) * double(p.batch);
  const double waves = std::ceil(tiles / machine.device.multiprocessors) * machine.device.multiprocessors;
  const double computed = waves * double(tile) * double(columns) * (tile == 64 ? kSmallTileCost : 1.0);
  return std::clamp(double(p.m) * double(p.n) * double(p.batch) / computed, 1e-6, 1.0);
}

inline void offer_team_tiled(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                             std::uint64_t, plugin::OfferList& offers) {
  constexpr std::int64_t kTiles[] = {64, 128};
  for (const std::int64_t tile : given.one_of("tile", kTiles)) {
    const double share = p.m == 0 || p.n == 0 || p.batch == 0 ? 1.0 : tile_share(p, machine, tile);
    offers.add({{{"tile", tile}}, gemm_seconds(machine, p, machine.costs.gemm_team_tiled * share)});
  }
}

}  // namespace tessera::kokkos
