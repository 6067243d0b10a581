// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "device_product.hpp"

#include "transport/driver.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tessera::distributed {
namespace {

/// Rows of a tile, or several, of any algorithm: parts end there.
constexpr std::int64_t kTile = 256;
/// Ranges of k, where there are several, are of whole ones.
constexpr std::int64_t kSlice = 64;

std::int64_t rounded_up(std::int64_t count, std::int64_t most) {
  return std::min((count + kTile - 1) / kTile * kTile, most);
}

/// What is gathered first is a small part, since its product waits for it; the products hide the rest. Where both
/// factors travel, the first product is of a part of both, and may not be too small itself.
std::vector<Range> parts_of(std::int64_t count, Parts parts) {
  if (parts == Parts::one) return {{0, count}};
  const std::int64_t quarter = rounded_up(count / 4, count);
  if (parts == Parts::two) return {{0, quarter}, {quarter, count}};
  const std::int64_t first = rounded_up(count / 16, count);
  return {{0, first}, {first, quarter}, {quarter, count}};
}

/// The part of a run that goes to some indices.
Run cut(const Run& run, const Range& some) {
  const std::int64_t before = std::max<std::int64_t>(some.begin - run.to, 0);
  const std::int64_t end = std::min(run.to + run.length, some.end);
  return {run.from + before, run.to + before, end - run.to - before};
}

std::vector<Run> cut(const std::vector<Run>& runs, const Range& some) {
  std::vector<Run> parts;
  for (const Run& run : runs)
    if (const Run part = cut(run, some); part.length > 0) parts.push_back(part);
  return parts;
}

}  // namespace

Gathering::Gathering(const Spread& source, const Spread& result, int ranks)
    : source_(source), result_(result), in_place_(source.columns.places == 1 && source.rows == result.rows) {
  for (int rank = 0; rank < ranks; ++rank)
    in_place_ = in_place_ && (rows(rank) == 0 || source.grid.row(rank) == result.grid.row(rank));
}

std::int64_t Gathering::most_rows() const {
  std::int64_t most = 0;
  for (int place = 0; place < result_.rows.places; ++place) most = std::max(most, result_.rows.count(place));
  return most;
}

std::vector<Run> Gathering::row_runs(int sender, int receiver) const {
  return common_runs(source_.rows, source_.grid.row(sender), result_.rows, result_.grid.row(receiver));
}

std::vector<Run> Gathering::k_runs(int sender) const {
  return common_runs(source_.columns, source_.grid.column(sender), make_cut(source_.columns.extent, 0, 1, 0), 0);
}

std::int64_t Gathering::count_pieces(int sender, int receiver) const {
  return std::int64_t(row_runs(sender, receiver).size() * k_runs(sender).size());
}

std::vector<Piece> Gathering::pieces(int sender, int receiver, const Range& some, const Range& k) const {
  const auto rows = cut(row_runs(sender, receiver), some), columns = cut(k_runs(sender), k);
  // Lines are columns of both arrays, or rows.
  const bool flip = by_columns();
  const std::int64_t from_ld = flip ? source_.local_rows(sender) : source_.local_columns(sender);
  const std::int64_t to_ld = flip ? this->rows(receiver) : k.length();
  std::vector<Piece> pieces;
  for (const Run& row : rows)
    for (const Run& column : columns) {
      const Run &line = flip ? column : row, &along = flip ? row : column;
      const std::int64_t line_to = line.to - (flip ? k.begin : 0), along_to = along.to - (flip ? 0 : k.begin);
      pieces.push_back({line.from * from_ld + along.from,
                        line_to * to_ld + along_to,
                        {1, line.length, along.length},
                        {0, from_ld},
                        {0, to_ld}});
    }
  return pieces;
}

ProductCut cut_of(const tessera_gemm_desc& desc, const std::array<Gathering, kFactors>& factors,
                  const DeviceLimits& limits) {
  ProductCut cut;
  double bytes = 0.0;
  int travelling = 0;
  for (std::size_t factor = 0; factor < kFactors; ++factor) {
    cut.gathers[factor] = !factors[factor].is_in_place();
    if (!cut.gathers[factor]) continue;
    ++travelling;
    bytes += double(factors[factor].most_rows()) * double(desc.k) * double(size_of(DType(desc.dtype)));
  }
  cut.width = desc.k;
  if (bytes > double(limits.memory)) {
    const double share = double(limits.memory) / (2.0 * bytes);  // of two slots
    cut.width = std::min(desc.k, std::max<std::int64_t>(1, std::int64_t(double(desc.k) * share) / kSlice) * kSlice);
  }
  if (cut.is_sliced(desc.k)) return cut;
  const std::int64_t part =
      factors[0].most_rows() * factors[1].most_rows() / std::max<std::int64_t>(limits.least_part, 1);
  for (std::size_t factor = 0; factor < kFactors; ++factor) {
    if (!cut.gathers[factor]) continue;
    if (part >= 16)
      cut.parts[factor] = travelling == 1 ? Parts::three : Parts::two;
    else if (part >= 4 && (factor == 0 || !cut.gathers[0]))
      cut.parts[factor] = Parts::two;
  }
  return cut;
}

