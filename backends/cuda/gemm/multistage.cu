// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Large products: tiles of A and B come into shared memory in a pipeline of asynchronous copies, and
/// warps multiply them from registers, in f32 on the multiply-add units, in f64 on the tensor cores.
/// Where C has too few tiles for the device, k is cut into slices, whose sums are added in order, so the
/// bits are the same in every run: by a cluster of blocks, or by a second kernel.
#include "multistage.cuh"

#include "../vector_access.hpp"
#include "algorithms.hpp"
#include "multistage.hpp"

#include <algorithm>
#include <cmath>
#include <set>
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
        cluster_(split > 1 && !multistage_uses_workspace(device, split)),
        wide_(multistage_wide(problem)) {
    const DeviceGuard guard(context.device());
    prepare(wide(), context.limits().shared_per_block);
    prepare(narrow(), context.limits().shared_per_block);
    if (workspace_bytes_ > 0) prepare(gemm_add_slices_kernel<T>);
  }

  std::uint64_t workspace_bytes() const override { return workspace_bytes_; }

  void execute(const plugin::Execution& e) override {
    const auto& p = problem_;
    SlicedArguments<T> x{arguments_of<T>(p, e), int(split_), 0, workspace_bytes_ > 0 ? e.workspace<T>() : nullptr,
                         multistage_partial_ld(p.n)};
    const std::int64_t steps = tiles_along(x.g.k, kernels_.depth);
    x.slice_depth = (steps + split_ - 1) / split_ * kernels_.depth;
    const std::int64_t blocks = tiles_along(p.m, kernels_.m) * tiles_along(p.n, kernels_.n) * p.batch * split_;
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
    return wide_ && (multistage_turns_a(problem_) || at_vector(g.a)) &&
           (multistage_turns_b(problem_) || at_vector(g.b));
  }

  Context& context_;
  plugin::GemmProblem problem_;
  const MultistageKernels<T>& kernels_;
  std::int64_t split_;
  std::uint64_t workspace_bytes_;
  bool cluster_;  ///< the slices of a tile are a cluster
  bool wide_;     ///< copies of 16 bytes, where the addresses allow them
};

template <class T>
std::unique_ptr<plugin::Plan> make_with(Context& context, const plugin::GemmProblem& problem,
                                        const MultistageDevice& device, const MultistageChoice& choice) {
  const MultistageTile& tile = choice.tile;
  for (const auto& kernels : multistage_kernels(std::type_identity<T>{}))
    if (kernels.m == tile.m && kernels.n == tile.n && kernels.depth == tile.depth &&
        std::max(kernels.shared_bytes[0], kernels.shared_bytes[1]) <= tile.shared_bytes)
      return std::make_unique<MultistagePlan<T>>(context, problem, kernels, device, choice.split);
  throw plugin::Error(TESSERA_INTERNAL, "multistage has no kernels for tiles of " + std::to_string(tile.m) + " x " +
                                            std::to_string(tile.n));
}

/// Takes one extent of the tile from the parameters: leaves the tiles that have it.
void take_extent(plugin::PlanOptions& options, const char* name, int MultistageTile::*extent, int automatic,
                 std::vector<MultistageTile>& tiles) {
  std::set<std::int64_t> allowed;
  for (const MultistageTile& tile : tiles) allowed.insert(tile.*extent);
  const auto taken =
      options.parameters.take(name, automatic, std::vector<std::int64_t>(allowed.begin(), allowed.end()));
  std::erase_if(tiles, [&](const MultistageTile& tile) { return tile.*extent != taken; });
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem, plugin::PlanOptions options) {
  const MultistageDevice device{context.limits().multiprocessors, context.limits().shared_per_block,
                                context.limits().major >= 9};
  std::vector<MultistageTile> tiles = multistage_tiles(problem.dtype, device);
  const auto choose = [&] { return choose_multistage(problem, device, options.workspace_limit, tiles); };
  take_extent(options, "tile_m", &MultistageTile::m, choose().tile.m, tiles);
  take_extent(options, "tile_n", &MultistageTile::n, choose().tile.n, tiles);
  MultistageChoice choice = choose();
  choice.split =
      options.parameters.take("split", choice.split, 1, most_slices(problem, device, options.workspace_limit));
  const double blocks = multistage_blocks(problem, choice.tile, choice.split);
  if (blocks > double(kMaxGridX))
    throw plugin::Error(TESSERA_INVALID_ARGUMENT,
                        "tiles of " + std::to_string(choice.tile.m) + " x " + std::to_string(choice.tile.n) +
                            " in split = " + std::to_string(choice.split) + " slices take " + std::to_string(blocks) +
                            " blocks; a grid has at most " + std::to_string(kMaxGridX) + ": use larger tiles");
  return problem.dtype == TESSERA_F64 ? make_with<double>(context, problem, device, choice)
                                      : make_with<float>(context, problem, device, choice);
}

std::string why_unsupported(const plugin::GemmProblem& p, int) {
  constexpr int kTile = 64;  // of every device the largest one is at least as large
  const double blocks = std::ceil(double(p.m) / kTile) * std::ceil(double(p.n) / kTile) * double(p.batch);
  if (blocks <= double(kMaxGridX) && double(p.k) < double(kMaxGridX)) return {};
  return "C has more than " + std::to_string(kMaxGridX) + " tiles of 64 x 64, or k is above " +
         std::to_string(kMaxGridX);
}

}  // namespace

const GemmAlgorithm kGemmMultistage{"multistage", why_unsupported, make};

}  // namespace tessera::cuda
