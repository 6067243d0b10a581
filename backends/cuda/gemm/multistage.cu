// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Large products: tiles of A and B come into shared memory in a pipeline of asynchronous copies, and
/// warps multiply them from registers, in f32 on the multiply-add units, in f64 on the tensor cores.
/// Where C has too few tiles for the device, k is cut into slices, whose sums are added in order, so the
/// bits are the same in every run: by a cluster of blocks, or by a second kernel.
#include "multistage_kernels.hpp"

#include "../vector_access.hpp"
#include "algorithms.hpp"
#include "multistage.hpp"
#include "slices.cuh"
#include "transpose.cuh"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

template <class T>
class MultistagePlan final : public plugin::Plan {
 public:
  /// `transposed_columns`: of op(B), transposed at a time; 0: B is taken as it lies.
  MultistagePlan(Context& context, const plugin::GemmProblem& problem, const MultistageKernels<T>& kernels,
                 const MultistageDevice& device, const MultistageChoice& choice, std::int64_t transposed_columns)
      : context_(context),
        problem_(problem),
        kernels_(kernels),
        tile_(choice.tile),
        split_(choice.split),
        transposed_columns_(transposed_columns),
        workspace_bytes_(transposed_columns > 0 ? multistage_transposed_bytes(problem, transposed_columns)
                                                : multistage_workspace(problem, device, choice.split)),
        cluster_(split_ > 1 && !multistage_uses_workspace(device, split_)),
        transposes_a_(multistage_transposes_a(problem, choice.tile)),
        transposes_b_(multistage_transposes_b(problem, choice.tile) && transposed_columns == 0),
        aligned_a_(multistage_aligned_a(problem)),
        aligned_b_(multistage_aligned_b(problem) || transposed_columns > 0) {
    const DeviceGuard guard(context.device());
    prepare(kernel(true), context.limits().shared_per_block);
    prepare(kernel(false), context.limits().shared_per_block);
    if (transposed_columns > 0)
      prepare(gemm_transpose_kernel<T>);
    else if (workspace_bytes_ > 0)
      prepare(gemm_add_slices_kernel<T>);
  }

  std::uint64_t workspace_bytes() const override { return workspace_bytes_; }

  void execute(const plugin::Execution& e) override {
    const GemmArguments<T> g = arguments_of<T>(problem_, e);
    T* const workspace = workspace_bytes_ > 0 ? e.workspace<T>() : nullptr;
    const DeviceGuard guard(context_.device());
    if (transposed_columns_ > 0)
      multiply_transposed(g, workspace);
    else
      multiply(g, workspace);
  }

 private:
  auto kernel(bool vectors) const {
    const auto& kernels = vectors ? kernels_.vectorized : kernels_.scalar;
    return kernels[cluster_][problem_.trans_a][problem_.trans_b && transposed_columns_ == 0];
  }

  bool aligned(const GemmArguments<T>& g) const {
    return (transposes_a_ || (aligned_a_ && at_vector(g.a))) && (transposes_b_ || (aligned_b_ && at_vector(g.b)));
  }

  void multiply(const GemmArguments<T>& g, T* partial) const {
    SlicedArguments<T> x{g, int(split_), 0, partial, multistage_partial_ld(g.n)};
    x.k_per_slice = ceil_div(ceil_div(g.k, tile_.k_depth), split_) * tile_.k_depth;
    const std::int64_t blocks = ceil_div(g.m, tile_.m) * ceil_div(g.n, tile_.n) * g.batch * split_;
    launch(kernel(aligned(g)), dim3(unsigned(blocks)), dim3(unsigned(tile_.threads())), std::size_t(tile_.shared_bytes),
           context_.stream(), ClusterSize{cluster_ ? unsigned(split_) : 1u}, x);
    if (partial != nullptr) launch_add_slices(x, context_.stream());
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
        chunk.c += batch * g.stride_c + column;
        const T* const columns = g.b + batch * g.stride_b + column * g.ldb;
        if (g.k > 0)
          launch_transpose<T>({columns, g.ldb, chunk.n, g.k, transposed, transposed_columns_}, context_.stream());
        multiply(chunk, nullptr);
      }
  }

  Context& context_;
  plugin::GemmProblem problem_;
  MultistageKernels<T> kernels_;
  MultistageTile tile_;
  std::int64_t split_, transposed_columns_;
  std::uint64_t workspace_bytes_;
  bool cluster_;  ///< the slices of a tile are a cluster
  bool transposes_a_, transposes_b_;
  bool aligned_a_, aligned_b_;  ///< copies of 16 bytes, where the addresses allow them
};

/// The kernels of a tile of the type's list.
template <class T>
MultistageKernels<T> kernels_of(const MultistageTile& tile) {
  constexpr auto& kTiles = kMultistageTiles<T>;
  return [&]<std::size_t... kTile>(std::index_sequence<kTile...>) {
    constexpr MultistageKernels<T> (*kKernels[])() = {multistage_kernels_of<T, kTile>...};
    const auto same = [&](const MultistageTile& t) {
      return t.m == tile.m && t.n == tile.n && t.k_major == tile.k_major;
    };
    return kKernels[std::find_if(kTiles.begin(), kTiles.end(), same) - kTiles.begin()]();
  }
  (std::make_index_sequence<kTiles.size()>{});
}

