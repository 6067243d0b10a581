// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of the streaming algorithm over volumes: a block of threads marches through planes.
///
/// Planes of the input, with the halo of the block's tile, arrive in a ring of shared memory by asynchronous copies,
/// some planes ahead of the one that is used. A plane is used once, for every output that needs it: a thread keeps
/// the sums of 2 r + 1 planes of outputs in registers, of which the oldest is complete when its last plane has
/// passed. The boundary is resolved by the copies (16 bytes where they can, element by element at the edges), so that
/// all tiles compute alike.
#pragma once

#include "../cp_async.cuh"
#include "axis_sample.cuh"
#include "geometry.hpp"
#include "tap_shape.hpp"
#include "unrolled.cuh"
#include "vector.cuh"

namespace tessera::cuda {

/// A thread's and a block's part. A thread has kRows rows of one 16-byte vector. Sums move to their places after kTurns
/// planes; before, they are addressed in turn.
template <int kRowsOf, int kThreadsXOf, int kThreadsYOf, int kStagesOf, int kTurnsOf, int kBlocksOf>
struct MarchTile {
  static constexpr int kRows = kRowsOf;
  static constexpr int kThreadsX = kThreadsXOf, kThreadsY = kThreadsYOf, kThreads = kThreadsX * kThreadsY;
  static constexpr int kStages = kStagesOf;  ///< planes that the ring holds
  static constexpr int kTurns = kTurnsOf;
  static constexpr int kBlocks = kBlocksOf;  ///< that a multiprocessor should hold
  static constexpr int kPointsY = kRows * kThreadsY;
};

template <class T, class Shape>
struct MarchArguments {
  SweepGeometry geometry;
  int planes;  ///< of outputs, of a block
  unsigned tiles_x;
  bool aligned_source, aligned_target;  ///< rows begin on multiples of 16 bytes
  T coefficient[Shape::kCount];
};

/// The ring of a tile.
template <class T, class Shape, class Tile>
struct MarchRing {
  static constexpr int kWidth = kVectorWidth<T>, kRadius = Shape::kRadius;
  static constexpr int kBeside = (kRadius + kWidth - 1) / kWidth;  ///< vectors of halo on either side
  static constexpr int kVectors = Tile::kThreadsX + 2 * kBeside;   ///< of a row
  static constexpr int kPitch = kVectors * kWidth;
  static constexpr int kRows = Tile::kPointsY + 2 * kRadius;
  static constexpr int kPlane = kRows * kPitch;
  static constexpr int kBytes = Tile::kStages * kPlane * int(sizeof(T));
  static constexpr int kCopies = (kRows * kVectors + Tile::kThreads - 1) / Tile::kThreads;  ///< of a thread, a plane

  /// The halo's corners serve boxes alone.
  __device__ static constexpr bool read(int row, int vector) {
    const bool above = row < kRadius || row >= kRows - kRadius;
    const bool beside = vector < kBeside || vector >= kVectors - kBeside;
    return Shape::kPattern == TapPattern::box || !above || !beside;
  }
};

/// A vector of which some elements are beyond the boundary, or which is not aligned.
template <class T>
__device__ __noinline__ void copy_elements(const plugin::Domain& domain, const T* row, std::int64_t i2, T* to) {
#pragma unroll 1
  for (int i = 0; i < kVectorWidth<T>; ++i) {
    const AxisSample x = sample_axis(domain, 2, i2 + i);
    if (x.found == Found::point)
      cp_async<int(sizeof(T))>(shared_address(to + i), row + x.index, true);
    else
      to[i] = axis_value<T>(domain, 2, x.found);
  }
}

/// Brings planes of the input into the ring. A thread copies the same places of each.
template <class T, class Shape, class Tile>
class MarchCopies {
  using Ring = MarchRing<T, Shape, Tile>;

 public:
  /// For the tile whose first point is (., i1, i2).
  __device__ MarchCopies(const MarchArguments<T, Shape>& g, const T* source, std::int64_t i1, std::int64_t i2)
      : g_(g), i2_(i2 - Ring::kBeside * Ring::kWidth) {
    const plugin::Domain& domain = g.geometry.domain;
    const auto halo = [&](int side) {
      return domain.mode[2][side] == TESSERA_BOUNDARY_HALO ? domain.reach[2][side] : std::int64_t(0);
    };
#pragma unroll
    for (int c = 0; c < Ring::kCopies; ++c) {
      const int row = place(c) / Ring::kVectors, vector = place(c) % Ring::kVectors;
      const AxisSample y = sample_axis(domain, 1, i1 + row - Ring::kRadius);
      const std::int64_t x = i2_ + vector * Ring::kWidth;
      const bool read = row < Ring::kRows && Ring::read(row, vector);
      const bool whole = g.aligned_source && x >= -halo(0) && x + Ring::kWidth <= domain.extents[2] + halo(1);
      kind_[c] = !read ? kNothing : y.found != Found::point ? kConstant : whole ? kVector : kElements;
      found_[c] = y.found;
      from_[c] = source + y.index * g.geometry.source_strides[1] + (whole ? x : 0);
    }
  }

