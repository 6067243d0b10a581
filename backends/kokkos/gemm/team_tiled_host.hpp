// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// team_tiled on the processor: a team is one thread, whose lanes are those of a register. It copies blocks of both
/// operands into its scratch, in the order in which the register tile reads them; elements of 16 bits become numbers
/// of 32 there. D of 16 bits is rounded once, when the sums of a unit over all k are complete.
#pragma once

#include "../host_kernels.hpp"
#include "arguments.hpp"

#include <algorithm>

namespace tessera::kokkos {

/// Register tiles of D: so many rows, and columns.
inline constexpr std::int64_t kTileRows = cpu::kRows;
template <class T>
inline constexpr std::int64_t kTileColumns = cpu::kVectors* cpu::kLanes<T>;

/// k of a block: a panel of op(B), 192 bytes for each k on AVX-512, fills three quarters of a first-level cache.
inline constexpr std::int64_t kBlockK = 192;
/// Rows and columns of D that a team computes at most: both packed blocks stay in half a second-level cache.
inline constexpr std::int64_t kMostRows = 512, kMostColumns = 480;
/// Below this, packing costs more than another thread gains.
inline constexpr std::int64_t kFewestRows = 64, kFewestColumns = 96;

/// The cut of D, a pure function of the problem and the number of threads.
struct HostCut {
  std::int64_t rows, columns;            ///< of a unit
  std::int64_t row_count, column_count;  ///< units along D
  std::int64_t units(std::int64_t batch) const { return row_count * column_count * batch; }
};

/// Halves the units until there are two for each thread, or they are too small.
template <class T>
HostCut cut_host(const plugin::GemmProblem& p, int threads) {
  const auto cut = [&](std::int64_t most_rows, std::int64_t most_columns) {
    HostCut c{};
    c.row_count = std::max<std::int64_t>(1, ceil_div(p.m, most_rows));
    c.column_count = std::max<std::int64_t>(1, ceil_div(p.n, most_columns));
    c.rows = round_up(std::max<std::int64_t>(1, ceil_div(p.m, c.row_count)), kTileRows);
    c.columns = round_up(std::max<std::int64_t>(1, ceil_div(p.n, c.column_count)), kTileColumns<T>);
    return c;
  };
  std::int64_t rows = kMostRows, columns = kMostColumns;
  while (cut(rows, columns).units(p.batch) < 2 * threads && (rows > kFewestRows || columns > kFewestColumns))
    (rows > columns || columns <= kFewestColumns ? rows : columns) /= 2;
  return cut(rows, columns);
}

/// Not inlined: inside another function compilers keep fewer of its sums in registers.
template <class S>
[[gnu::noinline]] void full_tile(std::int64_t k, const cpu::TileOperands<S>& tile, const cpu::Epilogue<S>& epilogue) {
  cpu::multiply_tile<S, cpu::kRows, cpu::kVectors, true, false>(k, tile, epilogue, cpu::kLanes<S>);
}

/// The work of a team: its share of the units. A and B are of type T, C and D of type To.
template <class T, class To>
class GemmHostTile {
 public:
  using S = Scalar<T>;
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;

  GemmHostTile(const plugin::GemmProblem& problem, const plugin::Execution& execution, const HostCut& cut)
      : g_(arguments_of<T>(problem, execution)), r_(problem, execution), cut_(cut) {}

  static std::size_t scratch_bytes(const HostCut& cut) {
    const std::int64_t sums = kHoldsSums ? 0 : cut.rows * cut.columns;
    return std::size_t(kBlockK * (cut.rows + cut.columns) + cpu::kLanes<S> + sums) * sizeof(S) + cpu::kVectorBytes;
  }

  void operator()(const Member& team) const {
    auto* const a = static_cast<S*>(team.team_scratch(1).get_shmem_aligned(
        std::ptrdiff_t(scratch_bytes(cut_)) - cpu::kVectorBytes, cpu::kVectorBytes));
    const Scratch scratch{a, a + kBlockK * cut_.rows, a + kBlockK * (cut_.rows + cut_.columns) + cpu::kLanes<S>};
    const std::int64_t units = cut_.units(g_.batch);
    const std::int64_t end = first_of_share(units, team.league_rank() + 1, team.league_size());
    for (std::int64_t unit = first_of_share(units, team.league_rank(), team.league_size()); unit < end; ++unit)
      compute(unit, scratch);
  }

