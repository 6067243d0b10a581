// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products of f32, or of f32 and 16 bits, with few rows or columns of D, whose caller permits parts. The large operand
/// is read once, as it lies: what warpgroup_f32 spends on parts in memory is more than such a product takes.
#include "skinny_parts_f32.cuh"

#include "../../vector_access.hpp"
#include "../offers.hpp"

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {
namespace {

/// The kernel for few of the one type and many of the other.
SkinnyPartsKernel kernel_for(tessera_dtype few, tessera_dtype many, int number, bool many_k_major) {
  const bool narrow_few = plugin::size_of(few) < plugin::size_of(many);
  return plugin::with_types(narrow_few ? few : many, [&]<class T>(std::type_identity<T>) -> SkinnyPartsKernel {
    if constexpr (sizeof(Scalar<T>) == sizeof(float)) return skinny_parts_kernel<T>(narrow_few, number, many_k_major);
    throw plugin::Error(TESSERA_INTERNAL, "skinny_parts has no such types");
  });
}

class SkinnyPartsPlan final : public plugin::Plan {
 public:
  SkinnyPartsPlan(Context& context, const plugin::GemmProblem& problem, const SkinnyPartsConfig& config)
      : context_(context), problem_(problem), config_(config) {
    const auto& p = problem;
    const Side a{
        0, p.dtype, {nullptr, p.m, p.lda, p.stride_a, !p.trans_a, skinny_parts_vectors(p.dtype, p.lda, p.stride_a)}};
    const Side b{
        1, p.dtype_b, {nullptr, p.n, p.ldb, p.stride_b, p.trans_b, skinny_parts_vectors(p.dtype_b, p.ldb, p.stride_b)}};
    few_ = config.turned ? b : a, many_ = config.turned ? a : b;
    kernel_ = kernel_for(few_.dtype, many_.dtype, config.tile.number, many_.of.k_major);
    const DeviceGuard guard(context.device());
    prepare(kernel_);
    early_.early = can_start_early(kernel_);
  }

  void execute(const plugin::Execution& e) override {
    SkinnyPartsArguments x{arguments_of<float>(problem_, e), taken(few_, e), taken(many_, e), config_.turned, 0};
    x.k_per_slice = skinny_parts_slice(problem_, config_);
    const std::int64_t blocks = ceil_div(x.few.extent, config_.tile.few) * ceil_div(x.many.extent, config_.tile.many) *
                                x.g.batch * config_.split;
    if (blocks == 0) return;
    const DeviceGuard guard(context_.device());
    launch(kernel_, dim3(unsigned(blocks)), dim3(SkinnyPartsTile::kThreads), 0, context_.stream(),
           ClusterSize{unsigned(config_.split)}, early_, x);
  }

 private:
  /// A or B, without its address.
  struct Side {
    int operand;
    tessera_dtype dtype;
    SkinnyPartsOperand of;
  };
  static SkinnyPartsOperand taken(const Side& side, const plugin::Execution& e) {
    SkinnyPartsOperand o = side.of;
    o.data = e.operand<const void>(side.operand);
    o.vectors = o.vectors && alignment_of(o.data) >= int(4 * plugin::size_of(side.dtype));
    return o;
  }

  Context& context_;
  plugin::GemmProblem problem_;
  SkinnyPartsConfig config_;
  Side few_{}, many_{};
  SkinnyPartsKernel kernel_ = nullptr;
  EarlyStart early_{};
};

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem,
                                   const plugin::Parameters& parameters) {
  return std::make_unique<SkinnyPartsPlan>(context, problem, skinny_parts_config(problem, parameters));
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"skinny_parts",
     skinny_parts_why_unsupported,
     skinny_parts_offers,
     make,
     {.narrow = true, .epilogue = true, .aux = true, .ordered = true, .mixed = true}},
    3};

}  // namespace
}  // namespace tessera::cuda
