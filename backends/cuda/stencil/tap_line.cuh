// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Sums along one axis, of "separable" and of "dense" on a line.
#pragma once

#include "../shared_access.cuh"
#include "streaming/unrolled.cuh"

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace tessera::cuda {

/// The values that a thread's sums need: those of its points and one vector more. They stay in their registers while
/// taps go by a vector at a time, so that a value's place depends on the group of taps, modulo kVectors.
template <class S, int kOf>
struct TapWindow {
  static constexpr int kWidth = int(16 / sizeof(S)), kVectors = kOf / kWidth + 1, kPoints = kOf;
  S value[kVectors * kWidth];

  template <int kVector>
  __device__ __forceinline__ S* vector() {
    return value + kVector % kVectors * kWidth;
  }
};

/// Adds kCount taps of a group whose first value is the first of vector kFirst.
template <int kFirst, int kTap, int kCount, class Window, class S>
__device__ __forceinline__ void add_taps(S (&sum)[Window::kPoints], const Window& window,
                                         const S (&tap)[Window::kWidth]) {
  constexpr int kAll = Window::kVectors * Window::kWidth;
#pragma unroll
  for (int t = kTap; t < kTap + kCount; ++t)
#pragma unroll
    for (int p = 0; p < Window::kPoints; ++p)
      sum[p] = fma(tap[t], window.value[(kFirst * Window::kWidth + t + p) % kAll], sum[p]);
  // Or compilers see that the copies for each place do the same, and make one of them, with moves to its registers.
  asm volatile("" ::"n"(kFirst * Window::kWidth + kTap));
}

/// Adds `count` taps, which end with a whole vector, from `taps` on in shared memory, to sums of as many points that
/// lie side by side. load(S*) loads the next vector of values: the first has those that go with the first vector of
/// taps.
template <class S, int kPoints, class Load>
__device__ __forceinline__ void add_line(S (&sum)[kPoints], std::uint32_t taps, int count, Load&& load) {
  using Window = TapWindow<S, kPoints>;
  constexpr int kWidth = Window::kWidth, kVectors = Window::kVectors;
  Window window;
  S tap[kWidth];
  const int part = count % kWidth;  // taps of the first vector, if it has not all
  if (part > 0) load(window.template vector<0>());
  unrolled<1, kVectors>([&](auto vector) { load(window.template vector<decltype(vector)::value>()); });
  if (part > 0) {
    load_shared(taps, tap);
    unrolled<1, kWidth>([&](auto t) {
      constexpr int kTap = decltype(t)::value;
      if (part >= kWidth - kTap) add_taps<0, kTap, 1>(sum, window, tap);
    });
    taps += 16;
  }
  int groups = count / kWidth;
  const auto add_group = [&]<int kFirst>(std::integral_constant<int, kFirst>) {
    load_shared(taps, tap);
    load(window.template vector<kFirst + kVectors - 1>());
    add_taps<kFirst, 0, kWidth>(sum, window, tap);
    taps += 16;
    return --groups > 0;
  };
  if (groups == 0) return;
  [&]<int... kBefore>(std::integer_sequence<int, kBefore...>) {
#pragma unroll 1
    while ((add_group(std::integral_constant<int, kBefore + 1>()) && ...)) {
    }
  }
  (std::make_integer_sequence<int, kVectors>());
}

/// Adds what a last vector has of taps, fewer than it holds. load(S*) begins with the values of its first tap.
template <class S, int kPoints, class Load>
__device__ __forceinline__ void add_rest(S (&sum)[kPoints], std::uint32_t taps, int count, Load&& load) {
  using Window = TapWindow<S, kPoints>;
  Window window;
  S tap[Window::kWidth];
  unrolled<0, Window::kVectors>([&](auto vector) { load(window.template vector<decltype(vector)::value>()); });
  load_shared(taps, tap);
  unrolled<0, Window::kWidth - 1>([&](auto t) {
    constexpr int kTap = decltype(t)::value;
    if (kTap < count) add_taps<0, kTap, 1>(sum, window, tap);
  });
}

}  // namespace tessera::cuda
