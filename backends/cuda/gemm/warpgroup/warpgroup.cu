// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Large products of 16 bits, and of f32 in tf32, on Hopper's tensor cores: bulk copies fill a ring of tiles in shared
/// memory, warpgroups multiply them from there (wgmma), a cluster's blocks share the tiles of B. Where C has too few
/// tiles for the device, k is cut into slices, whose sums are added in order, so the bits are the same in every run.
#include "warpgroup_kernels.hpp"

#include "../../tensor_map.hpp"
#include "../../vector_access.hpp"
#include "../aligned_copy.cuh"
#include "../offers.hpp"
#include "../slices.cuh"
#include "../transpose.cuh"
#include "warpgroup.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace tessera::cuda {
namespace {

template <class T>
class WarpgroupPlan final : public plugin::Plan {
 public:
  WarpgroupPlan(Context& context, const plugin::GemmProblem& problem, const WarpgroupConfig& config)
      : context_(context),
        problem_(problem),
        product_(warpgroup_product(problem, config.turned)),
        config_(config),
        machine_(context.machine().limited(problem.multiprocessors)),
        layout_{!product_.trans_a, warpgroup_k_major_b(product_), config.turned},
        merged_(warpgroup_merges_batch(product_)),
        by_copies_(warpgroup_kernels<T>().by_copies[number_of(layout_)]),
        by_elements_(warpgroup_kernels<T>().by_elements[number_of(layout_)]),
        triangles_(warpgroup_kernels<T>().triangles[number_of(layout_)]),
        partial_bytes_(warpgroup_partial_bytes(product_, config)) {
    const DeviceGuard guard(context.device());
    require_tensor_maps();
    const int shared = context.machine().shared_per_block;
    for (const WarpgroupWriting writing : writings())
      for (const bool by_elements : {true, false}) {
        const auto kernel = kernel_of(writing, by_elements);
        if (kernel == nullptr) continue;
        prepare(kernel, shared);
        // What starts early occupies other multiprocessors.
        start_ = {problem.multiprocessors == 0 && can_start_early(kernel)};
      }
    if (keeps()) turned_ = std::make_unique<WarpgroupPlan>(context, problem, turned_config());
    if (partial_bytes_ > 0) add_start_ = prepare_add_slices<T>();
    if (config.panels.bytes() > 0) {
      prepare(gemm_aligned_copy_kernel);
      copy_start_ = {can_start_early(gemm_aligned_copy_kernel)};
      if (warpgroup_transposes_b(product_)) prepare(gemm_transpose_kernel<T>);
    }
  }

  std::uint64_t workspace_bytes() const override { return config_.panels.bytes() + partial_bytes_; }

  void execute(const plugin::Execution& e) override {
    GemmArguments<T> g = arguments_of<T>(problem_, e);
    if (turned_ != nullptr &&
        !(at_vector(g.a) && at_vector(g.b) && at_vector(g.d.data()) && at_vector(g.finish.aux.data.data())))
      return turned_->execute(e);
    if (layout_.turned) turn(g);
    const DeviceGuard guard(context_.device());
    auto* const workspace = workspace_bytes() > 0 ? e.workspace<unsigned char>() : nullptr;
    if (merged_) return multiply_panels(g, workspace);
    const GemmArguments<T> all = g;
    g.batch = 1;
    for (std::int64_t i = 0; i < all.batch; ++i) {
      g.a = all.a + i * g.stride_a, g.b = all.b + i * g.stride_b;
      g.c = all.c + i * g.stride_c, g.d = all.d + i * g.stride_d;
      g.finish = all.finish.at(i, 0, 0);
      multiply_panels(g, workspace);
    }
  }

 private:
  /// Whether it computes D of 16 bits as it lies. Its kernels know no address but multiples of 16 bytes: the turned
  /// product, which adds in the same order, is for the others.
  bool keeps() const { return sizeof(T) == 2 && !layout_.turned; }
  WarpgroupConfig turned_config() const {
    const WarpgroupPanels& panels = config_.panels;
    return {true, {128, config_.tile.rows}, {1, 1, config_.cluster.k}, 1, config_.split, {panels.n, panels.m, 0, 0}};
  }

