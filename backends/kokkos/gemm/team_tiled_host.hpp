// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// team_tiled on the processor: a team is one thread, whose lanes are those of a register. It copies blocks of both
/// operands into its scratch, in the order in which the register tile reads them.
#pragma once

#include "../host_kernels.hpp"
#include "arguments.hpp"

#include <algorithm>

namespace tessera::kokkos {

/// Register tiles of C: so many rows, and columns.
inline constexpr std::int64_t kTileRows = cpu::kRows;
template <class T>
inline constexpr std::int64_t kTileColumns = cpu::kVectors* cpu::kLanes<T>;

/// k of a block: a panel of op(B), 192 bytes for each k on AVX-512, fills three quarters of a first-level cache.
inline constexpr std::int64_t kBlockK = 192;
/// Rows and columns of C that a team computes at most: both packed blocks stay in half a second-level cache.
inline constexpr std::int64_t kMostRows = 512, kMostColumns = 480;
/// Below this, packing costs more than another thread gains.
inline constexpr std::int64_t kFewestRows = 64, kFewestColumns = 96;

/// The cut of C, a pure function of the problem and the number of threads.
struct HostCut {
  std::int64_t rows, columns;            ///< of a unit
  std::int64_t row_count, column_count;  ///< units along C
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

/// The work of a team: its share of the units.
template <class T>
class GemmHostTile {
 public:
  using Policy = Kokkos::TeamPolicy<Space>;
  using Member = typename Policy::member_type;

  GemmHostTile(const GemmArguments<T>& arguments, const HostCut& cut) : g_(arguments), cut_(cut) {}

  static std::size_t scratch_elements(const HostCut& cut) {
    return std::size_t(kBlockK * (cut.rows + cut.columns)) + cpu::kLanes<T>;
  }

  void operator()(const Member& team) const {
    auto* const a = static_cast<T*>(
        team.team_scratch(1).get_shmem_aligned(std::ptrdiff_t(scratch_elements(cut_) * sizeof(T)), cpu::kVectorBytes));
    const std::int64_t units = cut_.units(g_.batch);
    const std::int64_t end = first_of_share(units, team.league_rank() + 1, team.league_size());
    for (std::int64_t unit = first_of_share(units, team.league_rank(), team.league_size()); unit < end; ++unit)
      compute(unit, a, a + kBlockK * cut_.rows);
  }

 private:
  static constexpr std::int64_t kRows = kTileRows, kColumns = kTileColumns<T>;

  void compute(std::int64_t unit, T* a, T* b) const {
    const std::int64_t column = unit % cut_.column_count * cut_.columns;
    const std::int64_t row = unit / cut_.column_count % cut_.row_count * cut_.rows;
    const std::int64_t item = unit / (cut_.column_count * cut_.row_count);
    const std::int64_t rows = std::min(cut_.rows, g_.m - row), columns = std::min(cut_.columns, g_.n - column);
    T* const c = g_.c + item * g_.stride_c + row * g_.ldc + column;
    if (g_.k == 0) return scale(rows, columns, c);
    for (std::int64_t l = 0; l < g_.k; l += kBlockK) {
      const std::int64_t k = std::min(kBlockK, g_.k - l);
      pack<kRows>(g_.a + item * g_.stride_a + row * g_.a_row + l * g_.a_k, g_.a_row, g_.a_k, rows, k, a);
      pack<kColumns>(g_.b + item * g_.stride_b + column * g_.b_column + l * g_.b_k, g_.b_column, g_.b_k, columns, k, b);
      multiply(a, b, rows, columns, k, {g_.epilogue.alpha, l == 0 ? g_.epilogue.beta : T(1)}, c);
    }
  }

  void scale(std::int64_t rows, std::int64_t columns, T* c) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) g_.epilogue.write(c + i * g_.ldc + j, T(0));
  }

