// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Elements in memory that are of a type, or of the type of its sums, as the caller chose: C, D, a bias and aux.
#pragma once

#include "convert.cuh"
#include "vector.cuh"

#include <cstdint>

namespace tessera::cuda {

/// The values of neighbours.
template <class T, int kWidth>
__device__ __forceinline__ Vector<Scalar<T>, kWidth> widened(const Vector<T, kWidth>& from) {
  Vector<Scalar<T>, kWidth> values;
  if constexpr (kWidth == 1)
    values.value[0] = widened(from.value[0]);
  else
    widen(from, values.value);
  return values;
}

/// Where elements of T begin, or of Scalar<T> where `wide`: C, D and the bias of a product of 16-bit matrices may have
/// either type.
template <class T>
class Elements {
 public:
  using S = Scalar<T>;

  Elements() = default;
  __host__ __device__ Elements(const void* data, bool wide) : data_(const_cast<void*>(data)), wide_(wide) {}

  __host__ __device__ explicit operator bool() const { return data_ != nullptr; }
  __host__ __device__ const void* data() const { return data_; }
  /// Whether they are of Scalar<T>.
  __host__ __device__ __forceinline__ bool wide() const { return sizeof(T) == sizeof(S) || wide_; }
  /// Where they are of T.
  __device__ __forceinline__ T* elements() const { return static_cast<T*>(data_); }
  /// So many elements further on.
  __host__ __device__ __forceinline__ Elements operator+(std::int64_t count) const {
    if (wide()) return {static_cast<S*>(data_) + count, wide_};
    return {static_cast<T*>(data_) + count, wide_};
  }

  /// Whether kWidth of them, and then as many at distances that are multiples of it, can be accessed at once.
  template <int kWidth>
  __device__ bool at_vector() const {
    const auto place = reinterpret_cast<std::uintptr_t>(data_);
    return place % (wide() ? sizeof(Vector<S, kWidth>) : sizeof(Vector<T, kWidth>)) == 0;
  }

  template <int kWidth>
  __device__ __forceinline__ Vector<S, kWidth> read() const {
    if (wide()) return read_at_once<Vector<S, kWidth>>(data_);
    return widened(read_at_once<Vector<T, kWidth>>(data_));
  }
  __device__ __forceinline__ S operator[](std::int64_t i) const { return (*this + i).template read<1>().value[0]; }

  /// Rounds to nearest even.
  template <int kWidth>
  __device__ __forceinline__ void write(const Vector<S, kWidth>& values) const {
    if (wide())
      *static_cast<Vector<S, kWidth>*>(data_) = values;
    else if constexpr (kWidth == 1)
      *static_cast<T*>(data_) = rounded<T>(values.value[0]);
    else
      *static_cast<Vector<T, kWidth>*>(data_) = elements_of<T, kWidth>(values.value);
  }

 private:
  void* data_ = nullptr;
  bool wide_ = false;
};

}  // namespace tessera::cuda