  static std::size_t number_of(const WarpgroupLayout& layout) {
    return std::size_t(std::ranges::find(kWarpgroupLayouts<T>, layout) - kWarpgroupLayouts<T>.begin());
  }

  /// See warpgroup_product(); twice is nothing.
  static void turn(GemmArguments<T>& g) {
    std::swap(g.m, g.n), std::swap(g.a, g.b), std::swap(g.lda, g.ldb), std::swap(g.stride_a, g.stride_b);
    g.finish = g.finish.turn();
  }
  /// To row i and column j of the product.
  std::int64_t place(std::int64_t ld, std::int64_t i, std::int64_t j) const {
    return layout_.turned ? j * ld + i : i * ld + j;
  }

  /// Has rows copied to multiples of 16 bytes, and tells where they are then.
  void align(const T*& data, std::int64_t& ld, std::int64_t extent, std::int64_t k, bool k_major, void* target,
             AlignedCopies& copies) const {
    constexpr std::int64_t kHalves = sizeof(T) / sizeof(std::uint16_t);
    const std::int64_t rows = k_major ? extent : k, columns = k_major ? k : extent;
    const std::int64_t target_ld = warpgroup_copy_ld(product_, columns);
    copies.copies[copies.count++] = {
        reinterpret_cast<const std::uint16_t*>(data), kHalves * ld,       rows, kHalves * columns,
        static_cast<std::uint16_t*>(target),          kHalves * target_ld};
    data = static_cast<T*>(target), ld = target_ld;
  }
  /// Has B transposed: to rows of neighbours along k.
  void transpose(const T*& data, std::int64_t& ld, std::int64_t columns, std::int64_t k, void* target) const {
    const std::int64_t target_ld = warpgroup_copy_ld(product_, k);
    launch_transpose<T>({data, ld, k, columns, static_cast<T*>(target), target_ld}, context_.stream(), copy_start_);
    data = static_cast<T*>(target), ld = target_ld;
  }

  void multiply_panels(const GemmArguments<T>& g, unsigned char* workspace) const {
    const WarpgroupPanels& panels = config_.panels;
    auto* const copied_a = workspace + partial_bytes_;
    auto* const copied_b = copied_a + panels.bytes_a;
    auto* const partial = reinterpret_cast<Scalar<T>*>(partial_bytes_ > 0 ? workspace : nullptr);
    const T* whole_a = nullptr;
    std::int64_t whole_lda = 0;
    for (std::int64_t j = 0; j < g.n; j += panels.n) {
      AlignedCopies copies;
      GemmArguments<T> columns = g;
      columns.n = std::min(panels.n, g.n - j);
      columns.b += product_.trans_b ? j * g.ldb : j;
      if (panels.bytes_b > 0 && g.k > 0) {
        if (warpgroup_transposes_b(product_))
          transpose(columns.b, columns.ldb, columns.n, g.k, copied_b);
        else
          align(columns.b, columns.ldb, columns.n, g.k, product_.trans_b, copied_b, copies);
      }
      for (std::int64_t i = 0; i < g.m; i += panels.m) {
        GemmArguments<T> panel = columns;
        panel.m = std::min(panels.m, g.m - i);
        panel.a += product_.trans_a ? i : i * g.lda;
        // A whole copy is there since the first columns.
        if (panels.bytes_a > 0 && g.k > 0 && (j == 0 || panels.m < g.m)) {
          align(panel.a, panel.lda, panel.m, g.k, !product_.trans_a, copied_a, copies);
          if (panels.m >= g.m) whole_a = panel.a, whole_lda = panel.lda;
        } else if (whole_a != nullptr) {
          panel.a = whole_a, panel.lda = whole_lda;
        }
        if (copies.count > 0) launch_aligned_copies(copies, context_.stream(), copy_start_);
        copies.count = 0;
        panel.c = g.c + place(g.ldc, i, j), panel.d = g.d + place(g.ldd, i, j);
        panel.finish = g.finish.at(0, i, j);
        multiply(panel, partial);
      }
    }
  }

