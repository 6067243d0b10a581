// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Random calls of the entry points. What their results are compared with is the test's.
#pragma once

#include "entries.hpp"
#include "gemm_cases.hpp"
#include "guarded.hpp"
#include "random.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace tessera::test {

inline char letter_of(Random& random, Transpose trans) {
  return trans == Transpose::no ? "Nn"[random.integer(0, 1)] : "TtCc"[random.integer(0, 3)];
}

inline double scalar(Random& random) {
  const double usual[] = {0.0, 1.0, -1.0};
  const std::int64_t which = random.integer(0, 4);
  return which < 3 ? usual[which] : 2 * random.uniform();
}

/// Random distances beside a random shape.
inline GemmDesc draw(Random& random, bool row_major, std::int64_t most, std::int64_t batch) {
  GemmDesc d;
  const auto size = [&] { return random.integer(0, 15) == 0 ? 0 : random.integer(1, most); };
  d.m = size(), d.n = size(), d.k = size();
  d.compute = tessera::Compute::strict;
  d.order = row_major ? tessera::Order::row_major : tessera::Order::column_major;
  const Transpose flags[] = {Transpose::no, Transpose::yes};
  d.trans_a = flags[random.integer(0, 1)], d.trans_b = flags[random.integer(0, 1)];
  const auto distance = [&](std::int64_t rows, std::int64_t columns) {
    const std::int64_t pad = random.integer(0, 1) == 0 ? 0 : random.integer(1, 9);
    return std::max<std::int64_t>(row_major ? columns : rows, 1) + pad;
  };
  const bool ta = d.trans_a == Transpose::yes, tb = d.trans_b == Transpose::yes;
  d.lda = ta ? distance(d.k, d.m) : distance(d.m, d.k);
  d.ldb = tb ? distance(d.n, d.k) : distance(d.k, d.n);
  d.ldc = distance(d.m, d.n);
  d.batch = batch;
  const auto stride = [&](std::int64_t ld, std::int64_t lines) {
    return random.integer(0, 3) == 0 ? 0 : ld * std::max<std::int64_t>(lines, 1) + random.integer(0, 9);
  };
  d.stride_a = stride(d.lda, row_major == ta ? d.k : d.m);
  d.stride_b = stride(d.ldb, row_major == tb ? d.n : d.k);
  d.stride_c = d.ldc * std::max<std::int64_t>(row_major ? d.m : d.n, 1) + random.integer(0, 9);
  return d;
}

template <class T>
void fill(Random& random, const MatrixLayout& layout, T* data) {
  for (std::int64_t l = 0; l < layout.batch; ++l)
    for (std::int64_t i = 0; i < layout.rows; ++i)
      for (std::int64_t j = 0; j < layout.columns; ++j) data[layout.at(l, i, j)] = T(random.uniform());
}

/// Operands of a product, what lies between their elements is NaN.
template <class T>
struct Operands {
  GemmDesc desc;
  T alpha, beta;
  GemmLayout layout = layout_of(desc);
  GuardedArray<T> a{layout.a.span()}, b{layout.b.span()}, c{layout.c.span()};
  std::vector<T> before;

  Operands(Random& random, const GemmDesc& d, T alpha_, T beta_) : desc(d), alpha(alpha_), beta(beta_) {
    if (alpha != T(0)) fill(random, layout.a, a.data()), fill(random, layout.b, b.data());  // else all NaN
    if (beta != T(0) || random.integer(0, 1) == 0) fill(random, layout.c, c.data());
    before = c.copy();
  }

  void append_to(Group<T>& g) const {
    for (std::int64_t l = 0; l < desc.batch; ++l) {
      g.a.push_back(a.data() + l * desc.stride_a), g.b.push_back(b.data() + l * desc.stride_b);
      g.c.push_back(c.data() + l * desc.stride_c);
    }
  }

  /// Elements that are not right(e, element), where e counts them as a reference does; one more where an element beside
  /// C's has changed.
  template <class Right>
  int wrong(const Right& right) const {
    std::vector<T> rest = c.copy();
    int count = c.surroundings_intact() ? 0 : 1;
    std::size_t e = 0;
    for (std::int64_t l = 0; l < desc.batch; ++l)
      for (std::int64_t i = 0; i < desc.m; ++i)
        for (std::int64_t j = 0; j < desc.n; ++j, ++e) {
          T& element = rest[std::size_t(layout.c.at(l, i, j))];
          if (!right(e, element)) ++count;
          element = before[std::size_t(layout.c.at(l, i, j))];
        }
    return count + (rest.empty() || std::memcmp(rest.data(), before.data(), rest.size() * sizeof(T)) == 0 ? 0 : 1);
  }
};

template <class T>
Group<T> group_of(const GemmDesc& d, T alpha, T beta) {
  Group<T> g;
  g.trans_a = d.trans_a == Transpose::no ? 'N' : 'T', g.trans_b = d.trans_b == Transpose::no ? 'N' : 'T';
  g.m = d.m, g.n = d.n, g.k = d.k;
  g.alpha = alpha, g.beta = beta;
  g.lda = d.lda, g.ldb = d.ldb, g.ldc = d.ldc;
  g.stride_a = d.stride_a, g.stride_b = d.stride_b, g.stride_c = d.stride_c;
  g.size = d.batch;
  return g;
}

/// In another order: products of a group are independent.
template <class T>
void shuffle(Random& random, Group<T>& g) {
  for (std::size_t i = g.c.size(); i > 1; --i) {
    const auto j = std::size_t(random.integer(0, std::int64_t(i) - 1));
    std::swap(g.a[i - 1], g.a[j]), std::swap(g.b[i - 1], g.b[j]), std::swap(g.c[i - 1], g.c[j]);
  }
}

/// One random call of an entry point; returns the sum of wrong(operands).
template <class T, class Wrong>
int trial(const Entry<T>& entry, Random& random, const Wrong& wrong) {
  Call<T> call;
  const bool row_major = entry.c_interface && random.integer(0, 1) == 0;
  call.layout = row_major ? kRowMajor : kColumnMajor;
  call.count = entry.form == Form::grouped ? random.integer(0, 3) : 1;
  const std::int64_t most = random.integer(0, 30) == 0 ? 130 : random.integer(0, 1) == 0 ? 12 : 40;
  std::vector<Operands<T>> operands;
  for (std::int64_t g = 0; g < call.count; ++g) {
    const std::int64_t size = entry.form == Form::single ? 1 : random.integer(0, most > 40 ? 2 : 6);
    const T alpha = T(scalar(random)), beta = T(scalar(random));
    GemmDesc d = draw(random, row_major, most, size);
    call.groups.push_back(group_of(d, alpha, beta));
    call.groups.back().trans_a = letter_of(random, d.trans_a);
    call.groups.back().trans_b = letter_of(random, d.trans_b);
    const bool apart = entry.form == Form::grouped && random.integer(0, 1) == 0;
    if (apart) d.batch = 1;
    for (std::int64_t i = 0; i < (apart ? size : 1); ++i) {
      operands.emplace_back(random, d, alpha, beta);
      operands.back().append_to(call.groups.back());
    }
    if (apart || (entry.form == Form::grouped && random.integer(0, 3) == 0)) shuffle(random, call.groups.back());
    if (entry.form == Form::strided && size == 0) {  // pointers that nobody follows
      call.groups.back().a.push_back(nullptr), call.groups.back().b.push_back(nullptr);
      call.groups.back().c.push_back(nullptr);
    }
  }
  entry(call);
  int count = 0;
  for (const Operands<T>& o : operands) count += wrong(o);
  return count;
}

}  // namespace tessera::test
