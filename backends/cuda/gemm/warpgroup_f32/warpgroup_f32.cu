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

#include <tessera/plugin/operand_copy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tessera::cuda {
namespace {

/// An operand whose parts lie at places of a memory.
PartsOperand parts_operand(const void* data, tessera_dtype dtype, std::int64_t ld, std::int64_t stride,
                           std::int64_t lines, std::int64_t k, std::int64_t matrices, bool k_major, int block,
                           int slabs, unsigned char* memory, const PartsPlaces& places) {
  const bool vectors = at_vector(data) && whole_vectors(dtype, {ld, matrices > 1 ? stride : 0});
  return {data,
          ld,
          stride,
          lines,
          k,
          matrices,
          k_major,
          vectors,
          block,
          slabs,
          memory + places.parts,
          reinterpret_cast<std::uint32_t*>(memory + places.largest),
          reinterpret_cast<std::int32_t*>(memory + places.scale)};
}

/// Makes the parts of operands; of one without lines none.
void split(const WarpgroupF32Kernels& kernels, const PartsArguments& x, cudaStream_t stream, EarlyStart early) {
  const std::int64_t lines = (x.of[0].all_lines() + x.of[1].all_lines()) / kPartsLines;
  const auto start = [&](auto kernel, std::int64_t blocks) {
    launch(kernel, dim3(unsigned(blocks)), dim3(kPartsThreads), 0, stream, early, x);
  };
  if (kernels.largest != nullptr) start(kernels.largest, lines * kLargestShares);
  start(kernels.parts, lines * ceil_div(x.of[0].k, kPartsDepth));
}

void prepare_splitting(const WarpgroupF32Kernels& kernels) {
  prepare(kernels.parts);
  if (kernels.largest != nullptr) prepare(kernels.largest);
}

class WarpgroupF32Plan final : public plugin::Plan {
 public:
  WarpgroupF32Plan(Context& context, const plugin::GemmProblem& problem, const WarpgroupF32Kernels& kernels,
                   const WarpgroupF32Config& config)
      : context_(context),
        problem_(problem),
        kernels_(kernels),
        config_(config),
        workspace_(warpgroup_f32_workspace(problem, config)),
        matrix_bytes_(problem.form != nullptr ? plugin::matrix_bytes(problem) : 0) {
    const DeviceGuard guard(context.device());
    prepare(kernels_.product, context.machine().shared_per_block);
    prepare_splitting(kernels_);
    early_.early = can_start_early(kernels_.product);
    if (config.split > 1) {
      prepare(kernels_.add);
      early_adding_.early = can_start_early(kernels_.add);
    }
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
                       const PartsPlaces& places, unsigned char* parts) const {
    return parts_operand(data, dtype, ld, stride, lines, g.k, warpgroup_f32_matrices(g.batch, stride, config_), k_major,
                         block, config_.tile.slabs, parts, places);
  }

  bool is_prepared(int operand) const { return problem_.form != nullptr && problem_.form->operand == operand; }
  /// What the places of an operand's parts count from.
  unsigned char* parts_of(int operand, const std::byte* data, unsigned char* workspace) const {
    if (!is_prepared(operand)) return workspace;
    return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(data)) + matrix_bytes_;  // is only read
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
    const std::int64_t depth = config_.tile.depth();
    x.k_per_slice = problem_.ordered && config_.split > 1 ? ordered_parts_slice(problem_)
                                                          : ceil_div(ceil_div(g.k, depth), config_.split) * depth;
    return x;
  }

