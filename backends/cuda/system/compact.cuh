// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Launches of "direct" whose records fit beside the kernel's arguments. All threads of a warp follow them by the
/// uniform registers, so that a value costs little more than its load: the address is one for all, the point's place a
/// number of 32 bits.
#pragma once

#include "direct.cuh"

#include <cstdint>

namespace tessera::cuda {

/// Most records, boxes and arrays of such a launch: arguments have 4 KiB.
inline constexpr int kCompactRecords = 160, kCompactBoxes = 8, kCompactArrays = 32;

template <class T>
struct alignas(16) CompactRecord {
  T coefficient;
  std::int32_t distance;  ///< bytes
  std::uint8_t array;
  Step step;
  Place place;
  std::uint8_t map;
};

struct CompactBox {
  int low[3], high[3];              ///< where it is evaluated
  int plain_low[3], plain_high[3];  ///< where no value is read outside the domain
  int first, last;                  ///< records
};

template <class T>
struct CompactLaunch {
  CompactRecord<T> records[kCompactRecords];
  CompactBox boxes[kCompactBoxes];
  void* arrays[kCompactArrays];
  MadeField made[kMostMade];
  int made_count;
  int extents[3], tiles[2];
  unsigned strides[3];  ///< bytes
  NearBoundary<T> near;
};
static_assert(sizeof(CompactLaunch<double>) <= 4096);

/// Fills in what does not change from step to step; false where the program has no such form. `bytes`: of the largest
/// array.
template <class T>
bool make_compact(const Program<T>& program, const NearBoundary<T>& near, const std::int64_t (&strides)[3],
                  std::int64_t bytes, CompactLaunch<T>& a) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (program.records.size() > std::size_t(kCompactRecords) || program.boxes.size() > std::size_t(kCompactBoxes) ||
      program.arrays.size() > std::size_t(kCompactArrays) || bytes >= kMost || !program.alike)
    return false;
  for (std::size_t r = 0; r < program.records.size(); ++r) {
    const Record<T>& record = program.records[r];
    const bool along = record.place >= Place::along0 && record.place <= Place::along2;
    if (!program.same_type || record.place == Place::other || (along && record.stride != int(sizeof(T)))) return false;
    a.records[r] = {
        record.coefficient, std::int32_t(record.distance), std::uint8_t(record.array), record.step, record.place,
        record.map};
  }
  for (std::size_t b = 0; b < program.boxes.size(); ++b) {
    const UpdateBox& box = program.boxes[b];
    for (int axis = 0; axis < 3; ++axis) {
      a.boxes[b].low[axis] = int(box.low[axis]), a.boxes[b].high[axis] = int(box.high[axis]);
      a.boxes[b].plain_low[axis] = int(box.plain_low[axis]);
      a.boxes[b].plain_high[axis] = int(box.plain_high[axis]);
    }
    a.boxes[b].first = box.first, a.boxes[b].last = box.last;
  }
  for (std::size_t f = 0; f < program.made.size(); ++f) a.made[f] = program.made[f];
  a.made_count = int(program.made.size());
  for (int axis = 0; axis < 3; ++axis) {
    a.extents[axis] = int(near.extents[axis]);
    a.strides[axis] = unsigned(strides[axis]);
  }
  a.near = near;
  return true;
}

