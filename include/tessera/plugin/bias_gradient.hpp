// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The gradient of a bias: sums of D's rows or columns, once a product has made it. A Context that can has
///
///     SumBias summing(const BiasGradient&);  // for a plan, made with it
#pragma once

#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace tessera::plugin {

/// Which sums, and where they go. In the type of sums, in an order that follows from this alone, and rounded once.
struct BiasGradient {
  tessera_dtype dtype, dtype_bias;  ///< of D, of the sums as they are stored
  bool per_row;
  std::int64_t m, n, batch, ldd, stride_d, increment, stride;

  explicit BiasGradient(const GemmProblem& p)
      : dtype(p.dtype_d),
        dtype_bias(p.dtype_bias),
        per_row(p.bias_gradient == TESSERA_BIAS_PER_ROW),
        m(p.m),
        n(p.n),
        batch(p.batch),
        ldd(p.ldd),
        stride_d(p.stride_d),
        increment(p.bias_increment),
        stride(p.bias_stride) {}

  /// Whether all products of the batch add to one vector.
  bool shared() const { return stride == 0; }
  double bytes() const { return double(batch) * double(m) * double(n) * double(size_of(dtype)); }
};

/// Makes the sums: queues that, or does it on the host. Allocates nothing.
using SumBias = std::function<void(const void* d, void* bias)>;

/// A plan, then the gradient of the bias.
class SummingPlan final : public Plan {
 public:
  SummingPlan(SumBias sum, std::unique_ptr<Plan> plan) : sum_(std::move(sum)), plan_(std::move(plan)) {}
  std::uint64_t workspace_bytes() const override { return plan_->workspace_bytes(); }
  void execute(const Execution& e) override {
    plan_->execute(e);
    sum_(e.operand<const void>(3), e.operand<void>(4));
  }

 private:
  SumBias sum_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace tessera::plugin
