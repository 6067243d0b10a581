// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Products of matrices that are spread over ranks, which are threads: random problems beside the reference, and what
/// is refused. Each rank has a context of the environment's choice with one CPU thread.

#include "products.hpp"
#include "random.hpp"
#include "ranks.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

template <class T, class D>
void check_problem(Random& random, Product p) {
  INFO(p.text());
  p.desc.dtype = kDType<T>, p.desc.dtype_d = kDType<D>;
  const Operands<T, D> operands(random, p);
  std::vector<D> computed(operands.c.size(), number<D>(99));
  const auto errors =
      on_ranks(p.ranks, [&](const Comm& comm) { run_rank(comm, one_thread(comm.rank()), p, operands, computed); });
  for (const std::string& error : errors) REQUIRE(error == "");
  REQUIRE(first_wrong(p, operands, computed) == "");
}

}  // namespace

TEMPLATE_TEST_CASE("Random products over ranks", "[gemm]", (std::pair<float, float>), (std::pair<double, double>),
                   (std::pair<bfloat16, bfloat16>), (std::pair<float16, float16>), (std::pair<bfloat16, float>)) {
  using T = typename TestType::first_type;
  using D = typename TestType::second_type;
  Random random(std::string("distributed products ") + TypeTraits<T>::kName + TypeTraits<D>::kName);
  for (int trial = 0; trial < 60; ++trial) check_problem<T, D>(random, draw_product(random, int(random.integer(1, 8))));
}

TEMPLATE_TEST_CASE("Ordered products have the bits of a plan of one rank", "[gemm]", (std::pair<float, float>),
                   (std::pair<double, double>), (std::pair<bfloat16, bfloat16>), (std::pair<float16, float>)) {
  using T = typename TestType::first_type;
  using D = typename TestType::second_type;
  Random random(std::string("ordered distributed products ") + TypeTraits<T>::kName + TypeTraits<D>::kName);
  for (int trial = 0; trial < 40; ++trial) {
    Product p = draw_product(random, int(random.integer(1, 8)));
    INFO(p.text());
    p.desc.dtype = kDType<T>, p.desc.dtype_d = kDType<D>, p.desc.sums = Sums::ordered;
    p.limit = 0, p.exact = false, p.desc.k = p.desc.k + trial % 2 * 700;
    (p.desc.trans_a == Transpose::yes ? p.a.rows : p.a.columns) = p.desc.k;
    (p.desc.trans_b == Transpose::yes ? p.b.columns : p.b.rows) = p.desc.k;
    const Operands<T, D> operands(random, p);
    std::vector<D> computed(operands.c.size(), number<D>(99)), expected = operands.c;
    const auto errors =
        on_ranks(p.ranks, [&](const Comm& comm) { run_rank(comm, one_thread(comm.rank()), p, operands, computed); });
    for (const std::string& error : errors) REQUIRE(error == "");
    GemmPlan(one_thread(0), p.desc).execute(Scalar<D>(p.alpha), operands.a, operands.b, Scalar<D>(p.beta), expected);
    REQUIRE(same_bits(computed, expected));
  }
}

TEST_CASE("Each rank without elements, and empty matrices", "[gemm]") {
  Random random("distributed products, empty");
  for (const auto& [m, n, k] : {std::array{1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {0, 0, 0}, {1, 9, 300}})
    for (const int ranks : {1, 4, 7}) {
      Product p;
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
  refused("whole_n = 9: a distributed product has the order of its own n",
          {.m = 8, .n = 8, .k = 8, .sums = Sums::ordered, .whole_n = 9});
  refused("triangle = 1: a distributed product computes all of C",
          {.m = 8, .n = 8, .k = 8, .triangle = Triangle::lower});
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