  /// The ways in which D may be written, by where it lies.
  std::vector<WarpgroupWriting> writings() const {
    using enum WarpgroupWriting;
    std::vector<WarpgroupWriting> writings;
    if (config_.cluster.k > 1 || config_.tail > 1) writings.push_back(kSlices);
    if (partial_bytes_ > 0 || plugin::size_of(problem_.dtype_d) == sizeof(Scalar<T>))
      writings.push_back(kPairs);
    else
      writings.push_back(kBulk);
    if (writings.back() == kBulk && !keeps()) writings.push_back(kWords);
    return writings;
  }
  WarpgroupWriting writing(const GemmArguments<T>& g, bool to_partial, bool by_elements) const {
    using enum WarpgroupWriting;
    if (config_.cluster.k > 1) return kSlices;
    if (config_.triangle != TESSERA_TRIANGLE_NONE) return kWords;
    if (to_partial || g.d.wide()) return kPairs;
    // Bulk copies write whole vectors: beside D, too, where a row of it ends within one.
    const Aux<T>& aux = g.finish.aux;
    const auto of_batch = [&](std::int64_t stride) { return g.batch > 1 ? stride : 0; };
    const bool in_vectors = at_vector(g.d.data()) && at_vector(aux.data.data()) &&
                            whole_vectors(problem_.dtype, {layout_.turned ? g.m : g.n, g.ldd, of_batch(g.stride_d),
                                                           aux.ld, of_batch(aux.stride)});
    return in_vectors && !by_elements ? kBulk : kWords;
  }

  typename WarpgroupKernels<T>::Kernel kernel_of(WarpgroupWriting writing, bool by_elements) const {
    if (config_.triangle != TESSERA_TRIANGLE_NONE) return triangles_[by_elements ? 1 : 0];
    return (by_elements ? by_elements_ : by_copies_)[int(writing)];
  }

  WarpgroupOrder order_of(const GemmArguments<T>& g, const WarpgroupConfig& config) const {
    if (config.triangle != TESSERA_TRIANGLE_NONE) return order_of_triangle(g, config);
    const WarpgroupTiles tiles = warpgroup_tiles(g.m, g.n, config);
    const std::int64_t group =
        std::min(warpgroup_group(g.n * g.k * std::int64_t(sizeof(T)), machine_, config), tiles.rows);
    const auto divisor = [](std::int64_t d) { return WarpgroupDivisor(std::uint32_t(d)); };
    return {0,
            std::uint32_t(tiles.rows * tiles.columns * g.batch * config.split / config.cluster.k),
            divisor(config.split),
            std::uint32_t(tiles.rows),
            divisor(group),
            divisor((tiles.rows - 1) % group + 1),
            divisor(group * tiles.columns),
            divisor(tiles.rows * tiles.columns),
            {config.cluster.m, config.cluster.n, 1},
            config.cluster,
            {}};
  }
  WarpgroupOrder order_of_triangle(const GemmArguments<T>& g, const WarpgroupConfig& config) const {
    const std::int64_t band = warpgroup_group(g.n * g.k * std::int64_t(sizeof(T)), machine_, config);
    const TriangleTiles triangle = warpgroup_triangle(g.m, config, band);
    const std::uint32_t tiles = triangle.tiles;
    WarpgroupOrder order{};
    order.units = tiles * std::uint32_t(g.batch);
    order.of_matrix = WarpgroupDivisor(tiles);
    order.tiles = {config.cluster.m, config.cluster.n, 1}, order.cluster = config.cluster;
    order.triangle = triangle;
    return order;
  }

  static std::int64_t per_slice(std::int64_t k, std::int64_t slices) {
    return ceil_div(ceil_div(k, kDepth), slices) * kDepth;
  }

