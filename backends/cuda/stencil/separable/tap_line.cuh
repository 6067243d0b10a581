// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sums of "separable" along one axis.
#pragma once

#include "../../shared_access.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace tessera::cuda {

/// The values that a thread's sums need: those of its points and one vector more. They stay in their registers while
/// taps go by a vector at a time, so that a value's place depends on the group of taps, modulo four.
template <class S>
struct TapWindow {
  static constexpr int kWidth = int(16 / sizeof(S)), kVectors = 4, kPoints = (kVectors - 1) * kWidth;
  S value[kVectors * kWidth];

  template <int kVector>
  __device__ __forceinline__ S* vector() {
    return value + kVector % kVectors * kWidth;
  }
};

/// A group of taps, the first value of which is the first of vector kFirst: `left` of them, if kSome, else all.
template <int kFirst, bool kSome, class S>
__device__ __forceinline__ void add_taps(S (&sum)[TapWindow<S>::kPoints], const TapWindow<S>& window,
                                         const S (&tap)[TapWindow<S>::kWidth], int left) {
  using Window = TapWindow<S>;
  constexpr int kAll = Window::kVectors * Window::kWidth;
#pragma unroll
  for (int t = 0; t < Window::kWidth; ++t) {
    if (kSome && t >= left) break;
#pragma unroll
    for (int p = 0; p < Window::kPoints; ++p)
      sum[p] = fma(tap[t], window.value[(kFirst * Window::kWidth + t + p) % kAll], sum[p]);
  }
}

/// One group; whether it was the last.
template <int kFirst, class S, class Load>
__device__ __forceinline__ bool add_group(S (&sum)[TapWindow<S>::kPoints], TapWindow<S>& window, std::uint32_t& taps,
                                          int& left, Load& load) {
  using Window = TapWindow<S>;
  S tap[Window::kWidth];
  load_shared(taps, tap);
  taps += 16;
  if (left > 1) load(window.template vector<kFirst + Window::kVectors - 1>());
  if (left >= Window::kWidth)
    add_taps<kFirst, false>(sum, window, tap, left);
  else
    add_taps<kFirst, true>(sum, window, tap, left);
  left -= Window::kWidth;
  return left <= 0;
}

/// Adds `count` taps, in vectors from `taps` on in shared memory, to sums of as many points that lie side by side.
/// load(S*) loads the next vector of values: those of the first point's first tap and on.
template <class S, class Load>
__device__ __forceinline__ void add_line(S (&sum)[TapWindow<S>::kPoints], std::uint32_t taps, int count, Load&& load) {
  TapWindow<S> window;
  load(window.template vector<0>());
  load(window.template vector<1>());
  load(window.template vector<2>());
  int left = count;
#pragma unroll 1
  while (!add_group<0>(sum, window, taps, left, load) && !add_group<1>(sum, window, taps, left, load) &&
         !add_group<2>(sum, window, taps, left, load) && !add_group<3>(sum, window, taps, left, load)) {
  }
}

}  // namespace tessera::cuda
