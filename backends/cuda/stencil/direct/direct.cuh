// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The sweep of the naive and the restrict algorithm: one thread computes one point from global memory.
///
/// A plain point is one of which no tap leaves the domain. It adds precomputed byte offsets to its address. For common
/// tap counts there are kernels with that many taps, whose coefficients and offsets are kernel parameters: after
/// unrolling, a tap costs an address addition, a load and a multiply-add with an operand in the constant bank. Other
/// lists of up to kMaxParameterTaps taps are kernel parameters that a loop reads; longer ones lie in device memory. Any
/// other point asks the domain what each tap reads.
#pragma once

#include "../../context.hpp"
#include "../../launch.cuh"
#include "../boundary_point.cuh"
#include "../geometry.hpp"
#include "direct.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <vector>

namespace tessera::cuda {

inline constexpr int kMaxParameterTaps = 128;  ///< 2 KiB in f64; kernels of every CUDA 12 take 4 KiB
inline constexpr int kRunTimeTaps = 0;         ///< the count is a parameter
inline constexpr int kListedTaps = -1;         ///< count and list are parameters, the taps are in memory

/// Taps of a plain point, kTaps of them, with coefficients of type S; offsets in bytes.
template <class S, int kTaps>
struct LinearTaps {
  static constexpr int kCapacity = kTaps > 0 ? kTaps : kMaxParameterTaps;
  std::int64_t offset_[kCapacity];
  S coefficient_[kCapacity];
  int count_;

  __device__ int count() const { return kTaps > 0 ? kTaps : count_; }
  __device__ std::int64_t offset(int t) const { return offset_[t]; }
  __device__ S coefficient(int t) const { return coefficient_[t]; }
};

template <class S>
struct ListedTap {
  std::int64_t offset;
  S coefficient;
};

template <class S>
struct LinearTaps<S, kListedTaps> {
  const ListedTap<S>* list_;
  int count_;

  __device__ int count() const { return count_; }
  __device__ std::int64_t offset(int t) const { return list_[t].offset; }
  __device__ S coefficient(int t) const { return list_[t].coefficient; }
};

template <class T, int kTaps>
struct DirectArguments {
  SweepGeometry geometry;
  std::int64_t first[2];  ///< where the launch begins on axes 0 and 1
  LinearTaps<Scalar<T>, kTaps> taps;
  GridTaps<Scalar<T>> grid_taps;
};

template <bool kLine, class T, int kTaps>
__device__ __forceinline__ void direct_point(const DirectArguments<T, kTaps>& g, const T* source, T* target,
                                             std::int64_t i0, std::int64_t i1, std::int64_t i2) {
  const SweepGeometry& geometry = g.geometry;
  bool plain = i2 >= geometry.plain[2][0] && i2 < geometry.plain[2][1];
  if constexpr (!kLine)
    plain = plain && i1 >= geometry.plain[1][0] && i1 < geometry.plain[1][1] && i0 >= geometry.plain[0][0] &&
            i0 < geometry.plain[0][1];
  if (!plain) return boundary_point(geometry, g.grid_taps, source, target, i0, i1, i2);

  const auto* here = reinterpret_cast<const unsigned char*>(
      source + (kLine ? i2 * geometry.source_strides[2] : geometry.source_index(i0, i1, i2)));
  constexpr int kUnroll = kTaps > 0 ? kTaps : 4;
  Scalar<T> sum = 0;
#pragma unroll kUnroll
  for (int t = 0; t < g.taps.count(); ++t)
    sum = fma(g.taps.coefficient(t), widened(*reinterpret_cast<const T*>(here + g.taps.offset(t))), sum);
  target[kLine ? i2 * geometry.target_strides[2] : geometry.target_index(i0, i1, i2)] = rounded<T>(sum);
}

/// The body of both kernels. kLine: the domain has one axis.
template <bool kLine, class T, int kTaps>
__device__ __forceinline__ void direct_sweep(const DirectArguments<T, kTaps>& g, const T* source, T* target) {
  const std::int64_t* const extents = g.geometry.domain.extents;
  const std::int64_t i2 = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i2 >= extents[2]) return;
  if constexpr (kLine) {
    direct_point<kLine>(g, source, target, 0, 0, i2);
  } else {
    const std::int64_t i0 = g.first[0] + blockIdx.z * blockDim.z + threadIdx.z;
    const std::int64_t i1 = g.first[1] + blockIdx.y * blockDim.y + threadIdx.y;
    if (i0 < extents[0] && i1 < extents[1]) direct_point<kLine>(g, source, target, i0, i1, i2);
  }
}

/// Blocks that a multiprocessor should hold. Memory needs loads in flight, and a warp of f32 has half the bytes of f64
/// in flight. 32 and 40 registers do for plain points; the rare others may spill.
template <class T>
inline constexpr int kDirectBlocks = sizeof(T) <= 4 ? 8 : 6;

/// The grid of one launch. Where an axis has more blocks than a grid may have, DirectPlan launches several.
inline dim3 direct_grid(const plugin::StencilProblem& problem, dim3 block) {
  const auto blocks = [&](int axis, unsigned size, std::int64_t most) {
    return unsigned(std::min(plugin::ceil_div(problem.domain.extents[axis], size), most));
  };
  return dim3(blocks(2, block.x, kMaxGridX), blocks(1, block.y, kMaxGridYz), blocks(0, block.z, kMaxGridYz));
}

