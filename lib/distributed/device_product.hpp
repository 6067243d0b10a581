// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A rank's part of C from all of k at once: the rows of A and the columns of B that it needs are gathered on its
/// device, a few at first, so that their product hides how the others come.
#pragma once

#include "attempts.hpp"
#include "carrier.hpp"
#include "gathering.hpp"
#include "handles.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

/// What a product of a rank's part computes, and what is gathered before.
struct PartProduct {
  std::array<Range, kFactors> gathered;  ///< rows of the left factor, columns of the right one
  Range rows, columns, k;
  std::size_t slot = 0;  ///< where gathered rows are: with several ranges of k, in turns
};

/// In how many parts the rows (columns) of a factor come.
enum class Parts { one, two, three };

/// How the products of all ranks are cut: by parts of C, or where gathered factors would take too much memory, by k.
struct ProductCut {
  std::array<bool, kFactors> gathers{};  ///< which factors travel
  std::array<Parts, kFactors> parts{};
  std::int64_t width = 0;  ///< of the ranges of k

  bool is_sliced(std::int64_t k) const { return width < k; }
};
/// What the devices of all ranks can.
struct DeviceLimits {
  std::int64_t memory = 0;      ///< that gathered factors may take
  std::int64_t least_part = 0;  ///< elements of C that are work for all multiprocessors
};
/// `desc` is as for DeviceProduct. At least 64 of k are gathered at a time, whatever memory they take.
ProductCut cut_of(const tessera_gemm_desc& desc, const std::array<Gathering, kFactors>& factors,
                  const DeviceLimits& limits);

class DeviceProduct {
 public:
  /// `desc` is that of the whole matrices, by rows, with the left factor as A; where k is cut, D has the type of sums.
  DeviceProduct(std::unique_ptr<Carrier> carrier, tessera_context* context, tessera_context* copier,
                const tessera_gemm_desc& desc, const std::array<Gathering, kFactors>& factors, const ProductCut& cut,
                int rank, int ranks, const tessera_plan_options& options);
  ~DeviceProduct();
  DeviceProduct(const DeviceProduct&) = delete;
  DeviceProduct& operator=(const DeviceProduct&) = delete;

  /// Of the largest product; null where this rank has none.
  const tessera_plan* plan() const { return plans_.empty() ? nullptr : plans_.rbegin()->second.get(); }
  /// `names` are those of the factors.
  std::string description(const std::array<const char*, kFactors>& names) const;

  /// Collective. C <- alpha left right + beta C on local arrays; queued. `finished` is called when this rank has queued
  /// all, is collective, and throws where a rank has failed.
  template <class Finished>
  void execute(double alpha, const std::array<const void*, kFactors>& factors, double beta, void* c, Attempts& attempts,
               Finished&& finished) {
    carrier_->begin(factors, attempts);
    queue(alpha, factors, beta, c, attempts);
    attempts.run([&] { carrier_->finish(); });
    const Leaving leaving{*carrier_};
    finished();
  }

 private:
  struct Leaving {
    Carrier& carrier;
    ~Leaving() { carrier.leave(); }
  };
  struct Key {
    std::int64_t m, n, k;
    auto operator<=>(const Key&) const = default;
  };

  std::vector<PartProduct> products_of(int rank) const;
  Messages messages_of(std::size_t product, const std::vector<std::vector<PartProduct>>& all) const;
  void make_plans(const tessera_plan_options& options);
  Key key_of(const PartProduct& product) const {
    return {product.rows.length(), product.columns.length(), product.k.length()};
  }
  std::int64_t ld(std::size_t factor, std::int64_t width) const;
  const void* part(std::size_t factor, const void* array, const PartProduct& product, const Range& rows) const;
  void queue(double alpha, const std::array<const void*, kFactors>& factors, double beta, void* c, Attempts& attempts);
  void multiply(const PartProduct& product, double alpha, const std::array<const void*, kFactors>& factors, double beta,
                void* c) const;

  std::unique_ptr<Carrier> carrier_;
  tessera_context *context_, *copier_;
  tessera_gemm_desc desc_;
  std::array<Gathering, kFactors> factors_;
  ProductCut cut_;
  int rank_;
  std::int64_t element_;
  std::vector<PartProduct> products_;
  std::map<Key, PlanHandle> plans_;
  std::array<std::array<BufferHandle, 2>, kFactors> gathered_;
};

}  // namespace tessera::distributed