  /// Starts the copies of the plane i0.
  __device__ void start(std::int64_t i0, T* plane) const {
    const plugin::Domain& domain = g_.geometry.domain;
    const AxisSample z = sample_axis(domain, 0, i0);
    const std::int64_t offset = z.index * g_.geometry.source_strides[0];
#pragma unroll
    for (int c = 0; c < Ring::kCopies; ++c) {
      T* const to = plane + place(c) * Ring::kWidth;
      if (kind_[c] == kNothing) continue;
      if (z.found != Found::point || kind_[c] == kConstant) {
        const T value =
            z.found != Found::point ? axis_value<T>(domain, 0, z.found) : axis_value<T>(domain, 1, found_[c]);
#pragma unroll
        for (int i = 0; i < Ring::kWidth; ++i) to[i] = value;
      } else if (kind_[c] == kVector) {
        cp_async<16>(shared_address(to), from_[c] + offset, true);
      } else {
        copy_elements(domain, from_[c] + offset, i2_ + place(c) % Ring::kVectors * Ring::kWidth, to);
      }
    }
  }

 private:
  enum Kind : std::int8_t { kNothing, kConstant, kVector, kElements };

  /// Vector of the ring's plane that is the thread's c-th.
  __device__ static int place(int c) { return c * Tile::kThreads + int(threadIdx.y * Tile::kThreadsX + threadIdx.x); }

  const MarchArguments<T, Shape>& g_;
  std::int64_t i2_;  ///< of the ring's first column
  const T* from_[Ring::kCopies];
  Kind kind_[Ring::kCopies];
  Found found_[Ring::kCopies];
};

/// Writes a thread's points: results where they are computed, the old values where a fixed side keeps them.
template <class T, class Shape, class Tile>
class MarchResults {
  using Ring = MarchRing<T, Shape, Tile>;
  static constexpr int kWidth = Ring::kWidth, kRows = Tile::kRows;
  static constexpr unsigned kAll = (1u << kRows * kWidth) - 1;

 public:
  __device__ MarchResults(const MarchArguments<T, Shape>& g, T* target, std::int64_t i0, std::int64_t i1,
                          std::int64_t i2)
      : g_(g), target_(target + g.geometry.target_index(i0, i1, i2)), i0_(i0) {
    const plugin::Domain& domain = g.geometry.domain;
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        if (i1 + j >= domain.extents[1] || i2 + i >= domain.extents[2]) continue;
        const bool frozen = domain.frozen_on(1, i1 + j) || domain.frozen_on(2, i2 + i);
        (frozen ? kept_ : computed_) |= 1u << (j * kWidth + i);
      }
  }

  /// Results of the k-th plane.
  __device__ void write(int k, const T (&sum)[kRows][kWidth]) const {
    if (g_.geometry.domain.frozen_on(0, i0_ + k)) return;
    T* const to = target_ + k * g_.geometry.target_strides[0];
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      T* const row = to + j * g_.geometry.target_strides[1];
      if (computed_ == kAll && g_.aligned_target) {
        store_vector<kWidth>(row, sum[j]);
      } else {
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          if (computed_ >> (j * kWidth + i) & 1) row[i] = sum[j][i];
      }
    }
  }

  /// Old values of the k-th plane; `from` is the thread's first point in the ring.
  __device__ void keep(int k, const T* from) const {
    const unsigned kept = g_.geometry.domain.frozen_on(0, i0_ + k) ? kept_ | computed_ : kept_;
    if (kept == 0) return;
    T* const to = target_ + k * g_.geometry.target_strides[0];
#pragma unroll 1
    for (int place = 0; place < kRows * kWidth; ++place) {
      const int j = place / kWidth, i = place % kWidth;
      if (kept >> place & 1) to[j * g_.geometry.target_strides[1] + i] = from[j * Ring::kPitch + i];
    }
  }

 private:
  const MarchArguments<T, Shape>& g_;
  T* target_;
  std::int64_t i0_;
  unsigned computed_ = 0, kept_ = 0;  ///< a bit a point; on axis 0 nothing is said yet
};

