// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernel of "temporal" for systems. A block goes along z with a tile of x and y. In iteration i it takes plane i
/// of the given level and makes plane z = i - kR k of level k, one level after the other, kR the star's radius: level k
/// needs planes z - kR to z + kR of level k - 1, and plane z of level k - 2. The plane in the middle is in shared
/// memory, where neighbours read it. Of the others a thread keeps its own points: of level 0 the newer ones, too, are
/// still in shared memory, all else is in registers.
#pragma once

#include "../bulk_copy.cuh"
#include "../launch.cuh"
#include "block_meetings.cuh"
#include "streaming_access.cuh"
#include "temporal.hpp"

#include <cuda_runtime.h>

namespace tessera::cuda {

/// A block's shared memory: two barriers, what of planes is one number, then planes: of u (one arrives), of v (one
/// arrives), of a (one arrives, one is needed for each plane between the first level's and the last one's), and the
/// middle planes of the levels between. Rows that lie beside a tile are whatever is beside them in memory: points that
/// read them are of no use to anybody.
template <class TypeValue, int kRadiusValue, StarForm kFormValue, bool kAlignedRows, bool kProfilesValue>
struct WaveBlock {
  using T = TypeValue;
  using Tile = WaveTile<T, kRadiusValue>;
  static constexpr int kR = kRadiusValue, kDepth = wave_depth<T>(kR);
  static constexpr bool kAligned = kAlignedRows, kProfiles = kProfilesValue, kArray = has_array(kFormValue);
  static constexpr bool kOther = has_other(kFormValue);
  static constexpr int kNumbers = 16;  ///< planes whose numbers are kept: a power of two
  static constexpr int kMade = 0, kWritten = 8, kFirstStart = 16, kFirstAlong = kFirstStart + kNumbers * 4;
  static constexpr int kBeside = kR * Tile::kPitch;  ///< rows before the first plane, and behind the last one
  static constexpr int kU = kR + 2, kV = kOther ? 2 : 0, kA = kArray ? (kDepth - 1) * kR + 2 : 0;
  static constexpr int kFirstU = 256 + kBeside, kFirstV = kFirstU + kU * Tile::kPlaneBytes;
  static constexpr int kFirstA = kFirstV + kV * Tile::kPlaneBytes, kFirstMiddle = kFirstA + kA * Tile::kPlaneBytes;
  static constexpr int kSharedBytes = kFirstMiddle + (kDepth - 1) * Tile::kPlaneBytes + kBeside;
  static_assert(kSharedBytes <= 227 * 1024, "a block's memory");
  static_assert(kFirstAlong + kNumbers * 8 <= 256 && kDepth * kR + 3 <= kNumbers, "numbers of planes");
};

template <class Block>
class WaveMarch {
  using T = typename Block::T;
  using Tile = typename Block::Tile;
  using Pass = WavePass<T>;
  static constexpr int kVector = Tile::kVector, kRows = Tile::kRows, kSize = int(sizeof(T));
  static constexpr int kR = Block::kR, kDepth = Block::kDepth;
  static constexpr int kSide = (kR + kVector - 1) / kVector;  ///< vectors that the star reaches in a row
  /// Bits of flags_, one a point or a row: it keeps its value; the block writes it; it is in the domain, and not so far
  /// out in the tile that no step makes it.
  static constexpr int kWrites = kRows * kVector, kExists = kWrites + kRows, kComputes = kExists + kRows;
  struct Row {
    T v[kVector];
  };
  using Points = Row[kRows];