/// Takes the columns that are transposed at a time from the parameters, which may ask for all that fit (1) or none (0).
std::int64_t take_transposed_columns(plugin::PlanOptions& options, const plugin::GemmProblem& problem,
                                     const MultistageDevice& device, const MultistageChoice& choice) {
  const std::int64_t most = multistage_most_transposed_columns(problem, choice, options.workspace_limit);
  if (most == 0) return 0;
  const std::int64_t automatic = multistage_transposed_columns(problem, device, choice, options.workspace_limit);
  return options.parameters.take("transpose", automatic > 0, 0, 1) == 1 ? most : 0;
}

/// Blocks that are nothing but their shared memory.
__global__ void gemm_room_kernel() {}

/// As the driver counts them.
ClusterRoom count_clusters(const DeviceLimits& limits) {
  constexpr int kReserved = 1024, kUnit = 128;  // bytes: of each block's, for the system; of what a block is given
  prepare(gemm_room_kernel, limits.shared_per_block);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  ClusterRoom room;
  for (unsigned blocks_per_sm = 1; blocks_per_sm <= room.size(); ++blocks_per_sm)
    for (unsigned blocks = 1; blocks <= room[0].size(); ++blocks) {
      attribute.val.clusterDim = {blocks, 1, 1};
      config.gridDim = dim3(blocks);
      config.dynamicSmemBytes = (limits.shared_per_multiprocessor / blocks_per_sm - kReserved) / kUnit * kUnit;
      int clusters = 0;
      TESSERA_CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, gemm_room_kernel, &config));
      room[blocks_per_sm - 1][blocks - 1] = clusters * int(blocks);
    }
  return room;
}

/// Counted once a device.
MultistageDevice device_of(const Context& context) {
  static std::mutex mutex;
  static std::map<int, ClusterRoom> counted;
  const DeviceLimits& limits = context.limits();
  MultistageDevice device{limits.multiprocessors, limits.shared_per_block, limits.major >= 9};
  if (!device.clusters) return device;
  const std::lock_guard lock(mutex);
  auto known = counted.find(context.device());
  if (known == counted.end()) {
    const DeviceGuard guard(context.device());
    known = counted.emplace(context.device(), count_clusters(limits)).first;
  }
  device.cluster_room = known->second;
  return device;
}

/// Takes one extent of the tile from the parameters: leaves the tiles that have it. Whether the automatic one has not.
bool take_extent(plugin::PlanOptions& options, const char* name, int MultistageTile::*extent, int automatic,
                 std::vector<MultistageTile>& tiles) {
  std::set<std::int64_t> allowed;
  for (const MultistageTile& tile : tiles) allowed.insert(tile.*extent);
  const auto taken =
      options.parameters.take(name, automatic, std::vector<std::int64_t>(allowed.begin(), allowed.end()));
  std::erase_if(tiles, [&](const MultistageTile& tile) { return tile.*extent != taken; });
  return taken != automatic;
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& problem, plugin::PlanOptions options) {
  const MultistageDevice device = device_of(context);
  std::vector<MultistageTile> tiles = multistage_tiles(problem, device);
  const auto choose = [&] { return choose_multistage(problem, device, options.workspace_limit, tiles); };
  MultistageChoice choice = choose();
  if (take_extent(options, "tile_m", &MultistageTile::m, choice.tile.m, tiles)) choice = choose();
  if (take_extent(options, "tile_n", &MultistageTile::n, choice.tile.n, tiles)) choice = choose();
  choice.split =
      options.parameters.take("split", choice.split, 1, most_slices(problem, device, options.workspace_limit));
  const double blocks = multistage_blocks(problem, choice.tile, choice.split);
  if (blocks > double(kMaxGridX))
    throw plugin::Error(TESSERA_INVALID_ARGUMENT,
                        "tiles of " + std::to_string(choice.tile.m) + " x " + std::to_string(choice.tile.n) +
                            " in split = " + std::to_string(choice.split) + " slices take " + std::to_string(blocks) +
                            " blocks; a grid has at most " + std::to_string(kMaxGridX) + ": use larger tiles");
  const std::int64_t transposed_columns = take_transposed_columns(options, problem, device, choice);
  return plugin::with_types(problem.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<MultistagePlan<T>>(context, problem, kernels_of<T>(choice.tile), device, choice,
                                               transposed_columns);
  });
}

std::string why_unsupported(const plugin::GemmProblem& p, int) {
  constexpr int kTile = 64;  // of every device the largest one is at least as large
  const double blocks = std::ceil(double(p.m) / kTile) * std::ceil(double(p.n) / kTile) * double(p.batch);
  if (blocks <= double(kMaxGridX) && double(p.k) < double(kMaxGridX)) return {};
  return "C has more than " + std::to_string(kMaxGridX) + " tiles of 64 x 64, or k is above " +
         std::to_string(kMaxGridX);
}

}  // namespace

const GemmAlgorithm kGemmMultistage{"multistage", why_unsupported, make, 0.76};

}  // namespace tessera::cuda
