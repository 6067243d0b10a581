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

/// Rows that a thread reads at once.
template <int kWidth>
inline constexpr int kAhead = kWidth == 8 ? 2 : 4;

/// kWidth neighbours a thread and row; threads along x are for columns, along y for rows of all matrices. T: of D.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads) gemm_elementwise_kernel(const __grid_constant__ GemmArguments<T> g) {
  using Read = Vector<T, kWidth>;
  constexpr int kRows = kAhead<kWidth>;
  start_successor();
  wait_for_predecessor();  // which may have made C or aux
  const Epilogue<T> epilogue(g);
  const Aux<T>& aux = g.finish.aux;
  const Aux<T> d{g.d, true, g.ldd, g.stride_d};
  const Aux<T> from_c = epilogue.reads_c() ? Aux<T>{g.c, false, g.ldc, g.stride_c} : d,
               from_aux = aux.is_read() ? aux : d;
  const std::int64_t rows = g.batch * g.m, apart = std::int64_t(gridDim.y) * blockDim.y;
  const auto write = [](Read* to, const Vector<Scalar<T>, kWidth>& values) {
    if constexpr (sizeof(Read) == sizeof(uint4)) {  // said, since the compiler stores words else
      const Read rounded = elements_of<T, kWidth>(values.value);
      __stwb(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4&>(rounded));
    } else {
      Elements<T>(to, false).write(values);
    }
  };
  for (std::int64_t first = blockIdx.y * std::int64_t(blockDim.y) + threadIdx.y; first < rows; first += kRows * apart) {
    std::int64_t items[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) items[i] = g.batch == 1 ? 0 : min(first + i * apart, rows - 1) / g.m;
    for (std::int64_t column = (blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x) * kWidth; column < g.n;
         column += std::int64_t(gridDim.x) * blockDim.x * kWidth) {
      const auto at = [&](const Elements<T>& matrices, std::int64_t stride, std::int64_t ld, int i) {
        const std::int64_t row = min(first + i * apart, rows - 1) - items[i] * g.m;
        return reinterpret_cast<Read*>(matrices.elements() + (items[i] * stride + row * ld + column));
      };
      Read c[kRows], z[kRows];  // without a branch, so that all are on their way: D is read in place of what is not
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        c[i] = *at(from_c.data, from_c.stride, from_c.ld, i);
        z[i] = *at(from_aux.data, from_aux.stride, from_aux.ld, i);
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (first + i * apart >= rows) break;
        auto values = epilogue(Vector<Scalar<T>, kWidth>{}, widened(c[i]));
        if (g.finish.bias) {
          const Finish<T> finish = g.finish.at(items[i], first + i * apart - items[i] * g.m, column);
#pragma unroll
          for (int e = 0; e < kWidth; ++e) values.value[e] += finish.bias_at(finish.per_row ? 0 : e);
        }
        if (aux.is_stored()) write(at(aux.data, aux.stride, aux.ld, i), values);
        if (aux.is_read())
          g.finish.differentiate_all(widened(z[i]), values);
        else
          g.finish.activate_all(values.value);
        write(at(g.d, g.stride_d, g.ldd, i), values);
      }
    }
  }
}

template <class T>
class ElementwisePlan final : public plugin::Plan {
 public:
  ElementwisePlan(Context& context, const plugin::GemmProblem& p)
      : context_(context),
        problem_(p),
        whole_(whole_vectors(p.dtype_d, {p.n, p.ldc, p.ldd, p.ldaux, p.stride_c, p.stride_d, p.stride_aux})) {
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
    const int rows = kThreads / along, ahead = vectors ? kAhead<kWidth> : kAhead<1>;
    const dim3 grid(unsigned(std::min(ceil_div(across, along), kMaxGridX)),
                    unsigned(std::min(ceil_div(g.batch * g.m, rows * ahead), kMaxGridYz)));
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
  return plugin::with_types(problem.dtype_d, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
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