 public:
  __device__ WaveMarch(const Pass& pass, std::uint32_t shared) : pass_(pass), shared_(shared) {
    const WaveAxis &ax = pass.layout.x, &ay = pass.layout.y;
    const int tile = int(blockIdx.x), tile_x = tile % ax.tiles, tile_y = tile / ax.tiles;
    const int column = lane() * kVector, row = int(threadIdx.x) / Tile::kLanes * kRows;
    x_ = tile_x * ax.stride + column, y_ = tile_y * ay.stride + row;
    own_ = shared + std::uint32_t(row * Tile::kPitch + lane() * 16);
    const bool writes_x = (tile_x == 0 || column >= ax.halo) && (tile_x == ax.tiles - 1 || column < ax.size - ax.halo);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const bool exists = x_ < pass.nx && y_ + r < pass.ny;
      const bool writes_y =
          (tile_y == 0 || row + r >= ay.halo) && (tile_y == ay.tiles - 1 || row + r < ay.size - ay.halo);
      const bool computes = row + r >= kR && row + r < Tile::kY - kR && column + kVector > kR && column < Tile::kX - kR;
      flags_ |= unsigned(exists && computes) << (kComputes + r);
      flags_ |= unsigned(exists) << (kExists + r) | unsigned(exists && writes_x && writes_y) << (kWrites + r);
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        const int x = x_ + v, y = y_ + r;
        const bool keeps = x < kR || x >= pass.nx - kR || y < kR || y >= pass.ny - kR;
        flags_ |= unsigned(keeps) << (r * kVector + v);
      }
    }
    if constexpr (Block::kProfiles) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) profile_x_[v] = profile(0, min(x_ + v, pass.nx - 1));
