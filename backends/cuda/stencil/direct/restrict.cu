// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The naive kernel with `const T* __restrict__`: the compiler knows that the output does not overlap
/// the input and reads the input through the read-only path of the L1 cache.
#include "direct.cuh"

namespace tessera::cuda {
namespace {

template <class T, int kTaps, bool kLine>
__global__ void __launch_bounds__(kDirectThreads, kDirectBlocks<T>)
    stencil_restrict_kernel(const __grid_constant__ DirectArguments<T, kTaps> g, const T* __restrict__ source,
                            T* __restrict__ target) {
  direct_sweep<kLine>(g, source, target);
}

struct RestrictKernels {
  template <class T, int kTaps, bool kLine>
  static auto get() {
    return &stencil_restrict_kernel<T, kTaps, kLine>;
  }
};

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"restrict",
     plugin::supports_all<plugin::StencilProblem, Machine>,
     offer_direct,
     make_direct<RestrictKernels>,
     {.narrow = true, .ordered = true}},
    3};

}  // namespace
}  // namespace tessera::cuda
