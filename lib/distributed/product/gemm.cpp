// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "gemm.hpp"

#include "check.hpp"
#include "transport/driver.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tessera::distributed {
namespace {

using core::invalid;

/// Columns of A and rows of B in a panel, at most: on the host about as many as a core's caches hold, on a device
/// enough to hide what a panel costs beside its product.
constexpr std::int64_t kHostPanel = 256, kDevicePanel = 1024;
/// Where panels are thinner than this on average, their products cost more than one redistribution.
constexpr std::int64_t kThinPanel = 128;

/// Gathered factors take a share of one in so many of a device's memory at most, where options do not say.
constexpr std::uint64_t kShareOfMemory = 4;
/// Pieces of a factor that come to a rank. Each is a copy of its own: with more, one redistribution costs less.
constexpr std::int64_t kMostPieces = 2048;
/// Elements of C that are work for a multiprocessor: a tile of the usual size.
constexpr std::int64_t kTileElements = 128 * 128;

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw Error(TESSERA_UNSUPPORTED, what + ": " + why);
}

}  // namespace

GemmPlan::GemmPlan(std::shared_ptr<Comm> comm, tessera_context* context, const tessera_gemm_desc& desc,
                   const std::array<tessera_layout, 3>& layouts, const tessera_plan_options& options)
    : comm_(std::move(comm)), desc_(desc) {
  if (desc_.dtype_d == 0) desc_.dtype_d = desc_.dtype;
  Signature same;
  same.check(*comm_, outcome_of([&] {
    context_ = taken(context, options);
    read(desc);
    same.add("backend", tessera_context_backend(context));
    add_to(same, layouts);
    same.add("algorithm", options.algorithm);
  }));
  together(*comm_, [&] {
    spread(layouts);
    look_at_context(options);
  });
  if (copier_ != nullptr) join_devices(options);
  tessera_plan_options each = options;
  each.operands = TESSERA_MEMORY_DEVICE;  // a backend that computes on the host takes both
  together(*comm_, [&] {
    make_product(each);
    make_moves();
    describe();
  });
}

/// The core checks the rest of the descriptor once plans are made.
void GemmPlan::read(const tessera_gemm_desc& desc) const {
  core::at_least("m", desc.m, 0), core::at_least("n", desc.n, 0), core::at_least("k", desc.k, 0);
  if (!is_known(DType(desc.dtype))) invalid("dtype", desc.dtype, "must be an element type");
  if (desc.dtype_d != 0 && !is_known(DType(desc.dtype_d))) invalid("dtype_d", desc.dtype_d, "must be an element type");
  if (desc.dtype_b != 0 && desc.dtype_b != desc.dtype)
    refuse("dtype_b = " + std::to_string(desc.dtype_b), "a distributed product has A and B of one type: convert B");
  core::one_of("order", desc.order, TESSERA_ROW_MAJOR, TESSERA_COLUMN_MAJOR, "row-major (0), column-major (1)");
  core::one_of("trans_a", desc.trans_a, TESSERA_NO_TRANSPOSE, TESSERA_TRANSPOSE, "no (0), yes (1)");
  core::one_of("trans_b", desc.trans_b, TESSERA_NO_TRANSPOSE, TESSERA_TRANSPOSE, "no (0), yes (1)");
  for (const auto& [name, ld] : {std::pair{"lda", desc.lda}, {"ldb", desc.ldb}, {"ldc", desc.ldc}})
    if (ld != TESSERA_PACKED) invalid(name, ld, "must be packed: the plan lays out the local arrays");
  if (desc.ldd != 0 && desc.ldd != TESSERA_PACKED) invalid("ldd", desc.ldd, "must be 0 or packed: D is C itself");
  if (desc.batch != 1) refuse("batch = " + std::to_string(desc.batch), "a distributed product is one, not a batch");
  if (desc.bias != TESSERA_BIAS_NONE)
    refuse("bias = " + std::to_string(desc.bias), "a distributed product has none; C with beta = 1 can hold it");
  if (desc.activation != TESSERA_ACTIVATION_NONE)
    refuse("activation = " + std::to_string(desc.activation), "a distributed product has none: apply it to C");
  if (desc.whole_n != 0)
    refuse("whole_n = " + std::to_string(desc.whole_n), "a distributed product has the order of its own n: set 0");
  if (desc.triangle != TESSERA_TRIANGLE_NONE)
    refuse("triangle = " + std::to_string(desc.triangle), "a distributed product computes all of C: set none (0)");
  if (desc.aux != TESSERA_AUX_NONE) refuse("aux = " + std::to_string(desc.aux), "a distributed product has none");
}

