// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Points that follow the records of a program.
#pragma once

#include "../convert.cuh"
#include "program.hpp"

#include <tessera/plugin/system_map.hpp>

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tessera::cuda {

/// A record, by wide loads through the read-only path: all threads read the same.
template <class T>
__device__ __forceinline__ Record<T> load_record(const Record<T>* from) {
  Record<T> record;
  constexpr int kWords = sizeof(Record<T>) / sizeof(int4);
  int4 words[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = __ldg(reinterpret_cast<const int4*>(from) + i);
  memcpy(&record, words, sizeof record);
  return record;
}

namespace detail {

/// Calls body(std::type_identity<S>) for the element type of that number.
template <class... S, class Body>
__device__ __forceinline__ void with_element(tessera::TypeList<S...>, std::int32_t dtype, const Body& body) {
  ((dtype == std::int32_t(tessera::kDType<S>) ? body(std::type_identity<S>()) : void()), ...);
}

}  // namespace detail

/// An element of any type as a value.
template <class T>
__device__ __forceinline__ T load_value(const char* at, std::int32_t dtype) {
  T value{};
  detail::with_element(tessera::ElementTypes(), dtype,
                       [&]<class S>(std::type_identity<S>) { value = T(widened(*reinterpret_cast<const S*>(at))); });
  return value;
}

template <class T>
__device__ __forceinline__ void store_value(char* at, std::int32_t dtype, T value) {
  detail::with_element(tessera::ElementTypes(), dtype, [&]<class S>(std::type_identity<S>) {
    *reinterpret_cast<S*>(at) = rounded<S>(Scalar<S>(value));
  });
}

/// A group's sum and an update's, of some points of a thread.
template <class T, int kPoints>
struct Sums {
  T total[kPoints], sum[kPoints], product[kPoints];

  __device__ __forceinline__ Sums() {
#pragma unroll
    for (int v = 0; v < kPoints; ++v) total[v] = sum[v] = product[v] = T(0);
  }

  /// Does what a record says with the values of the points.
  __device__ __forceinline__ void take(Step step, T coefficient, const T (&value)[kPoints]) {
    if (step == Step::add) {
#pragma unroll
      for (int v = 0; v < kPoints; ++v) sum[v] = fma(coefficient, value[v], sum[v]);
    } else if (step == Step::begin) {
#pragma unroll
      for (int v = 0; v < kPoints; ++v) product[v] = coefficient * value[v];
    } else if (step == Step::multiply) {
#pragma unroll
      for (int v = 0; v < kPoints; ++v) product[v] *= value[v];
    } else if (step == Step::multiply_add) {
#pragma unroll
      for (int v = 0; v < kPoints; ++v) sum[v] = fma(product[v], value[v], sum[v]);
    } else if (step == Step::scale) {
#pragma unroll
      for (int v = 0; v < kPoints; ++v) sum[v] *= value[v];
    } else if (step == Step::constant) {
#pragma unroll
      for (int v = 0; v < kPoints; ++v) sum[v] += coefficient;
    } else if (step == Step::end) {
#pragma unroll
      for (int v = 0; v < kPoints; ++v) total[v] += sum[v], sum[v] = T(0);
    }
  }
};

/// Reads no element.
__device__ __forceinline__ bool reads_nothing(Step step) { return step >= Step::constant; }

/// A value at a point of a field that may lie outside the domain, through the boundary modes.
template <class T>
__device__ __noinline__ T value_near_boundary(const FieldPlace& field, const char* array, std::uint8_t map,
                                              const std::int64_t* extents, std::int64_t i, std::int64_t j,
                                              std::int64_t k) {
  std::int64_t at[3] = {i, j, k};
  for (int axis = 0; axis < 3; ++axis) {
    if (at[axis] >= 0 && at[axis] < extents[axis]) continue;
    const int side = at[axis] < 0 ? 0 : 1;
    if (field.mode[axis][side] == TESSERA_BOUNDARY_CONSTANT)
      return plugin::mapped_value(map, T(field.value[axis][side]));
  }
  std::int64_t byte = 0;
  for (int axis = 0; axis < 3; ++axis) {
    std::int64_t x = at[axis];
    if (x < 0 || x >= extents[axis]) x = plugin::Domain::mapped(field.mode[axis][x < 0 ? 0 : 1], extents[axis], x);
    byte += x * field.strides[axis];
  }
  return plugin::mapped_value(map, load_value<T>(array + byte, field.dtype));
}

}  // namespace tessera::cuda
