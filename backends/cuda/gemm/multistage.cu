// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Large products: tiles of A and B come into shared memory in a pipeline of asynchronous copies, and
/// warps multiply them from registers, in f32 on the multiply-add units, in f64 on the tensor cores.
/// Where C has too few tiles for the device, k is cut into slices, whose sums are added in order, so the
/// bits are the same in every run: by a cluster of blocks, or by a second kernel.
#include "multistage.cuh"

#include "algorithms.hpp"
#include "multistage.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

template <class T>
class MultistagePlan final : public plugin::Plan {
 public:
  MultistagePlan(Context& context, const plugin::GemmProblem& problem, const MultistageKernels<T>& kernels,
                 const MultistageDevice& device, std::int64_t split)
      : context_(context),
        problem_(problem),
        kernels_(kernels),
        split_(split),
        workspace_bytes_(multistage_workspace(problem, device, split)),
        cluster_(split > 1 && !multistage_uses_workspace(device, split)) {
    const DeviceGuard guard(context.device());
    prepare(wide(), context.limits().shared_per_block);
    prepare(narrow(), context.limits().shared_per_block);
    if (workspace_bytes_ > 0) prepare(gemm_add_slices_kernel<T>);
    const auto& p = problem_;
    // 16 bytes at a time: rows begin at such places and have whole numbers of them.
    const auto whole = [](std::int64_t value) { return value % std::int64_t(16 / sizeof(T)) == 0; };
    wide_a_ = whole(p.lda) && whole(p.stride_a) && whole(p.trans_a ? p.m : p.k);
    wide_b_ = whole(p.ldb) && whole(p.stride_b) && whole(p.trans_b ? p.k : p.n);
    if (sizeof(T) == 4) {  // an operand that is turned goes word by word in either kernel
      wide_a_ |= !p.trans_a;
      wide_b_ |= p.trans_b;
    }
  }

  std::uint64_t workspace_bytes() const override { return workspace_bytes_; }

  void execute(const plugin::Execution& e) override {
    const auto& p = problem_;
    SlicedArguments<T> x{arguments_of<T>(p, e), int(split_), 0, workspace_bytes_ > 0 ? e.workspace<T>() : nullptr,
                         multistage_partial_ld(p.n)};
    const std::int64_t steps = tiles_along(x.g.k, kernels_.depth);
    x.slice_depth = (steps + split_ - 1) / split_ * kernels_.depth;
    const std::int64_t blocks = tiles_along(p.m, kernels_.tile) * tiles_along(p.n, kernels_.tile) * p.batch * split_;
    const DeviceGuard guard(context_.device());
    launch(aligned(x.g) ? wide() : narrow(), dim3(unsigned(blocks)), dim3(unsigned(kernels_.threads)),
           std::size_t(kernels_.shared_bytes[cluster_]), context_.stream(),
           ClusterSize{cluster_ ? unsigned(split_) : 1u}, x);
    if (workspace_bytes_ == 0) return;
    launch_add_slices(x, context_.stream());
  }

 private:
  auto wide() const { return kernels_.wide[cluster_][problem_.trans_a][problem_.trans_b]; }
  auto narrow() const { return kernels_.narrow[cluster_][problem_.trans_a][problem_.trans_b]; }

  bool aligned(const GemmArguments<T>& g) const {
    const bool turned_a = sizeof(T) == 4 && !problem_.trans_a, turned_b = sizeof(T) == 4 && problem_.trans_b;
    return wide_a_ && wide_b_ && (turned_a || reinterpret_cast<std::uintptr_t>(g.a) % 16 == 0) &&
           (turned_b || reinterpret_cast<std::uintptr_t>(g.b) % 16 == 0);
  }

  Context& context_;
  plugin::GemmProblem problem_;
  const MultistageKernels<T>& kernels_;
  std::int64_t split_;
  std::uint64_t workspace_bytes_;
  bool cluster_;  ///< the slices of a tile are a cluster
  bool wide_a_, wide_b_;
};

template <class T>
std::unique_ptr<plugin::Plan> make_with(Context& context, const plugin::GemmProblem& problem,
                                        const MultistageDevice& device, const MultistageChoice& choice) {
  for (const auto& kernels : multistage_kernels(std::type_identity<T>{}))
    if (kernels.tile == choice.tile)
      return std::make_unique<MultistagePlan<T>>(context, problem, kernels, device, choice.split);
  throw plugin::Error(TESSERA_INTERNAL, "multistage has no kernels for tile " + std::to_string(choice.tile));
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem, plugin::PlanOptions options) {
  const MultistageDevice device{context.limits().multiprocessors, context.limits().shared_per_block,
                                context.limits().major >= 9};
  std::vector<std::int64_t> sizes;
  for (const MultistageTile& tile : multistage_tiles(problem.dtype))
    if (tile.shared_bytes <= device.shared_per_block) sizes.push_back(tile.size);
  MultistageChoice choice = choose_multistage(problem, device, options.workspace_limit);
  choice.tile = int(options.parameters.take("tile", choice.tile, sizes));
  choice = choose_multistage(problem, device, options.workspace_limit, choice.tile);  // the split for a given tile
  choice.split =
      options.parameters.take("split", choice.split, 1, most_slices(problem, device, options.workspace_limit));
  return problem.dtype == TESSERA_F64 ? make_with<double>(context, problem, device, choice)
                                      : make_with<float>(context, problem, device, choice);
}

/// One block a tile and slice: what a grid may have, with the smallest tile and the most slices.
std::string why_unsupported(const plugin::GemmProblem& p, int) {
  const double blocks = std::ceil(double(p.m) / 32.0) * std::ceil(double(p.n) / 32.0) * double(p.batch);
  const double most = double(kMaxGridX) / double(kMultistageMostSplit);
  if (blocks <= most && double(p.k) < double(kMaxGridX)) return {};
  return "C has more than " + std::to_string(std::int64_t(most)) + " tiles of 32 x 32, or k is above " +
         std::to_string(kMaxGridX);
}

}  // namespace

const GemmAlgorithm kGemmMultistage{"multistage", why_unsupported, make};

}  // namespace tessera::cuda
