// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Ranks that are processes: the bits of one rank, and what is left of a group when a rank is killed. Each rank has a
/// context of the environment's choice with one CPU thread; this process has none, since it forks.

#include "processes.hpp"
#include "problems.hpp"
#include "products.hpp"
#include "random.hpp"
#include "ranks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

/// Whether the problem was computed: all ranks refuse blocks that are too thin.
bool is_computed(const Comm& comm, const Context& context, const Problem& p, const std::vector<float>& in,
                 std::vector<float>& out) {
  try {
    run_rank(comm, context, p, in, out);
  } catch (const Error& error) {
    if (std::string(error.what()).find("halo") == std::string::npos) throw;
    return false;
  }
  return true;
}

void compare_stencils(const Comm& comm) {
  Random random("distributed stencils over processes");
  const Context context = one_thread();
  int computed = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Problem p = random_problem(random, comm.size());
    const std::vector<float> in = random_values<float>(random, p.points);
    std::vector<float> out(in.size());
    if (!is_computed(comm, context, p, in, out)) continue;
    ++computed;
    if (comm.rank() == comm.size() - 1 && !same_bits(out, alone(context, p.desc, in)))
      throw std::runtime_error("trial " + std::to_string(trial) + ": other bits than one rank's");
  }
  if (computed == 0) throw std::runtime_error("no problem was computed");
}

void compare_products(const Comm& comm) {
  Random random("distributed products over processes");
  const Context context = one_thread();
  for (int trial = 0; trial < 20; ++trial) {
    Product p = draw_product(random, comm.size());
    p.desc.dtype_d = DType::f32;
    const Operands<float, float> operands(random, p);
    std::vector<float> computed(operands.c.size(), 99.0f);
    run_rank(comm, context, p, operands, computed);
    if (comm.rank() != p.root) continue;
    if (const std::string wrong = first_wrong(p, operands, computed); !wrong.empty())
      throw std::runtime_error(p.text() + ": " + wrong);
  }
}

/// A rank's work that is to be disturbed.
struct Work {
  virtual ~Work() = default;
  virtual void construct(const Comm& comm, const Context& context) = 0;
  virtual void execute() = 0;
};

struct Heat : Work {
  void construct(const Comm& comm, const Context& context) override {
    const StencilDesc desc{
        .extents = {48, 20}, .taps = taps::identity(2) + 0.1 * taps::laplacian(2), .steps = 3, .sums = Sums::ordered};
    const Decomposition cut{.ranks = {comm.size(), 1}, .depth = 1};
    plan.emplace_back(comm, context, desc, cut, kOnDevice);
    for (int i = 0; i < 2; ++i) blocks.emplace_back(context, plan[0].block().elements);
    blocks[0].upload(std::vector<float>(std::size_t(blocks[0].size()), 1.0f));
  }
  void execute() override { plan[0].execute(blocks[0].data(), blocks[1].data()); }

  std::vector<DistributedStencilPlan> plan;
  std::vector<Buffer<float>> blocks;
};

/// A is redistributed, and panels of both factors travel.
struct Multiplication : Work {
  void construct(const Comm& comm, const Context& context) override {
    const GemmDesc desc{.m = 24, .n = 20, .k = 16, .trans_a = Transpose::yes};
    plan.emplace_back(comm, context, desc, Layout{.grid_rows = 2, .grid_columns = 2}, Layout{}, Layout{}, kOnDevice);
    for (const Role role : {Role::a, Role::b, Role::c}) {
      matrices.emplace_back(context, plan[0].local(role).elements);
      matrices.back().upload(std::vector<float>(std::size_t(matrices.back().size()), 1.0f));
    }
  }
  void execute() override { plan[0].execute(1, matrices[0].data(), matrices[1].data(), 0, matrices[2].data()); }

  std::vector<DistributedGemmPlan> plan;
  std::vector<Buffer<float>> matrices;
};

enum class Part { constructor, execution };

/// Kills rank 1 in one wait of a part after another: all others must get an error. Returns how many waits there are.
template <class AnyWork>
int kill_in_each(int ranks, Part part) {
  for (int wait = 1;; ++wait) {
    CAPTURE(wait);
    const std::vector<Ending> endings = on_processes(ranks, [&](const Comm& comm, Sockets& sockets) {
      const auto in_part = [&](Part which, const std::function<void()>& body) {
        sockets.kill_in_wait(which == part && comm.rank() == 1 ? wait : 0);
        body();
        sockets.kill_in_wait(0);
      };
      const Context context = one_thread();
      AnyWork work;
      in_part(Part::constructor, [&] { work.construct(comm, context); });
      in_part(Part::execution, [&] { work.execute(); });
      for (int i = 0; i < 2; ++i) work.execute();
    });
    const bool all_are_well = endings[1].signal == 0;  // there were fewer waits
    for (std::size_t rank = 0; rank < endings.size(); ++rank) {
      CAPTURE(rank);
      CHECK(!endings[rank].hung);
      CHECK(endings[rank].signal == (rank == 1 && !all_are_well ? SIGKILL : 0));
      if (all_are_well) CHECK(endings[rank].error == "");
      if (!all_are_well && rank != 1) CHECK_THAT(endings[rank].error, Catch::Matchers::ContainsSubstring("has left"));
    }
    if (all_are_well) return wait - 1;
  }
}

}  // namespace

TEST_CASE("Processes compute what one rank does", "[processes]") {
  INFO("seed " << seed());
  for (const auto& compare : {compare_stencils, compare_products})
    for (const Ending& ending : on_processes(3, [&](const Comm&comm, Sockets&) { compare(comm); })) {
      CHECK(ending.error == "");
      CHECK(ending.signal == 0);
      CHECK(!ending.hung);
    }
}

TEST_CASE("A rank that is killed in an execution leaves the others an error", "[processes]") {
  CHECK(kill_in_each<Heat>(3, Part::execution) > 4);
  CHECK(kill_in_each<Multiplication>(4, Part::execution) > 4);
}

TEST_CASE("A rank that is killed in a constructor leaves the others an error", "[processes]") {
  CHECK(kill_in_each<Heat>(3, Part::constructor) > 4);
  CHECK(kill_in_each<Multiplication>(4, Part::constructor) > 4);
}

}  // namespace tessera::test