namespace detail {

/// Where the points of a thread are: their places in the arrays, in bytes, and along the axes.
template <int kPoints>
struct CompactPlaces {
  unsigned own[kPoints], along2[kPoints], along0, along1;
};

/// The values that a record reads. What reads nothing reads the first array.
template <class T, int kPoints>
__device__ __forceinline__ void read(const CompactLaunch<T>& a, const CompactRecord<T>& record,
                                     const CompactPlaces<kPoints>& places, T (&value)[kPoints]) {
  const char* const from = static_cast<const char*>(a.arrays[record.array]) + record.distance;
  const auto at = [from](unsigned byte) { return *reinterpret_cast<const T*>(from + byte); };
  if (record.place == Place::common) {
#pragma unroll
    for (int v = 0; v < kPoints; ++v) value[v] = at(places.own[v]);
  } else if (record.place == Place::along2) {
#pragma unroll
    for (int v = 0; v < kPoints; ++v) value[v] = at(places.along2[v]);
  } else {
    const T all = at(record.place == Place::along0 ? places.along0 : places.along1);
#pragma unroll
    for (int v = 0; v < kPoints; ++v) value[v] = all;
  }
  if (record.map != TESSERA_MAP_IDENTITY) {
#pragma unroll
    for (int v = 0; v < kPoints; ++v) value[v] = plugin::mapped_value(record.map, value[v]);
  }
}

template <class T, int kPoints>
__device__ __forceinline__ void evaluate(const CompactLaunch<T>& a, const CompactBox& box,
                                         const CompactPlaces<kPoints>& places, Sums<T, kPoints>& sums) {
#pragma unroll 1
  for (int r = box.first; r < box.last; r += kRecordBatch) {
    T values[kRecordBatch][kPoints];
#pragma unroll
    for (int i = 0; i < kRecordBatch; ++i) read(a, a.records[r + i], places, values[i]);
#pragma unroll
    for (int i = 0; i < kRecordBatch; ++i) sums.take(a.records[r + i].step, a.records[r + i].coefficient, values[i]);
  }
}

/// Where the points of a thread lie, or the nearest ones in the inner part of a box. A bit for each that does itself.
template <class T, int kPoints>
__device__ __forceinline__ unsigned nearest_places(const CompactLaunch<T>& a, const CompactBox& box, const int (&at)[3],
                                                   CompactPlaces<kPoints>& places) {
  const auto nearest = [](int x, int low, int high) { return min(max(x, low), high - 1); };
  const int z = nearest(at[0], box.plain_low[0], box.plain_high[0]);
  const int y = nearest(at[1], box.plain_low[1], box.plain_high[1]);
  const bool row = z == at[0] && y == at[1];
  const unsigned begin = unsigned(z) * a.strides[0] + unsigned(y) * a.strides[1];
  unsigned plain = 0;
#pragma unroll
  for (int v = 0; v < kPoints; ++v) {
    const int own = at[2] + v * int(blockDim.x), x = nearest(own, box.plain_low[2], box.plain_high[2]);
    plain |= unsigned(row && x == own) << v;
    places.own[v] = begin + unsigned(x) * a.strides[2];
    places.along2[v] = unsigned(x) * unsigned(sizeof(T));
  }
  places.along0 = unsigned(z) * unsigned(sizeof(T)), places.along1 = unsigned(y) * unsigned(sizeof(T));
  return plain;
}

/// A point of no inner part: of no box it keeps its value.
template <class T>
__device__ __forceinline__ T make_other(const CompactLaunch<T>& a, const MadeField& made, int z, int y, int x) {
  for (int b = made.first_box; b < made.last_box; ++b) {
    const CompactBox& box = a.boxes[b];
    if (z >= box.low[0] && z < box.high[0] && y >= box.low[1] && y < box.high[1] && x >= box.low[2] && x < box.high[2])
      return evaluate_near_boundary(a.near, a.arrays, made, z, y, x);
  }
  const unsigned own = unsigned(z) * a.strides[0] + unsigned(y) * a.strides[1] + unsigned(x) * a.strides[2];
  return *reinterpret_cast<const T*>(static_cast<const char*>(a.arrays[made.source]) + own);
}

/// The new values of a field at the points of a thread. All threads of a warp follow the records together: where a
/// point is not in the inner part of the box, they make the nearest one there, and nobody takes it.
template <class T, int kPoints>
__device__ __forceinline__ void make(const CompactLaunch<T>& a, const MadeField& made, const int (&at)[3],
                                     T (&result)[kPoints]) {
  constexpr unsigned kWarp = 0xffffffffu;
  unsigned done = 0;
#pragma unroll 1
  for (int b = made.first_box; b < made.last_box; ++b) {
    const CompactBox& box = a.boxes[b];
    CompactPlaces<kPoints> places;
    const unsigned plain = nearest_places(a, box, at, places);
    const bool any = box.plain_low[0] < box.plain_high[0] && box.plain_low[1] < box.plain_high[1] &&
                     box.plain_low[2] < box.plain_high[2];
    if (!any || !__any_sync(kWarp, plain != 0)) continue;
    Sums<T, kPoints> sums;
    evaluate(a, box, places, sums);
#pragma unroll
    for (int v = 0; v < kPoints; ++v)
      if ((plain >> v & 1) != 0) result[v] = sums.total[v];
    done |= plain;
  }
  if (at[0] >= a.extents[0] || at[1] >= a.extents[1]) return;
#pragma unroll
  for (int v = 0; v < kPoints; ++v) {
    const int x = at[2] + v * int(blockDim.x);
    if (x < a.extents[2] && (done >> v & 1) == 0) result[v] = make_other(a, made, at[0], at[1], x);
  }
}

}  // namespace detail

/// All fields of the launch, as system_direct_kernel makes them.
template <class T, int kFields>
__global__ void __launch_bounds__(kDirectBlock, 3) system_compact_kernel(const __grid_constant__ CompactLaunch<T> a) {
  constexpr int kPoints = kDirectPoints<T>;
  const int block = int(blockIdx.x), plane = block / a.tiles[0];
  const int at[3] = {plane / a.tiles[1] * int(blockDim.z) + int(threadIdx.z),
                     plane % a.tiles[1] * int(blockDim.y) + int(threadIdx.y),
                     block % a.tiles[0] * int(blockDim.x) * kPoints + int(threadIdx.x)};
  T result[kFields][kPoints];
#pragma unroll
  for (int f = 0; f < kFields; ++f)
    if (f < a.made_count) detail::make(a, a.made[f], at, result[f]);
  if (at[0] >= a.extents[0] || at[1] >= a.extents[1]) return;
  const unsigned row = unsigned(at[0]) * a.strides[0] + unsigned(at[1]) * a.strides[1];
#pragma unroll
  for (int f = 0; f < kFields; ++f) {
    if (f >= a.made_count) continue;
#pragma unroll
    for (int v = 0; v < kPoints; ++v) {
      const int x = at[2] + v * int(blockDim.x);
      if (x < a.extents[2])
        *reinterpret_cast<T*>(static_cast<char*>(a.arrays[a.made[f].target]) + row + unsigned(x) * a.strides[2]) =
            result[f][v];
    }
  }
}

}  // namespace tessera::cuda