  /// Describes an operand of a launch, `extent` rows or columns by k, at a multiple of 16 bytes, to bulk copies of one
  /// of `shares` of a tile's `of_tile` rows or columns: rows are of neighbours along k, or else along the extent.
  void set_map(const WarpgroupArguments<T>& w, WarpgroupMap& map, std::array<TensorMap, 3>& known, const T* data,
               std::int64_t ld, std::int64_t stride, std::int64_t extent, bool k_major, int of_tile, int shares) const {
    constexpr auto kSize = std::int64_t(sizeof(T));
    const GemmArguments<T>& g = w.x.g;
    map.varies = stride != 0 && g.batch > 1;
    map.extent = int(extent);
    BoxedTensor tensor{data,
                       k_major ? g.k : extent,
                       k_major ? extent : g.k,
                       map.varies ? g.batch : 1,
                       ld * kSize,
                       map.varies ? stride * kSize : 16,
                       int(k_major ? of_tile : kDepth) / shares,
                       int(kSize)};
    map.map = map.edge = known[0].of(tensor);
    map.last_pair =
        w.stage_steps > 1 && k_major && shares == 1 ? int(std::max<std::int64_t>(g.k - 2 * kDepth, -1)) : -1;
    if (map.last_pair >= 0) {
      tensor.pair = true;
      map.pair = known[1].of(tensor);
      tensor.pair = false;
    }
    if (const int rest = int(extent % of_tile); k_major && shares == 1 && rest > 0) {
      tensor.box_rows = rest;
      map.edge = known[2].of(tensor);
    }
  }
  void set_maps(WarpgroupArguments<T>& w, const WarpgroupTile& tile, const WarpgroupCluster& cluster) const {
    const GemmArguments<T>& g = w.x.g;
    set_map(w, w.a, maps_a_, g.a, g.lda, g.stride_a, g.m, layout_.k_major_a, tile.rows, cluster.n);
    set_map(w, w.b, maps_b_, g.b, g.ldb, g.stride_b, g.n, layout_.k_major_b, tile.columns, cluster.m);
  }

  void multiply(const GemmArguments<T>& g, Scalar<T>* partial) const {
    WarpgroupArguments<T> w{};
    w.x = {g, int(config_.split), per_slice(g.k, config_.split), partial, partial_ld(layout_.turned ? g.m : g.n)};
    w.tile = config_.tile;
    WarpgroupConfig config = config_;
    const bool by_elements = g.k > 0 && !(at_vector(g.a) && at_vector(g.b));
    set_stages(w, by_elements, config.cluster.m * config.cluster.n > 1);
    if (by_elements) {
      config.cluster = {1, 1, config.cluster.k};
      config.tail = 1;
    } else if (g.k > 0) {
      set_maps(w, config.tile, config.cluster);
    }
    const WarpgroupWriting how = writing(g, partial != nullptr, by_elements);
    if (how == WarpgroupWriting::kBulk) {
      constexpr auto kSize = std::int64_t(sizeof(T));
      w.box_rows = layout_.turned ? std::gcd(config.tile.columns, 64) : 64;
      const std::int64_t neighbours = layout_.turned ? g.m : g.n, rows = layout_.turned ? g.n : g.m;
      const auto map = [&](TensorMap& known, const void* data, std::int64_t ld, std::int64_t stride) {
        const BoxedTensor tensor{data,       neighbours, rows, g.batch, ld * kSize, g.batch > 1 ? stride * kSize : 16,
                                 w.box_rows, int(kSize)};
        return known.of(tensor);
      };
      w.d = map(map_d_, g.d.data(), g.ldd, g.stride_d);
      if (const Aux<T>& aux = g.finish.aux; aux.is_stored()) w.aux = map(map_aux_, aux.data.data(), aux.ld, aux.stride);
    }
    w.order = order_of(g, config);
    const std::int64_t tail = warpgroup_tail_tiles(g.m, g.n, g.batch, machine_, config);
    w.order.units -= std::uint32_t(tail);
    const std::int64_t blocks = warpgroup_blocks(g.m, g.n, g.batch, machine_, config);
    launch_blocks(kernel_of(how, by_elements),
                  std::min<std::int64_t>(blocks, std::int64_t(w.order.units) * config.cluster.blocks()), w);
    if (tail > 0) multiply_tail(w, tail);
    if (partial == nullptr) return;
    if (layout_.turned) turn(w.x.g);
    launch_add_slices(w.x, context_.stream(), add_start_);
  }

