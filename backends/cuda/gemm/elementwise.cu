// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products without terms (k = 0): D is what the epilogue makes of beta C, at the rate of memory. Such a product, with
/// the derivative of an activation, is the first step of a layer's backward pass.
#include "gemm.cuh"

#include "../early_start.cuh"
#include "../vector_access.hpp"
#include "offers.hpp"

namespace tessera::cuda {
namespace {

constexpr int kThreads = 256;

/// kWidth neighbours a thread; threads along x are for columns, along y for rows of all matrices.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads) gemm_elementwise_kernel(const __grid_constant__ GemmArguments<T> g) {
  start_successor();
  wait_for_predecessor();  // which may have made C or aux
  const Epilogue<T> epilogue(g);
  for (std::int64_t i = blockIdx.y * std::int64_t(blockDim.y) + threadIdx.y; i < g.batch * g.m;
       i += std::int64_t(gridDim.y) * blockDim.y) {
    const std::int64_t item = g.batch == 1 ? 0 : i / g.m, row = i - item * g.m;
    for (std::int64_t column = (blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x) * kWidth; column < g.n;
         column += std::int64_t(gridDim.x) * blockDim.x * kWidth) {
      auto values = epilogue(Vector<Scalar<T>, kWidth>{}, g.c + (item * g.stride_c + row * g.ldc + column));
      const Finish<T> finish = g.finish.at(item, row, column);
      if (finish.bias)
#pragma unroll
        for (int e = 0; e < kWidth; ++e) values.value[e] += finish.bias_at(finish.per_row ? 0 : e);
      finish.activate_at(0, 0, values);
      (g.d + (item * g.stride_d + row * g.ldd + column)).write(values);
    }
  }
}

template <class T>
class ElementwisePlan final : public plugin::Plan {
 public:
  ElementwisePlan(Context& context, const plugin::GemmProblem& p)
      : context_(context),
        problem_(p),
        whole_(whole_vectors(p.dtype, {p.n, p.ldc, p.ldd, p.ldaux, p.stride_c, p.stride_d, p.stride_aux})) {
    const DeviceGuard guard(context.device());
    prepare(gemm_elementwise_kernel<T, 1>);
    prepare(gemm_elementwise_kernel<T, kWidth>);
    early_ = {can_start_early(gemm_elementwise_kernel<T, kWidth>)};
  }

  void execute(const plugin::Execution& e) override {
    const GemmArguments<T> g = arguments_of<T>(problem_, e);
    const bool vectors =
        whole_ && at_vector(g.c.data()) && at_vector(g.d.data()) && at_vector(g.finish.aux.data.data());
    const std::int64_t across = vectors ? g.n / kWidth : g.n;
    int along = 4;  // threads for columns
    while (along < kThreads && along < across) along *= 2;
    const int rows = kThreads / along;
    const dim3 grid(unsigned(std::min(ceil_div(across, along), kMaxGridX)),
                    unsigned(std::min(ceil_div(g.batch * g.m, rows), kMaxGridYz)));
    const DeviceGuard guard(context_.device());
    launch(vectors ? gemm_elementwise_kernel<T, kWidth> : gemm_elementwise_kernel<T, 1>, grid,
           dim3(unsigned(along), unsigned(rows)), 0, context_.stream(), early_, g);
  }

 private:
  static constexpr int kWidth = kVectorWidth<T>;

  Context& context_;
  plugin::GemmProblem problem_;
  bool whole_;  ///< whether rows are of whole vectors
  EarlyStart early_{};
};

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem, const plugin::Parameters&) {
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<ElementwisePlan<T>>(context, problem);
  });
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"elementwise",
     elementwise_why_unsupported,
     elementwise_offers,
     make,
     {.narrow = true, .epilogue = true, .aux = true, .ordered = true}},
    0};

}  // namespace
}  // namespace tessera::cuda