#pragma unroll
      for (int r = 0; r < kRows; ++r) profile_y_[r] = profile(1, min(y_ + r, pass.ny - 1));
    }
  }

  __device__ __forceinline__ void run() {
    const int out = int(blockIdx.y) * pass_.layout.planes, out_end = min(out + pass_.layout.planes, pass_.nz);
    const int begin = max(out - kR * pass_.depth, 0), end = out_end + kR * pass_.depth;
    const bool meets = threadIdx.x == 0;
    BlockMeetings meetings(pass_.meetings, int(blockIdx.y * gridDim.x + blockIdx.x), int(gridDim.x * gridDim.y));
    end_ = min(end, pass_.nz);
    clear(older_), clear(newer_);
    load_at_ = offset(begin);
    load_planes(begin, 0, 0, 0);
    for (int z = begin - kDepth * kR; z <= begin + 1; ++z) load_numbers(z, begin);
    cp_async_commit();
    cp_async_wait<0>();
    if (meets) meetings.begin(begin - out + kR * pass_.depth);
    __syncthreads();      // the numbers
    unsigned parity = 0;  // of the barriers' phase
#pragma unroll 1
    for (int i = begin; i < end; ++i, parity ^= 1) {
      cp_async_wait<0>();
      if constexpr (!Block::kAligned) __syncwarp();
      load_at_ += pass_.plane;
      iterate(i, out, out_end, parity, meets, meetings);
      newest_u_ = wrapped(newest_u_ + 1, Block::kU), newest_v_ ^= 1;
      if constexpr (Block::kArray) newest_a_ = wrapped(newest_a_ + 1, Block::kA);
    }
    if (meets) meetings.end(end - 1 - out + kR * pass_.depth);
  }

 private:
  static __device__ __forceinline__ int lane() { return int(threadIdx.x) % Tile::kLanes; }
  static __device__ __forceinline__ int wrapped(int slot, int count) { return slot >= count ? slot - count : slot; }
  __device__ __forceinline__ bool has(int bit) const { return (flags_ >> bit & 1) != 0; }
  __device__ __forceinline__ T profile(int axis, int i) const {
    return pass_.profiles[axis] != nullptr ? __ldg(pass_.profiles[axis] + i) : T(1);
  }
  /// Of the thread's first point in a plane, from an array's begin on.
  __device__ __forceinline__ std::ptrdiff_t offset(int z) const {
    return z * pass_.plane + std::ptrdiff_t(y_) * pass_.nx + x_;
  }

  // ---- What arrives

  /// Plane i of u, at load_at_, and plane i - kR of v and a, which level 1 needs with it.
  __device__ __forceinline__ void load_planes(int i, int slot_u, int slot_v, int slot_a) const {
    if (i < end_) load<kExists>(pass_.u + load_at_, Block::kFirstU + slot_u * Tile::kPlaneBytes);
    if (i < kR || i - kR >= end_) return;
    const std::ptrdiff_t at = load_at_ - kR * pass_.plane;
    if constexpr (Block::kOther) load<kComputes>(pass_.v + at, Block::kFirstV + slot_v * Tile::kPlaneBytes);
    if constexpr (Block::kArray) load<kComputes>(pass_.a + at, Block::kFirstA + slot_a * Tile::kPlaneBytes);
  }
  template <int kNeeded>
  __device__ __forceinline__ void load(const T* array, int place) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::uint32_t to = own_ + std::uint32_t(place + r * Tile::kPitch);
      if constexpr (Block::kAligned) {
        if (has(kNeeded + r)) cp_async<16>(to, array + (r == 0 ? 0 : pass_.nx), true);
      } else {
        const T* const row = array + (r == 0 ? 0 : pass_.nx) - lane() * kVector;
        const int first = x_ - lane() * kVector;
#pragma unroll
        for (int m = 0; m < kVector; ++m) {
          const int column = lane() + m * Tile::kLanes;
          if (y_ + r < pass_.ny && first + column < pass_.nx)
            cp_async<kSize>(to + std::uint32_t((column - lane() * kVector) * kSize), row + column, true);
        }
      }
    }
  }
  /// Where the points of plane z begin in the list, and the profile along z. Planes before the first one have no
  /// points.
  __device__ __forceinline__ void load_numbers(int z, int first) const {
    if (threadIdx.x != 0) return;
    const std::uint32_t number = std::uint32_t(z & (Block::kNumbers - 1));
    if (pass_.first != nullptr)
      cp_async<4>(shared_ + Block::kFirstStart + number * 4,
                  pass_.first + std::ptrdiff_t(blockIdx.x) * (pass_.nz + 1) + min(max(z, first), pass_.nz), true);
    if (Block::kProfiles && pass_.profiles[2] != nullptr)
      cp_async<kSize>(shared_ + Block::kFirstAlong + number * kSize, pass_.profiles[2] + min(max(z, 0), pass_.nz - 1),
                      true);
  }
  __device__ __forceinline__ int start(int z) const {
    int value;
    detail::load_shared(value, shared_ + Block::kFirstStart + std::uint32_t(z & (Block::kNumbers - 1)) * 4);
    return value;
  }
  __device__ __forceinline__ T along(int z) const {
    T value = T(1);
    if (pass_.profiles[2] != nullptr)
      detail::load_shared(value, shared_ + Block::kFirstAlong + std::uint32_t(z & (Block::kNumbers - 1)) * kSize);
    return value;
  }

  // ---- An iteration

  static __device__ __forceinline__ void load_points(Points& to, std::uint32_t from) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) detail::load_shared(to[r].v, from + std::uint32_t(r * Tile::kPitch));
  }
  static __device__ __forceinline__ void copy(Points& to, const Points& from) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) to[r] = from[r];
  }
  template <int kLevels, int kPlanes>
  static __device__ __forceinline__ void clear(Points (&levels)[kLevels][kPlanes]) {
#pragma unroll
    for (auto& level : levels)
#pragma unroll
      for (auto& plane : level)
#pragma unroll
        for (auto& row : plane)
#pragma unroll
          for (T& value : row.v) value = T(0);
  }
  /// Where the thread's points of u are, in the plane that came so many iterations ago.
  __device__ __forceinline__ std::uint32_t u_at(int age) const {
    const int slot = newest_u_ - age;
    return own_ + std::uint32_t(Block::kFirstU + (slot < 0 ? slot + Block::kU : slot) * Tile::kPlaneBytes);
  }
  __device__ __forceinline__ std::uint32_t middle(int level) const {
    return level == 0 ? u_at(kR) : own_ + std::uint32_t(Block::kFirstMiddle + (level - 1) * Tile::kPlaneBytes);
  }
  __device__ __forceinline__ std::uint32_t array_at(int age) const {
    const int slot = newest_a_ - age;
    return own_ + std::uint32_t(Block::kFirstA + (slot < 0 ? slot + Block::kA : slot) * Tile::kPlaneBytes);
  }

  __device__ __forceinline__ void iterate(int i, int out, int out_end, unsigned parity, bool meets,
                                          BlockMeetings& meetings) {
    load_planes(i + 1, wrapped(newest_u_ + 1, Block::kU), newest_v_ ^ 1, wrapped(newest_a_ + 1, Block::kA));
    load_numbers(i + 2, 0);
    cp_async_commit();
    Points fresh[kDepth] = {};  // levels beyond the pass's depth are moved like others: cheaper than a test
    load_points(fresh[0], u_at(0));
    if (pass_.depth == 1) store_previous(fresh[0], i, i, out, out_end);
#pragma unroll
    for (int k = 1; k <= kDepth; ++k) {
      if (k > pass_.depth) break;
      // The middle planes of levels from 1 on were written at the end of the iteration before.
      if (k == 2) barrier_wait(shared_ + Block::kWritten, parity ^ 1);
      Points centre, star, made;
      load_points(centre, middle(k - 1));
      Row outer[kR == 1 ? 2 : 1];
      if constexpr (kR == 1) {
        detail::load_shared(outer[0].v, middle(k - 1) - Tile::kPitch);
        detail::load_shared(outer[kR == 1 ? 1 : 0].v, middle(k - 1) + kRows * Tile::kPitch);
        if (k == pass_.depth) arrive(i, out, meets, meetings);
      }
      add_z(star, k - 1, centre, fresh[k - 1]);
      add_x(star, middle(k - 1), centre);
      add_y(star, middle(k - 1), centre, outer);
      if constexpr (kR > 1)
        if (k == pass_.depth) arrive(i, out, meets, meetings);
      finish(made, k, i - kR * k, centre, star);
      if (pass_.first != nullptr) add_points(made, k, i - kR * k, out, out_end);
      if (k == pass_.depth) store(pass_.newest, made, i, i - kR * k, out, out_end);
      if (k == pass_.depth - 1) store_previous(made, i, i - kR * k, out, out_end);
      if (k < kDepth) copy(fresh[k < kDepth ? k : 0], made);
    }
#pragma unroll
    for (int level = 0; level < kDepth; ++level) grow_older(level);
    barrier_wait(shared_ + Block::kMade, parity);
#pragma unroll
    for (int level = 1; level < kDepth; ++level) write_middle(level, fresh[level]);
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(shared_ + Block::kWritten);
  }
  /// Behind the last read of middle planes.
  __device__ __forceinline__ void arrive(int i, int out, bool meets, BlockMeetings& meetings) const {
    if (meets) meetings.meet(i - out + kR * pass_.depth);
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(shared_ + Block::kMade);
  }
  /// The plane behind the middle one becomes the middle one.
  __device__ __forceinline__ void write_middle(int level, const Points& fresh) {
    auto& newer = newer_[level - 1];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Row& next = kR == 1 ? fresh[r] : newer[0][r];
      detail::store_shared(middle(level) + std::uint32_t(r * Tile::kPitch), next.v);
    }