  /// Copies to panels of kN rows of op(A), or columns of op(B), each one k after the other. `across` is the distance of
  /// rows (columns), `along` that of neighbouring k; one of them is 1.
  template <std::int64_t kN>
  static void pack(const T* from, std::int64_t across, std::int64_t along, std::int64_t count, std::int64_t k, T* to) {
    if (across == 1) return cpu::pack_rows<T, kN>(from, along, count, k, to);
    constexpr int kGroup = kN == kRows ? int(kRows) : cpu::kLanes<T>;
    for (std::int64_t i = 0; i < count; i += kGroup)
      cpu::pack_transposed<T, kGroup>(from + i * across, across, int(std::min<std::int64_t>(kGroup, count - i)), k,
                                      to + i / kN * kN * k + i % kN, kN);
  }

  void multiply(const T* a, const T* b, std::int64_t rows, std::int64_t columns, std::int64_t k,
                const cpu::Epilogue<T>& epilogue, T* c) const {
    for (std::int64_t j = 0; j < columns; j += kColumns)
      for (std::int64_t i = 0; i < rows; i += kRows) {
        T* const at = c + i * g_.ldc + j;
        cpu::TileOperands<T> tile{a + i * k, kRows, b + j * k, kColumns, at, g_.ldc, at, g_.ldc};
        if (i + kRows <= rows && j + kColumns <= columns)
          full_tile(k, tile, epilogue);
        else
          edge_tile(k, tile, epilogue, std::min(kRows, rows - i), std::min(kColumns, columns - j));
      }
  }

  static void full_tile(std::int64_t k, const cpu::TileOperands<T>& tile, const cpu::Epilogue<T>& epilogue) {
    cpu::multiply_tile<T, cpu::kRows, cpu::kVectors, true, false>(k, tile, epilogue, cpu::kLanes<T>);
  }

  /// Computes a whole tile in memory of its own and adds the part inside C: what panels lack at the edge is never used.
  static void edge_tile(std::int64_t k, cpu::TileOperands<T> tile, const cpu::Epilogue<T>& epilogue, std::int64_t rows,
                        std::int64_t columns) {
    T sums[kRows * kColumns];
    T* const c = std::exchange(tile.d, sums);
    const std::int64_t ldc = std::exchange(tile.ldd, kColumns);
    full_tile(k, tile, {T(1), T(0)});
    const Epilogue<T> into{epilogue.alpha, epilogue.beta, true};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) into.write(c + i * ldc + j, sums[i * kColumns + j]);
  }

  GemmArguments<T> g_;
  HostCut cut_;
};

template <class T>
class GemmTeamTiledPlan final : public plugin::Plan {
 public:
  GemmTeamTiledPlan(Context& context, const plugin::GemmProblem& problem, const plugin::Parameters& parameters)
      : context_(context),
        problem_(problem),
        threads_(int(parameters.at("threads"))),
        cut_(cut_host<T>(problem, threads_)) {}

  void execute(const plugin::Execution& execution) override {
    const GemmHostTile<T> tile(arguments_of<T>(problem_, execution), cut_);
    const std::int64_t teams = std::min<std::int64_t>(threads_, cut_.units(problem_.batch));
    context_.dispatch([&](const Space& space) {
      typename GemmHostTile<T>::Policy policy(space, int(teams), 1);
      const std::size_t bytes = GemmHostTile<T>::scratch_elements(cut_) * sizeof(T) + cpu::kVectorBytes;
      Kokkos::parallel_for("tessera", policy.set_scratch_size(1, Kokkos::PerTeam(int(bytes))), tile);
    });
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
  int threads_;
  HostCut cut_;
};

inline void offer_team_tiled(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                             std::uint64_t, plugin::OfferList& offers) {
  const std::int64_t threads = given.in_range("threads", machine.device.threads, 1, cpu::kMostThreads);
  offers.add({{{"threads", threads}}, gemm_seconds(machine, p, machine.costs.gemm_team_tiled)});
}

}  // namespace tessera::kokkos
