// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Launches of "direct" whose records come from the constant bank. The inner points of a thread are 32 apart, so that
/// one address serves them all.
#pragma once

#include "compact_launch.hpp"

#include <cstdint>

namespace tessera::cuda {
namespace detail {

inline constexpr int kWarp = 32;

template <std::uint8_t kMap, class T, int kPoints>
__device__ __forceinline__ void take_map(T (&value)[kPoints]) {
#pragma unroll
  for (int v = 0; v < kPoints; ++v) value[v] = plugin::mapped_value(kMap, value[v]);
}

/// Asks once for all points.
template <class T, int kPoints>
__device__ __forceinline__ void take_map(std::uint8_t map, T (&value)[kPoints]) {
  if (map == TESSERA_MAP_IDENTITY) return;
  if (map == TESSERA_MAP_ABS) take_map<TESSERA_MAP_ABS>(value);
  if (map == TESSERA_MAP_POSITIVE_PART) take_map<TESSERA_MAP_POSITIVE_PART>(value);
  if (map == TESSERA_MAP_NEGATIVE_PART) take_map<TESSERA_MAP_NEGATIVE_PART>(value);
  if (map == TESSERA_MAP_RECIPROCAL) take_map<TESSERA_MAP_RECIPROCAL>(value);
}

/// Points of a row that read nothing outside the domain. kPlain: records read beside the point, as it is.
template <bool kPlain>
struct InnerPoints {
  static constexpr int kValues = 4;  ///< that are on their way together, of a point
  int at[3];
  unsigned own;   ///< bytes
  unsigned made;  ///< a bit for each point; others read nothing

  template <class T, int kPoints>
  __device__ __forceinline__ void read(const CompactLaunch<T>& a, int r, T (&value)[kPoints]) const {
    const char* from = a.records[r].from;
    unsigned gap = kWarp * sizeof(T);
    if constexpr (kPlain) {
      from += own;
    } else {
      const Place place = a.access[r].place;
      if (place == Place::common)
        from += own;
      else
        from += unsigned(at[place == Place::along2 ? 2 : place == Place::along1 ? 1 : 0]) * unsigned(sizeof(T));
      if (place == Place::along0 || place == Place::along1) gap = 0;
    }
#pragma unroll
    for (int v = 0; v < kPoints; ++v)
      value[v] = (made >> v & 1) != 0 ? *reinterpret_cast<const T*>(from + v * gap) : T(0);
    if constexpr (!kPlain) take_map(a.access[r].map, value);
  }
};

/// What an element outside the domain stands for: a constant, or another one, so many bytes away.
template <class T>
struct Outside {
  bool constant;
  T value;
  std::int64_t bytes;
};

/// At a place along an axis, whose elements are `stride` bytes apart.
template <class T>
__device__ __noinline__ Outside<T> outside(const FieldPlace& field, int axis, int extent, int at, unsigned stride) {
  const int side = at < 0 ? 0 : 1, mode = field.mode[axis][side];
  if (mode == TESSERA_BOUNDARY_CONSTANT) return {true, T(field.value[axis][side]), 0};
  return {false, T(0), (plugin::Domain::mapped(mode, extent, at) - at) * std::int64_t(stride)};
}

/// A point of the shell, some of whose values may lie outside the domain.
struct ShellPoint {
  static constexpr int kValues = 4;
  int at[3];
  unsigned own;

  template <class T>
  __device__ __forceinline__ void read(const CompactLaunch<T>& a, int r, T (&value)[1]) const {
    const CompactAccess access = a.access[r];
    Outside<T> out{false, T(0), 0};
    unsigned element = own;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      const bool along = access.place == Place(int(Place::along0) + axis);
      if (along) element = unsigned(at[axis]) * unsigned(sizeof(T));
      const int there = at[axis] + access.offset[axis];
      if (access.offset[axis] == 0 || unsigned(there) < unsigned(a.extents[axis])) continue;
      const unsigned common = axis == 2 ? unsigned(sizeof(T)) : a.strides[axis];
      const unsigned stride = access.place == Place::common ? common : along ? unsigned(sizeof(T)) : 0;
      const Outside<T> more = outside<T>(a.fields[access.field], axis, a.extents[axis], there, stride);
      out.bytes += more.bytes;
      if (!out.constant && more.constant) out.constant = true, out.value = more.value;
    }
    value[0] = out.constant ? out.value : *reinterpret_cast<const T*>(a.records[r].from + element + out.bytes);
    take_map(access.map, value);
  }
};

/// Terms of so many factors, kBatch of which are read before the first one's values are taken; then fewer, to the last.
template <int kFactors, int kBatch, class T, class Points, int kPoints>
__device__ __forceinline__ void take_terms(const CompactLaunch<T>& a, const Points& points, int& r, int left,
                                           Sums<T, kPoints>& sums) {
#pragma unroll 1
  for (; left >= kBatch; left -= kBatch, r += kBatch * kFactors) {
    T value[kBatch][kFactors][kPoints];
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
#pragma unroll
      for (int f = 0; f < kFactors; ++f) points.read(a, r + b * kFactors + f, value[b][f]);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const T coefficient = a.records[r + b * kFactors].coefficient;
#pragma unroll
      for (int v = 0; v < kPoints; ++v) {
        T product = coefficient;
#pragma unroll
        for (int f = 0; f + 1 < kFactors; ++f) product *= value[b][f][v];
        sums.sum[v] = fma(product, value[b][kFactors - 1][v], sums.sum[v]);
      }
    }
  }
  if constexpr (kBatch > 1) take_terms<kFactors, kBatch / 2>(a, points, r, left, sums);
}