void GemmPlan::add_to(Signature& signature, const std::array<tessera_layout, 3>& layouts) const {
  using Values = std::initializer_list<std::pair<const char*, std::int64_t>>;
  const auto add = [&](const std::string& of, Values values) {
    for (const auto& [name, value] : values) signature.add(of + name, value);
  };
  add("", {{"m", desc_.m}, {"n", desc_.n}, {"k", desc_.k}, {"dtype", desc_.dtype}, {"dtype_d", desc_.dtype_d}});
  add("", {{"sums", desc_.sums},
           {"compute", desc_.compute},
           {"order", desc_.order},
           {"trans_a", desc_.trans_a},
           {"trans_b", desc_.trans_b}});
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const tessera_layout& l = layouts[i];
    add(std::string(kMatrixNames[i]) + ".", {{"grid_rows", l.grid_rows},
                                             {"grid_columns", l.grid_columns},
                                             {"block_rows", l.block_rows},
                                             {"block_columns", l.block_columns},
                                             {"source_row", l.source_row},
                                             {"source_column", l.source_column}});
  }
}

void GemmPlan::spread(const std::array<tessera_layout, 3>& layouts) {
  const Grid grid = choose_grid(layouts, comm_->size(), desc_.m, desc_.n);
  std::pair<std::int64_t, std::int64_t> sizes[] = {{desc_.m, desc_.k}, {desc_.k, desc_.n}, {desc_.m, desc_.n}};
  if (desc_.trans_a == TESSERA_TRANSPOSE) std::swap(sizes[0].first, sizes[0].second);
  if (desc_.trans_b == TESSERA_TRANSPOSE) std::swap(sizes[1].first, sizes[1].second);
  swapped_ = desc_.order == TESSERA_COLUMN_MAJOR;
  for (std::size_t i = 0; i < matrices_.size(); ++i)
    matrices_[i] = make_spread(layouts[i], kMatrixNames[i], sizes[i].first, sizes[i].second, grid, swapped_);
  const Spread a = desc_.trans_a == TESSERA_TRANSPOSE ? matrices_[0].transposed() : matrices_[0];
  const Spread b = desc_.trans_b == TESSERA_TRANSPOSE ? matrices_[1].transposed() : matrices_[1];
  left_.stored = swapped_ ? b.transposed() : a;
  right_.stored = swapped_ ? a.transposed() : b;
  result_ = swapped_ ? matrices_[2].transposed() : matrices_[2];
  align();
}

