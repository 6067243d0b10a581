// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by its definition, on one thread: what every other algorithm must agree with.

#include "../context.hpp"
#include "model.hpp"

#include <tessera/plugin/epilogue.hpp>

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

/// A and B of type T, C and D of type To.
template <class T, class To>
class ReferencePlan final : public plugin::Plan {
  using S = Scalar<To>;

 public:
  explicit ReferencePlan(const GemmProblem& problem) : problem_(problem) {}

  void execute(const plugin::Execution& execution) override {
    const GemmProblem& p = problem_;
    const S alpha = execution.scalar<S>(0), beta = execution.scalar<S>(1);
    const plugin::Epilogue<S> epilogue(p, p.bias == TESSERA_BIAS_NONE ? nullptr : execution.operand<const void>(4));
    for (std::int64_t item = 0; item < p.batch; ++item) {
      const To* c = beta == S(0) ? nullptr : execution.operand<const To>(2) + item * p.stride_c;  // may be null, unread
      To* d = execution.operand<To>(3) + item * p.stride_d;
      for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j) {
          // beta = 0 overwrites what is there, also NaN; alpha = 0 reads neither A nor B.
          const S kept = beta == S(0) ? S(0) : beta * S(c[i * p.ldc + j]);
          const S value = alpha == S(0) || p.k == 0 ? kept : alpha * dot(execution, item, i, j) + kept;
          d[i * p.ldd + j] = To(epilogue(item, i, j, value));
        }
    }
  }

 private:
  S dot(const plugin::Execution& execution, std::int64_t item, std::int64_t i, std::int64_t j) const {
    const GemmProblem& p = problem_;
    const T* a = execution.operand<const T>(0) + item * p.stride_a;
    const T* b = execution.operand<const T>(1) + item * p.stride_b;
    S sum = 0;
    for (std::int64_t l = 0; l < p.k; ++l)
      sum += S(p.trans_a ? a[l * p.lda + i] : a[i * p.lda + l]) * S(p.trans_b ? b[j * p.ldb + l] : b[l * p.ldb + j]);
    return sum;
  }

  GemmProblem problem_;
};

void offer(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  offers.add({{}, reference_seconds(machine, p)});
}

std::unique_ptr<plugin::Plan> make(Context&, const GemmProblem& p, const plugin::Parameters&) {
  return plugin::with_gemm_types(
      p, [&]<class T, class To>(std::type_identity<T>, std::type_identity<To>) -> std::unique_ptr<plugin::Plan> {
        return std::make_unique<ReferencePlan<T, To>>(p);
      });
}

const plugin::Register<Context, GemmProblem> kRegistered{
    {"reference", plugin::supports_all<GemmProblem, Machine>, offer, make, {.narrow = true, .epilogue = true}}, 9};

}  // namespace
}  // namespace tessera::cpu
