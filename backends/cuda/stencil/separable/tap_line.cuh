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

/// Adds kCount taps of a group whose first value is the first of vector kFirst.
template <int kFirst, int kTap, int kCount, class S>
__device__ __forceinline__ void add_taps(S (&sum)[TapWindow<S>::kPoints], const TapWindow<S>& window,
                                         const S (&tap)[TapWindow<S>::kWidth]) {
  using Window = TapWindow<S>;
  constexpr int kAll = Window::kVectors * Window::kWidth;
#pragma unroll
  for (int t = kTap; t < kTap + kCount; ++t)
#pragma unroll
    for (int p = 0; p < Window::kPoints; ++p)
      sum[p] = fma(tap[t], window.value[(kFirst * Window::kWidth + t + p) % kAll], sum[p]);
  // Or compilers see that the copies for each place do the same, and make one of them, with moves to its registers.
  asm volatile("" ::"n"(kFirst * Window::kWidth + kTap));
}

/// A line of taps that is being added.
template <class S, class Load>
struct TapLine {
  using Window = TapWindow<S>;
  S (&sum)[Window::kPoints];
  std::uint32_t taps;
  int groups, rest;  ///< whole groups that are left, and the taps after them
  Load& load;
  Window window;

  /// The next group; false after the last.
  template <int kFirst>
  __device__ __forceinline__ bool add() {
    S tap[Window::kWidth];
    if (groups == 0) {
      add_rest<kFirst>();
      return false;
    }
    load_shared(taps, tap);
    load(window.template vector<kFirst + Window::kVectors - 1>());
    add_taps<kFirst, 0, Window::kWidth>(sum, window, tap);
    taps += 16, --groups;
    return true;
  }

 private:
  template <int kFirst>
  __device__ __forceinline__ void add_rest() {
    if (rest == 0) return;
    S tap[Window::kWidth];
    load_shared(taps, tap);
    add_taps<kFirst, 0, 1>(sum, window, tap);
    if constexpr (Window::kWidth > 2) {
      if (rest == 1) return;
      load(window.template vector<kFirst + Window::kVectors - 1>());
      add_taps<kFirst, 1, 1>(sum, window, tap);
      if (rest > 2) add_taps<kFirst, 2, 1>(sum, window, tap);
    }
  }
};

/// Adds `count` taps, in vectors from `taps` on in shared memory, to sums of as many points that lie side by side.
/// load(S*) loads the next vector of values: those of the first point's first tap and on.
template <class S, class Load>
__device__ __forceinline__ void add_line(S (&sum)[TapWindow<S>::kPoints], std::uint32_t taps, int count, Load&& load) {
  constexpr int kWidth = TapWindow<S>::kWidth;
  TapLine<S, Load> line{sum, taps, count / kWidth, count % kWidth, load, {}};
  load(line.window.template vector<0>());
  load(line.window.template vector<1>());
  load(line.window.template vector<2>());
#pragma unroll 1
  while (line.template add<0>() && line.template add<1>() && line.template add<2>() && line.template add<3>()) {
  }
}

}  // namespace tessera::cuda
