// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// next = u + sum over the six neighbours n of w_n (k[p] + k[n]) (u[n] - u[p]), in the order z, y, x, low and high.
/// What flows through a face is computed once for the two points beside it: to the lower one it is
/// (k + k')(u' - u), to the higher one exactly the negative.
#pragma once

#include "row_points.cuh"

namespace tessera::cuda {

template <class T>
struct FluxStep {
  int nx, ny, nz;
  int planes;  ///< that a block makes
  T* next;
  const T *u, *k;
  T low_weight[3], high_weight[3];  ///< z, y, x
  int low[3], high[3];              ///< the points that move
};

template <class T>
__device__ __forceinline__ T flow(T u, T k, T u_high, T k_high) {
  return (k + k_high) * (u_high - u);
}

/// A thread goes along z with kRows rows of its points: it keeps its column and the flow through the last face.
template <class T, bool kAligned, int kRows, int kAhead>
class FluxColumn {
  using Points = RowPoints<T, kAligned>;
  static constexpr int N = Points::kPoints;
  struct Pair {
    Points u, k;
  };

 public:
  __device__ __forceinline__ explicit FluxColumn(const FluxStep<T>& a) : a_(a) {
    x_.nx = a.nx;
    x_.x = kAligned ? int(blockIdx.x * blockDim.x + threadIdx.x) * N : int(blockIdx.x) * 32 * N + int(threadIdx.x);
    y_ = int(blockIdx.y * blockDim.y + threadIdx.y) * kRows;
    plane_ = std::ptrdiff_t(a.nx) * a.ny;
  }
  __device__ __forceinline__ void run() const {
    if (x_.x >= a_.nx || y_ >= a_.ny) return;
    const int first = int(blockIdx.z) * a_.planes, end = min(first + a_.planes, a_.nz);
    Pair column[kAhead + 2][kRows];  // planes z, z + 1, ...
    Points through[kRows];           // the face below z
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Pair below = load(row(first - 1, y_ + r));
#pragma unroll
      for (int i = 0; i <= kAhead; ++i) column[i][r] = load(row(first + i, y_ + r));
      through[r] = flow_between(below, column[0][r]);
    }
#pragma unroll 2
    for (int z = first; z < end; ++z) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) column[kAhead + 1][r] = load(row(z + kAhead + 1, y_ + r));
      make_plane(column, through, z);
#pragma unroll
      for (int i = 0; i <= kAhead; ++i)
#pragma unroll
        for (int r = 0; r < kRows; ++r) column[i][r] = column[i + 1][r];
    }
  }

 private:
  /// Where a row begins; the nearest one that exists.
  __device__ __forceinline__ std::ptrdiff_t row(int z, int y) const {
    return min(max(z, 0), a_.nz - 1) * plane_ + std::ptrdiff_t(min(max(y, 0), a_.ny - 1)) * a_.nx;
  }
  __device__ __forceinline__ Pair load(std::ptrdiff_t row) const { return {x_.load(a_.u + row), x_.load(a_.k + row)}; }
  static __device__ __forceinline__ Points flow_between(const Pair& low, const Pair& high) {
    Points f;
#pragma unroll
    for (int v = 0; v < N; ++v) f.v[v] = flow(low.u.v[v], low.k.v[v], high.u.v[v], high.k.v[v]);
    return f;
  }
  static __device__ __forceinline__ void add_axis(Points& sum, T low_weight, const Points& low, T high_weight,
                                                  const Points& high) {
#pragma unroll
    for (int v = 0; v < N; ++v) sum.v[v] = fma(high_weight, high.v[v], fma(-low_weight, low.v[v], sum.v[v]));
  }
  __device__ __forceinline__ void add_x(Points& sum, const Pair& own, std::ptrdiff_t row) const {
    Points low, high;
    if constexpr (kAligned) {
      const int before = max(x_.x - 1, 0), behind = min(x_.x + N, a_.nx - 1);
      T face[N + 1];
      face[0] = flow(__ldg(a_.u + row + before), __ldg(a_.k + row + before), own.u.v[0], own.k.v[0]);
      face[N] = flow(own.u.v[N - 1], own.k.v[N - 1], __ldg(a_.u + row + behind), __ldg(a_.k + row + behind));
#pragma unroll
      for (int v = 1; v < N; ++v) face[v] = flow(own.u.v[v - 1], own.k.v[v - 1], own.u.v[v], own.k.v[v]);
#pragma unroll
      for (int v = 0; v < N; ++v) low.v[v] = face[v], high.v[v] = face[v + 1];
    } else {
      const Pair before{x_.load_beside(a_.u + row, -1), x_.load_beside(a_.k + row, -1)};
      const Pair behind{x_.load_beside(a_.u + row, 1), x_.load_beside(a_.k + row, 1)};
      low = flow_between(before, own), high = flow_between(own, behind);
    }
    add_axis(sum, a_.low_weight[2], low, a_.high_weight[2], high);
  }
  __device__ __forceinline__ void make_plane(const Pair (&column)[kAhead + 2][kRows], Points (&through)[kRows],
                                             int z) const {
    Points face[kRows + 1];
    const Pair before = load(row(z, y_ - 1)), behind = load(row(z, y_ + kRows));
    face[0] = flow_between(before, column[0][0]);
#pragma unroll
    for (int r = 1; r < kRows; ++r) face[r] = flow_between(column[0][r - 1], column[0][r]);
    face[kRows] = flow_between(column[0][kRows - 1], behind);
    const bool moves_z = z >= a_.low[0] && z < a_.high[0];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Points sum = column[0][r].u;
      const Points up = flow_between(column[0][r], column[1][r]);
      add_axis(sum, a_.low_weight[0], through[r], a_.high_weight[0], up);
      through[r] = up;
      add_axis(sum, a_.low_weight[1], face[r], a_.high_weight[1], face[r + 1]);
      add_x(sum, column[0][r], row(z, y_ + r));
      const bool moves = moves_z && y_ + r >= a_.low[1] && y_ + r < a_.high[1];
      if (y_ + r < a_.ny)
        x_.store(a_.next + row(z, y_ + r), sum, column[0][r].u, moves ? a_.low[2] : 0, moves ? a_.high[2] : 0);
    }
  }

  const FluxStep<T>& a_;
  Along<T, kAligned> x_;
  int y_;
  std::ptrdiff_t plane_;
};

template <class T, bool kAligned, int kRows, int kAhead, int kThreads, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks) system_flux_kernel(const __grid_constant__ FluxStep<T> a) {
  FluxColumn<T, kAligned, kRows, kAhead>(a).run();
}

}  // namespace tessera::cuda
