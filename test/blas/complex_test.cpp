// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Random complex products through every entry point, and triangles of symmetric and Hermitian ones, against sums in
/// double precision.

#include "guarded.hpp"
#include "random.hpp"
#include "symmetric_entries.hpp"

#include <tessera/dtype.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace {

using namespace tessera::test;
using Wide = std::complex<long double>;

long double norm1(const Wide& z) { return std::abs(z.real()) + std::abs(z.imag()); }

/// A matrix as it is stored, with NaN between its rows or columns.
template <class T>
struct Stored {
  bool row_major;
  std::int64_t rows, columns, ld;
  GuardedArray<T> data;

  Stored(Random& random, bool by_rows, std::int64_t m, std::int64_t n)
      : row_major(by_rows),
        rows(m),
        columns(n),
        ld(std::max<std::int64_t>(1, by_rows ? n : m) + random.integer(0, 3)),
        data(ld * std::max<std::int64_t>(1, by_rows ? m : n)) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) data[place(i, j)] = value(random);
  }
  static T value(Random& random) {
    using R = typename T::value_type;
    return {R(random.uniform()), R(random.uniform())};
  }
  std::int64_t place(std::int64_t i, std::int64_t j) const { return row_major ? i * ld + j : j * ld + i; }
  /// Of op(X), by the letter.
  Wide at(char op, std::int64_t i, std::int64_t j) const {
    if (op != 'N') std::swap(i, j);
    const Wide z(data[place(i, j)]);
    return op == 'C' ? std::conj(z) : z;
  }
};

/// Elements of C that are wrong, each part being a sum of 2 k products, C's and alpha's roundings beside it (see
/// docs/notes/bounds.md); `computes(i, j)`: those that are computed, others must be as before.
template <class T, class Computes>
int wrong(const Stored<T>& a, char op_a, const Stored<T>& b, char op_b, T alpha, T beta, const std::vector<T>& before,
          const Stored<T>& c, std::int64_t k, bool real_diagonal, const Computes& computes) {
  int count = 0;
  std::vector<T> left = c.data.copy();
  const long double u = tessera::kUnitRoundoff<typename T::value_type>, growth = 2.0L * static_cast<long double>(k) + 8;
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.columns; ++j) {
      if (!computes(i, j)) continue;
      Wide sum = 0;
      long double size = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const Wide x = a.at(op_a, i, l), y = b.at(op_b, l, j);
        sum += x * y, size += norm1(x) * norm1(y);
      }
      const std::size_t place = std::size_t(c.place(i, j));
      const Wide old = beta == T(0) ? Wide(0) : Wide(before[place]), got(left[place]);
      Wide want = Wide(alpha) * sum + Wide(beta) * old;
      if (real_diagonal && i == j) want.imag(0), count += got.imag() != 0;
      const long double bound = growth * u * (norm1(alpha) * size + norm1(beta) * norm1(old));
      count += !(std::abs(got.real() - want.real()) <= bound && std::abs(got.imag() - want.imag()) <= bound);
      left[place] = before[place];
    }
  return count + (std::memcmp(left.data(), before.data(), left.size() * sizeof(T)) != 0) +
         !c.data.surroundings_intact();
}

template <class T>
T scalar(Random& random) {
  return random.integer(0, 2) == 0 ? T(float(random.integer(-1, 1))) : Stored<T>::value(random);
}

TEMPLATE_TEST_CASE("random complex products through every entry point are right", "[blas]", std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const Entry<T>& entry : entries<T>(kLetter<T>))
    for (int i = 0; i < 40; ++i) {
      const std::string stream = entry.name + " " + std::to_string(i);
      Random random(stream);
      INFO("TESSERA_TEST_SEED=" << seed() << ", call " << stream);
      const auto size = [&] { return random.integer(0, i % 10 == 0 ? 90 : 20); };
      const std::int64_t m = size(), n = size(), k = size();
      const bool row_major = entry.c_interface && random.integer(0, 1) == 0;
      const char op_a = "NTC"[random.integer(0, 2)], op_b = "NTC"[random.integer(0, 2)];
      const Stored<T> a(random, row_major, op_a == 'N' ? m : k, op_a == 'N' ? k : m);
      const Stored<T> b(random, row_major, op_b == 'N' ? k : n, op_b == 'N' ? n : k), c(random, row_major, m, n);
      Group<T> g;
      g.trans_a = op_a, g.trans_b = op_b, g.m = m, g.n = n, g.k = k;
      g.alpha = scalar<T>(random), g.beta = scalar<T>(random);
      g.a = {a.data.data()}, g.b = {b.data.data()}, g.c = {c.data.data()};
      g.lda = a.ld, g.ldb = b.ld, g.ldc = c.ld;
      const std::vector<T> before = c.data.copy();
      entry({row_major ? kRowMajor : kColumnMajor, {g}, 1});
      const auto all = [](std::int64_t, std::int64_t) { return true; };
      REQUIRE(wrong(a, op_a, b, op_b, g.alpha, g.beta, before, c, k, false, all) == 0);
    }
}

TEMPLATE_TEST_CASE("random symmetric and Hermitian products through every entry point are right", "[blas]",
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const SymmetricEntry<T>& entry : symmetric_entries<T>(kLetter<T>))
    for (int i = 0; i < 40; ++i) {
      const std::string stream = entry.name + " " + std::to_string(i);
      Random random(stream);
      INFO("TESSERA_TEST_SEED=" << seed() << ", call " << stream);
      const std::int64_t n = random.integer(1, i % 10 == 0 ? 150 : 20), k = random.integer(1, 20);
      const bool row_major = entry.c_interface && random.integer(0, 1) == 0, lower = random.integer(0, 1) == 0;
      const char other = entry.hermitian ? 'C' : 'T', op = random.integer(0, 1) == 0 ? 'N' : other;
      const Stored<T> a(random, row_major, op == 'N' ? n : k, op == 'N' ? k : n), c(random, row_major, n, n);
      SymmetricCall<T> s{row_major ? kRowMajor : kColumnMajor, lower ? 'L' : 'U', op, n, k};
      s.alpha = scalar<T>(random), s.beta = scalar<T>(random);
      if (entry.hermitian) {
        s.alpha.imag(0), s.beta.imag(0);
        for (std::int64_t j = 0; j < n; ++j) c.data[c.place(j, j)].imag(0);
      }
      s.a = a.data.data(), s.lda = a.ld, s.c = c.data.data(), s.ldc = c.ld;
      const std::vector<T> before = c.data.copy();
      entry(s);
      const auto computed = [&](std::int64_t x, std::int64_t y) { return lower ? y <= x : y >= x; };
      REQUIRE(wrong(a, op, a, op == 'N' ? other : 'N', s.alpha, s.beta, before, c, k, entry.hermitian, computed) == 0);
    }
}

}  // namespace