/// Adds what a plane contributes to 2 r + 1 planes of outputs, the lowest first. `from` is the thread's first point in
/// the ring.
template <class Shape, class Tile, class T, int kWidth>
__device__ __forceinline__ void add_plane(const MarchArguments<T, Shape>& g, const T* from,
                                          T (*sum)[Tile::kRows][kWidth]) {
  using Ring = MarchRing<T, Shape, Tile>;
  constexpr int kRadius = Shape::kRadius, kBeside = Ring::kBeside;
  unrolled<-kRadius, Tile::kRows + kRadius>([&](auto constant_y) {
    constexpr int kY = decltype(constant_y)::value;
    constexpr bool kBesides = reads_row<Shape>(2 * kRadius + 1, Tile::kRows, kRadius, kY, true);
    T value[(2 * kBeside + 1) * kWidth];
#pragma unroll
    for (int piece = -kBeside; piece <= kBeside; ++piece)
      if (piece == 0 || kBesides)
        memcpy(value + (kBeside + piece) * kWidth,
               __builtin_assume_aligned(from + kY * Ring::kPitch + piece * kWidth, 16), 16);
    unrolled<-kRadius, kRadius + 1>([&](auto constant_z) {
      constexpr int kZ = decltype(constant_z)::value;
#pragma unroll
      for (int j = 0; j < Tile::kRows; ++j)
#pragma unroll
        for (int x = kBesides ? -kRadius : 0; x <= (kBesides ? kRadius : 0); ++x) {
          const int place = Shape::place(kZ, kY - j, x);
          if (place < 0) continue;
#pragma unroll
          for (int i = 0; i < kWidth; ++i)
            sum[kRadius - kZ][j][i] =
                fma(g.coefficient[place], value[kBeside * kWidth + i + x], sum[kRadius - kZ][j][i]);
        }
    });
  });
}

/// The body of the kernels; `ring` is the block's dynamic shared memory.
template <class Tile, class T, class Shape>
__device__ __forceinline__ void streaming_march(const MarchArguments<T, Shape>& g, const T* source, T* target,
                                                T* ring) {
  using Ring = MarchRing<T, Shape, Tile>;
  constexpr int kRadius = Shape::kRadius, kWidth = Ring::kWidth, kAhead = Tile::kStages - 1;
  const unsigned tile_y = blockIdx.x / g.tiles_x, tile_x = blockIdx.x - tile_y * g.tiles_x;
  const std::int64_t i0 = std::int64_t(blockIdx.y) * g.planes, i1 = std::int64_t(tile_y) * Tile::kPointsY,
                     i2 = std::int64_t(tile_x) * (Tile::kThreadsX * kWidth);
  const int planes = int(min(std::int64_t(g.planes), g.geometry.domain.extents[0] - i0)), end = planes + kRadius;

  const MarchCopies<T, Shape, Tile> copies(g, source, i1, i2);
  const MarchResults<T, Shape, Tile> results(g, target, i0, i1 + threadIdx.y * Tile::kRows, i2 + threadIdx.x * kWidth);
  const int own =
      (int(threadIdx.y) * Tile::kRows + kRadius) * Ring::kPitch + (Ring::kBeside + int(threadIdx.x)) * kWidth;

  int stage_in = 0, stage_out = 0;
  const auto start = [&](int k) {
    if (k < end) copies.start(i0 + k, ring + stage_in * Ring::kPlane);
    cp_async_commit();
    stage_in = stage_in + 1 == Tile::kStages ? 0 : stage_in + 1;
  };
#pragma unroll 1
  for (int k = 0; k < kAhead; ++k) start(k - kRadius);

  T sum[2 * kRadius + Tile::kTurns][Tile::kRows][kWidth] = {};
  for (int k = -kRadius;;) {
#pragma unroll
    for (int turn = 0; turn < Tile::kTurns; ++turn) {
      cp_async_wait<kAhead - 1>();
      __syncthreads();  // this plane is complete, and nobody reads the one before any more
      start(k + kAhead);

      const T* const from = ring + stage_out * Ring::kPlane + own;
      add_plane<Shape, Tile>(g, from, sum + turn);
      if (k >= 0 && k < planes) results.keep(k, from);
      if (k >= kRadius) results.write(k - kRadius, sum[turn]);
      if (++k == end) return;
      stage_out = stage_out + 1 == Tile::kStages ? 0 : stage_out + 1;
    }
#pragma unroll
    for (int plane = 0; plane < 2 * kRadius + Tile::kTurns; ++plane)
#pragma unroll
      for (int j = 0; j < Tile::kRows; ++j)
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          sum[plane][j][i] = plane < 2 * kRadius ? sum[plane + Tile::kTurns][j][i] : T(0);
  }
}

}  // namespace tessera::cuda
