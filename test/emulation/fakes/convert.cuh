// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Elements and values on an emulated device, by the rules of the library itself.
#pragma once

#include "vector.cuh"

#include <tessera/plugin/problem.hpp>

#include <cuda_runtime.h>

namespace tessera::cuda {

template <class T>
inline constexpr bool kNarrow = sizeof(T) < sizeof(Scalar<T>);
template <class T>
T rounded(Scalar<T> value) {
  return T(value);
}
template <class T>
Scalar<T> widened(T value) {
  return Scalar<T>(value);
}
template <class T>
T load_read_only(const T* from) {
  return *from;
}
template <class T, int kCount>
void widen(const Vector<T, kCount>& from, Scalar<T>* to) {
  for (int i = 0; i < kCount; ++i) to[i] = Scalar<T>(from.value[i]);
}
template <class T, int kCount>
Vector<T, kCount> elements_of(const Scalar<T>* from) {
  Vector<T, kCount> to;
  for (int i = 0; i < kCount; ++i) to.value[i] = T(from[i]);
  return to;
}

}  // namespace tessera::cuda