  /// The last tiles, in slices.
  void multiply_tail(WarpgroupArguments<T>& w, std::int64_t tiles) const {
    const WarpgroupCluster& cluster = config_.cluster;
    w.x.slices = int(config_.tail);
    w.x.k_per_slice = per_slice(w.x.g.k, config_.tail);
    set_stages(w, false, false);
    if (w.x.g.k > 0) set_maps(w, config_.tile, {});
    w.tail = true;
    w.order.first = w.order.units * unsigned(cluster.blocks());
    w.order.units = unsigned(tiles * cluster.blocks());
    w.order.cluster = {1, 1, int(config_.tail)};
    launch_blocks(kernel_of(WarpgroupWriting::kSlices, false), std::int64_t(w.order.units) * config_.tail, w);
  }

  void launch_blocks(typename WarpgroupKernels<T>::Kernel kernel, std::int64_t blocks,
                     const WarpgroupArguments<T>& w) const {
    const std::size_t shared = std::size_t(w.stages) * w.stage_distance + WarpgroupTile::kOtherBytes;
    launch(kernel, dim3(unsigned(blocks)), dim3(WarpgroupTile::kThreads), shared, context_.stream(),
           ClusterSize{unsigned(w.order.cluster.blocks())}, start_, w);
  }

  void set_stages(WarpgroupArguments<T>& w, bool by_elements, bool shares) const {
    const WarpgroupTile& tile = config_.tile;
    const bool one = by_elements || warpgroup_has_fragments<T>(layout_);
    w.stage_steps = one ? 1 : tile.stage_steps(shares);
    w.stage_distance = std::uint32_t(w.stage_steps * tile.step_bytes(layout_.k_major_b, sizeof(T)));
    w.stages = tile.stages(layout_.k_major_b, sizeof(T), context_.machine().shared_per_block, w.stage_steps);
  }

  static constexpr std::int64_t kDepth = WarpgroupTile::depth(sizeof(T));

  Context& context_;
  plugin::GemmProblem problem_, product_;  ///< see warpgroup_product()
  WarpgroupConfig config_;
  Machine machine_;  ///< with the problem's limit
  WarpgroupLayout layout_;
  bool merged_;
  const typename WarpgroupKernels<T>::ByWriting &by_copies_, &by_elements_;
  const std::array<typename WarpgroupKernels<T>::Kernel, 2>& triangles_;
  std::uint64_t partial_bytes_;
  EarlyStart start_{}, add_start_{}, copy_start_{};
  mutable std::array<TensorMap, 3> maps_a_, maps_b_;  ///< of a step, of two, and of the last tile's
  mutable TensorMap map_d_, map_aux_;                 ///< a plan is executed by one thread at a time
  std::unique_ptr<WarpgroupPlan> turned_;             ///< see keeps()
};

std::unique_ptr<plugin::Plan> make_warpgroup(Context& context, const plugin::GemmProblem& problem,
                                             const plugin::Parameters& parameters) {
#ifdef TESSERA_CUDA_SM90A
  const WarpgroupConfig config = warpgroup_config(problem, parameters);
  const auto make = [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<WarpgroupPlan<T>>(context, problem, config);
  };
  return plugin::with_types<WarpgroupTypes>(problem.dtype, make);
#else
  throw plugin::Error(TESSERA_INTERNAL, "warpgroup was not built");
#endif
}

/// Also where the plugin was built without the kernels.
std::string why_unsupported(const plugin::GemmProblem& problem, const Machine& machine) {
#ifdef TESSERA_CUDA_SM90A
  return warpgroup_why_unsupported(problem, machine);
#else
  return "the plugin was built without code for Hopper (90 in CMAKE_CUDA_ARCHITECTURES)";
#endif
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"warpgroup",
     why_unsupported,
     warpgroup_offers,
     make_warpgroup,
     {.narrow = true, .epilogue = true, .aux = true, .ordered = true, .limited = true, .triangle = true}},
    0};

}  // namespace
}  // namespace tessera::cuda
