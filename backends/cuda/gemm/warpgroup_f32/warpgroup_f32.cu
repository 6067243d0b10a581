// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products of f32 on Hopper's tensor cores, whose caller permits other arithmetic than strict. One kernel takes the
/// elements of A and B apart into parts that the tensor cores know, in the order in which they read them; another
/// multiplies the parts. Where C has too few tiles for the device, k is cut into slices, whose sums are added in order,
/// so the bits are the same in every run.
#include "warpgroup_f32_kernels.cuh"

#include "../../vector_access.hpp"
#include "../offers.hpp"
#include "../slices.cuh"
#include "warpgroup_f32.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tessera::cuda {
namespace {

class WarpgroupF32Plan final : public plugin::Plan {
 public:
  WarpgroupF32Plan(Context& context, const plugin::GemmProblem& problem, const WarpgroupF32Kernels& kernels,
                   const WarpgroupF32Config& config)
      : context_(context),
        problem_(problem),
        kernels_(kernels),
        config_(config),
        workspace_(warpgroup_f32_workspace(problem, config)) {
    const DeviceGuard guard(context.device());
    prepare(kernels_.product, context.machine().shared_per_block);
    prepare(kernels_.parts);
    if (kernels_.largest != nullptr) prepare(kernels_.largest);
    early_.early = can_start_early(kernels_.product);
    if (config.split > 1) early_adding_ = prepare_add_slices<float>();
  }

  std::uint64_t workspace_bytes() const override { return workspace_.bytes; }

  void execute(const plugin::Execution& e) override {
    GemmArguments<float> g = arguments_of<float>(problem_, e);  // but for A and B
    const Inputs in{e.operand<const std::byte>(0), e.operand<const std::byte>(1)};
    const DeviceGuard guard(context_.device());
    auto* const workspace = workspace_.bytes > 0 ? e.workspace<unsigned char>() : nullptr;
    if (config_.whole()) return multiply(g, in, workspace);
    const GemmArguments<float> all = g;
    g.batch = 1;
    for (std::int64_t i = 0; i < all.batch; ++i) {
      g.c = all.c + i * g.stride_c, g.d = all.d + i * g.stride_d;
      g.finish = all.finish.at(i, 0, 0);
      multiply_panels(g, from(in, i * g.stride_a, i * g.stride_b), workspace);
    }
  }

 private:
  /// A and B, of their types.
  struct Inputs {
    const std::byte *a, *b;
  };
  /// So many elements further.
  Inputs from(const Inputs& in, std::int64_t a, std::int64_t b) const {
    return {in.a + a * std::int64_t(plugin::size_of(problem_.dtype)),
            in.b + b * std::int64_t(plugin::size_of(problem_.dtype_b))};
  }

  PartsOperand operand(const std::byte* data, tessera_dtype dtype, std::int64_t ld, std::int64_t stride,
                       std::int64_t lines, const GemmArguments<float>& g, bool k_major, int block,
                       const PartsPlaces& places, unsigned char* workspace) const {
    const std::int64_t matrices = warpgroup_f32_matrices(g.batch, stride, config_);
    const bool vectors = at_vector(data) && whole_vectors(dtype, {ld, matrices > 1 ? stride : 0});
    return {data,
            ld,
            stride,
            lines,
            g.k,
            matrices,
            k_major,
            vectors,
            block,
            config_.tile.slabs,
            workspace + places.parts,
            reinterpret_cast<std::uint32_t*>(workspace + places.largest),
            reinterpret_cast<std::int32_t*>(workspace + places.scale)};
  }

  void split(const PartsOperand& a, const PartsOperand& b) const {
    const std::int64_t lines = (a.all_lines() + b.all_lines()) / kPartsLines;
    const auto start = [&](auto kernel, std::int64_t blocks) {
      launch(kernel, dim3(unsigned(blocks)), dim3(kPartsThreads), 0, context_.stream(), early_, PartsArguments{{a, b}});
    };
    if (kernels_.largest != nullptr) start(kernels_.largest, lines * kLargestShares);
    start(kernels_.parts, lines * ceil_div(a.k, kPartsDepth));
  }

