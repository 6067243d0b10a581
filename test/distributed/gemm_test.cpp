// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Products of matrices that are spread over ranks, which are threads: random problems beside the reference, and what
/// is refused. Each rank has a context of the environment's choice with one CPU thread.

#include "random.hpp"
#include "ranks.hpp"
#include "reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

const PlanOptions kOnDevice{.operands = Memory::device};

/// A matrix of a problem: as the root has it, and how it is dealt.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  Layout layout;
  bool by_columns = false;

  std::size_t at(std::int64_t i, std::int64_t j) const {
    return std::size_t(by_columns ? j * rows + i : i * columns + j);
  }
};

struct Problem {
  int ranks = 1;
  GemmDesc desc;
  Matrix a, b, c;
  double alpha = 1, beta = 0;
  bool exact = false;  ///< operands are small integers
  int root = 0, times = 1;
  std::uint64_t limit = 0;  ///< of memory for what is gathered

  std::string text() const {
    std::ostringstream s;
    s << "seed " << seed() << ", " << ranks << " ranks, m n k " << desc.m << " " << desc.n << " " << desc.k
      << ", columns " << c.by_columns << ", trans " << int(desc.trans_a) << int(desc.trans_b) << ", alpha " << alpha
      << ", beta " << beta << ", root " << root << ", limit " << limit;
    for (const Matrix* m : {&a, &b, &c})
      s << " | grid " << m->layout.grid_rows << "x" << m->layout.grid_columns << " blocks " << m->layout.block_rows
        << "x" << m->layout.block_columns << " from " << m->layout.source_row << "," << m->layout.source_column;
    return s.str();
  }
};

std::int64_t draw_extent(Random& random, std::int64_t most) {
  if (random.integer(0, 15) == 0) return 0;
  return random.integer(1, random.integer(0, 2) == 0 ? 8 : most);
}

std::int64_t draw_block(Random& random, std::int64_t extent) {
  const std::int64_t kind = random.integer(0, 5);
  if (kind < 2) return 0;
  if (kind == 2) return random.integer(100, 200);  // thinner ones along k are not multiplied as they are
  return random.integer(1, kind == 3 ? 2 * extent + 1 : kind == 4 ? 3 : 40);
}

double draw_scalar(Random& random) {
  const double values[] = {0, 1, -1, 2, 0.5, random.uniform()};
  return float(values[random.integer(0, 5)]);
}

Matrix draw_matrix(Random& random, std::int64_t rows, std::int64_t columns, int p, int q, bool told, bool by_columns) {
  Matrix m{rows, columns, {}, by_columns};
  m.layout.block_rows = draw_block(random, rows), m.layout.block_columns = draw_block(random, columns);
  if (!told) return m;
  if (random.integer(0, 3) > 0) m.layout.grid_rows = p, m.layout.grid_columns = q;
  m.layout.source_row = int(random.integer(0, p - 1)), m.layout.source_column = int(random.integer(0, q - 1));
  return m;
}

Problem draw_problem(Random& random) {
  Problem p;
  p.ranks = int(random.integer(1, 8));
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
  if (random.integer(0, 2) == 0) p.limit = 1;
  return p;
}

