// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A launch of the algorithm "direct": each thread makes some points of a row, which follow the records together.
#pragma once

#include "program.cuh"

namespace tessera::cuda {

/// Points of a thread. Between two of them lie as many points as a block has threads along a row.
template <class T>
inline constexpr int kDirectPoints = sizeof(T) == 4 ? 4 : 2;
inline constexpr int kDirectBlock = 128;

/// What points near a side of the domain, or of no box, are made from.
template <class T>
struct NearBoundary {
  std::int64_t extents[3];
  const Record<T>* records;
  const RecordOffset* offsets;
  const UpdateBox* boxes;
  const FieldPlace* fields;
};

template <class T>
struct DirectLaunch {
  NearBoundary<T> near;
  std::int64_t tiles[2];    ///< of blocks along the last axis and the middle one
  std::int64_t strides[3];  ///< bytes, of the arrays that most are like
  std::int64_t point_step;  ///< bytes from a point of a thread to the next, likewise
  MadeField made[kMostMade];
  int made_count;
  void* arrays[kMostArrays];
};

namespace detail {

__device__ __forceinline__ bool inside(const std::int64_t* low, const std::int64_t* high, const std::int64_t* at) {
  return at[0] >= low[0] && at[0] < high[0] && at[1] >= low[1] && at[1] < high[1] && at[2] >= low[2] && at[2] < high[2];
}

/// Points of a thread, as multiples of the distance from one to the next. Those that are not to be made read where
/// another one does, and nobody takes what they get.
template <int kPoints>
struct Places {
  int index[kPoints];
};

/// The values that a record reads.
template <class T, int kPoints, bool kPlain>
__device__ __forceinline__ void read(const DirectLaunch<T>& a, const Record<T>& record, const std::int64_t (&at)[3],
                                     std::int64_t own, const Places<kPoints>& places, T (&value)[kPoints]) {
  if (reads_nothing(record.step)) return;
  const char* from = static_cast<const char*>(a.arrays[record.array]) + record.distance;
  std::int64_t next = a.point_step;
  if (record.place == Place::common) {
    from += own;
  } else if (record.place == Place::other) {
    const FieldPlace& field = a.near.fields[record.field];
    from += at[0] * field.strides[0] + at[1] * field.strides[1] + at[2] * field.strides[2];
    next = std::int64_t(blockDim.x) * field.strides[2];
  } else {
    from += (record.place == Place::along0 ? at[0] : record.place == Place::along1 ? at[1] : at[2]) * record.stride;
    next = record.place == Place::along2 ? std::int64_t(blockDim.x) * record.stride : 0;
  }
#pragma unroll
  for (int v = 0; v < kPoints; ++v)
    if constexpr (kPlain)
      value[v] = *reinterpret_cast<const T*>(from + places.index[v] * next);
    else
      value[v] = plugin::mapped_value(record.map, load_value<T>(from + places.index[v] * next, record.dtype));
}

/// An update at points none of whose values lies outside. Some records are read before the first one's value is taken,
/// so that many loads are on their way.
template <class T, int kPoints, bool kPlain>
__device__ __forceinline__ void evaluate(const DirectLaunch<T>& a, const UpdateBox& box, const std::int64_t (&at)[3],
                                         std::int64_t own, const Places<kPoints>& places, T (&result)[kPoints]) {
  Sums<T, kPoints> sums;
#pragma unroll 1
  for (int r = box.first; r < box.last; r += kRecordBatch) {
    Record<T> records[kRecordBatch];
    T values[kRecordBatch][kPoints];
#pragma unroll
    for (int i = 0; i < kRecordBatch; ++i) records[i] = load_record(a.near.records + r + i);
#pragma unroll
    for (int i = 0; i < kRecordBatch; ++i) read<T, kPoints, kPlain>(a, records[i], at, own, places, values[i]);
#pragma unroll
    for (int i = 0; i < kRecordBatch; ++i) sums.take(records[i].step, records[i].coefficient, values[i]);
  }
#pragma unroll
  for (int v = 0; v < kPoints; ++v) result[v] = sums.total[v];
}

/// A point of which values may lie outside, or that keeps its value.
template <class T>
__device__ __noinline__ T evaluate_near_boundary(const NearBoundary<T>& a, void* const* arrays, const MadeField& made,
                                                 std::int64_t i, std::int64_t j, std::int64_t k) {
  const std::int64_t at[3] = {i, j, k};
  for (int b = made.first_box; b < made.last_box; ++b) {
    const UpdateBox& box = a.boxes[b];
    if (!inside(box.low, box.high, at)) continue;
    Sums<T, 1> sums;
    for (int r = box.first; r < box.last; ++r) {
      const Record<T> record = load_record(a.records + r);
      const RecordOffset offset = a.offsets[r];
      T value[1] = {T(0)};
      if (!reads_nothing(record.step))
        value[0] =
            value_near_boundary<T>(a.fields[record.field], static_cast<const char*>(arrays[record.array]), record.map,
                                   a.extents, at[0] + offset.by[0], at[1] + offset.by[1], at[2] + offset.by[2]);
      sums.take(record.step, record.coefficient, value);
    }
    return sums.total[0];
  }
  const FieldPlace& field = a.fields[made.field];
  const std::int64_t byte = at[0] * field.strides[0] + at[1] * field.strides[1] + at[2] * field.strides[2];
  return load_value<T>(static_cast<const char*>(arrays[made.source]) + byte, field.dtype);
}

/// Which points of a thread lie in the inner part of a box. Those of no box stay as they are.
template <int kPoints>
__device__ __forceinline__ unsigned plain_points(const UpdateBox& box, const std::int64_t (&at)[3], int count,
                                                 Places<kPoints>& places) {
  const bool row =
      at[0] >= box.plain_low[0] && at[0] < box.plain_high[0] && at[1] >= box.plain_low[1] && at[1] < box.plain_high[1];
  unsigned plain = 0;
  int some = 0;
#pragma unroll
  for (int v = 0; v < kPoints; ++v) {
    const std::int64_t x = at[2] + v * std::int64_t(blockDim.x);
    const bool inner = row && v < count && x >= box.plain_low[2] && x < box.plain_high[2];
    plain |= unsigned(inner) << v;
    if (inner) some = v;
  }
#pragma unroll
  for (int v = 0; v < kPoints; ++v) places.index[v] = (plain >> v & 1) != 0 ? v : some;
  return plain;
}

/// The new values of a field at the points of a thread, `count` of which are in the domain.
template <class T, int kPoints, bool kPlain>
__device__ __forceinline__ void make(const DirectLaunch<T>& a, const MadeField& made, const std::int64_t (&at)[3],
                                     std::int64_t own, int count, T (&result)[kPoints]) {
  unsigned done = 0;
  for (int b = made.first_box; b < made.last_box; ++b) {
    const UpdateBox& box = a.near.boxes[b];
    Places<kPoints> places;
    const unsigned plain = plain_points(box, at, count, places);
    if (plain == 0) continue;
    T value[kPoints];
    evaluate<T, kPoints, kPlain>(a, box, at, own, places, value);
#pragma unroll
    for (int v = 0; v < kPoints; ++v)
      if ((plain >> v & 1) != 0) result[v] = value[v];
    done |= plain;
  }
#pragma unroll
  for (int v = 0; v < kPoints; ++v) {
    if (v >= count || (done >> v & 1) != 0) continue;
    result[v] = evaluate_near_boundary(a.near, a.arrays, made, at[0], at[1], at[2] + v * std::int64_t(blockDim.x));
  }
}

}  // namespace detail

/// All fields of the launch at the points of a thread, which are stored when all of them have read.
template <class T, int kFields, bool kPlain>
__global__ void __launch_bounds__(kDirectBlock, 6) system_direct_kernel(const __grid_constant__ DirectLaunch<T> a) {
  constexpr int kPoints = kDirectPoints<T>;
  const std::int64_t block = blockIdx.x;
  const std::int64_t plane = block / a.tiles[0];
  const std::int64_t at[3] = {plane / a.tiles[1] * blockDim.z + threadIdx.z,
                              plane % a.tiles[1] * blockDim.y + threadIdx.y,
                              block % a.tiles[0] * blockDim.x * kPoints + threadIdx.x};
  if (at[0] >= a.near.extents[0] || at[1] >= a.near.extents[1] || at[2] >= a.near.extents[2]) return;
  const std::int64_t left = (a.near.extents[2] - at[2] + blockDim.x - 1) / blockDim.x;
  const int count = left < kPoints ? int(left) : kPoints;
  const std::int64_t own = at[0] * a.strides[0] + at[1] * a.strides[1] + at[2] * a.strides[2];
  T result[kFields][kPoints];
#pragma unroll
  for (int f = 0; f < kFields; ++f)
    if (f < a.made_count) detail::make<T, kPoints, kPlain>(a, a.made[f], at, own, count, result[f]);
#pragma unroll
  for (int f = 0; f < kFields; ++f) {
    if (f >= a.made_count) continue;
    const FieldPlace& field = a.near.fields[a.made[f].field];
    char* const to = static_cast<char*>(a.arrays[a.made[f].target]) + at[0] * field.strides[0] +
                     at[1] * field.strides[1] + at[2] * field.strides[2];
#pragma unroll
    for (int v = 0; v < kPoints; ++v)
      if (v < count) store_value(to + v * std::int64_t(blockDim.x) * field.strides[2], field.dtype, result[f][v]);
  }
}

}  // namespace tessera::cuda