DeviceProduct::DeviceProduct(std::unique_ptr<Transport> transport, tessera_context* context, tessera_context* copier,
                             const tessera_gemm_desc& desc, const std::array<Gathering, kFactors>& factors,
                             const ProductCut& cut, int rank, int ranks, const tessera_plan_options& options)
    : transport_(std::move(transport)),
      context_(context),
      copier_(copier),
      desc_(desc),
      factors_(factors),
      cut_(cut),
      rank_(rank),
      element_(std::int64_t(size_of(DType(desc.dtype)))),
      arrays_(kFactors, nullptr) {
  std::vector<std::vector<PartProduct>> all;
  for (int each = 0; each < ranks; ++each) all.push_back(products_of(each));
  products_ = all[std::size_t(rank)];
  std::vector<Messages> messages;
  for (std::size_t product = 0; product < products_.size(); ++product) messages.push_back(messages_of(product, all));
  for (std::size_t factor = 0; factor < kFactors; ++factor)
    for (std::size_t slot = 0; slot < (cut_.is_sliced(desc_.k) ? 2 : 1); ++slot)
      if (cut_.gathers[factor] && factors_[factor].rows(rank) > 0)
        gathered_[factor][slot] = make_buffer(context_, factors_[factor].rows(rank) * cut_.width * element_);
  transport_->expect(std::move(messages));
  make_plans(options);
}

DeviceProduct::~DeviceProduct() {
  try {
    call(tessera_context_synchronize, copier_);  // after a failure nobody else has waited for what is on its way
  } catch (const Error&) {                       // the device is gone
  }
}

std::vector<PartProduct> DeviceProduct::products_of(int rank) const {
  const std::array<Range, kFactors> all{Range{0, factors_[0].rows(rank)}, Range{0, factors_[1].rows(rank)}};
  std::vector<PartProduct> products;
  const auto add = [&](Range rows, Range columns, Range new_rows, Range new_columns, Range k) {
    PartProduct product{{}, rows, columns, k, cut_.is_sliced(desc_.k) ? products.size() % 2 : 0};
    if (cut_.gathers[0]) product.gathered[0] = new_rows;
    if (cut_.gathers[1]) product.gathered[1] = new_columns;
    products.push_back(product);
  };
  if (cut_.is_sliced(desc_.k)) {
    for (std::int64_t k = 0; k < desc_.k; k += cut_.width)
      add(all[0], all[1], all[0], all[1], {k, std::min(k + cut_.width, desc_.k)});
    return products;
  }
  const std::vector<Range> rows = parts_of(all[0].end, cut_.parts[0]), columns = parts_of(all[1].end, cut_.parts[1]);
  for (std::size_t j = 0; j < columns.size(); ++j)
    add(rows[0], columns[j], j == 0 ? rows[0] : Range{}, columns[j], {0, desc_.k});
  for (std::size_t i = 1; i < rows.size(); ++i) add(rows[i], all[1], rows[i], {}, {0, desc_.k});
  return products;
}

Messages DeviceProduct::messages_of(std::size_t product, const std::vector<std::vector<PartProduct>>& all) const {
  Messages messages;
  for (std::size_t factor = 0; factor < kFactors; ++factor)
    for (int peer = 0; peer < int(all.size()); ++peer) {
      const auto add = [&](int sender, int receiver, std::vector<Message>& to) {
        const PartProduct& needs = all[std::size_t(receiver)][product];
        if (needs.gathered[factor].empty()) return;
        auto pieces = factors_[factor].pieces(sender, receiver, needs.gathered[factor], needs.k);
        if (!pieces.empty()) to.push_back({factor, peer, element_, std::move(pieces)});
      };
      add(rank_, peer, messages.sent), add(peer, rank_, messages.received);
    }
  return messages;
}

void DeviceProduct::make_plans(const tessera_plan_options& options) {
  for (const PartProduct& product : products_) {
    const Key key = key_of(product);
    if (key.m == 0 || key.n == 0 || key.k == 0 || plans_.contains(key)) continue;
    tessera_gemm_desc desc = tessera_packed_gemm(desc_.dtype, key.m, key.n, key.k);
    desc.trans_a = factors_[0].by_columns() ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
    desc.trans_b = factors_[1].by_columns() ? TESSERA_NO_TRANSPOSE : TESSERA_TRANSPOSE;
    desc.lda = ld(0, key.k), desc.ldb = ld(1, key.k), desc.ldc = factors_[1].rows(rank_);
    desc.dtype_d = desc_.dtype_d, desc.compute = desc_.compute;
    plans_.emplace(key, make_plan(context_, &desc, options));
  }
}

