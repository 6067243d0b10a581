// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products with at most 16 rows or columns of C: they read the large operand once and do little with
/// it, so all that counts is to keep enough reads under way. Slices of k fill the device; sums are added in order.
#include "skinny.cuh"

#include "offers.hpp"
#include "parts.hpp"

#include <cmath>
#include <string>

namespace tessera::cuda {
namespace {

template <class T>
struct SkinnyKernel {
  using Function = void (*)(SkinnyArguments<T>);
  Function vectorized, scalar;
  int vectorized_length, scalar_length;
};

template <class T, int kCount>
SkinnyKernel<T> skinny_kernel(bool k_major) {
  constexpr int kWide = skinny_width<T>(kCount), kLength = kSkinnyRows * kSkinnyWarps;
  if (k_major)
    return {gemm_skinny_k_major_kernel<T, kCount, kWide>, gemm_skinny_k_major_kernel<T, kCount, 1>, kLength, kLength};
  return {gemm_skinny_extent_major_kernel<T, kCount, kWide>, gemm_skinny_extent_major_kernel<T, kCount, 1>, 32 * kWide,
          32};
}

template <class T>
class SkinnyPlan final : public plugin::Plan {
 public:
  SkinnyPlan(Context& context, const plugin::GemmProblem& problem, std::int64_t split)
      : context_(context), problem_(problem), split_(split) {
    const auto& p = problem_;
    few_rows_ = p.m <= p.n;
    count_ = few_rows_ ? p.m : p.n;
    const bool along_k = skinny_k_major(p);
    kernel_ = count_ <= 1   ? skinny_kernel<T, 1>(along_k)
              : count_ <= 2 ? skinny_kernel<T, 2>(along_k)
              : count_ <= 4 ? skinny_kernel<T, 4>(along_k)
              : count_ <= 8 ? skinny_kernel<T, 8>(along_k)
                            : skinny_kernel<T, 16>(along_k);
    aligned_ = skinny_aligned(p);
    const DeviceGuard guard(context.device());
    prepare(kernel_.vectorized);
    prepare(kernel_.scalar);
    if (skinny_uses_workspace(problem, split)) add_start_ = prepare_add_slices<T>();
  }

  std::uint64_t workspace_bytes() const override { return skinny_workspace(problem_, split_); }

  void execute(const plugin::Execution& e) override {
    const auto& p = problem_;
    SkinnyArguments<T> x{{arguments_of<T>(p, e), int(split_), 0,
                          skinny_uses_workspace(p, split_) ? e.workspace<Scalar<T>>() : nullptr, p.n},
                         few_rows_,
                         few_rows_ ? p.n : p.m,
                         few_rows_ ? (p.trans_a ? 1 : p.lda) : (p.trans_b ? p.ldb : 1),
                         few_rows_ ? (p.trans_a ? p.lda : 1) : (p.trans_b ? 1 : p.ldb),
                         int(count_)};
    // Whole copies of 16 bytes: a slice begins where one does.
    constexpr std::int64_t kUnit = 16;
    x.s.k_per_slice = ceil_div(x.s.g.k, split_ * kUnit) * kUnit;
    const T* const large = few_rows_ ? x.s.g.b : x.s.g.a;
    const bool vectors = aligned_ && at_vector(large);
    const int length = vectors ? kernel_.vectorized_length : kernel_.scalar_length;
    const std::int64_t blocks = ceil_div(x.length, length) * p.batch * split_;
    const DeviceGuard guard(context_.device());
    launch(vectors ? kernel_.vectorized : kernel_.scalar, dim3(unsigned(blocks)), dim3(kSkinnyThreads), 0,
           context_.stream(), x);
    if (x.s.partial != nullptr) launch_add_slices(x.s, context_.stream(), add_start_);
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
  std::int64_t split_, count_;
  bool few_rows_, aligned_;
  SkinnyKernel<T> kernel_;
  EarlyStart add_start_{};
};

}  // namespace

std::unique_ptr<plugin::Plan> make_skinny(Context& context, const plugin::GemmProblem& problem,
                                          const plugin::Parameters& parameters) {
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<SkinnyPlan<T>>(context, problem, parameters.at("split"));
  });
}

namespace {

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"skinny", skinny_why_unsupported, skinny_offers, make_skinny, {.narrow = true, .epilogue = true, .aux = true}}, 3};

}  // namespace
}  // namespace tessera::cuda
