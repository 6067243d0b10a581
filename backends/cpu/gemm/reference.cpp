// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM by its definition, on one thread: what every other algorithm must agree with.

#include "../context.hpp"
#include "arguments.hpp"
#include "model.hpp"

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

/// A and B of type T, C and D of type To.
template <class T, class To>
class ReferencePlan final : public plugin::Plan {
  using S = Scalar<To>;
  using Arguments = GemmArguments<T, To>;

 public:
  explicit ReferencePlan(const GemmProblem& problem) : problem_(problem) {}

  void execute(const plugin::Execution& execution) override {
    const GemmProblem& p = problem_;
    const Arguments arguments(p, execution);
    const S alpha = arguments.alpha, beta = arguments.beta;
    for (std::int64_t item = 0; item < p.batch; ++item) {
      const To* c = arguments.c + item * arguments.stride_c;
      To* d = arguments.d + item * p.stride_d;
      for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j) {
          if (!p.writes(i, j)) continue;
          if (p.triangle == TESSERA_TRIANGLE_MIRRORED && j > i) continue;
          // beta = 0 overwrites what is there, also NaN; alpha = 0 reads neither A nor B.
          const S kept = beta == S(0) ? S(0) : beta * S(c[i * arguments.ldc + j]);
          const S value = alpha == S(0) || p.k == 0 ? kept : alpha * dot(arguments, item, i, j) + kept;
          d[i * p.ldd + j] = To(arguments.epilogue ? (*arguments.epilogue)(item, i, j, value) : value);
          if (p.triangle == TESSERA_TRIANGLE_MIRRORED) d[j * p.ldd + i] = d[i * p.ldd + j];
        }
    }
  }

 private:
  S dot(const Arguments& arguments, std::int64_t item, std::int64_t i, std::int64_t j) const {
    const GemmProblem& p = problem_;
    const T* a = arguments.a + item * p.stride_a;
    const T* b = arguments.b + item * p.stride_b;
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
    {"reference",
     plugin::supports_all<GemmProblem, Machine>,
     offer,
     make,
     {.narrow = true, .epilogue = true, .aux = true, .triangle = true}},
    9};

}  // namespace
}  // namespace tessera::cpu