template <class T, int kTaps>
class DirectPlan final : public plugin::Plan {
 public:
  using Kernel = void (*)(DirectArguments<T, kTaps>, const T*, T*);

  DirectPlan(Context& context, const plugin::StencilProblem& problem, Kernel kernel)
      : context_(context),
        problem_(problem),
        kernel_(kernel),
        block_(block_of(problem)),
        grid_(direct_grid(problem, block_)),
        grid_taps_(make_grid_taps<Scalar<T>>(context, problem)) {
    const DeviceGuard guard(context.device());
    prepare(kernel);
    if constexpr (kTaps == kListedTaps)
      for (const auto& strides : {problem.in_strides, problem.packed_strides(), problem.out_strides})
        if (list_for(strides) == nullptr) make_list(strides);
  }

  void execute(const plugin::Execution& e) override {
    const DeviceGuard guard(context_.device());
    DirectArguments<T, kTaps> arguments{
        SweepGeometry(problem_), {0, 0}, {}, {grid_taps_.template as<GridTap<Scalar<T>>>(), int(problem_.taps.size())}};
    plugin::for_each_sweep<T>(
        problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
        [&](const T* source, const plugin::Index3& source_strides, T* target, const plugin::Index3& target_strides) {
          arguments.geometry.set_strides(source_strides, target_strides);
          set_taps(arguments.taps, source_strides);
          launch_sweep(arguments, source, target);
        });
  }

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

 private:
  static dim3 block_of(const plugin::StencilProblem& problem) {
    const auto [z, y, x] = direct_block(problem);
    return dim3(x, y, z);
  }

  struct List {
    plugin::Index3 strides;
    std::unique_ptr<DeviceTable> taps;
  };

  void launch_sweep(DirectArguments<T, kTaps>& arguments, const T* source, T* target) const {
    const auto& extents = problem_.domain.extents;
    auto& first = arguments.first;
    for (first[0] = 0; first[0] < extents[0]; first[0] += std::int64_t(grid_.z) * block_.z)
      for (first[1] = 0; first[1] < extents[1]; first[1] += std::int64_t(grid_.y) * block_.y)
        launch(kernel_, grid_, block_, 0, context_.stream(), arguments, source, target);
  }

  const ListedTap<Scalar<T>>* list_for(const plugin::Index3& strides) const {
    for (const auto& list : lists_)
      if (list.strides == strides) return list.taps->template as<ListedTap<Scalar<T>>>();
    return nullptr;
  }

  void make_list(const plugin::Index3& strides) {
    std::vector<ListedTap<Scalar<T>>> taps;
    for (const auto& tap : problem_.taps)
      taps.push_back({linear_offset(tap, strides) * std::int64_t(sizeof(T)), Scalar<T>(tap.coefficient)});
    lists_.push_back({strides, std::make_unique<DeviceTable>(context_, taps.data(), taps.size() * sizeof taps[0])});
  }

  void set_taps(LinearTaps<Scalar<T>, kTaps>& taps, const plugin::Index3& strides) const {
    taps.count_ = int(problem_.taps.size());
    if constexpr (kTaps == kListedTaps) {
      taps.list_ = list_for(strides);
    } else {
      for (std::size_t t = 0; t < problem_.taps.size(); ++t) {
        taps.offset_[t] = linear_offset(problem_.taps[t], strides) * std::int64_t(sizeof(T));
        taps.coefficient_[t] = Scalar<T>(problem_.taps[t].coefficient);
      }
    }
  }

  Context& context_;
  plugin::StencilProblem problem_;
  Kernel kernel_;
  dim3 block_, grid_;
  DeviceTable grid_taps_;
  std::vector<List> lists_;
};

/// Calls make(std::integral_constant) with the tap count where it has a kernel of its own, else with kRunTimeTaps or
/// kListedTaps.
template <std::size_t kFirst = 0, class Make>
auto with_tap_count(std::size_t count, Make&& make) {
  if constexpr (kFirst < std::size(kUnrolledTapCounts)) {
    if (count == kUnrolledTapCounts[kFirst])
      return make(std::integral_constant<int, int(kUnrolledTapCounts[kFirst])>{});
    return with_tap_count<kFirst + 1>(count, make);
  } else {
    return count <= kMaxParameterTaps ? make(std::integral_constant<int, kRunTimeTaps>{})
                                      : make(std::integral_constant<int, kListedTaps>{});
  }
}

/// Kernels::get<T, kTaps, kLine>() returns the algorithm's kernel.
template <class Kernels>
std::unique_ptr<plugin::Plan> make_direct(Context& context, const plugin::StencilProblem& problem,
                                          const plugin::Parameters&) {
  return with_types(problem.dtype, [&]<class T>(std::type_identity<T>) {
    return with_tap_count(problem.taps.size(), [&](auto taps) -> std::unique_ptr<plugin::Plan> {
      constexpr int kTaps = decltype(taps)::value;
      const auto kernel =
          problem.rank == 1 ? Kernels::template get<T, kTaps, true>() : Kernels::template get<T, kTaps, false>();
      return std::make_unique<DirectPlan<T, kTaps>>(context, problem, kernel);
    });
  });
}

}  // namespace tessera::cuda