/// Panels of the left factor have the rows that their rank has of the result, those of the right one its columns. Of
/// ordered sums there is one, since a rank's are those of a plan of its rows alone.
void GemmPlan::align() {
  const Grid& grid = result_.grid;
  if (desc_.sums == TESSERA_SUMS_ORDERED) {
    const auto whole = [&](int places) { return make_cut(desc_.k, std::max<std::int64_t>(1, desc_.k), places, 0); };
    left_.aligned = {result_.rows, whole(grid.columns), grid, false};
    right_.aligned = {whole(grid.rows), result_.columns, grid, false};
    return;
  }
  const Spread left{result_.rows, make_cut(desc_.k, 0, grid.columns, 0), grid, false};
  const Spread right{make_cut(desc_.k, 0, grid.rows, 0), result_.columns, grid, false};
  const auto fits = [&grid](const Spread& stored) { return !stored.by_columns && stored.grid == grid; };
  left_.aligned = fits(left_.stored) && left_.stored.rows == result_.rows ? left_.stored : left;
  right_.aligned = fits(right_.stored) && right_.stored.columns == result_.columns ? right_.stored : right;
  const auto is_thin = [&] {
    const auto panels = panels_of(left_.aligned.columns, right_.aligned.rows, desc_.k);
    return std::int64_t(panels.size()) > desc_.k / kThinPanel + grid.rows + grid.columns;
  };
  if (!is_thin()) return;
  if (left_.aligned.columns.block < right_.aligned.rows.block)
    left_.aligned = left;
  else
    right_.aligned = right;
  if (is_thin()) left_.aligned = left, right_.aligned = right;
}

/// Where the context computes.
void GemmPlan::look_at_context(const tessera_plan_options& options) {
  const int rank = comm_->rank();
  tessera_plan_options each = options;
  each.operands = TESSERA_MEMORY_DEVICE;
  tessera_gemm_desc scale = tessera_packed_gemm(desc_.dtype, result_.local_rows(rank), result_.local_columns(rank), 0);
  scale.dtype_d = desc_.dtype_d, scale.compute = desc_.compute;
  scale_ = make_plan(context_.get(), &scale, each);
  const bool on_host = info_of(scale_.get()).host_memory != 0;
  if (!on_host && options.operands == TESSERA_MEMORY_HOST)
    invalid("operands", "host", "must be device: the panels of matrices on a device travel from there");
  if (!on_host) copier_ = beside(context_.get());
}

/// The factors as they are stored, or as they are redistributed.
std::array<Gathering, kFactors> GemmPlan::factors_of(bool aligned) const {
  const Spread &left = aligned ? left_.aligned : left_.stored, &right = aligned ? right_.aligned : right_.stored;
  return {Gathering(left, result_, comm_->size()), Gathering(right.transposed(), result_.transposed(), comm_->size())};
}

/// Collective: how panels travel between devices, and whether factors are gathered as they are stored.
void GemmPlan::join_devices(const tessera_plan_options& options) {
  transport_ = Transport::by_devices(comm_, context_.get(), copier_.get(), false, why_not_);
  if (transport_ == nullptr) return;
  struct Look {
    std::array<std::int64_t, kFactors> pieces{};
    DeviceLimits limits;
  } mine;
  together(*comm_, [&] {
    const auto factors = factors_of(false);
    for (std::size_t factor = 0; factor < kFactors; ++factor)
      for (int sender = 0; sender < comm_->size() && !factors[factor].is_in_place(); ++sender)
        mine.pieces[factor] += factors[factor].count_pieces(sender, comm_->rank());
    void* const device = driver::device_of(context_.get());
    const std::uint64_t share = driver::memory_of(device) / kShareOfMemory;
    const std::uint64_t most = options.workspace_limit > 0 ? options.workspace_limit : share;
    mine.limits.memory = std::int64_t(std::min<std::uint64_t>(most, INT64_MAX));
    mine.limits.least_part = driver::multiprocessors_of(device) * kTileElements;
  });
  std::vector<Look> all(std::size_t(comm_->size()));
  comm_->all_gather(&mine, all.data(), sizeof mine);
  limits_ = mine.limits;
  for (const Look& other : all) {
    limits_.memory = std::min(limits_.memory, other.limits.memory);
    limits_.least_part = std::max(limits_.least_part, other.limits.least_part);
    for (std::size_t factor = 0; factor < kFactors; ++factor)
      mine.pieces[factor] = std::max(mine.pieces[factor], other.pieces[factor]);
  }
  if (mine.pieces[0] <= kMostPieces) left_.aligned = left_.stored;
  if (mine.pieces[1] <= kMostPieces) right_.aligned = right_.stored;
}

