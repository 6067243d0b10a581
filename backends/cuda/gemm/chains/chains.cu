// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products of f32 and f64 with at most 8 rows or columns of D, each of whose sums is a few chains of multiply-adds:
/// the bits of multistage's ordered sums.
#include "chains.cuh"

#include "../offers.hpp"
#include "../ordered_chains.hpp"

#include <cstdint>
#include <memory>

namespace tessera::cuda {
namespace {

template <class T>
using ChainsKernel = void (*)(ChainsArguments<T>);

/// Kernels for one layout of the large operand, and the step of the narrow one.
template <class T>
struct ChainsKernels {
  ChainsKernel<T> wide, narrow;
};

template <class T, int kFew, bool kKMajor>
ChainsKernels<T> kernels_of(std::int64_t step) {
  constexpr int kShort = int(kChainsSteps<T>[0]);
  constexpr int kLongest = chains_has_long_steps<T>(kFew, kKMajor) ? int(kChainsSteps<T>[1]) : kShort;
  return {step == kLongest ? gemm_chains_kernel<ChainsShape<T, kFew, kKMajor, kLongest, true>>
                           : gemm_chains_kernel<ChainsShape<T, kFew, kKMajor, kShort, true>>,
          gemm_chains_kernel<ChainsShape<T, kFew, kKMajor, kChainsStepOfOnes<T>, false>>};
}

template <class T>
ChainsKernels<T> kernels_for(int few, bool k_major, std::int64_t step) {
  const auto of = [&]<int kFew>() {
    return k_major ? kernels_of<T, kFew, true>(step) : kernels_of<T, kFew, false>(step);
  };
  return few == 1   ? of.template operator()<1>()
         : few == 2 ? of.template operator()<2>()
         : few == 4 ? of.template operator()<4>()
                    : of.template operator()<8>();
}

template <class T>
class ChainsPlan final : public plugin::Plan {
 public:
  ChainsPlan(Context& context, const plugin::GemmProblem& problem, const ChainsConfig& config)
      : context_(context),
        problem_(problem),
        config_(config),
        kernels_(kernels_for<T>(chains_few(problem), skinny_k_major(problem), config.step)) {
    const DeviceGuard guard(context.device());
    prepare(kernels_.wide, context.machine().shared_per_block);
    prepare(kernels_.narrow, context.machine().shared_per_block);
    early_.early = can_start_early(kernels_.wide);
  }

  void execute(const plugin::Execution& e) override {
    const auto& p = problem_;
    const bool turned = chains_turned(p);
    if (p.m == 0 || p.n == 0 || p.batch == 0) return;
    ChainsArguments<T> x{arguments_of<T>(p, e), turned, 0, 0, int(config_.chains), 0};
    x.few_line = turned ? (p.trans_b ? p.ldb : 1) : (p.trans_a ? 1 : p.lda);
    x.few_k = turned ? (p.trans_b ? 1 : p.ldb) : (p.trans_a ? p.lda : 1);
    x.k_per_slice = ordered_chain_length(p.k, config_.chains);
    const std::int64_t blocks = ceil_div(chains_many(p), kChainsLines) * p.batch * config_.cluster;
    const bool wide = chains_vectors(p) && at_vector(turned ? x.g.a : x.g.b);
    ChainsConfig taken = config_;
    if (!wide) taken.step = kChainsStepOfOnes<T>;
    const DeviceGuard guard(context_.device());
    launch(wide ? kernels_.wide : kernels_.narrow, dim3(unsigned(blocks)), dim3(unsigned(32 * config_.warps())),
           std::size_t(chains_shared_bytes<T>(p, taken)), context_.stream(), ClusterSize{unsigned(config_.cluster)},
           early_, x);
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
  ChainsConfig config_;
  ChainsKernels<T> kernels_;
  EarlyStart early_{};
};

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem,
                                   const plugin::Parameters& parameters) {
  const ChainsConfig config{ordered_chains(problem, context.machine()), parameters.at("cluster"),
                            parameters.at("step")};
  return plugin::with_types<plugin::WideTypes>(problem.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 return std::make_unique<ChainsPlan<T>>(context, problem, config);
                                               });
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"chains", chains_why_unsupported, chains_offers, make, {.epilogue = true, .aux = true, .ordered = true}}, 3};

}  // namespace
}  // namespace tessera::cuda