 private:
  static constexpr std::int64_t kRows = kTileRows, kColumns = kTileColumns<S>;
  /// D holds sums; else they are kept in scratch until they are complete.
  static constexpr bool kHoldsSums = std::is_same_v<To, S>;

  /// Blocks of op(A) and op(B), and a unit's sums.
  struct Scratch {
    S *a, *b, *sums;
  };
  /// Elements of a unit: from (row, column) of matrix `item` on.
  struct Unit {
    std::int64_t item, row, column, rows, columns;
  };
  /// C and D of a block, and what becomes of complete sums. Where C is not read, D stands for it.
  struct Block {
    const S* c;
    std::int64_t ldc;
    S* d;
    std::int64_t ldd;
    cpu::Finish<S> finish;
  };

  void compute(std::int64_t number, const Scratch& scratch) const {
    const std::int64_t column = number % cut_.column_count * cut_.columns;
    const std::int64_t row = number / cut_.column_count % cut_.row_count * cut_.rows;
    const Unit u{number / (cut_.column_count * cut_.row_count), row, column, std::min(cut_.rows, g_.m - row),
                 std::min(cut_.columns, g_.n - column)};
    const To* const c = static_cast<const To*>(r_.c) + u.item * r_.stride_c + row * r_.ldc + column;
    To* const d = static_cast<To*>(r_.d) + u.item * r_.stride_d + row * r_.ldd + column;
    const cpu::Finish<S> finish{r_.has_epilogue ? &r_.epilogue : nullptr, u.item, row, column};
    if (g_.k == 0) return cpu::scale_tile(u.rows, u.columns, r_.beta, c, r_.ldc, d, r_.ldd, finish);
    if constexpr (kHoldsSums) {
      sum(u, {c, r_.ldc, d, r_.ldd, finish}, r_.beta, scratch);
    } else {
      sum(u, {scratch.sums, cut_.columns, scratch.sums, cut_.columns, {}}, S(0), scratch);
      for (std::int64_t i = 0; i < u.rows; ++i)
        cpu::store_row(u.columns, scratch.sums + i * cut_.columns, r_.beta, c + i * r_.ldc, d + i * r_.ldd,
                       finish.at(i, 0));
    }
  }

  /// D <- finish(alpha op(A) op(B) + beta C) by blocks of k. C enters with the first one, later ones add to D.
  void sum(const Unit& u, Block block, S beta, const Scratch& scratch) const {
    const cpu::Finish<S> finish = std::exchange(block.finish, {});
    for (std::int64_t l = 0; l < g_.k; l += kBlockK) {
      const std::int64_t k = std::min(kBlockK, g_.k - l);
      pack<kRows>(g_.a + u.item * g_.stride_a + u.row * g_.a_row + l * g_.a_k, g_.a_row, g_.a_k, u.rows, k, scratch.a);
      pack<kColumns>(g_.b + u.item * g_.stride_b + u.column * g_.b_column + l * g_.b_k, g_.b_column, g_.b_k, u.columns,
                     k, scratch.b);
      if (l + k == g_.k) block.finish = finish;
      multiply(scratch, u.rows, u.columns, k, {r_.alpha, beta}, block);
      block.c = block.d, block.ldc = block.ldd, beta = S(1);
    }
  }

  /// Copies to panels of kN rows of op(A), or columns of op(B), each one k after the other. `across` is the distance of
  /// rows (columns), `along` that of neighbouring k; one of them is 1.
  template <std::int64_t kN>
  static void pack(const T* from, std::int64_t across, std::int64_t along, std::int64_t count, std::int64_t k, S* to) {
    cpu::Singles<T> source(from, across == 1 ? along : across, k);
    if (across == 1) return cpu::pack_rows<int(kN)>(source, count, to);
    constexpr int kGroup = kN == kRows ? int(kRows) : cpu::kLanes<S>;
    for (std::int64_t i = 0; i < count; i += kGroup)
      cpu::pack_transposed<kGroup>(source, i, int(std::min<std::int64_t>(kGroup, count - i)),
                                   to + i / kN * kN * k + i % kN, kN);
  }

