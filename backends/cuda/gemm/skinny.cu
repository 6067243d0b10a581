// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products with at most 16 rows or columns of C: they read the large operand once and do little with
/// it, so all that counts is to keep enough reads under way. Slices of k fill the device; sums are added in order.
#include "skinny.cuh"

#include "../vector_access.hpp"
#include "algorithms.hpp"

#include <cmath>
#include <string>

namespace tessera::cuda {
namespace {

constexpr int kMostCount = 16;
constexpr std::int64_t kMostSplit = 128;

bool k_major(const plugin::GemmProblem& p) { return p.m <= p.n ? p.trans_b : !p.trans_a; }

/// Slices of k: enough for four blocks a multiprocessor (eight or sixteen where they hold few sums), none shorter than
/// two of the chunks that the block reads of the small operand.
std::int64_t skinny_split(const plugin::GemmProblem& p, int multiprocessors) {
  const std::int64_t block_length =
      k_major(p) ? kSkinnyRows * kSkinnyWarps : 32 * 16 / std::int64_t(plugin::size_of(p.dtype));
  const std::int64_t blocks = std::max(std::int64_t(1), ceil_div(std::max(p.m, p.n), block_length) * p.batch);
  const std::int64_t blocks_wanted = std::min(p.m, p.n) > 2 ? 4 : k_major(p) ? 16 : 8;
  const std::int64_t fill = blocks_wanted * multiprocessors / blocks;
  const std::int64_t shortest = k_major(p) ? 4096 / std::int64_t(plugin::size_of(p.dtype)) : 256;
  return std::clamp(std::min(fill, p.k / shortest), std::int64_t(1), kMostSplit);
}

template <class T>
struct SkinnyKernel {
  using Function = void (*)(SkinnyArguments<T>);
  Function vectorized, scalar;
  int vectorized_length, scalar_length;
};

template <class T, int kCount>
SkinnyKernel<T> skinny_kernel(bool k_major) {
  constexpr int kWide = 16 / int(sizeof(T)), kLength = kSkinnyRows * kSkinnyWarps;
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
    const bool along_k = k_major(p);
    kernel_ = count_ <= 1   ? skinny_kernel<T, 1>(along_k)
              : count_ <= 2 ? skinny_kernel<T, 2>(along_k)
              : count_ <= 4 ? skinny_kernel<T, 4>(along_k)
              : count_ <= 8 ? skinny_kernel<T, 8>(along_k)
                            : skinny_kernel<T, 16>(along_k);
    const std::int64_t contiguous = along_k ? p.k : (few_rows_ ? p.n : p.m);
    aligned_ = whole_vectors(p.dtype, {few_rows_ ? p.ldb : p.lda, few_rows_ ? p.stride_b : p.stride_a, contiguous});
    const DeviceGuard guard(context.device());
    prepare(kernel_.vectorized);
    prepare(kernel_.scalar);
    if (split > 1) prepare(gemm_add_slices_kernel<T>);
  }

  std::uint64_t workspace_bytes() const override {
    return split_ == 1 ? 0 : std::uint64_t(split_ * problem_.batch * problem_.m * problem_.n) * sizeof(T);
  }

  void execute(const plugin::Execution& e) override {
    const auto& p = problem_;
    SkinnyArguments<T> x{{arguments_of<T>(p, e), int(split_), 0, split_ > 1 ? e.workspace<T>() : nullptr, p.n},
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
    if (split_ > 1) launch_add_slices(x.s, context_.stream());
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
  std::int64_t split_, count_;
  bool few_rows_, aligned_;
  SkinnyKernel<T> kernel_;
};

std::string why_unsupported(const plugin::GemmProblem& p, int) {
  if (std::min(p.m, p.n) > kMostCount)
    return "C has more than " + std::to_string(kMostCount) + " rows and columns: " + std::to_string(p.m) + " x " +
           std::to_string(p.n);
  // One block for 32 of the larger extent and a slice, at most: what a grid may have, with the most slices.
  const double blocks = std::ceil(double(std::max(p.m, p.n)) / 32.0) * double(p.batch);
  if (blocks <= double(kMaxGridX) / double(kMostSplit)) return {};
  return "the larger extent of C has more than " + std::to_string(kMaxGridX / kMostSplit) +
         " segments of 32 in all matrices";
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& p, plugin::PlanOptions options) {
  const std::uint64_t slice =
      std::uint64_t(p.batch) * std::uint64_t(p.m) * std::uint64_t(p.n) * plugin::size_of(p.dtype);
  const std::int64_t most =
      slice == 0 ? 1
                 : std::max(std::int64_t(1),
                            std::int64_t(std::min(options.workspace_limit / slice, std::uint64_t(kMostSplit))));
  const std::int64_t automatic = std::min(most, skinny_split(p, context.limits().multiprocessors));
  const std::int64_t split = options.parameters.take("split", automatic, 1, most);
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<SkinnyPlan<T>>(context, p, split);
  });
}

}  // namespace

const GemmAlgorithm kGemmSkinny{"skinny", why_unsupported, make, 0.10};

}  // namespace tessera::cuda