#pragma unroll
    for (int j = 0; j + 2 < kR; ++j) copy(newer[j], newer[j + 1]);
    if constexpr (kR > 1) copy(newer[kR - 2], fresh);
  }
  /// The middle plane becomes the newest of the older ones.
  __device__ __forceinline__ void grow_older(int level) {
    auto& older = older_[level];
#pragma unroll
    for (int j = kR - 1; j > 0; --j) copy(older[j], older[j - 1]);
    load_points(older[0], middle(level));
  }

  // ---- The star. Sums are taken in the order of "streaming": the centre, z, x, y.

  __device__ __forceinline__ void add_z(Points& star, int level, const Points& centre, const Points& fresh) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int v = 0; v < kVector; ++v) star[r].v[v] = pass_.centre * centre[r].v[v];
#pragma unroll
    for (int j = 0; j < 2 * kR; ++j) {
      const int ahead = j - kR + 1;  // where it is above the middle plane
      Points plane;
      if (j < kR)
        copy(plane, older_[level][j < kR ? kR - 1 - j : 0]);
      else if (ahead == kR)
        copy(plane, fresh);
      else if (level == 0)
        load_points(plane, u_at(kR - ahead));
      else
        copy(plane, newer_[level > 0 ? level - 1 : 0][ahead >= 1 && ahead < kR ? ahead - 1 : 0]);
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int v = 0; v < kVector; ++v) star[r].v[v] = fma(pass_.z[j], plane[r].v[v], star[r].v[v]);
    }
  }
  __device__ __forceinline__ void add_x(Points& star, std::uint32_t middle, const Points& centre) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      T around[(2 * kSide + 1) * kVector];  // what the threads beside have
      if constexpr (kR == 1) {
        around[kVector - 1] = __shfl_up_sync(0xffffffffu, centre[r].v[kVector - 1], 1, Tile::kLanes);
        around[2 * kVector] = __shfl_down_sync(0xffffffffu, centre[r].v[0], 1, Tile::kLanes);
      }
