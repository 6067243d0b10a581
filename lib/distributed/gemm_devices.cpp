// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Distributed products on devices that reach each other.

#include "gemm.hpp"

#include "local_product.hpp"
#include "together.hpp"

#include <algorithm>
#include <utility>

namespace tessera::distributed {
namespace {

/// Of a device's memory, what gathered factors take at most where options do not say.
constexpr std::uint64_t kShareOfMemory = 4;
/// Pieces of a factor that come to a rank. Each is a copy of its own: with more, one redistribution costs less.
constexpr std::int64_t kMostPieces = 2048;
/// Elements of C that are work for a multiprocessor: a tile of the usual size.
constexpr std::int64_t kTileElements = 128 * 128;

}  // namespace

/// The factors as they are stored, or as they are redistributed.
std::array<Gathering, kFactors> GemmPlan::factors_of(bool aligned) const {
  const Spread &left = aligned ? left_.aligned : left_.stored, &right = aligned ? right_.aligned : right_.stored;
  return {Gathering(left, result_, comm_->size()), Gathering(right.transposed(), result_.transposed(), comm_->size())};
}

/// Collective: how panels travel between devices, and whether factors are gathered as they are stored.
void GemmPlan::join_devices(const tessera_plan_options& options) {
  carrier_ = Carrier::join(comm_, context_.get(), copier_.get(), why_not_);
  if (carrier_ == nullptr) return;
  struct Look {
    std::array<std::int64_t, kFactors> pieces{};
    DeviceLimits limits;
  } mine;
  together(*comm_, [&] {
    const auto factors = factors_of(false);
    for (std::size_t factor = 0; factor < kFactors; ++factor)
      for (int sender = 0; sender < comm_->size() && !factors[factor].is_in_place(); ++sender)
        mine.pieces[factor] += factors[factor].count_pieces(sender, comm_->rank());
    const Driver& driver = Driver::get();
    void* const device = driver.device_of(context_.get());
    const std::uint64_t share = driver.memory_of(device) / kShareOfMemory;
    mine.limits.memory = std::int64_t(options.workspace_limit > 0 ? options.workspace_limit : share);
    mine.limits.least_part = driver.multiprocessors_of(device) * kTileElements;
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

void GemmPlan::make_device_product(const tessera_plan_options& options) {
  tessera_gemm_desc desc = desc_;
  const auto factors = factors_of(true);
  const ProductCut cut = cut_of(desc, factors, limits_);
  if (cut.is_sliced(desc_.k) && scalar_of(desc_.dtype_d) != desc_.dtype_d) {
    desc.dtype_d = scalar_of(desc_.dtype_d);
    make_sums();
  }
  product_ = std::make_unique<DeviceProduct>(std::move(carrier_), context_.get(), copier_.get(), desc, factors, cut,
                                             comm_->rank(), comm_->size(), options);
}

}  // namespace tessera::distributed
