// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Distributed products over MPI, by mpiexec; ends with 0 where all is well. Each rank has a cpu context of one thread.

#include "products.hpp"
#include "random.hpp"
#include "world.hpp"

#include <tessera/mpi.hpp>
#include <tessera/tessera.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

constexpr ContextOptions kOneThread{.threads = 1};

template <class T, class D>
void test_products(const Comm& comm) {
  constexpr int kTrials = 40;
  const std::string types = std::string(TypeTraits<T>::kName) + " " + TypeTraits<D>::kName;
  Random random("distributed products over MPI, " + types);
  const Context context("cpu", kOneThread);
  for (int trial = 0; trial < kTrials; ++trial) {
    Product p = draw_product(random, comm.size());
    p.desc.dtype = kDType<T>, p.desc.dtype_d = kDType<D>;
    const std::string name = types + ", " + p.text();
    const Operands<T, D> operands(random, p);
    std::vector<D> computed(operands.c.size(), number<D>(99));
    const std::string error = thrown_by([&] { run_rank(comm, context, p, operands, computed); });
    require(error.empty(), name + ": " + error);
    if (comm.rank() != p.root) continue;
    const std::string wrong = first_wrong(p, operands, computed);
    require(wrong.empty(), name + ": " + wrong);
  }
}

/// The last rank passes another descriptor or layout: all get an error that says what it is.
void test_other_arguments(const Comm& comm) {
  const Context context("cpu", kOneThread);
  const bool last = comm.rank() == comm.size() - 1;
  const auto refused = [&](const std::string& what, const GemmDesc& desc, const Layout& a) {
    const std::string error = thrown_by([&] { const DistributedGemmPlan plan(comm, context, desc, a); });
    require(error.find(what) != std::string::npos, "ranks with other arguments (" + what + "): " + error);
  };
  refused("m = 9", {.m = last ? 9 : 8, .n = 8, .k = 8}, {});
  refused("a.block_rows = 2", {.m = 8, .n = 8, .k = 8}, {.block_rows = last ? 2 : 0});
}

/// The last rank has no array: all fail, and compute later with the same plan.
void test_failed_execution(const Comm& comm) {
  const Context context("cpu", kOneThread);
  const int last = comm.size() - 1;
  DistributedGemmPlan plan(comm, context, {.m = 8, .n = 8, .k = 8});
  const auto ones = [&](Role role) { return std::vector<float>(std::size_t(plan.local(role).elements), 1.0f); };
  const std::vector<float> a = ones(Role::a), b = ones(Role::b);
  std::vector<float> c = ones(Role::c);
  const std::string error =
      thrown_by([&] { plan.execute(1, a.data(), comm.rank() == last ? nullptr : b.data(), 0, c.data()); });
  require(error.find("b = null") != std::string::npos, "an execution without B on one rank: " + error);
  plan.execute(1, a.data(), b.data(), 0, c.data());
  require(c == std::vector<float>(c.size(), 8.0f), "a plan is wrong after a failure");
}

}  // namespace

}  // namespace tessera::test

int main(int argc, char** argv) {
  using namespace tessera;
  MPI_Init(&argc, &argv);
  test::share_seed();
  {
    const Comm comm = mpi::comm(MPI_COMM_WORLD);
    test::test_products<float, float>(comm);
    test::test_products<double, double>(comm);
    test::test_products<bfloat16, bfloat16>(comm);
    test::test_products<float16, float16>(comm);
    test::test_products<bfloat16, float>(comm);
    test::test_other_arguments(comm);
    test::test_failed_execution(comm);
  }
  MPI_Finalize();
  return 0;
}
