// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Large products: tiles of A and B come into shared memory in a pipeline of asynchronous copies, and
/// warps multiply them from registers, in f32 on the multiply-add units, in f64, 16 bits and tf32 on the tensor cores.
/// Where C has too few tiles for the device, k is cut into slices, whose sums are added in order, so the
/// bits are the same in every run: by a cluster of blocks, or by a second kernel.
#include "multistage_kernels.hpp"

#include "../../vector_access.hpp"
#include "../offers.hpp"
#include "../ordered_chains.hpp"
#include "../parts.hpp"
#include "../slices.cuh"
#include "../transpose.cuh"
#include "multistage.hpp"

#include <algorithm>

namespace tessera::cuda {
namespace {

/// Of an arithmetic.
template <class A>
class MultistagePlan final : public plugin::Plan {
  using T = typename MultistageLayout<A>::T;

 public:
  MultistagePlan(Context& context, const plugin::GemmProblem& problem, const MultistageKernels<A>& kernels,
                 const MultistageConfig& config)
      : context_(context),
        problem_(problem),
        kernels_(kernels),
        tile_(config.tile),
        split_(config.split),
        transposed_columns_(config.transpose),
        workspace_bytes_(multistage_workspace(problem, context.machine(), config)),
        tiles_per_slice_(tile_.folds ? int(ordered_chain_length(problem.k, ordered_chains(problem, context.machine())) /
                                           tile_.k_depth)
                                     : 0),
        cluster_(split_ > 1 && !multistage_uses_workspace(context.machine(), split_)),
        transposes_a_(multistage_transposes_a(problem, tile_)),
        transposes_b_(multistage_transposes_b(problem, tile_) && transposed_columns_ == 0),
        alignment_a_(multistage_alignment_a(problem)),
        alignment_b_(transposed_columns_ > 0 ? alignment_of(problem.dtype, {transposed_columns_})
                                             : multistage_alignment_b(problem)) {
    const DeviceGuard guard(context.device());
    const bool to_partial = transposed_columns_ == 0 && workspace_bytes_ > 0;
    // What the layout allows, and for operands at addresses that allow less.
    for (std::size_t copy = copy_of(16, 16); copy < MultistageLayout<A>::kCopyBytes.size(); ++copy) {
      if (!to_partial) prepare(kernel(copy, false), context.machine().shared_per_block);
      if ((!problem.has_epilogue() && problem.triangle == TESSERA_TRIANGLE_NONE) || to_partial)
        prepare(kernel(copy, true), context.machine().shared_per_block);
    }
    if (to_partial) add_start_ = prepare_add_slices<T>();
    if constexpr (kTransposes)
      if (transposed_columns_ > 0) prepare(gemm_transpose_kernel<T>);
  }

  std::uint64_t workspace_bytes() const override { return workspace_bytes_; }

  void execute(const plugin::Execution& e) override {
    const GemmArguments<T> g = arguments_of<T>(problem_, e);
    const DeviceGuard guard(context_.device());
    if constexpr (kTransposes)
      if (transposed_columns_ > 0) return multiply_transposed(g, e.workspace<T>());
    multiply(g, workspace_bytes_ > 0 ? e.workspace<Scalar<T>>() : nullptr);
  }

 private:
  static constexpr bool kTransposes = MultistageLayout<A>::kTransposes;

  auto kernel(std::size_t copy, bool plain) const {
    return kernels_.kernels[copy][plain][cluster_][problem_.trans_a][problem_.trans_b && transposed_columns_ == 0];
  }

  /// The copies that the operands' layouts and the alignment of their addresses allow.
  std::size_t copy_of(int at_a, int at_b) const {
    const int a = transposes_a_ ? 16 : std::min(alignment_a_, at_a);
    const int b = transposes_b_ ? 16 : std::min(alignment_b_, at_b);
    return multistage_copy<A>(std::min(a, b));
  }

