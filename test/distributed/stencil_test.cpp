// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Distributed stencils have the bits of a plan of one rank, whatever the cut, and fail on all ranks or on none.

#include "problems.hpp"
#include "random.hpp"
#include "ranks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace tessera::test {
namespace {

using Catch::Matchers::ContainsSubstring;

template <class T>
void compare_with_one_rank(const std::string& backend, Problem p, Random& random) {
  p.desc.dtype = kDType<T>;
  const std::vector<T> in = random_values<T>(random, p.points);
  const std::vector<T> wanted = alone(context_of(backend), p.desc, in);
  std::vector<T> out(in.size(), std::numeric_limits<T>::quiet_NaN());
  const std::vector<std::string> errors =
      on_ranks(p.ranks, [&](const Comm& comm) { run_rank(comm, context_of(backend, comm.rank()), p, in, out); });
  if (!errors[0].empty()) {  // too thin for so many ranks
    for (const std::string& error : errors) CHECK_THAT(error, ContainsSubstring("halo"));
    return;
  }
  for (const std::string& error : errors) CHECK(error.empty());
  CHECK(std::memcmp(out.data(), wanted.data(), out.size() * sizeof(T)) == 0);
}

}  // namespace

TEST_CASE("any number of ranks and any cut give the bits of one rank", "[stencil]") {
  Random random("distributed stencils");
  for (const std::string& backend : tested_backends())
    for (int trial = 0; trial < 150; ++trial) {
      const Problem p = random_problem(random, int(random.integer(1, 8)));
      INFO(backend << ", trial " << trial << ", " << p.ranks << " ranks, depth " << p.cut.depth << ", seed " << seed());
      if (trial % 3 == 0)
        compare_with_one_rank<double>(backend, p, random);
      else
        compare_with_one_rank<float>(backend, p, random);
    }
}

namespace {

const StencilDesc kHeat{.extents = {32, 20}, .taps = taps::identity(2) + 0.1 * taps::laplacian(2), .steps = 4};

/// What each of three ranks throws when they make a plan; rank 1 with what `change` makes of the arguments.
template <class Change>
std::vector<std::string> made_with(Change&& change) {
  return on_ranks(3, [&](const Comm& comm) {
    StencilDesc desc = kHeat;
    Decomposition cut;
    std::string backend = tested_backends().front();
    if (comm.rank() == 1) change(desc, cut, backend);
    const Context context = context_of(backend, comm.rank());
    const DistributedStencilPlan plan(comm, context, desc, cut, {.operands = Memory::device});
  });
}

void check_all(const std::vector<std::string>& errors, const std::string& text) {
  for (const std::string& error : errors) CHECK_THAT(error, ContainsSubstring(text));
}

}  // namespace

TEST_CASE("ranks that differ all hear of it", "[stencil]") {
  check_all(made_with([](StencilDesc& desc, Decomposition&, std::string&) { desc.extents = {32, 21}; }), "extents[1]");
  check_all(made_with([](StencilDesc& desc, Decomposition&, std::string&) { desc.steps = 5; }), "steps = 5");
  check_all(made_with([](StencilDesc& desc, Decomposition&, std::string&) { desc.boundary = Boundary::nearest; }),
            "boundary");
  check_all(made_with([](StencilDesc& desc, Decomposition&, std::string&) { desc.taps = 2.0 * desc.taps; }), "tap");
  check_all(made_with([](StencilDesc&, Decomposition& cut, std::string&) { cut.depth = 2; }), "depth");
  check_all(made_with([](StencilDesc&, Decomposition& cut, std::string&) { cut.ranks = {1, 3}; }), "ranks");
}

TEST_CASE("a rank without a backend leaves before there is a plan", "[stencil]") {
  const std::vector<std::string> errors =
      made_with([](StencilDesc&, Decomposition&, std::string& backend) { backend = "none"; });
  CHECK_THAT(errors[1], ContainsSubstring("none"));
  CHECK_THAT(errors[0], ContainsSubstring("has left"));
  CHECK_THAT(errors[2], ContainsSubstring("has left"));
}