  /// D holds the sums of the panels before.
  void multiply_panels(const GemmArguments<float>& g, const Inputs& in, unsigned char* workspace) const {
    GemmArguments<float> panel = g;
    for (std::int64_t k = 0; k == 0 || k < g.k; k += config_.panel_k) {
      panel.k = std::min(config_.panel_k, g.k - k);
      panel.finish = k + panel.k >= g.k ? g.finish : Finish<float>{};
      multiply(panel, from(in, problem_.trans_a ? k * g.lda : k, problem_.trans_b ? k : k * g.ldb), workspace);
      panel.c = g.d, panel.ldc = g.ldd, panel.beta = 1.0f;
    }
  }

  SlicedArguments<float> sliced(const GemmArguments<float>& g, unsigned char* workspace) const {
    auto* const partial = reinterpret_cast<float*>(workspace_.partial_bytes > 0 ? workspace : nullptr);
    SlicedArguments<float> x{g, int(config_.split), 0, partial, partial_ld(g.n)};
    x.k_per_slice = ceil_div(ceil_div(g.k, config_.tile.depth()), config_.split) * config_.tile.depth();
    return x;
  }

  void multiply(const GemmArguments<float>& g, const Inputs& in, unsigned char* workspace) const {
    const WarpgroupF32Tile& tile = config_.tile;
    WarpgroupF32Arguments w{{}, {}, sliced(g, workspace)};
    if (g.k > 0) {
      w.a = operand(in.a, problem_.dtype, g.lda, g.stride_a, g.m, g, !problem_.trans_a, tile.m(), workspace_.a,
                    workspace);
      w.b =
          operand(in.b, problem_.dtype_b, g.ldb, g.stride_b, g.n, g, problem_.trans_b, tile.n, workspace_.b, workspace);
      split(w.a, w.b);
    }
    const auto blocks = warpgroup_f32_blocks(g.m, g.n, g.batch, context_.machine(), config_);
    launch(kernels_.product, dim3(unsigned(blocks)), dim3(unsigned(WarpgroupF32Tile::kThreads)),
           std::size_t(tile.shared_bytes()), context_.stream(), ClusterSize{unsigned(tile.cluster)}, early_, w);
    if (w.x.partial != nullptr) launch_add_slices(w.x, context_.stream(), early_adding_);
  }

  Context& context_;
  plugin::GemmProblem problem_;
  WarpgroupF32Kernels kernels_;
  WarpgroupF32Config config_;
  WarpgroupF32Workspace workspace_;
  EarlyStart early_{}, early_adding_{};  ///< whether launches may begin before others have ended
};

std::unique_ptr<plugin::Plan> make_warpgroup_f32(Context& context, const plugin::GemmProblem& problem,
                                                 const plugin::Parameters& parameters) {
#ifdef TESSERA_CUDA_SM90A
  const WarpgroupF32Config config = warpgroup_f32_config(problem, parameters);
  return [&]<std::size_t... kNumber>(std::index_sequence<kNumber...>) {
    constexpr WarpgroupF32Kernels (*kKernels[])() = {warpgroup_f32_kernels_of<int(kNumber)>...};
    return std::make_unique<WarpgroupF32Plan>(context, problem, kKernels[config.tile.number](), config);
  }
  (std::make_index_sequence<kWarpgroupF32Tiles.size()>{});
#else
  throw plugin::Error(TESSERA_INTERNAL, "warpgroup_f32 was not built");
#endif
}

/// Also where the plugin was built without the kernels.
std::string why_unsupported(const plugin::GemmProblem& problem, const Machine& machine) {
#ifdef TESSERA_CUDA_SM90A
  return warpgroup_f32_why_unsupported(problem, machine);
#else
  return "the plugin was built without code for Hopper (90 in CMAKE_CUDA_ARCHITECTURES)";
#endif
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"warpgroup_f32",
     why_unsupported,
     warpgroup_f32_offers,
     make_warpgroup_f32,
     {.narrow = true, .epilogue = true, .ordered = true, .mixed = true}},
    0};

}  // namespace
}  // namespace tessera::cuda