template <class T, class Points, int kPoints>
__device__ __forceinline__ void take_run(const CompactLaunch<T>& a, const CompactRun& run, const Points& points, int& r,
                                         Sums<T, kPoints>& sums) {
  constexpr int kValues = Points::kValues;
  if (run.kind == CompactRun::kSums) {
    take_terms<1, kValues>(a, points, r, run.count, sums);
  } else if (run.kind == CompactRun::kProducts) {
    take_terms<2, (kValues + 1) / 2>(a, points, r, run.count, sums);
  } else if (run.kind == CompactRun::kTriples) {
    take_terms<3, 1>(a, points, r, run.count, sums);
  } else if (run.kind == CompactRun::kScales) {
#pragma unroll 1
    for (int i = 0; i < run.count; ++i, ++r) {
      T value[kPoints];
      points.read(a, r, value);
#pragma unroll
      for (int v = 0; v < kPoints; ++v) sums.sum[v] *= value[v];
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < run.count; ++i, ++r)
#pragma unroll
      for (int v = 0; v < kPoints; ++v) sums.sum[v] += a.records[r].coefficient;
  }
}

/// An update, take(run, r, sums) by take(run, r, sums).
template <class T, int kPoints, class Take>
__device__ __forceinline__ void evaluate(const CompactLaunch<T>& a, const CompactBox& box, unsigned made,
                                         const Take& take, T (&result)[kPoints]) {
  Sums<T, kPoints> sums;
  int r = box.first_record;
#pragma unroll 1
  for (int i = box.first_run; i < box.last_run; ++i) {
    const CompactRun run = a.runs[i];
    take(run, r, sums);
    if (!run.ends) continue;
#pragma unroll
    for (int v = 0; v < kPoints; ++v) sums.total[v] += sums.sum[v], sums.sum[v] = T(0);
  }
#pragma unroll
  for (int v = 0; v < kPoints; ++v)
    if ((made >> v & 1) != 0) result[v] = sums.total[v];
}

/// The points of a thread that lie between `low` and `high` along x, as bits.
template <int kPoints>
__device__ __forceinline__ unsigned between(int x, int low, int high) {
  unsigned bits = 0;
#pragma unroll
  for (int v = 0; v < kPoints; ++v) bits |= unsigned(x + v * kWarp >= low && x + v * kWarp < high) << v;
  return bits;
}

__device__ __forceinline__ bool row_between(const int (&at)[3], const int (&low)[3], const int (&high)[3]) {
  return at[0] >= low[0] && at[0] < high[0] && at[1] >= low[1] && at[1] < high[1];
}

/// The new values of a field at the inner points `left` of a thread. Those of no box keep their value.
template <class T, int kPoints>
__device__ __forceinline__ void make_inner(const CompactLaunch<T>& a, const CompactField& made, const int (&at)[3],
                                           unsigned own, unsigned left, T (&result)[kPoints]) {
#pragma unroll 1
  for (int b = made.first_box; b < made.last_box; ++b) {
    const CompactBox& box = a.boxes[b];
    const unsigned here = left & between<kPoints>(at[2], box.low[2], box.high[2]);
    if (!row_between(at, box.low, box.high) || here == 0) continue;
    left &= ~here;
    evaluate(
        a, box, here,
        [&](const CompactRun& run, int& r, Sums<T, kPoints>& sums) {
          if (run.plain)
            take_run(a, run, InnerPoints<true>{{at[0], at[1], at[2]}, own, here}, r, sums);
          else
            take_run(a, run, InnerPoints<false>{{at[0], at[1], at[2]}, own, here}, r, sums);
        },
        result);
  }
  const T* const kept = reinterpret_cast<const T*>(static_cast<const char*>(made.source) + own);
#pragma unroll
  for (int v = 0; v < kPoints; ++v)
    if ((left >> v & 1) != 0) result[v] = kept[v * kWarp];
}

