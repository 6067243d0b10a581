// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One thread a point, every tap an ordinary load from global memory: the classic first kernel.
#include "direct.cuh"

namespace tessera::cuda {
namespace {

template <class T, int kTaps, bool kLine>
__global__ void __launch_bounds__(kDirectThreads, kDirectBlocks<T>)
    stencil_naive_kernel(const __grid_constant__ DirectArguments<T, kTaps> g, const T* source, T* target) {
  direct_sweep<kLine>(g, source, target);
}

struct NaiveKernels {
  template <class T, int kTaps, bool kLine>
  static auto get() {
    return &stencil_naive_kernel<T, kTaps, kLine>;
  }
};

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"naive",
     plugin::supports_all<plugin::StencilProblem, Machine>,
     offer_direct,
     make_direct<NaiveKernels>,
     {.narrow = true, .ordered = true}},
    6};

}  // namespace
}  // namespace tessera::cuda
