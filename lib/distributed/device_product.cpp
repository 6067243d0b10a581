// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "device_product.hpp"

#include "local_product.hpp"

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

}  // namespace

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

DeviceProduct::DeviceProduct(std::unique_ptr<Carrier> carrier, tessera_context* context, tessera_context* copier,
                             const tessera_gemm_desc& desc, const std::array<Gathering, kFactors>& factors,
                             const ProductCut& cut, int rank, int ranks, const tessera_plan_options& options)
    : carrier_(std::move(carrier)),
      context_(context),
      copier_(copier),
      desc_(desc),
      factors_(factors),
      cut_(cut),
      rank_(rank),
      element_(std::int64_t(size_of(DType(desc.dtype)))) {
  std::vector<std::vector<PartProduct>> all;
  for (int each = 0; each < ranks; ++each) all.push_back(products_of(each));
  products_ = all[std::size_t(rank)];
  std::vector<Messages> messages;
  for (std::size_t product = 0; product < products_.size(); ++product) messages.push_back(messages_of(product, all));
  for (std::size_t factor = 0; factor < kFactors; ++factor)
    for (std::size_t slot = 0; slot < (cut_.is_sliced(desc_.k) ? 2 : 1); ++slot)
      if (cut_.gathers[factor] && factors_[factor].rows(rank) > 0)
        gathered_[factor][slot] = make_buffer(context_, factors_[factor].rows(rank) * cut_.width * element_);
  carrier_->expect(std::move(messages), element_);
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
        if (!pieces.empty()) to.push_back({factor, peer, std::move(pieces)});
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

/// Each product waits for what it needs alone. Where slots are used again, what follows in one waits for the product
/// that reads it:
///
///     copier    | gather 0 | gather 1 | gather 2 ...
///     context              | product 0       | product 1 ...
void DeviceProduct::queue(double alpha, const std::array<const void*, kFactors>& factors, double beta, void* c,
                          Attempts& attempts) {
  const auto gather = [&](std::size_t product) {
    std::array<void*, kFactors> targets{};
    for (std::size_t factor = 0; factor < kFactors; ++factor)
      if (const BufferHandle& buffer = gathered_[factor][products_[product].slot]; buffer != nullptr)
        targets[factor] = tessera_buffer_data(buffer.get());
    carrier_->queue(product, targets);
  };
  for (std::size_t product = 0; product < products_.size(); ++product)
    attempts.run([&] {
      if (product == 0) gather(0);
      call(tessera_context_wait_for, context_, copier_);
      if (product + 1 < products_.size()) {
        if (cut_.is_sliced(desc_.k)) call(tessera_context_wait_for, copier_, context_);
        gather(product + 1);
      }
      multiply(products_[product], alpha, factors, beta, c);
    });
}

void DeviceProduct::multiply(const PartProduct& product, double alpha, const std::array<const void*, kFactors>& factors,
                             double beta, void* c) const {
  const auto plan = plans_.find(key_of(product));
  if (plan == plans_.end()) return;
  const std::int64_t first = product.rows.begin * factors_[1].rows(rank_) + product.columns.begin;
  run_product(plan->second.get(), desc_.dtype, desc_.dtype_d, alpha, part(0, factors[0], product, product.rows),
              part(1, factors[1], product, product.columns), product.k.begin == 0 ? beta : 1.0,
              at(c, first * std::int64_t(size_of(DType(desc_.dtype_d)))));
}

std::string DeviceProduct::description(const std::array<const char*, kFactors>& names) const {
  std::string text, which;
  for (std::size_t factor = 0; factor < kFactors; ++factor)
    if (cut_.gathers[factor]) which += (which.empty() ? "" : " and ") + std::string(names[factor]);
  text = (which.empty() ? "nothing travels, " : which + " gathered by " + carrier_->name() + ", ") +
         std::to_string(products_.size()) + (products_.size() == 1 ? " product" : " products");
  return text + (cut_.is_sliced(desc_.k) ? " of k = " + std::to_string(cut_.width) : "");
}

}  // namespace tessera::distributed