TEST_CASE("what cannot be cut is refused on all ranks", "[stencil]") {
  const auto refused = [](const StencilDesc& desc, const Decomposition& cut) {
    return on_ranks(4, [&](const Comm& comm) {
      const Context context = context_of(tested_backends().front(), comm.rank());
      const DistributedStencilPlan plan(comm, context, desc, cut, {.operands = Memory::device});
    });
  };
  StencilDesc thin = kHeat;
  thin.extents = {7, 3};
  check_all(refused(thin, {.ranks = {4, 1}, .depth = 2}), "halo");
  check_all(refused(kHeat, {.ranks = {3, 1}}), "grid of 4 ranks");
  check_all(refused(kHeat, {.ranks = {4, 1}, .points = {{8, 8, 8, 9}}}), "domain's 32");
  check_all(refused(kHeat, {.ranks = {4, 1}, .points = {{30, 1, 1, 0}}}), "points[0][3] = 0");
  check_all(refused(kHeat, {.depth = -1}), "depth = -1");
  StencilDesc halo = kHeat;
  halo.boundary = Boundary::halo;
  check_all(refused(halo, {}), "must not be halo");
  StencilDesc strided = kHeat;
  strided.in_strides = {40, 1};
  check_all(refused(strided, {}), "strides[0] = 40");
}

TEST_CASE("an execution that fails on one rank fails on all, and the plans stay usable", "[stencil]") {
  const std::vector<std::string> errors = on_ranks(3, [&](const Comm& comm) {
    const Context context = context_of(tested_backends().front(), comm.rank());
    DistributedStencilPlan plan(comm, context, kHeat, {.ranks = {3, 1}, .depth = 1}, {.operands = Memory::device});
    Buffer<float> in(context, plan.block().elements), out(context, plan.block().elements);
    const std::vector<float> values(std::size_t(plan.block().elements), 1.0f);
    in.upload(values), out.upload(values);
    std::string text;
    try {
      plan.execute(comm.rank() == 2 ? nullptr : in.data(), out.data());
    } catch (const Error& error) {
      text = error.what();
    }
    plan.execute(in.data(), out.data());
    throw Error(ErrorCode::internal, text);
  });
  CHECK_THAT(errors[2], ContainsSubstring("in = null"));
  const bool compared = errors[1].find("rank 2: in = null") == 0;  // by ranks on devices, before they begin
  if (!compared) CHECK_THAT(errors[1], ContainsSubstring("rank 2 has failed"));
  if (!compared) CHECK_THAT(errors[0], ContainsSubstring("rank 1 has failed"));
}

TEST_CASE("ranks that name different roots all hear of it", "[stencil]") {
  check_all(on_ranks(2,
                     [](const Comm& comm) {
                       const Context context = context_of(tested_backends().front(), comm.rank());
                       DistributedStencilPlan plan(comm, context, kHeat, {}, {.operands = Memory::device});
                       Buffer<float> in(context, plan.block().elements);
                       const std::vector<float> field(32 * 20);
                       plan.scatter(comm.rank(), field.data(), in.data());
                     }),
            "root = 1: rank 0 has 0");
}

TEST_CASE("a rank that leaves is no reason to wait for ever", "[comm]") {
  const std::vector<std::string> errors = on_ranks(3, [&](const Comm& comm) {
    if (comm.rank() == 1) throw Error(ErrorCode::internal, "rank 1 ends");
    const Context context = context_of(tested_backends().front(), comm.rank());
    const DistributedStencilPlan plan(comm, context, kHeat, {}, {.operands = Memory::device});
  });
  CHECK(errors[1] == "rank 1 ends");
  CHECK_THAT(errors[0], ContainsSubstring("has left"));
  CHECK_FALSE(errors[2].empty());
}

TEST_CASE("groups", "[comm]") {
  CHECK(Comm::self().rank() == 0);
  CHECK(Comm::self().size() == 1);
  CHECK_THROWS_AS(Comm::threads(0), Error);
  CHECK_THROWS_AS(Comm(tessera_transport{}), Error);
}

}  // namespace tessera::test