std::int64_t DeviceProduct::ld(std::size_t factor, std::int64_t width) const {
  return factors_[factor].ld(rank_, cut_.gathers[factor] ? width : desc_.k);
}

/// Where rows of the left factor or columns of the right one are, gathered or in the local array.
const void* DeviceProduct::part(std::size_t factor, const void* array, const PartProduct& product,
                                const Range& rows) const {
  const Gathering& of = factors_[factor];
  if (cut_.gathers[factor])
    return at(tessera_buffer_data(gathered_[factor][product.slot].get()),
              of.offset(rows, product.k.length()) * element_);
  const std::int64_t before = of.by_columns() ? product.k.begin * of.rows(rank_) : product.k.begin;
  return at(array, (of.offset(rows, desc_.k) + before) * element_);
}

/// Others read a factor itself, or a copy, where its memory is that of a pool.
void DeviceProduct::open(const std::array<const void*, kFactors>& factors, Progress& progress) {
  factors_given_ = factors;
  progress.run([&] {
    for (std::size_t factor = 0; factor < kFactors; ++factor) {
      arrays_[factor] = const_cast<void*>(factors[factor]);
      const std::int64_t bytes = factors_[factor].stored_elements(rank_) * element_;
      const bool reads = cut_.gathers[factor] && bytes > 0 && factors[factor] != nullptr;
      if (!reads || transport_->can_open(factors[factor])) continue;
      if (readable_[factor] == nullptr) readable_[factor] = make_buffer(context_, bytes);
      arrays_[factor] = tessera_buffer_data(readable_[factor].get());
    }
  });
  progress.always([&] { transport_->open(arrays_); });
}

/// What is queued on the context by now ends before anything travels.
void DeviceProduct::show() {
  call(tessera_context_wait_for, copier_, context_);
  for (std::size_t factor = 0; factor < kFactors; ++factor) {
    if (arrays_[factor] == factors_given_[factor]) continue;
    const auto bytes = std::size_t(factors_[factor].stored_elements(rank_) * element_);
    driver::copy(driver::device_of(context_), stream_of(context_),
                 {factors_given_[factor], arrays_[factor], bytes, bytes, 1, bytes});
  }
  transport_->show(context_);
}

void DeviceProduct::gather(std::size_t product, Progress& progress) {
  Arrays targets(kFactors, nullptr);
  for (std::size_t factor = 0; factor < kFactors; ++factor)
    if (const BufferHandle& buffer = gathered_[factor][products_[product].slot]; buffer != nullptr)
      targets[factor] = tessera_buffer_data(buffer.get());
  transport_->begin(product, arrays_, targets, progress);
}

/// Each product waits for what it needs alone. Where slots are used again, what follows in one waits for the product
/// that reads it:
///
///     copier    | gather 0 | gather 1 | gather 2 ...
///     context              | product 0       | product 1 ...
void DeviceProduct::queue(double alpha, double beta, void* c, Progress& progress) {
  progress.run([&] {
    show();
    gather(0, progress);
  });
  for (std::size_t product = 0; product < products_.size(); ++product)
    progress.run([&] {
      call(tessera_context_wait_for, context_, copier_);
      if (product + 1 < products_.size()) {
        if (cut_.is_sliced(desc_.k)) call(tessera_context_wait_for, copier_, context_);
        gather(product + 1, progress);
      }
      multiply(products_[product], alpha, beta, c);
    });
  progress.run([&] { transport_->done(); });
  if (progress.failed()) transport_->fail();
}

void DeviceProduct::close() noexcept {
  try {
    transport_->close();
  } catch (const Error&) {  // a rank has failed, and all know, or the device is gone
  }
}

void DeviceProduct::multiply(const PartProduct& product, double alpha, double beta, void* c) const {
  const auto plan = plans_.find(key_of(product));
  if (plan == plans_.end()) return;
  const std::int64_t first = product.rows.begin * factors_[1].rows(rank_) + product.columns.begin;
  run_product(plan->second.get(), desc_.dtype, desc_.dtype_d, alpha, part(0, arrays_[0], product, product.rows),
              part(1, arrays_[1], product, product.columns), product.k.begin == 0 ? beta : 1.0,
              at(c, first * std::int64_t(size_of(DType(desc_.dtype_d)))));
}

std::string DeviceProduct::description(const std::array<const char*, kFactors>& names) const {
  std::string text, which;
  for (std::size_t factor = 0; factor < kFactors; ++factor)
    if (cut_.gathers[factor]) which += (which.empty() ? "" : " and ") + std::string(names[factor]);
  text = (which.empty() ? "nothing travels, " : which + " gathered " + transport_->name() + ", ") +
         std::to_string(products_.size()) + (products_.size() == 1 ? " product" : " products");
  return text + (cut_.is_sliced(desc_.k) ? " of k = " + std::to_string(cut_.width) : "");
}

}  // namespace tessera::distributed
