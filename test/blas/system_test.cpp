// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Random products beside those of the system's BLAS.

#include "random_calls.hpp"
#include "reference.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace tessera::test;

/// The products of a type in libblas.so.3. It finds its own names before ours, so that its cblas_dgemm calls its own
/// dgemm_.
template <class T>
class SystemBlas {
 public:
  SystemBlas() {
    if (library_ == nullptr) {
      missing_ = dlerror();
      return;
    }
    for (const Entry<T>& entry : {fortran_, c_})
      if (dlsym(library_, entry.name.c_str()) == nullptr) missing_ = std::string(kFile) + " has no " + entry.name;
  }

  /// Why there is none; "" where there is one.
  const std::string& missing() const { return missing_; }

  /// What C becomes. Where alpha is 0, A and B are zeros and not NaN: netlib's loops do not read them, but OpenBLAS's
  /// kernels for small matrices (AVX-512) multiply them by alpha.
  std::vector<T> product(const Operands<T>& o, bool c_interface) const {
    std::vector<T> a = o.a.copy(), b = o.b.copy(), c = o.before;
    if (o.alpha == T(0)) std::ranges::fill(a, T(0)), std::ranges::fill(b, T(0));
    Call<T> call{kColumnMajor, {group_of(o.desc, o.alpha, o.beta)}, 1};
    if (o.desc.order == tessera::Order::row_major) call.layout = kRowMajor;
    Group<T>& g = call.groups[0];
    for (std::int64_t l = 0; l < o.desc.batch; ++l) {
      g.a = {a.data() + l * g.stride_a}, g.b = {b.data() + l * g.stride_b}, g.c = {c.data() + l * g.stride_c};
      c_interface ? c_(call) : fortran_(call);
    }
    return c;
  }

 private:
  static constexpr const char* kFile = "libblas.so.3";
  void* library_ = dlopen(kFile, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  Entry<T> fortran_{std::string(1, kLetter<T>) + "gemm_", "", Form::single, false, false, library_};
  Entry<T> c_{std::string("cblas_") + kLetter<T> + "gemm", "", Form::single, true, false, library_};
  std::string missing_;
};

/// Elements that differ by more than the bounds of two results, and those beside C's that have changed. Each is within
/// the bound of the exact result.
template <class T>
int differing(const Operands<T>& o, const std::vector<T>& theirs) {
  const auto bound = gemm_reference<T>(o.desc, o.alpha, o.a.data(), o.b.data(), o.beta, o.before.data(), false).bound;
  std::vector<T> packed;
  for (std::int64_t l = 0; l < o.desc.batch; ++l)
    for (std::int64_t i = 0; i < o.desc.m; ++i)
      for (std::int64_t j = 0; j < o.desc.n; ++j) packed.push_back(theirs[std::size_t(o.layout.c.at(l, i, j))]);
  return o.wrong(
      [&](std::size_t e, T element) { return std::abs(Wide<T>(element) - Wide<T>(packed[e])) <= 2 * bound[e]; });
}

/// Throws where a product of the system's BLAS comes to Tessera: of a shape that no other call has, it would need a
/// plan.
template <class T>
void require_own_products(const SystemBlas<T>& system) {
  Random random("a shape of its own");
  const auto asked = [] {
    const auto info = tessera::plan_cache::info();
    return info.made + info.found;
  };
  for (const tessera::Order order : {tessera::Order::column_major, tessera::Order::row_major}) {
    const tessera::GemmDesc desc{.m = 141, .n = 142, .k = 143, .order = order, .lda = 150, .ldb = 150, .ldc = 150};
    const Operands<T> operands(random, desc, T(1), T(1));
    const auto before = asked();
    if (order == tessera::Order::column_major) system.product(operands, false);
    system.product(operands, true);
    if (asked() != before) throw std::runtime_error("the system's BLAS asks Tessera");
  }
}

TEMPLATE_TEST_CASE("10,000 random calls, half of each type, do what the system's BLAS does", "[blas]", float, double) {
  using T = TestType;
  constexpr int kCalls = 5000;
  const SystemBlas<T> system;
  if (!system.missing().empty()) SKIP("there is no BLAS of the system: " << system.missing());
  require_own_products(system);
  const auto list = entries<T>(kLetter<T>);
  for (int i = 0; i < kCalls; ++i) {
    const Entry<T>& entry = list[std::size_t(i) % list.size()];
    const std::string stream = entry.name + " of the system " + std::to_string(i);
    Random random(stream);
    INFO("TESSERA_TEST_SEED=" << seed() << ", call " << stream);
    const int wrong =
        trial(entry, random, [&](const Operands<T>& o) { return differing(o, system.product(o, entry.c_interface)); });
    REQUIRE(wrong == 0);
  }
}

}  // namespace
