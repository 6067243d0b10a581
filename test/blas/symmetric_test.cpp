// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Random triangles of symmetric products through every entry point, against a reference in higher precision.

#include "gemm_cases.hpp"
#include "guarded.hpp"
#include "random.hpp"
#include "reference.hpp"
#include "symmetric_entries.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace {

using namespace tessera;
using namespace tessera::test;

/// A call with random arguments, its operands with NaN between their elements, and C before it.
template <class T>
struct Drawn {
  SymmetricCall<T> call;
  GemmDesc desc;  ///< the whole product
  GuardedArray<T> a, c;
  std::vector<T> before;

  Drawn(Random& random, bool row_major, const GemmDesc& d)
      : desc(d), a(layout_of(d).a.span()), c(layout_of(d).c.span()) {
    const auto scalar = [&] {
      return T(random.integer(0, 3) == 0 ? double(random.integer(-1, 1)) : 2 * random.uniform());
    };
    call.layout = row_major ? kRowMajor : kColumnMajor;
    call.uplo = "LlUu"[random.integer(0, 3)];
    call.trans = d.trans_a == Transpose::no ? "Nn"[random.integer(0, 1)] : "TtCc"[random.integer(0, 3)];
    call.n = d.n, call.k = d.k, call.lda = d.lda, call.ldc = d.ldc, call.alpha = scalar(), call.beta = scalar();
    const GemmLayout layout = layout_of(d);
    if (call.alpha != T(0)) fill(random, layout.a, a, [](std::int64_t, std::int64_t) { return true; });
    if (call.beta != T(0)) fill(random, layout.c, c, [&](std::int64_t i, std::int64_t j) { return writes(i, j); });
    before = c.copy();
    call.a = a.data(), call.c = c.data();
  }

  bool writes(std::int64_t i, std::int64_t j) const { return call.uplo == 'L' || call.uplo == 'l' ? j <= i : j >= i; }
  /// Elements that are wrong, or were not to be written.
  int wrong() const {
    const auto expected = gemm_reference<T>(desc, call.alpha, a.data(), a.data(), call.beta, before.data(), false);
    const MatrixLayout layout = layout_of(desc).c;
    std::vector<T> left = c.copy();
    int count = 0;
    for (std::int64_t i = 0; i < desc.n; ++i)
      for (std::int64_t j = 0; j < desc.n; ++j) {
        if (!writes(i, j)) continue;
        const std::size_t place = std::size_t(layout.at(0, i, j)), e = std::size_t(i * desc.n + j);
        count += !acceptable(left[place], expected.value[e], expected.bound[e]);
        left[place] = before[place];
      }
    return count + (!left.empty() && std::memcmp(left.data(), before.data(), left.size() * sizeof(T)) != 0) +
           !c.surroundings_intact() + !a.surroundings_intact();
  }

 private:
  template <class Takes>
  static void fill(Random& random, const MatrixLayout& layout, GuardedArray<T>& array, const Takes& takes) {
    for (std::int64_t i = 0; i < layout.rows; ++i)
      for (std::int64_t j = 0; j < layout.columns; ++j)
        if (takes(i, j)) array[layout.at(0, i, j)] = T(random.uniform());
  }
};

template <class T>
Drawn<T> draw(Random& random, bool row_major, std::int64_t most) {
  GemmDesc d;
  const auto size = [&] { return random.integer(0, 15) == 0 ? 0 : random.integer(1, most); };
  d.dtype = kDType<T>, d.m = d.n = size(), d.k = size(), d.compute = Compute::strict;
  d.order = row_major ? Order::row_major : Order::column_major;
  d.trans_a = random.integer(0, 1) == 0 ? Transpose::no : Transpose::yes;
  d.trans_b = d.trans_a == Transpose::no ? Transpose::yes : Transpose::no;
  const auto gap = [&] { return random.integer(0, 1) == 0 ? 0 : random.integer(1, 9); };
  const bool along_k = row_major == (d.trans_a == Transpose::no);
  d.lda = d.ldb = std::max<std::int64_t>(1, along_k ? d.k : d.n) + gap();
  d.ldc = std::max<std::int64_t>(1, d.n) + gap();
  return {random, row_major, d};
}

TEMPLATE_TEST_CASE("random symmetric products through every entry point are right", "[blas]", float, double) {
  for (const SymmetricEntry<TestType>& entry : symmetric_entries<TestType>(kLetter<TestType>))
    for (int i = 0; i < 100; ++i) {
      const std::string stream = entry.name + " " + std::to_string(i);
      Random random(stream);
      INFO("TESSERA_TEST_SEED=" << seed() << ", call " << stream);
      auto drawn = draw<TestType>(random, entry.c_interface && random.integer(0, 1) == 0, i % 10 == 0 ? 300 : 90);
      entry(drawn.call);
      REQUIRE(drawn.wrong() == 0);
    }
}

TEMPLATE_TEST_CASE("a symmetric product reads integers of 64 bits as such", "[blas]", float, double,
                   std::complex<float>, std::complex<double>) {
  for (const SymmetricEntry<TestType>& entry : symmetric_entries<TestType>(kLetter<TestType>)) {
    if (!entry.wide) continue;
    INFO(entry.name);
    const TestType a = 3;
    TestType c = 0;
    entry({kColumnMajor, 'U', 'N', 1, 1, 1, &a, std::int64_t{1} << 40, 0, &c, std::int64_t{1} << 40});
    REQUIRE(c == TestType(9));
  }
}

TEMPLATE_TEST_CASE("what a symmetric product does not read may be anything", "[blas]", float, double,
                   std::complex<float>, std::complex<double>) {
  for (const SymmetricEntry<TestType>& entry : symmetric_entries<TestType>(kLetter<TestType>)) {
    INFO(entry.name);
    std::vector<TestType> c = {1, 2, 3, 4};
    entry({kColumnMajor, 'L', 'N', 2, 2, 0, c.data() + 1, 2, 2, c.data(), 2});
    REQUIRE(c == std::vector<TestType>{2, 4, 3, 8});
    entry({kColumnMajor, 'U', 'N', 2, 0, 1, nullptr, 2, 2, c.data(), 2});
    REQUIRE(c == std::vector<TestType>{4, 4, 6, 16});
    entry({kColumnMajor, 'U', 'N', 0, 2, 1, nullptr, 1, 2, nullptr, 1});
  }
}

}  // namespace