void GemmPlan::make_product(const tessera_plan_options& options) {
  on_devices_ = transport_ != nullptr;
  if (!on_devices_) transport_ = Transport::by_host(comm_, context_.get(), copier_.get(), false);
  tessera_gemm_desc desc = desc_;
  const auto factors = factors_of(true);
  std::int64_t widest = copier_ == nullptr ? kHostPanel : kDevicePanel;
  if (desc_.sums == TESSERA_SUMS_ORDERED) widest = std::max<std::int64_t>(1, desc_.k);
  const ProductCut cut = on_devices_ ? cut_of(desc, factors, limits_)
                                     : ring_cut(factors, panels_of(left_.aligned.columns, right_.aligned.rows, widest));
  if (on_devices_ && cut.ranges.size() > 1 && desc.sums == TESSERA_SUMS_ORDERED)
    refuse("sums = ordered", "ranks gather more of A and B than the " + std::to_string(limits_.memory) +
                                 " bytes that they may, and ranges of k would have an order of their own: raise "
                                 "workspace_limit");
  if (cut.ranges.size() > 1 && scalar_of(desc_.dtype_d) != desc_.dtype_d) {
    desc.dtype_d = scalar_of(desc_.dtype_d);
    const std::int64_t count = result_.elements(comm_->rank());
    const std::int64_t bytes = count * std::int64_t(size_of(DType(desc.dtype_d)));
    if (bytes > 0) sums_ = make_buffer(context_.get(), bytes);
    if (copier_ != nullptr)
      host_sums_.resize(std::size_t(bytes)), host_c_.resize(std::size_t(count * element_of(TESSERA_ROLE_C)));
  }
  product_ = std::make_unique<LocalProduct>(std::move(transport_), context_.get(), copier_.get(), desc, factors, cut,
                                            comm_->rank(), comm_->size(), options);
}

void GemmPlan::make_moves() {
  const std::int64_t element = element_of(TESSERA_ROLE_A);
  for (Factor* factor : {&left_, &right_}) {
    if (factor->aligned == factor->stored) continue;
    factor->move.emplace(comm_, factor->stored, device(), factor->aligned, device(), element);
    factor->moved = make_buffer(context_.get(), factor->aligned.elements(comm_->rank()) * element);
  }
}

void GemmPlan::describe() {
  const int rank = comm_->rank();
  const auto by = [](std::int64_t rows, std::int64_t columns) {
    return std::to_string(rows) + "x" + std::to_string(columns);
  };
  const Spread& c = matrices_[2];
  const tessera_plan* const plan = product_->plan() != nullptr ? product_->plan() : scale_.get();
  description_ = info_of(plan).description;
  description_ += " | C " + by(c.local_rows(rank), c.local_columns(rank)) + " of " + by(desc_.m, desc_.n) + ", rank " +
                  std::to_string(rank) + " of " + by(c.grid.rows, c.grid.columns) + ", " +
                  product_->description(swapped_ ? std::array{"B", "A"} : std::array{"A", "B"});
  if (!on_devices_ && copier_ != nullptr && comm_->size() > 1) description_ += " through the host (" + why_not_ + ")";
  if ((swapped_ ? right_ : left_).move) description_ += ", A redistributed";
  if ((swapped_ ? left_ : right_).move) description_ += ", B redistributed";
}

tessera_local_matrix GemmPlan::local(tessera_role role, int rank) const {
  if (rank < 0 || rank >= comm_->size())
    invalid("rank", rank, "must lie in [0, " + std::to_string(comm_->size()) + ")");
  const Spread& spread = matrix(role);
  tessera_local_matrix local{};
  local.struct_size = sizeof local;
  local.rows = spread.local_rows(rank), local.columns = spread.local_columns(rank);
  local.ld = std::max<std::int64_t>(1, spread.by_columns ? local.rows : local.columns);
  local.elements = local.rows * local.columns;
  return local;
}

}  // namespace tessera::distributed