#pragma unroll
      for (int h = 0; h <= 2 * kSide; ++h) {
        Row row;
        if (h != kSide && kR == 1) continue;
        if (h == kSide)
          row = centre[r];
        else
          detail::load_shared(row.v, middle + std::uint32_t(r * Tile::kPitch + (h - kSide) * 16));
#pragma unroll
        for (int v = 0; v < kVector; ++v) around[h * kVector + v] = row.v[v];
      }
#pragma unroll
      for (int j = 0; j < 2 * kR; ++j)
#pragma unroll
        for (int v = 0; v < kVector; ++v)
          star[r].v[v] = fma(pass_.x[j], around[kSide * kVector + v + (j < kR ? j - kR : j - kR + 1)], star[r].v[v]);
    }
  }
  __device__ __forceinline__ void add_y(Points& star, std::uint32_t middle, const Points& centre,
                                        const Row (&outer)[kR == 1 ? 2 : 1]) const {
#pragma unroll
    for (int j = -kR; j < kRows + kR; ++j) {
      Row row;
      if (j >= 0 && j < kRows)
        row = centre[j >= 0 && j < kRows ? j : 0];
      else if (kR == 1)
        row = outer[kR == 1 && j > 0 ? 1 : 0];
      else
        detail::load_shared(row.v, middle + std::uint32_t(j * Tile::kPitch));
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int o = j - r;
        if (o == 0 || o < -kR || o > kR) continue;
#pragma unroll
        for (int v = 0; v < kVector; ++v)
          star[r].v[v] = fma(pass_.y[o < 0 ? o + kR : o + kR - 1], row.v[v], star[r].v[v]);
      }
    }
  }

  /// Plane z of level k, of its star, of what the point itself adds, and of profiles; or what it was.
  __device__ __forceinline__ void finish(Points& made, int k, int z, const Points& centre, const Points& star) const {
    T profile_z = T(1);
    if constexpr (Block::kProfiles) profile_z = along(z);
    Points other, array;
    if constexpr (Block::kOther) {
      if (k == 1)
        load_points(other, own_ + std::uint32_t(Block::kFirstV + newest_v_ * Tile::kPlaneBytes));
      else
        copy(other, older_[k >= 2 ? k - 2 : 0][kR - 1]);
    }
    if constexpr (Block::kArray) load_points(array, array_at(kR * (k - 1)));
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        T value = Block::kArray ? pass_.front * centre[r].v[v] : star[r].v[v];
        if constexpr (Block::kOther) value = fma(pass_.other, other[r].v[v], value);
        if constexpr (Block::kArray) value = fma(array[r].v[v], star[r].v[v], value);
        if constexpr (Block::kProfiles) value *= profile_x_[v] * profile_y_[r] * profile_z;
        made[r].v[v] = value;
      }
    constexpr unsigned kAll = (1u << kWrites) - 1;
    const unsigned keeps = z < kR || z >= pass_.nz - kR ? kAll : flags_ & kAll;
    if (keeps == 0) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int v = 0; v < kVector; ++v)
        made[r].v[v] = (keeps >> (r * kVector + v) & 1) != 0 ? centre[r].v[v] : made[r].v[v];
  }

  /// Injections and recordings of a plane, for the thread whose points they are.
  __device__ __forceinline__ void add_points(Points& made, int k, int z, int out, int out_end) const {
    const int end = start(z + 1);
#pragma unroll 1
    for (int e = start(z); e < end; ++e) {
      const WavePoint point = pass_.points[e];
      const int row = point.y - y_, column = point.x - x_;
      if (row < 0 || row >= kRows || column < 0 || column >= kVector) continue;
      T injected = T(0);
      if (point.set >= 0) {
        const auto& series = pass_.series[point.set];
        injected = series.data[(k - 1) * series.count + point.index];
      }
      T* const recorded = pass_.recorded + ((k - 1) * pass_.recordings + point.index);
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          if (row != r || column != v) continue;
          if (point.set >= 0)
            made[r].v[v] = fma(T(point.weight), injected, made[r].v[v]);
          else if (has(kWrites + r) && z >= out && z < out_end)
            *recorded = made[r].v[v];
        }
    }
  }

  __device__ __forceinline__ void store_previous(const Points& made, int i, int z, int out, int out_end) const {
    if (pass_.previous != nullptr) store(pass_.previous, made, i, z, out, out_end);
  }
  /// Of plane z, in iteration i.
  __device__ __forceinline__ void store(T* to, const Points& made, int i, int z, int out, int out_end) const {
    if (z < out || z >= out_end) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (!has(kWrites + r)) continue;
      T* const at = to + load_at_ - (i + 1 - z) * pass_.plane + (r == 0 ? 0 : pass_.nx);
      if constexpr (Block::kAligned) {
        detail::store_streaming(at, made[r].v);
      } else {
#pragma unroll
        for (int v = 0; v < kVector; ++v)
          if (x_ + v < pass_.nx) __stcs(at + v, made[r].v[v]);
      }
    }
  }

  const Pass& pass_;
  std::uint32_t shared_, own_;
  int x_, y_;  ///< the thread's first point
  unsigned flags_ = 0;
  int end_ = 0;                 ///< behind the last plane that is needed
  std::ptrdiff_t load_at_ = 0;  ///< of the thread's first point in the plane of u that is loaded next
  int newest_u_ = 0, newest_v_ = 0, newest_a_ = 0;  ///< slots of planes
  T profile_x_[kVector], profile_y_[kRows];
  Points older_[kDepth][kR];  ///< of a level: 1 to kR planes before the middle one
  Points newer_[kDepth > 1 ? kDepth - 1 : 1][kR > 1 ? kR - 1 : 1];  ///< of levels from 1 on: 1 to kR - 1 behind it
};

template <class Block>
__global__ void __launch_bounds__(Block::Tile::kThreads, 1)
    system_temporal_kernel(const __grid_constant__ WavePass<typename Block::T> pass) {
  extern __shared__ __align__(128) unsigned char memory[];
  const std::uint32_t shared = shared_address(memory);
  if (threadIdx.x == 0) {
    barrier_init(shared + Block::kMade, Block::Tile::kThreads / 32);
    barrier_init(shared + Block::kWritten, Block::Tile::kThreads / 32);
  }
  __syncthreads();
  WaveMarch<Block>(pass, shared).run();
}

}  // namespace tessera::cuda
