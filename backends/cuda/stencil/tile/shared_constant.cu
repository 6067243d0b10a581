// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A shared-memory tile with its halo; the taps lie in constant memory, which broadcasts one word to a
/// whole warp.
///
/// One `__constant__` array is all that a module has, so every plan owns a slot of it (constant_bank.hpp).
/// The slot is written once, when the plan is made, and the write is complete before the plan can be
/// executed; executing only reads. The bank has 60 KiB for all living plans: 7680 taps in f32 and 16 bits, 5120 in f64.
/// A list that finds no room is read from device memory by the same loop instead. Parameter `bank`: 2 for that, 1 for
/// the bank alone, which fails where it has no room, 0 for device memory.
#include "constant_bank.hpp"
#include "tile.cuh"

#include <cstring>

namespace tessera::cuda {
namespace {

__constant__ __align__(256) unsigned char constant_bank[kConstantBankBytes];

struct Load {
  template <class T>
  __device__ static T load(const T* from) {
    return *from;
  }
};

/// Places in the bank, in bytes.
template <class S>
struct BankTaps {
  int coefficients_, offsets_;
  __device__ S coefficient(int t) const { return reinterpret_cast<const S*>(constant_bank + coefficients_)[t]; }
  __device__ int offset(int t) const { return reinterpret_cast<const int*>(constant_bank + offsets_)[t]; }
};

template <class S>
struct ListTaps {
  const S* coefficients_;
  const int* offsets_;
  __device__ S coefficient(int t) const { return coefficients_[t]; }
  __device__ int offset(int t) const { return offsets_[t]; }
};

template <class T, bool kLine, class Taps>
__global__ void __launch_bounds__(kMaxTilePoints / kTilePointsPerThread, kTileBlocks)
    stencil_shared_constant_kernel(const __grid_constant__ TileArguments g, const __grid_constant__ Taps taps,
                                   const T* __restrict__ source, T* __restrict__ target) {
  extern __shared__ __align__(16) unsigned char tile_bytes[];
  tile_sweep<kLine, Load>(g, taps, source, target, reinterpret_cast<Scalar<T>*>(tile_bytes));
}

template <class T, class Taps, class Held>
std::unique_ptr<plugin::Plan> make_plan(Context& context, const plugin::StencilProblem& problem, const Tile& tile,
                                        Taps taps, Held held) {
  const auto kernel = problem.rank == 1 ? &stencil_shared_constant_kernel<T, true, Taps>
                                        : &stencil_shared_constant_kernel<T, false, Taps>;
  return std::make_unique<TilePlan<T, Taps, Held>>(context, problem, tile, kernel, taps, std::move(held));
}

/// The taps as bank and list hold them: the coefficients, then the offsets.
template <class S>
std::vector<unsigned char> pack_taps(const plugin::StencilProblem& problem, const Tile& tile) {
  const auto values = coefficients<S>(problem);
  const auto offsets = tile_offsets(problem, tile);
  std::vector<unsigned char> bytes(values.size() * (sizeof(S) + sizeof(int)));
  std::memcpy(bytes.data(), values.data(), values.size() * sizeof(S));
  std::memcpy(bytes.data() + values.size() * sizeof(S), offsets.data(), offsets.size() * sizeof(int));
  return bytes;
}

template <class T>
std::unique_ptr<plugin::Plan> make_typed(Context& context, const plugin::StencilProblem& problem,
                                         const plugin::Parameters& parameters) {
  const Tile tile = tile_of(problem, context.machine(), parameters);
  using S = Scalar<T>;
  const auto bytes = pack_taps<S>(problem, tile);
  const std::size_t coefficient_bytes = problem.taps.size() * sizeof(S);
  const std::int64_t bank = parameters.at("bank");
  BankSlot slot = bank == kBankNever ? BankSlot() : BankSlot(context.device(), bytes.size());
  if (!slot && bank != kBankAlways) {
    auto list = std::make_unique<DeviceTable>(context, bytes.data(), bytes.size());
    const auto* start = list->template as<unsigned char>();
    const ListTaps<S> taps{reinterpret_cast<const S*>(start), reinterpret_cast<const int*>(start + coefficient_bytes)};
    return make_plan<T>(context, problem, tile, taps, std::move(list));
  }
  if (!slot)
    throw plugin::Error(TESSERA_UNSUPPORTED, "bank = 1: the constant memory that is free cannot hold " +
                                                 std::to_string(bytes.size()) + " bytes of taps; it has " +
                                                 std::to_string(kConstantBankBytes) + " for all plans of a device");
  const DeviceGuard guard(context.device());
  TESSERA_CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_bank, bytes.data(), bytes.size(), slot.offset(),
                                             cudaMemcpyHostToDevice, context.setup_stream()));
  TESSERA_CUDA_CHECK(cudaStreamSynchronize(context.setup_stream()));
  const BankTaps<S> taps{int(slot.offset()), int(slot.offset() + coefficient_bytes)};
  return make_plan<T>(context, problem, tile, taps, std::move(slot));
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& problem,
                                   const plugin::Parameters& parameters) {
  return with_types(problem.dtype,
                    [&]<class T>(std::type_identity<T>) { return make_typed<T>(context, problem, parameters); });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"shared_constant", why_no_tile, offer_shared_constant, make, {.narrow = true, .ordered = true}}, 4};

}  // namespace
}  // namespace tessera::cuda
