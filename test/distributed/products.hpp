// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Random products of matrices that are dealt to ranks, how a rank computes one, and what must come out.
#pragma once

#include "random.hpp"
#include "reference.hpp"

#include <tessera/distributed.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

inline const PlanOptions kOnDevice{.operands = Memory::device};

/// A matrix of a problem: as the root has it, and how it is dealt.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  Layout layout;
  bool by_columns = false;

  std::size_t at(std::int64_t i, std::int64_t j) const {
    return std::size_t(by_columns ? j * rows + i : i * columns + j);
  }
};

/// A product of matrices that are dealt to ranks.
struct Product {
  int ranks = 1;
  GemmDesc desc;
  Matrix a, b, c;
  double alpha = 1, beta = 0;
  bool exact = false;  ///< operands are small integers
  int root = 0, times = 1;

  std::string text() const {
    std::ostringstream s;
    s << "seed " << seed() << ", " << ranks << " ranks, m n k " << desc.m << " " << desc.n << " " << desc.k
      << ", columns " << c.by_columns << ", trans " << int(desc.trans_a) << int(desc.trans_b) << ", alpha " << alpha
      << ", beta " << beta << ", root " << root;
    for (const Matrix* m : {&a, &b, &c})
      s << " | grid " << m->layout.grid_rows << "x" << m->layout.grid_columns << " blocks " << m->layout.block_rows
        << "x" << m->layout.block_columns << " from " << m->layout.source_row << "," << m->layout.source_column;
    return s.str();
  }
};

inline std::int64_t draw_extent(Random& random, std::int64_t most) {
  if (random.integer(0, 15) == 0) return 0;
  return random.integer(1, random.integer(0, 2) == 0 ? 8 : most);
}

inline std::int64_t draw_block(Random& random, std::int64_t extent) {
  const std::int64_t kind = random.integer(0, 5);
  if (kind < 2) return 0;
  if (kind == 2) return random.integer(100, 200);  // thinner ones along k are not multiplied as they are
  return random.integer(1, kind == 3 ? 2 * extent + 1 : kind == 4 ? 3 : 40);
}

inline double draw_scalar(Random& random) {
  const double values[] = {0, 1, -1, 2, 0.5, random.uniform()};
  return float(values[random.integer(0, 5)]);
}

inline Matrix draw_matrix(Random& random, std::int64_t rows, std::int64_t columns, int p, int q, bool told,
                          bool by_columns) {
  Matrix m{rows, columns, {}, by_columns};
  m.layout.block_rows = draw_block(random, rows), m.layout.block_columns = draw_block(random, columns);
  if (!told) return m;
  if (random.integer(0, 3) > 0) m.layout.grid_rows = p, m.layout.grid_columns = q;
  m.layout.source_row = int(random.integer(0, p - 1)), m.layout.source_column = int(random.integer(0, q - 1));
  return m;
}

inline Product draw_product(Random& random, int ranks) {
  Product p;
  p.ranks = ranks;
  const bool by_columns = random.integer(0, 1) == 1;
  const std::int64_t m = draw_extent(random, 70), n = draw_extent(random, 70);
  const std::int64_t k = draw_extent(random, random.integer(0, 3) == 0 ? 900 : 80);
  p.desc = {.m = m, .n = n, .k = k};
  p.desc.order = by_columns ? Order::column_major : Order::row_major;
  p.desc.compute = Compute::strict;
  if (random.integer(0, 2) == 0) p.desc.trans_a = Transpose::yes;
  if (random.integer(0, 2) == 0) p.desc.trans_b = Transpose::yes;
  int rows = int(random.integer(1, p.ranks));
  while (p.ranks % rows != 0) --rows;
  const bool told = random.integer(0, 3) > 0;
  const auto draw = [&](std::int64_t first, std::int64_t second, bool transposed) {
    if (transposed) std::swap(first, second);
    return draw_matrix(random, first, second, rows, p.ranks / rows, told, by_columns);
  };
  p.a = draw(m, k, p.desc.trans_a == Transpose::yes), p.b = draw(k, n, p.desc.trans_b == Transpose::yes);
  p.c = draw(m, n, false);
  if (told) p.c.layout.grid_rows = rows;  // somebody tells
  if (random.integer(0, 1) == 0) {        // nothing is redistributed for C's sake
    p.a.layout.block_rows = p.c.layout.block_rows, p.a.layout.source_row = p.c.layout.source_row;
    p.b.layout.block_columns = p.c.layout.block_columns, p.b.layout.source_column = p.c.layout.source_column;
  }
  p.alpha = draw_scalar(random), p.beta = draw_scalar(random);
  p.exact = random.integer(0, 1) == 1;
  if (p.exact) p.alpha = std::trunc(p.alpha), p.beta = std::trunc(p.beta);
  p.root = int(random.integer(0, p.ranks - 1)), p.times = int(random.integer(1, 2));
  return p;
}

template <class T>
std::vector<T> draw_values(Random& random, const Product& p, const Matrix& m, bool read) {
  std::vector<T> values(std::size_t(m.rows * m.columns));
  for (T& value : values)
    value = number<T>(!read     ? std::numeric_limits<double>::quiet_NaN()
                      : p.exact ? double(random.integer(-2, 2))
                                : random.uniform());
  return values;
}