  void multiply(const GemmArguments<T>& g, Scalar<T>* partial) const {
    SlicedArguments<T> x{g, int(split_), 0, partial, partial_ld(g.n), tiles_per_slice_};
    x.k_per_slice = problem_.ordered ? ordered_chain_length(g.k, split_)
                                     : ceil_div(ceil_div(g.k, tile_.k_depth), split_) * tile_.k_depth;
    const bool triangle = problem_.triangle != TESSERA_TRIANGLE_NONE;
    if (triangle) x.triangle = multistage_triangle(problem_, tile_);
    const std::int64_t tiles = triangle ? x.triangle.tiles : ceil_div(g.m, tile_.m) * ceil_div(g.n, tile_.n);
    const std::int64_t blocks = tiles * g.batch * split_;
    launch(kernel(copy_of(alignment_of(g.a), alignment_of(g.b)), partial != nullptr || (g.plain() && !triangle)),
           dim3(unsigned(blocks)), dim3(unsigned(tile_.threads())), std::size_t(tile_.shared_bytes), context_.stream(),
           ClusterSize{cluster_ ? unsigned(split_) : 1u}, x);
    if (partial != nullptr) launch_add_slices(x, context_.stream(), add_start_);
  }

  /// Columns of C by columns of op(B), transposed before.
  void multiply_transposed(const GemmArguments<T>& g, T* transposed) const {
    for (std::int64_t batch = 0; batch < g.batch; ++batch)
      for (std::int64_t column = 0; column < g.n; column += transposed_columns_) {
        GemmArguments<T> chunk = g;
        chunk.batch = 1;
        chunk.n = std::min(transposed_columns_, g.n - column);
        chunk.a += batch * g.stride_a;
        chunk.b = transposed;
        chunk.ldb = transposed_columns_;
        chunk.c = g.c + (batch * g.stride_c + column);
        chunk.d = g.d + (batch * g.stride_d + column);
        chunk.finish = g.finish.at(batch, 0, column);
        const T* const columns = g.b + batch * g.stride_b + column * g.ldb;
        if (g.k > 0)
          launch_transpose<T>({columns, g.ldb, chunk.n, g.k, transposed, transposed_columns_}, context_.stream());
        multiply(chunk, nullptr);
      }
  }

  Context& context_;
  plugin::GemmProblem problem_;
  MultistageKernels<A> kernels_;
  MultistageTile tile_;
  std::int64_t split_, transposed_columns_;
  std::uint64_t workspace_bytes_;
  int tiles_per_slice_;  ///< of k, where a block has all slices of a tile
  bool cluster_;         ///< the slices of a tile are a cluster
  bool transposes_a_, transposes_b_;
  EarlyStart add_start_{};
  int alignment_a_, alignment_b_;  ///< bytes of the copies that the layouts allow
};

/// The kernels of a tile of the arithmetic's list.
template <class A>
MultistageKernels<A> kernels_of(const MultistageTile& tile) {
  return [&]<std::size_t... kTile>(std::index_sequence<kTile...>) {
    constexpr MultistageKernels<A> (*kKernels[])() = {multistage_kernels_of<A, kTile>...};
    return kKernels[tile.number]();
  }
  (std::make_index_sequence<kMultistageTiles<A>.size()>{});
}

}  // namespace

std::unique_ptr<plugin::Plan> make_multistage(Context& context, const plugin::GemmProblem& problem,
                                              const plugin::Parameters& parameters) {
  const MultistageConfig config = multistage_config(problem, context.machine(), parameters);
  return with_arithmetic(
      problem.dtype, config.tile, [&]<class A>(std::type_identity<A>) -> std::unique_ptr<plugin::Plan> {
        return std::make_unique<MultistagePlan<A>>(context, problem, kernels_of<A>(config.tile), config);
      });
}

namespace {

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"multistage",
     multistage_why_unsupported,
     multistage_offers,
     make_multistage,
     {.narrow = true, .epilogue = true, .aux = true, .ordered = true, .triangle = true}},
    0};

}  // namespace
}  // namespace tessera::cuda
