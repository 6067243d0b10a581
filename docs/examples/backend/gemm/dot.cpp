// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by its definition.

#include "../backend.hpp"

namespace simple {
namespace {

using plugin::GemmProblem;

template <class T>
class DotPlan final : public plugin::Plan {
 public:
  explicit DotPlan(const GemmProblem& problem) : p_(problem) {}

  void execute(const plugin::Execution& execution) override {
    const T alpha = execution.scalar<T>(0), beta = execution.scalar<T>(1);
    for (std::int64_t item = 0; item < p_.batch; ++item) {
      const T* a = execution.operand<const T>(0) + item * p_.stride_a;
      const T* b = execution.operand<const T>(1) + item * p_.stride_b;
      const T* c = execution.operand<const T>(2);  // may be null where beta is 0, and may be d
      T* d = execution.operand<T>(3) + item * p_.stride_d;
      for (std::int64_t i = 0; i < p_.m; ++i)
        for (std::int64_t j = 0; j < p_.n; ++j) {
          // beta = 0 does not read C; alpha = 0 or k = 0 does not read A and B
          const T kept = beta == T(0) ? T(0) : beta * c[item * p_.stride_c + i * p_.ldc + j];
          d[i * p_.ldd + j] = alpha == T(0) || p_.k == 0 ? kept : alpha * dot(a, b, i, j) + kept;
        }
    }
  }

 private:
  T dot(const T* a, const T* b, std::int64_t i, std::int64_t j) const {
    T sum = 0;
    for (std::int64_t l = 0; l < p_.k; ++l)
      sum +=
          (p_.trans_a ? a[l * p_.lda + i] : a[i * p_.lda + l]) * (p_.trans_b ? b[j * p_.ldb + l] : b[l * p_.ldb + j]);
    return sum;
  }

  GemmProblem p_;
};

void offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
            plugin::OfferList& list) {
  list.add({{}, p.flops() / 2 / machine.multiply_adds});
}

std::unique_ptr<plugin::Plan> make(Context&, const GemmProblem& problem, const plugin::Parameters&) {
  const auto plan = [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<DotPlan<T>>(problem);
  };
  return plugin::with_types<plugin::WideTypes>(problem.dtype, plan);
}

const plugin::Register<Context, GemmProblem> kRegistered{
    {"dot", plugin::supports_all<GemmProblem, Machine>, offers, make}, 0};

}  // namespace
}  // namespace simple
