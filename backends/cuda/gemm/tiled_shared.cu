// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Tiles of A and B pass through shared memory, as in the CUDA C++ Programming Guide's shared-memory
/// matrix product, generalised: all transposes, any leading dimension and size, strided batches.
///
/// A block computes a kTile x kTile tile of C. With kTile = 16 a thread computes one element, as in the
/// guide; with kTile = 32 it computes kRows = 4 elements of a column, so that a value of B read from
/// shared memory serves four times: shared memory returns 128 bytes a cycle, and two words a
/// multiply-add (one element a thread) hold an H100 at 8 TFLOP/s, 1.25 words at 13.
///
/// Both operands are read along their rows in memory, so that global loads coalesce. A is kept as
/// stored, since its values are broadcast to a warp and either order reads without conflicts. B is
/// needed along k and is transposed on the way in where it is stored the other way; a row of one more
/// element than the tile then spreads a column over all banks.
#include "gemm.cuh"
#include "offers.hpp"

namespace tessera::cuda {
namespace {

template <int kTile>
struct Shape {
  static constexpr int kRows = kTile == 32 ? 4 : 1;  ///< elements of C a thread
  static constexpr int kThreadRows = kTile / kRows;  ///< threads of a column of the tile
  static constexpr int kThreads = kTile * kThreadRows;
};

/// Reads this thread's elements of a tile whose first row in memory is at `row` (past the thread's own
/// place) and stores them. Rows from `rows_left` and columns from `columns_left` on are zeros, where
/// kPartial says that there may be such.
template <class T, int kTile, bool kPartial, bool kTransposed>
__device__ __forceinline__ void load_tile(const T* row, std::int64_t ld, int rows_left, int columns_left,
                                          Scalar<T> (*tile)[kTile + kTransposed]) {
  using S = Shape<kTile>;
  T value[S::kRows];
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
    const int r = int(threadIdx.y) + i * S::kThreadRows;
    value[i] = T{};
    if (!kPartial || (r < rows_left && int(threadIdx.x) < columns_left)) value[i] = row[i * S::kThreadRows * ld];
  }
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
    const int r = int(threadIdx.y) + i * S::kThreadRows;
    (kTransposed ? tile[threadIdx.x][r] : tile[r][threadIdx.x]) = widened(value[i]);
  }
}

__device__ __forceinline__ int clip(std::int64_t left, int tile) { return left < tile ? int(left) : tile; }

template <class T, int kTile, bool kTransA, bool kTransB, bool kPlain>
__global__ void __launch_bounds__(Shape<kTile>::kThreads)
    gemm_tiled_shared_kernel(const __grid_constant__ GemmArguments<T> g) {
  using S = Shape<kTile>;
  __shared__ __align__(16) Scalar<T> a_tile[kTile][kTile];            // [row][p], or [p][row] where A is transposed
  __shared__ __align__(16) Scalar<T> b_tile[kTile][kTile + kTransB];  // [p][column]
  const int first_row = int(threadIdx.y) * S::kRows;

  const std::int64_t tiles = tile_count(g, kTile);
  for (std::int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const GemmTile tile = tile_at(g, kTile, number);
    const int rows_left = clip(g.m - tile.row, kTile), columns_left = clip(g.n - tile.column, kTile);
    const bool inside = rows_left == kTile && columns_left == kTile;

    // This thread's first element of the first tile of A and of B, in the order of memory.
    const T* a = g.a + tile.batch * g.stride_a +
                 (kTransA ? threadIdx.y * g.lda + tile.row : (tile.row + threadIdx.y) * g.lda) + threadIdx.x;
    const T* b = g.b + tile.batch * g.stride_b +
                 (kTransB ? (tile.column + threadIdx.y) * g.ldb : threadIdx.y * g.ldb + tile.column) + threadIdx.x;
    const std::int64_t a_step = kTransA ? kTile * g.lda : kTile, b_step = kTransB ? kTile : kTile * g.ldb;

    Scalar<T> sum[S::kRows] = {};
    for (std::int64_t left = g.k; left > 0; left -= kTile, a += a_step, b += b_step) {
      if (inside && left >= kTile) {
        load_tile<T, kTile, false, false>(a, g.lda, kTile, kTile, a_tile);
        load_tile<T, kTile, false, kTransB>(b, g.ldb, kTile, kTile, b_tile);
      } else {
        const int p_left = clip(left, kTile);
        load_tile<T, kTile, true, false>(a, g.lda, kTransA ? p_left : rows_left, kTransA ? rows_left : p_left, a_tile);
        load_tile<T, kTile, true, kTransB>(b, g.ldb, kTransB ? columns_left : p_left, kTransB ? p_left : columns_left,
                                           b_tile);
      }
      __syncthreads();
#pragma unroll
      for (int p = 0; p < kTile; ++p) {
        const auto b_value = b_tile[p][threadIdx.x];
#pragma unroll
        for (int r = 0; r < S::kRows; ++r) {
          const auto a_value = kTransA ? a_tile[p][first_row + r] : a_tile[first_row + r][p];
          sum[r] = fma(a_value, b_value, sum[r]);
        }
      }
      __syncthreads();
    }

    if (int(threadIdx.x) < columns_left) {
      const std::int64_t row = tile.row + first_row, column = tile.column + threadIdx.x;
      const auto d = g.d + (tile.batch * g.stride_d + row * g.ldd + column);
#pragma unroll
      for (int r = 0; r < S::kRows; ++r) {
        if (first_row + r >= rows_left) continue;
        if constexpr (kPlain)
          Epilogue<T>(g).write(d + r * g.ldd, Vector<Scalar<T>, 1>{{sum[r]}});
        else
          write_element<false>(g, tile.batch, row + r, column, sum[r]);
      }
    }
  }
}

template <int kTile>
std::unique_ptr<plugin::Plan> make_tiled(Context& context, const plugin::GemmProblem& problem) {
  return with_type_and_transposes(problem, [&](auto tag, auto trans_a, auto trans_b) -> std::unique_ptr<plugin::Plan> {
    using T = typename decltype(tag)::type;
    const std::array kernels{gemm_tiled_shared_kernel<T, kTile, trans_a.value, trans_b.value, false>,
                             gemm_tiled_shared_kernel<T, kTile, trans_a.value, trans_b.value, true>};
    return std::make_unique<GemmPlan<T>>(context, problem, kernels, kTile, dim3(kTile, Shape<kTile>::kThreadRows));
  });
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem,
                                   const plugin::Parameters& parameters) {
  return parameters.at("tile") == 16 ? make_tiled<16>(context, problem) : make_tiled<32>(context, problem);
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"tiled_shared", plugin::supports_all, tiled_shared_offers, make, {.narrow = true, .epilogue = true, .aux = true}},
    4};

}  // namespace
}  // namespace tessera::cuda
