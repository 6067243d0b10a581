// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "local_product.hpp"

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
/// factors travel, the first product is of a part of both, and may not be too small itself. bf16 of 16384^3 on two H200
/// takes 7.0 ms in one part, 6.7 in three of 1/16, 3/16 and 3/4 (docs/notes/distributed.md, "Parts").
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

std::int64_t Gathering::stored_ld(int rank) const {
  return by_columns() ? source_.local_rows(rank) : source_.local_columns(rank);
}

std::int64_t Gathering::stored_offset(int rank, std::int64_t row, const Range& k) const {
  const std::int64_t column = source_.columns.local(k.begin), ld = stored_ld(rank);
  return by_columns() ? column * ld + row : row * ld + column;
}

Message Gathering::message(int sender, int receiver, const Range& some, const Range& k, std::int64_t element) const {
  const bool flip = by_columns();  // lines of contiguous elements are columns
  Message message{0, sender, element, {std::vector<Run>{{0, 0, 1}}}, {}, {}};
  message.runs[flip ? 2 : 1] = cut(row_runs(sender, receiver), some);
  message.runs[flip ? 1 : 2] = cut(k_runs(sender), k);
  for (Run& run : message.runs[flip ? 1 : 2]) run.to -= k.begin;
  message.from_strides[1] = stored_ld(sender), message.to_strides[1] = ld(receiver, k);
  return message;
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
  std::int64_t width = desc.k;
  if (bytes > double(limits.memory)) {
    const double share = double(limits.memory) / (2.0 * bytes);  // of two slots
    width = std::max<std::int64_t>(1, std::int64_t(double(desc.k) * share) / kSlice) * kSlice;
  }
  for (std::int64_t k = 0; k < desc.k; k += width) cut.ranges.push_back({k, std::min(k + width, desc.k)});
  if (cut.is_sliced()) return cut;
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

ProductCut ring_cut(const std::array<Gathering, kFactors>& factors, std::vector<Range> panels) {
  return {{factors[0].places() > 1, factors[1].places() > 1}, {}, std::move(panels), true};
}

LocalProduct::LocalProduct(std::unique_ptr<Transport> transport, tessera_context* context, tessera_context* copier,
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
      arrays_(kFactors, nullptr),
      targets_(kFactors, nullptr) {
  std::vector<std::vector<PartProduct>> all;
  for (int each = 0; each < ranks; ++each) all.push_back(products_of(each));
  products_ = all[std::size_t(rank)];
  std::vector<Messages> messages;
  for (std::size_t product = 0; product < products_.size(); ++product) messages.push_back(messages_of(product, all));
  std::int64_t widest = 0;
  for (const Range& k : cut_.ranges) widest = std::max(widest, k.length());
  for (std::size_t factor = 0; factor < kFactors; ++factor)
    for (std::size_t slot = 0; slot < (cut_.is_sliced() ? 2 : 1); ++slot)
      if (cut_.gathers[factor] && factors_[factor].rows(rank) > 0)
        gathered_[factor][slot] = make_buffer(context_, factors_[factor].rows(rank) * widest * element_);
  transport_->expect(std::move(messages));
  make_plans(options);
}

LocalProduct::~LocalProduct() {
  if (copier_ == nullptr) return;
  try {
    call(tessera_context_synchronize, copier_);  // after a failure nobody else has waited for what is on its way
  } catch (const Error&) {                       // the device is gone
  }
}

std::vector<PartProduct> LocalProduct::products_of(int rank) const {
  const std::array<Range, kFactors> all{Range{0, factors_[0].rows(rank)}, Range{0, factors_[1].rows(rank)}};
  std::vector<PartProduct> products;
  const auto add = [&](Range rows, Range columns, Range new_rows, Range new_columns, Range k) {
    PartProduct product{{}, rows, columns, k, cut_.is_sliced() ? products.size() % 2 : 0, {}};
    for (std::size_t factor = 0; factor < kFactors; ++factor) {
      const Gathering& of = factors_[factor];
      product.stored[factor] = !cut_.gathers[factor] || (cut_.rings && of.owner(k) == of.place(rank));
      if (cut_.gathers[factor]) product.gathered[factor] = factor == 0 ? new_rows : new_columns;
    }
    products.push_back(product);
  };
  if (cut_.is_sliced()) {
    for (const Range& k : cut_.ranges) add(all[0], all[1], all[0], all[1], k);
    return products;
  }
  const std::vector<Range> rows = parts_of(all[0].end, cut_.parts[0]), columns = parts_of(all[1].end, cut_.parts[1]);
  for (std::size_t j = 0; j < columns.size(); ++j)
    add(rows[0], columns[j], j == 0 ? rows[0] : Range{}, columns[j], {0, desc_.k});
  for (std::size_t i = 1; i < rows.size(); ++i) add(rows[i], all[1], rows[i], {}, {0, desc_.k});
  return products;
}

Messages LocalProduct::messages_of(std::size_t product, const std::vector<std::vector<PartProduct>>& all) const {
  Messages messages;
  for (std::size_t factor = 0; factor < kFactors; ++factor) {
    if (cut_.rings) {
      add_ring(messages, factor, products_[product].k);
      continue;
    }
    for (int peer = 0; peer < int(all.size()); ++peer) {
      const auto add = [&](int sender, int receiver, std::vector<Message>& to) {
        const PartProduct& needs = all[std::size_t(receiver)][product];
        if (needs.gathered[factor].empty()) return;
        Message message = factors_[factor].message(sender, receiver, needs.gathered[factor], needs.k, element_);
        message.array = factor, message.peer = peer;
        if (message.bytes() > 0) to.push_back(std::move(message));
      };
      add(rank_, peer, messages.sent), add(peer, rank_, messages.received);
    }
  }
  return messages;
}

/// From the rank that has a panel to the next one, and on, until all of the ring have it.
void LocalProduct::add_ring(Messages& messages, std::size_t factor, const Range& k) const {
  const Gathering& of = factors_[factor];
  const int place = of.place(rank_), owner = of.owner(k), next = of.rank_at(rank_, place + 1);
  Message message = of.message(of.rank_at(rank_, owner), rank_, {0, of.rows(rank_)}, k, element_);
  if (of.places() == 1 || message.bytes() == 0) return;
  message.array = factor, message.peer = place == owner ? next : of.rank_at(rank_, place + of.places() - 1);
  if (place != owner && (place + 1) % of.places() != owner) message.onward = next;
  (place == owner ? messages.sent : messages.received).push_back(std::move(message));
}

void LocalProduct::make_plans(const tessera_plan_options& options) {
  for (const PartProduct& product : products_) {
    const Key key = key_of(product);
    if (key.m == 0 || key.n == 0 || key.k == 0 || plans_.contains(key)) continue;
    tessera_gemm_desc desc = tessera_packed_gemm(desc_.dtype, key.m, key.n, key.k);
    desc.trans_a = factors_[0].by_columns() ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
    desc.trans_b = factors_[1].by_columns() ? TESSERA_NO_TRANSPOSE : TESSERA_TRANSPOSE;
    desc.lda = key.lda, desc.ldb = key.ldb, desc.ldc = factors_[1].rows(rank_);
    desc.dtype_d = desc_.dtype_d, desc.compute = desc_.compute, desc.sums = desc_.sums;
    if (desc.sums == TESSERA_SUMS_ORDERED) desc.whole_n = desc_.n;
    if (is_turned()) {
      std::swap(desc.m, desc.n), std::swap(desc.trans_a, desc.trans_b), std::swap(desc.lda, desc.ldb);
      desc.order = TESSERA_COLUMN_MAJOR;
    }
    plans_.emplace(key, make_plan(context_, &desc, options));
  }
}

std::int64_t LocalProduct::ld(std::size_t factor, const PartProduct& product) const {
  return product.stored[factor] ? factors_[factor].stored_ld(rank_) : factors_[factor].ld(rank_, product.k);
}

LocalProduct::Key LocalProduct::key_of(const PartProduct& product) const {
  return {product.rows.length(), product.columns.length(), product.k.length(), ld(0, product), ld(1, product)};
}

/// Where rows of the left factor or columns of the right one are, gathered or in the local array.
const void* LocalProduct::part(std::size_t factor, const PartProduct& product, const Range& rows) const {
  const Gathering& of = factors_[factor];
  if (product.stored[factor]) return at(arrays_[factor], of.stored_offset(rank_, rows.begin, product.k) * element_);
  return at(tessera_buffer_data(gathered_[factor][product.slot].get()), of.offset(rows.begin, product.k) * element_);
}

/// Others read a factor itself, or a copy, where its memory is that of a pool.
void LocalProduct::open(const std::array<const void*, kFactors>& factors, Progress& progress) {
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
void LocalProduct::show() {
  call(tessera_context_wait_for, copier_, context_);
  for (std::size_t factor = 0; factor < kFactors; ++factor) {
    if (arrays_[factor] == factors_given_[factor]) continue;
    const auto bytes = std::size_t(factors_[factor].stored_elements(rank_) * element_);
    driver::copy(driver::device_of(context_), stream_of(context_),
                 {factors_given_[factor], arrays_[factor], bytes, bytes, 1, bytes});
  }
  transport_->show(context_);
}

/// Where the factors of a product are gathered.
const Arrays& LocalProduct::targets(std::size_t product) {
  for (std::size_t factor = 0; factor < kFactors; ++factor) {
    const BufferHandle& buffer = gathered_[factor][products_[product].slot];
    targets_[factor] = buffer == nullptr ? nullptr : tessera_buffer_data(buffer.get());
  }
  return targets_;
}

void LocalProduct::begin(std::size_t product, Progress& progress) {
  if (product < products_.size()) transport_->begin(product, arrays_, targets(product), progress);
}

void LocalProduct::finish(std::size_t product, Progress& progress) {
  if (product < products_.size()) transport_->finish(product, targets(product), progress);
}

/// Each product waits for what it needs alone. Where slots are used again, what follows in one waits for the product
/// that reads it:
///
///     copier, or the host | factors 0 | factors 1 | factors 2 ...
///     context                         | product 0 | product 1 ...
void LocalProduct::queue(double alpha, double beta, void* c, Progress& progress) {
  const bool on_stream = !cut_.rings;
  progress.run([&] {
    if (on_stream) show();
  });
  begin(0, progress), finish(0, progress);
  for (std::size_t product = 0; product < products_.size(); ++product) {
    progress.run([&] {
      if (on_stream) call(tessera_context_wait_for, context_, copier_);
      if (on_stream && cut_.is_sliced()) call(tessera_context_wait_for, copier_, context_);
    });
    begin(product + 1, progress);
    progress.run([&] {
      if (!on_stream && copier_ != nullptr) call(tessera_context_synchronize, context_);
      multiply(products_[product], alpha, beta, c);
    });
    finish(product + 1, progress);
  }
  progress.run([&] { transport_->done(); });
  if (progress.failed()) transport_->fail();
}

void LocalProduct::close() noexcept {
  try {
    transport_->close();
  } catch (const Error&) {  // a rank has failed, and all know, or the device is gone
  }
}

void LocalProduct::multiply(const PartProduct& product, double alpha, double beta, void* c) const {
  const auto plan = plans_.find(key_of(product));
  if (plan == plans_.end()) return;
  const std::int64_t first = product.rows.begin * factors_[1].rows(rank_) + product.columns.begin;
  const void *a = part(0, product, product.rows), *b = part(1, product, product.columns);
  if (is_turned()) std::swap(a, b);
  run_product(plan->second.get(), desc_.dtype, desc_.dtype_d, alpha, a, b, product.k.begin == 0 ? beta : 1.0,
              at(c, first * std::int64_t(size_of(DType(desc_.dtype_d)))));
}

std::string LocalProduct::description(const std::array<const char*, kFactors>& names) const {
  if (cut_.rings) return std::to_string(products_.size()) + " panels of k = " + std::to_string(desc_.k);
  std::string which;
  for (std::size_t factor = 0; factor < kFactors; ++factor)
    if (cut_.gathers[factor]) which += (which.empty() ? "" : " and ") + std::string(names[factor]);
  return (which.empty() ? "nothing travels, " : which + " gathered " + transport_->name() + ", ") +
         std::to_string(products_.size()) + (products_.size() == 1 ? " product" : " products") +
         (cut_.is_sliced() ? " of k = " + std::to_string(cut_.ranges.front().length()) : "");
}

}  // namespace tessera::distributed