/// The point of the shell with that number.
template <class T>
__device__ __forceinline__ ShellPoint shell_point(const CompactLaunch<T>& a, int number) {
  int s = 0;
#pragma unroll
  for (int i = 1; i < kCompactSlabs; ++i)
    if (number >= a.slabs[i].first_point) s = i;
  const CompactSlab& slab = a.slabs[s];
  const unsigned left = unsigned(number - slab.first_point), row = left / unsigned(slab.size[2]);
  const unsigned plane = row / unsigned(slab.size[1]);
  ShellPoint point;
  point.at[0] = slab.low[0] + int(plane);
  point.at[1] = slab.low[1] + int(row - plane * unsigned(slab.size[1]));
  point.at[2] = slab.low[2] + int(left - row * unsigned(slab.size[2]));
  point.own = unsigned(point.at[0]) * a.strides[0] + unsigned(point.at[1]) * a.strides[1] +
              unsigned(point.at[2]) * unsigned(sizeof(T));
  return point;
}

/// All fields of the launch at a point of the shell. Apart, so that its registers are not those of inner points.
template <class T, int kFields>
__device__ __noinline__ void make_shell(const CompactLaunch<T>& a, int number) {
  if (number >= a.shell_points) return;
  const ShellPoint point = shell_point(a, number);
  T result[kFields][1];
#pragma unroll 1
  for (int f = 0; f < (kFields == 1 ? 1 : a.made_count); ++f) {
    int b = a.made[f].first_box;
    const auto inside = [&](const CompactBox& box) {
      return row_between(point.at, box.low, box.high) && point.at[2] >= box.low[2] && point.at[2] < box.high[2];
    };
    while (b < a.made[f].last_box && !inside(a.boxes[b])) ++b;
    if (b < a.made[f].last_box)
      evaluate(
          a, a.boxes[b], 1u, [&](const CompactRun& run, int& r, Sums<T, 1>& sums) { take_run(a, run, point, r, sums); },
          result[f]);
    else
      result[f][0] = *reinterpret_cast<const T*>(static_cast<const char*>(a.made[f].source) + point.own);
  }
#pragma unroll 1
  for (int f = 0; f < (kFields == 1 ? 1 : a.made_count); ++f)
    *reinterpret_cast<T*>(static_cast<char*>(a.made[f].target) + point.own) = result[f][0];
}

}  // namespace detail

/// All fields of the launch, as system_direct_kernel makes them.
template <class T, int kFields>
__global__ void __launch_bounds__(kDirectBlock, 8) system_compact_kernel(const __grid_constant__ CompactLaunch<T> a) {
  constexpr int kPoints = kDirectPoints<T>, kWarp = detail::kWarp;
  if (int(blockIdx.x) >= a.inner_blocks) {
    const int thread = int((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
    detail::make_shell<T, kFields>(a, (int(blockIdx.x) - a.inner_blocks) * kDirectBlock + thread);
    return;
  }
  const int block = int(blockIdx.x), plane = block / a.tiles[0], lane = int(threadIdx.x) % kWarp;
  const int at[3] = {plane / a.tiles[1] * int(blockDim.z) + int(threadIdx.z),
                     plane % a.tiles[1] * int(blockDim.y) + int(threadIdx.y),
                     (block % a.tiles[0] * int(blockDim.x) + int(threadIdx.x) - lane) * kPoints + lane};
  if (!detail::row_between(at, a.inner_low, a.inner_high)) return;
  const unsigned mine = detail::between<kPoints>(at[2], a.inner_low[2], a.inner_high[2]);
  const unsigned own =
      unsigned(at[0]) * a.strides[0] + unsigned(at[1]) * a.strides[1] + unsigned(at[2]) * unsigned(sizeof(T));
  T result[kFields][kPoints];
#pragma unroll 1
  for (int f = 0; f < (kFields == 1 ? 1 : a.made_count); ++f)
    detail::make_inner(a, a.made[f], at, own, mine, result[f]);
#pragma unroll 1
  for (int f = 0; f < (kFields == 1 ? 1 : a.made_count); ++f) {
    T* const to = reinterpret_cast<T*>(static_cast<char*>(a.made[f].target) + own);
#pragma unroll
    for (int v = 0; v < kPoints; ++v)
      if ((mine >> v & 1) != 0) to[v * kWarp] = result[f][v];
  }
}

}  // namespace tessera::cuda