/// What a rank has of a matrix, by the formula of tessera_layout.
template <class T>
std::vector<T> expected_part(const Matrix& m, const Layout& told, int ranks, const LocalMatrix& local, int rank,
                             const std::vector<T>& global) {
  const std::int64_t p = told.grid_rows, q = ranks / told.grid_rows;
  const auto block = [](std::int64_t given, std::int64_t extent, std::int64_t places) {
    return given != 0 ? given : std::max<std::int64_t>(1, (extent + places - 1) / places);
  };
  const std::int64_t mb = block(m.layout.block_rows, m.rows, p), nb = block(m.layout.block_columns, m.columns, q);
  std::vector<T> part(std::size_t(local.elements), number<T>(7));
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.columns; ++j) {
      if ((m.layout.source_row + i / mb) % p != rank / q) continue;
      if ((m.layout.source_column + j / nb) % q != rank % q) continue;
      const std::int64_t li = i / (mb * p) * mb + i % mb, lj = j / (nb * q) * nb + j % nb;
      part.at(std::size_t(m.by_columns ? lj * local.ld + li : li * local.ld + lj)) = global[m.at(i, j)];
    }
  return part;
}

/// Panels of the product, at most: where blocks end, and where a panel is as wide as can be.
inline std::int64_t most_panels(const Product& p) {
  const std::int64_t k = p.desc.k;
  const auto blocks = [k](std::int64_t block) { return block == 0 ? 0 : k / block + 1; };
  return blocks(p.desc.trans_a == Transpose::yes ? p.a.layout.block_rows : p.a.layout.block_columns) +
         blocks(p.desc.trans_b == Transpose::yes ? p.b.layout.block_columns : p.b.layout.block_rows) + 2 * p.ranks +
         k / 256 + 1;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

/// Fills a rank's array from the root's matrix and compares it with what the formula says.
template <class T>
Buffer<T> scattered(const Context& context, DistributedGemmPlan& plan, const Product& p, Role role, const Matrix& m,
                    int rank, const std::vector<T>& global) {
  const LocalMatrix local = plan.local(role);
  Buffer<T> buffer(context, local.elements);
  plan.scatter(role, p.root, rank == p.root ? global.data() : nullptr, buffer.data());
  std::vector<T> part(std::size_t(local.elements));
  buffer.download(part);
  for (const Matrix* told : {&p.a, &p.b, &p.c})
    if (told->layout.grid_rows != 0 && !same_bits(part, expected_part(m, told->layout, p.ranks, local, rank, global)))
      throw std::runtime_error("the part of rank " + std::to_string(rank) + " is not what the layout says");
  return buffer;
}

/// A product's matrices as its root has them.
template <class T, class D>
struct Operands {
  Operands(Random& random, const Product& p)
      : a(draw_values<T>(random, p, p.a, p.alpha != 0 && p.desc.k > 0)),
        b(draw_values<T>(random, p, p.b, p.alpha != 0 && p.desc.k > 0)),
        c(draw_values<D>(random, p, p.c, p.beta != 0)) {}
  std::vector<T> a, b;
  std::vector<D> c;
};

/// Scatters, executes and gathers on one rank; the root's result is in `computed`.
template <class T, class D>
void run_rank(const Comm& comm, const Context& context, const Product& p, const Operands<T, D>& operands,
              std::vector<D>& computed) {
  DistributedGemmPlan plan(comm, context, p.desc, p.a.layout, p.b.layout, p.c.layout, kOnDevice);
  Buffer<T> a = scattered(context, plan, p, Role::a, p.a, comm.rank(), operands.a);
  Buffer<T> b = scattered(context, plan, p, Role::b, p.b, comm.rank(), operands.b);
  for (int time = 0; time < p.times; ++time) {
    Buffer<D> c = scattered(context, plan, p, Role::c, p.c, comm.rank(), operands.c);
    plan.execute(p.alpha, a.data(), b.data(), p.beta, c.data());
    plan.gather(Role::c, p.root, c.data(), comm.rank() == p.root ? computed.data() : nullptr);
  }
}

/// The first element that is further from the reference than the bound of tessera/distributed.h; "" where none is.
template <class T, class D>
std::string first_wrong(const Product& p, const Operands<T, D>& operands, const std::vector<D>& computed) {
  const auto expected = gemm_reference<T, D>(p.desc, Scalar<D>(p.alpha), operands.a.data(), operands.b.data(),
                                             Scalar<D>(p.beta), operands.c.data(), p.exact);
  const double more = double(p.desc.k + 4 + most_panels(p)) / double(p.desc.k + 4);
  for (std::int64_t i = 0; i < p.desc.m; ++i)
    for (std::int64_t j = 0; j < p.desc.n; ++j) {
      const std::size_t at = std::size_t(i * p.desc.n + j);
      const D value = computed[p.c.at(i, j)];
      const auto bound = expected.bound.empty() ? 0 : expected.bound[at] * more;
      if (acceptable<D>(value, expected.value[at], bound)) continue;
      std::ostringstream s;
      s << "element " << i << ", " << j << " is " << double(wide(value)) << ", not " << double(expected.value[at]);
      return s.str();
    }
  return "";
}

}  // namespace tessera::test
