// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by its definition, on one thread: what every other algorithm must agree with.

#include "../context.hpp"
#include "model.hpp"

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

template <class T>
class ReferencePlan final : public plugin::Plan {
 public:
  explicit ReferencePlan(const GemmProblem& problem) : problem_(problem) {}

  void execute(const plugin::Execution& execution) override {
    const GemmProblem& p = problem_;
    const T alpha = execution.scalar<T>(0), beta = execution.scalar<T>(1);
    for (std::int64_t item = 0; item < p.batch; ++item) {
      T* c = execution.operand<T>(2) + item * p.stride_c;
      for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j) {
          T& element = c[i * p.ldc + j];
          // beta = 0 overwrites what is there, also NaN; alpha = 0 reads neither A nor B.
          const T kept = beta == T(0) ? T(0) : beta * element;
          element = alpha == T(0) || p.k == 0 ? kept : alpha * dot(execution, item, i, j) + kept;
        }
    }
  }

 private:
  T dot(const plugin::Execution& execution, std::int64_t item, std::int64_t i, std::int64_t j) const {
    const GemmProblem& p = problem_;
    const T* a = execution.operand<const T>(0) + item * p.stride_a;
    const T* b = execution.operand<const T>(1) + item * p.stride_b;
    T sum = 0;
    for (std::int64_t l = 0; l < p.k; ++l)
      sum += (p.trans_a ? a[l * p.lda + i] : a[i * p.lda + l]) * (p.trans_b ? b[j * p.ldb + l] : b[l * p.ldb + j]);
    return sum;
  }

  GemmProblem problem_;
};

void offer(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  offers.add({{}, reference_seconds(machine, p)});
}

std::unique_ptr<plugin::Plan> make(Context&, const GemmProblem& p, const plugin::Parameters&) {
  return plugin::with_types<WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<ReferencePlan<T>>(p);
  });
}

const plugin::Register<Context, GemmProblem> kRegistered{
    {"reference", plugin::supports_all<GemmProblem, Machine>, offer, make}, 9};

}  // namespace
}  // namespace tessera::cpu