  void multiply(const GemmArguments<float>& g, const Inputs& in, unsigned char* workspace) const {
    const WarpgroupF32Tile& tile = config_.tile;
    constexpr std::int64_t kApart = 512;  // of k, of sums in any order
    WarpgroupF32Arguments w{{}, {}, sliced(g, workspace), 0};
    w.steps_apart = int((problem_.ordered ? ordered_parts_slice(problem_) : kApart) / tile.depth());
    if (g.k > 0) {
      w.a = operand(in.a, problem_.dtype, g.lda, g.stride_a, g.m, g, !problem_.trans_a, tile.m(), workspace_.a,
                    parts_of(0, in.a, workspace));
      w.b = operand(in.b, problem_.dtype_b, g.ldb, g.stride_b, g.n, g, problem_.trans_b, tile.n, workspace_.b,
                    parts_of(1, in.b, workspace));
      PartsArguments unprepared{{w.a, w.b}};
      if (problem_.form != nullptr) unprepared.of[problem_.form->operand].lines = 0;
      split(kernels_, unprepared, context_.stream(), early_);
    }
    if (problem_.triangle != TESSERA_TRIANGLE_NONE) w.x.triangle = warpgroup_f32_triangle(problem_, tile);
    const auto blocks = warpgroup_f32_blocks(problem_, g.batch, context_.machine(), config_);
    launch(kernels_.product, dim3(unsigned(blocks)), dim3(unsigned(WarpgroupF32Tile::kThreads)),
           std::size_t(tile.shared_bytes()), context_.stream(), ClusterSize{unsigned(tile.cluster)}, early_, w);
    if (w.x.partial != nullptr) launch_add_slices(kernels_.add, g, w, context_.stream(), early_adding_);
  }

  Context& context_;
  plugin::GemmProblem problem_;
  WarpgroupF32Kernels kernels_;
  WarpgroupF32Config config_;
  WarpgroupF32Workspace workspace_;
  std::uint64_t matrix_bytes_;           ///< of an operand that was prepared
  EarlyStart early_{}, early_adding_{};  ///< whether launches may begin before others have ended
};

/// Those of a tile.
WarpgroupF32Kernels kernels_of([[maybe_unused]] const WarpgroupF32Tile& tile) {
#ifdef TESSERA_CUDA_SM90A
  return [&]<std::size_t... kNumber>(std::index_sequence<kNumber...>) {
    constexpr WarpgroupF32Kernels (*kKernels[])() = {warpgroup_f32_kernels_of<int(kNumber)>...};
    return kKernels[tile.number]();
  }
  (std::make_index_sequence<kWarpgroupF32Tiles.size()>{});
#else
  throw plugin::Error(TESSERA_INTERNAL, "warpgroup_f32 was not built");
#endif
}

std::unique_ptr<plugin::Plan> make_warpgroup_f32(Context& context, const plugin::GemmProblem& problem,
                                                 const plugin::Parameters& parameters) {
  const WarpgroupF32Config config = warpgroup_f32_config(problem, parameters);
  return std::make_unique<WarpgroupF32Plan>(context, problem, kernels_of(config.tile), config);
}

void write_form(Context& context, const plugin::GemmProblem& p, const void* operand, void* form) {
  const WarpgroupF32Config config{warpgroup_f32_tile_of_form(p)};
  const WarpgroupF32Workspace places = warpgroup_f32_workspace(p, config);
  const int which = p.form->operand;
  const std::int64_t stride = which == 0 ? p.stride_a : p.stride_b;
  PartsArguments x{};
  x.of[which] = parts_operand(operand, which == 0 ? p.dtype : p.dtype_b, which == 0 ? p.lda : p.ldb, stride,
                              which == 0 ? p.m : p.n, p.k, warpgroup_f32_matrices(p.batch, stride, config),
                              which == 0 ? !p.trans_a : p.trans_b, which == 0 ? config.tile.m() : config.tile.n,
                              config.tile.slabs, static_cast<unsigned char*>(form), which == 0 ? places.a : places.b);
  x.of[1 - which] = x.of[which];
  x.of[1 - which].lines = 0;
  const DeviceGuard guard(context.device());
  const WarpgroupF32Kernels kernels = kernels_of(config.tile);
  prepare_splitting(kernels);
  split(kernels, x, context.stream(), {});
}

constexpr plugin::Preparation<Context> kPreparation{true, warpgroup_f32_forms, warpgroup_f32_form_bytes, write_form};

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
     {.narrow = true, .epilogue = true, .aux = true, .ordered = true, .mixed = true, .triangle = true},
     &kPreparation},
    0};

}  // namespace
}  // namespace tessera::cuda
