// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A shared-memory tile with its halo; the field and the taps are read through `__ldg`, the read-only
/// path of the L1 cache. The taps lie in device memory, so any number of them will do.
#include "tile.cuh"

namespace tessera::cuda {
namespace {

struct ReadOnlyLoad {
  template <class T>
  __device__ static T load(const T* from) {
    return load_read_only(from);
  }
};

template <class S>
struct ReadOnlyTaps {
  const S* coefficients_;
  const int* offsets_;
  __device__ S coefficient(int t) const { return __ldg(coefficients_ + t); }
  __device__ int offset(int t) const { return __ldg(offsets_ + t); }
};

template <class T, bool kLine>
__global__ void __launch_bounds__(kMaxTilePoints / kTilePointsPerThread, kTileBlocks)
    stencil_shared_ldg_kernel(const __grid_constant__ TileArguments g,
                              const __grid_constant__ ReadOnlyTaps<Scalar<T>> taps, const T* source, T* target) {
  extern __shared__ __align__(16) unsigned char tile_bytes[];
  tile_sweep<kLine, ReadOnlyLoad>(g, taps, source, target, reinterpret_cast<Scalar<T>*>(tile_bytes));
}

struct Tables {
  std::unique_ptr<DeviceTable> coefficients, offsets;
};

template <class T>
std::unique_ptr<plugin::Plan> make_typed(Context& context, const plugin::StencilProblem& problem,
                                         const plugin::Parameters& parameters) {
  const Tile tile = tile_of(problem, context.machine(), parameters);
  using S = Scalar<T>;
  const auto values = coefficients<S>(problem);
  const auto offsets = tile_offsets(problem, tile);
  Tables tables{std::make_unique<DeviceTable>(context, values.data(), values.size() * sizeof values[0]),
                std::make_unique<DeviceTable>(context, offsets.data(), offsets.size() * sizeof offsets[0])};
  const ReadOnlyTaps<S> taps{tables.coefficients->as<S>(), tables.offsets->as<int>()};
  const auto kernel = problem.rank == 1 ? &stencil_shared_ldg_kernel<T, true> : &stencil_shared_ldg_kernel<T, false>;
  return std::make_unique<TilePlan<T, ReadOnlyTaps<S>, Tables>>(context, problem, tile, kernel, taps,
                                                                std::move(tables));
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  return with_types(problem.dtype,
                    [&]<class T>(std::type_identity<T>) { return make_typed<T>(context, problem, parameters); });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"shared_ldg", why_no_tile, offer_shared_ldg, make, {.narrow = true, .ordered = true}}, 5};

}  // namespace
}  // namespace tessera::cuda
