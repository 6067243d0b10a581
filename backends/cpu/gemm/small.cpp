// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Small products by the kernels of `direct` on one thread, with nothing that a plan has to find out first. So they
/// need none. Where the name is forced, a plan runs the same function.

#include "small.hpp"

#include "../context.hpp"
#include "arguments.hpp"
#include "model.hpp"
#include "panels.hpp"

#include <algorithm>

namespace tessera::cpu {
namespace {

using plugin::GemmProblem;

/// Largest m, n and k: of long panels, which factorizations update column by column.
constexpr std::int64_t kMostSmall = 1024;
/// Largest m * n * k: more would pay on several threads.
constexpr std::int64_t kMostSide = kInstructionSet.vector_bytes >= kAvx2.vector_bytes ? 64 : 32,
                       kMostMultiplyAdds = kMostSide * kMostSide * kMostSide;

template <class T>
void multiply(const tessera_small_product* product) {
  // Field by field, as the core has just written them: a wider load would wait until all are in the cache.
  const volatile tessera_small_product& s = *product;
  T* const c = static_cast<T*>(s.c);
  const std::int64_t ldc = s.ldc;
  multiply_small<T>({s.trans_a == TESSERA_TRANSPOSE, s.trans_b == TESSERA_TRANSPOSE, s.m, s.n, s.k, T(s.alpha),
                     static_cast<const T*>(s.a), s.lda, static_cast<const T*>(s.b), s.ldb, T(s.beta), c, ldc, c, ldc});
}

template <class T>
class SmallPlan final : public plugin::Plan {
 public:
  explicit SmallPlan(const GemmProblem& problem) : p_(problem) {}

  void execute(const plugin::Execution& execution) override {
    const GemmArguments<T> x(p_, execution);
    for (std::int64_t item = 0; item < p_.batch; ++item) {
      const T* c = x.c + item * x.stride_c;
      T* d = x.d + item * p_.stride_d;
      if (p_.k == 0 || x.alpha == T(0))
        scale_tile(p_.m, p_.n, x.beta, c, x.ldc, d, p_.ldd, Finish<T>{});
      else
        multiply_small<T>({p_.trans_a, p_.trans_b, p_.m, p_.n, p_.k, x.alpha, x.a + item * p_.stride_a, p_.lda,
                           x.b + item * p_.stride_b, p_.ldb, x.beta, c, x.ldc, d, p_.ldd});
      if (x.epilogue) x.finish(item, 0, 0).apply(p_.m, p_.n, d, p_.ldd);
    }
  }

 private:
  GemmProblem p_;
};

std::string why_unsupported(const GemmProblem& p, const Machine&) {
  if (std::max({p.m, p.n, p.k}) <= kMostSmall && p.m * p.n * p.k <= kMostMultiplyAdds) return {};
  return "takes m, n and k up to " + std::to_string(kMostSmall) + ", and " + std::to_string(kMostMultiplyAdds) +
         " multiply-adds";
}

void offer(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  const Grid whole{p.m, p.n, p.k, 1, 1, 1};
  offers.add(
      {{}, panels_seconds(machine, p, whole, {kMostSmall, kMostSmall, kMostSmall, 0, 0}, {false, p.trans_b}, 1)});
}

std::unique_ptr<plugin::Plan> make(Context&, const GemmProblem& p, const plugin::Parameters&) {
  return plugin::with_types<WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<SmallPlan<T>>(p);
  });
}

const plugin::Register<Context, GemmProblem> kRegistered{
    {"small", why_unsupported, offer, make, {.epilogue = true, .aux = true, .forced_only = true}}, 4};

}  // namespace

tessera_small_gemm_function small_gemm(tessera_dtype dtype, std::int64_t& extent, std::int64_t& multiply_adds) {
  extent = kMostSmall, multiply_adds = kMostMultiplyAdds;
  return plugin::with_types<WideTypes>(
      dtype, []<class T>(std::type_identity<T>) -> tessera_small_gemm_function { return multiply<T>; });
}

}  // namespace tessera::cpu