template <class T>
std::vector<T> draw_values(Random& random, const Problem& p, const Matrix& m, bool read) {
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

/// Panels of the product, at most: where blocks end, and where a panel is as wide as can be, or a range of k.
std::int64_t most_panels(const Problem& p) {
  const std::int64_t k = p.desc.k;
  const auto blocks = [k](std::int64_t block) { return block == 0 ? 0 : k / block + 1; };
  return blocks(p.desc.trans_a == Transpose::yes ? p.a.layout.block_rows : p.a.layout.block_columns) +
         blocks(p.desc.trans_b == Transpose::yes ? p.b.layout.block_columns : p.b.layout.block_rows) + 2 * p.ranks +
         k / 64 + 1;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

/// Fills a rank's array from the root's matrix and compares it with what the formula says.
template <class T>
Buffer<T> scattered(const Context& context, DistributedGemmPlan& plan, const Problem& p, Role role, const Matrix& m,
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

template <class T, class D>
void check_problem(Random& random, Problem p) {
  INFO(p.text());
  p.desc.dtype = kDType<T>, p.desc.dtype_d = kDType<D>;
  const bool reads = p.alpha != 0 && p.desc.k > 0;
  const std::vector<T> a = draw_values<T>(random, p, p.a, reads), b = draw_values<T>(random, p, p.b, reads);
  const std::vector<D> c = draw_values<D>(random, p, p.c, p.beta != 0);
  std::vector<D> computed(c.size(), number<D>(99));
  const auto errors = on_ranks(p.ranks, [&](const Comm& comm) {
    const Context context = one_thread(comm.rank());
    PlanOptions options = kOnDevice;
    options.workspace_limit = p.limit;
    DistributedGemmPlan plan(comm, context, p.desc, p.a.layout, p.b.layout, p.c.layout, options);
    Buffer<T> mine_a = scattered(context, plan, p, Role::a, p.a, comm.rank(), a);
    Buffer<T> mine_b = scattered(context, plan, p, Role::b, p.b, comm.rank(), b);
    for (int time = 0; time < p.times; ++time) {
      Buffer<D> mine_c = scattered(context, plan, p, Role::c, p.c, comm.rank(), c);
      plan.execute(p.alpha, mine_a.data(), mine_b.data(), p.beta, mine_c.data());
      plan.gather(Role::c, p.root, mine_c.data(), comm.rank() == p.root ? computed.data() : nullptr);
    }
  });
  for (const std::string& error : errors) REQUIRE(error == "");
  const auto expected =
      gemm_reference<T, D>(p.desc, Scalar<D>(p.alpha), a.data(), b.data(), Scalar<D>(p.beta), c.data(), p.exact);
  const double more = double(p.desc.k + 4 + most_panels(p)) / double(p.desc.k + 4);
  for (std::int64_t i = 0; i < p.desc.m; ++i)
    for (std::int64_t j = 0; j < p.desc.n; ++j) {
      const std::size_t at = std::size_t(i * p.desc.n + j);
      const auto bound = expected.bound.empty() ? 0 : expected.bound[at] * more;
      if (acceptable<D>(computed[p.c.at(i, j)], expected.value[at], bound)) continue;
      INFO("element " << i << ", " << j);
      REQUIRE(double(wide(computed[p.c.at(i, j)])) == double(expected.value[at]));
    }
}

}  // namespace

TEMPLATE_TEST_CASE("Random products over ranks", "[gemm]", (std::pair<float, float>), (std::pair<double, double>),
                   (std::pair<bfloat16, bfloat16>), (std::pair<float16, float16>), (std::pair<bfloat16, float>)) {
  using T = typename TestType::first_type;
  using D = typename TestType::second_type;
  Random random(std::string("distributed products ") + TypeTraits<T>::kName + TypeTraits<D>::kName);
  for (int trial = 0; trial < 60; ++trial) check_problem<T, D>(random, draw_problem(random));
}

TEST_CASE("Each rank without elements, and empty matrices", "[gemm]") {
  Random random("distributed products, empty");
  for (const auto& [m, n, k] : {std::array{1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {0, 0, 0}, {1, 9, 300}})
    for (const int ranks : {1, 4, 7}) {
      Problem p;
      p.ranks = ranks, p.desc = {.m = m, .n = n, .k = k};
      p.desc.compute = Compute::strict;
      p.a.rows = m, p.a.columns = k, p.b.rows = k, p.b.columns = n, p.c.rows = m, p.c.columns = n;
      p.beta = 1;
      check_problem<float, float>(random, p);
    }
}

namespace {

/// What every rank reports where `body` is to fail.
void check_all_fail(int ranks, int culprit, const std::string& part, const std::function<void(const Comm&)>& body) {
  const auto errors = on_ranks(ranks, body);
  for (int rank = 0; rank < ranks; ++rank) {
    INFO("rank " << rank);
    CHECK_THAT(errors[std::size_t(rank)], Catch::Matchers::ContainsSubstring(part));
    const bool names_it = errors[std::size_t(rank)].find("rank " + std::to_string(culprit) + ":") != std::string::npos;
    if (culprit >= 0 && rank != culprit) CHECK(names_it);
  }
}

void make(const Comm& comm, const GemmDesc& desc, const Layout& a = {}, const Layout& b = {}, const Layout& c = {}) {
  const Context context = one_thread(comm.rank());
  DistributedGemmPlan(comm, context, desc, a, b, c, kOnDevice);
}

}  // namespace

TEST_CASE("Ranks that differ fail together", "[gemm]") {
  const GemmDesc desc{.m = 8, .n = 8, .k = 8};
  check_all_fail(4, 2, "m = 9: rank 0 has 8", [&](const Comm& comm) {
    GemmDesc mine = desc;
    if (comm.rank() == 2) mine.m = 9;
    make(comm, mine);
  });
  check_all_fail(3, 1, "b.block_rows = 2: rank 0 has 0",
                 [&](const Comm& comm) { make(comm, desc, {}, {.block_rows = comm.rank() == 1 ? 2 : 0}); });
  check_all_fail(2, 1, "k = -1", [&](const Comm& comm) {
    GemmDesc mine = desc;
    if (comm.rank() == 1) mine.k = -1;
    make(comm, mine);
  });
}

TEST_CASE("What is refused is named", "[gemm]") {
  const auto refused = [](const std::string& part, const GemmDesc& desc, const Layout& a = {}, const Layout& b = {},
                          const Layout& c = {}) {
    check_all_fail(4, -1, part, [&](const Comm& comm) { make(comm, desc, a, b, c); });
  };
  const GemmDesc desc{.m = 8, .n = 8, .k = 8};
  refused("grid_rows x grid_columns = 3 x 0: must be a grid of 4 ranks", desc, {.grid_rows = 3});
  refused("c.grid_rows = 4: another matrix has 2", desc, {.grid_rows = 2}, {}, {.grid_rows = 4});
  refused("a.block_rows = -1", desc, {.block_rows = -1});
  refused("b.source_column = 2: must lie in [0, 2)", desc, {}, {.source_column = 2});
  refused("a.grid_columns = -2", desc, {.grid_columns = -2});
  refused("lda = 12: must be packed", {.m = 8, .n = 8, .k = 8, .lda = 12});
  refused("batch = 2", {.m = 8, .n = 8, .k = 8, .batch = 2});
  refused("bias = 1", {.m = 8, .n = 8, .k = 8, .bias = Bias::per_row});
  refused("activation = 1", {.m = 8, .n = 8, .k = 8, .activation = Activation::relu});
  refused("dtype_d", {.m = 8, .n = 8, .k = 8, .dtype_d = DType::f16});
}

TEST_CASE("An execution that fails on one rank fails on all, and the next one works", "[gemm]") {
  const GemmDesc desc{.m = 8, .n = 8, .k = 8};
  const auto errors = on_ranks(4, [&](const Comm& comm) {
    const Context context = one_thread(comm.rank());
    DistributedGemmPlan plan(comm, context, desc, {}, {}, {}, kOnDevice);
    const std::vector<float> ones(std::size_t(plan.local(Role::a).elements), 1.0f);
    Buffer<float> a(context, ones.size()), b(context, ones.size()), c(context, ones.size());
    a.upload(ones), b.upload(ones), c.upload(ones);
    const auto fails = [&](int culprit, const std::string& part, auto&& body) {
      try {
        body();
      } catch (const Error& error) {
        const std::string text = error.what();
        const bool named = comm.rank() == culprit || text.find("rank " + std::to_string(culprit) + ":") == 0;
        if (named && text.find(part) != std::string::npos) return;
        throw std::runtime_error("another error: " + text);
      }
      throw std::runtime_error("nothing was thrown where it should be: " + part);
    };
    const bool first = comm.rank() == 1;
    fails(1, "b = null", [&] { plan.execute(1, a.data(), first ? nullptr : b.data(), 0, c.data()); });
    fails(1, "alpha", [&] { plan.execute(first ? 2 : 1, a.data(), b.data(), 0, c.data()); });
    fails(1, "c = a", [&] { plan.execute(1, a.data(), b.data(), 0, first ? a.data() : c.data()); });
    fails(1, "root = 1", [&] { plan.scatter(Role::a, comm.rank() == 1, ones.data(), a.data()); });
    std::vector<float> whole(64);
    fails(1, "local = null", [&] { plan.gather(Role::c, 0, first ? nullptr : c.data(), whole.data()); });
    fails(0, "global = null", [&] { plan.scatter(Role::a, 0, nullptr, a.data()); });
    plan.execute(1, a.data(), b.data(), 2, c.data());
    std::vector<float> values(ones.size());
    c.download(values);
    for (const float value : values)
      if (value != 10.0f) throw std::runtime_error("the product after failures is " + std::to_string(value));
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("A product follows work that is queued", "[gemm]") {
  const auto errors = on_ranks(4, [&](const Comm& comm) {
    const Context context = one_thread(comm.rank());
    DistributedGemmPlan plan(comm, context, {.m = 8, .n = 8, .k = 8}, {}, {}, {}, kOnDevice);
    const std::vector<float> ones(std::size_t(plan.local(Role::a).elements), 1.0f);
    Buffer<float> a(context, ones.size()), b(context, ones.size()), c(context, ones.size());
    a.upload(ones), b.upload(ones), c.upload(ones);
    plan.execute(1, a.data(), b.data(), 0, c.data());
    plan.execute(1, c.data(), b.data(), 0, a.data());
    plan.execute(1, b.data(), a.data(), 0, c.data());
    std::vector<float> values(ones.size());
    c.download(values);
    for (const float value : values)
      if (value != 512.0f) throw std::runtime_error("the product of products is " + std::to_string(value));
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("A rank that has left fails the others", "[gemm]") {
  const auto errors = on_ranks(4, [&](const Comm& comm) {
    const Context context = one_thread(comm.rank());
    const GemmDesc desc{.m = 8, .n = 8, .k = 8};
    DistributedGemmPlan plan(comm, context, desc, {}, {}, {}, kOnDevice);
    if (comm.rank() == 3) return;
    const std::size_t count = std::size_t(plan.local(Role::a).elements);
    Buffer<float> a(context, count), b(context, count), c(context, count);
    plan.execute(1, a.data(), b.data(), 0, c.data());
  });
  for (int rank = 0; rank < 3; ++rank)
    CHECK_THAT(errors[std::size_t(rank)], Catch::Matchers::ContainsSubstring("left"));
}

}  // namespace tessera::test