  static void multiply(const Scratch& scratch, std::int64_t rows, std::int64_t columns, std::int64_t k,
                       const cpu::Epilogue<S>& epilogue, const Block& to) {
    for (std::int64_t j = 0; j < columns; j += kColumns)
      for (std::int64_t i = 0; i < rows; i += kRows) {
        const std::int64_t tile_rows = std::min(kRows, rows - i), tile_columns = std::min(kColumns, columns - j);
        const cpu::TileOperands<S> tile{scratch.a + i * k,     kRows,  scratch.b + j * k,     kColumns,
                                        to.c + i * to.ldc + j, to.ldc, to.d + i * to.ldd + j, to.ldd};
        if (tile_rows == kRows && tile_columns == kColumns)
          full_tile(k, tile, epilogue);
        else
          edge_tile(k, tile, epilogue, tile_rows, tile_columns);
        if (to.finish) to.finish.at(i, j).apply(tile_rows, tile_columns, tile.d, to.ldd);
      }
  }

  /// Computes a whole tile in memory of its own and copies the part inside D: what panels lack at the edge is never
  /// used. One function rounds all tiles alike.
  static void edge_tile(std::int64_t k, cpu::TileOperands<S> tile, const cpu::Epilogue<S>& epilogue, std::int64_t rows,
                        std::int64_t columns) {
    alignas(cpu::kVectorBytes) S whole[kRows * kColumns] = {};
    if (epilogue.beta != S(0))
      for (std::int64_t i = 0; i < rows; ++i) std::copy_n(tile.c + i * tile.ldc, columns, whole + i * kColumns);
    full_tile<S>(k, {tile.a, tile.a_stride, tile.b, tile.b_stride, whole, kColumns, whole, kColumns}, epilogue);
    for (std::int64_t i = 0; i < rows; ++i) std::copy_n(whole + i * kColumns, columns, tile.d + i * tile.ldd);
  }

  GemmArguments<T> g_;
  Results<S> r_;
  HostCut cut_;
};

template <class T, class To>
class GemmTeamTiledPlan final : public plugin::Plan {
 public:
  GemmTeamTiledPlan(Context& context, const plugin::GemmProblem& problem, const plugin::Parameters& parameters)
      : context_(context),
        problem_(problem),
        threads_(int(parameters.at("threads"))),
        cut_(cut_host<Scalar<T>>(problem, threads_)) {}

  void execute(const plugin::Execution& execution) override {
    using Tile = GemmHostTile<T, To>;
    const Tile tile(problem_, execution, cut_);
    const std::int64_t teams = std::min<std::int64_t>(threads_, cut_.units(problem_.batch));
    context_.dispatch([&](const Launcher& launch) {
      typename Tile::Policy policy(launch.space(), int(teams), 1);
      policy.set_scratch_size(1, Kokkos::PerTeam(int(Tile::scratch_bytes(cut_))));
      launch(policy, tile);
    });
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
  int threads_;
  HostCut cut_;
};

inline std::unique_ptr<plugin::Plan> make_team_tiled(Context& context, const plugin::GemmProblem& p,
                                                     const plugin::Parameters& parameters) {
  return plugin::with_gemm_types(
      p, [&]<class T, class To>(std::type_identity<T>, std::type_identity<To>) -> std::unique_ptr<plugin::Plan> {
        return std::make_unique<GemmTeamTiledPlan<T, To>>(context, p, parameters);
      });
}

inline void offer_team_tiled(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                             std::uint64_t, plugin::OfferList& offers) {
  const std::int64_t threads = given.in_range("threads", machine.device.threads, 1, cpu::kMostThreads);
  offers.add({{{"threads", threads}}, gemm_seconds(machine, p, machine.costs.gemm_team_tiled)});
}

}  // namespace tessera::kokkos
