// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Distributed systems of fields fail on all ranks or none.

#include "ranks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A wave with a source and a receiver, for tests to spoil.
struct Wave {
  StencilSystem system{{40, 12, 9}};
  SystemField u, c2;
  explicit Wave(double factor = 1.0, const Boundaries& boundary = Boundary::fixed, std::int64_t source = 7)
      : u(system.state("u", {.levels = 2, .boundary = boundary})), c2(system.array("c2")) {
    system.update(u) = factor * (2 * u - u[-1] + c2 * u.under(0.1 * taps::laplacian(3, 4)));
    system.inject(u, {{{source, 6, 4}}, {1.0}, {0}, 1});
    system.record(u, {{{30, 3, 4}}, {1.0}, {0}, 1});
  }
};

/// What each of three ranks throws when it makes a plan; rank 1 of another wave.
std::vector<std::string> made_with(const Wave& other, const Decomposition& cut = {}) {
  return on_ranks(3, [&](const Comm& comm) {
    const Wave same;
    const Context context = context_of(tested_backends().front(), comm.rank());
    const DistributedSystemPlan plan(comm, context, (comm.rank() == 1 ? other : same).system, 4, cut,
                                     {.operands = Memory::device});
  });
}

/// A rank's plan of the wave and its arrays, and what its refused calls said.
struct Running {
  explicit Running(const Comm& comm)
      : context(context_of(tested_backends().front(), comm.rank())),
        plan(comm, context, wave.system, 4, {}, {.operands = Memory::device}) {
    const std::vector<float> halves(std::size_t(plan.block().elements), 0.5f);
    for (Buffer<float>* buffer : {&now, &before, &c2}) buffer->upload(halves);
    in.upload(std::vector<float>(4, 1.0f));
  }
  void execute(const SystemField& field, float* newest) {
    plan.execute({{wave.u, newest, before.data()}, {field, c2.data()}}, {{in.data()}, {out.data()}});
  }
  template <class Call>
  void refused(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      text += std::string(error.what()) + "; ";
    }
  }

  Wave wave;
  Context context;
  DistributedSystemPlan plan;
  Buffer<float> now{context, plan.block().elements}, before{context, plan.block().elements};
  Buffer<float> c2{context, plan.block().elements}, in{context, 4}, out{context, 4};
  std::string text;
};

void check_all(const std::vector<std::string>& errors, const std::string& text) {
  for (const std::string& error : errors) CHECK_THAT(error, ContainsSubstring(text));
}

}  // namespace

TEST_CASE("ranks whose systems differ all hear of it", "[system]") {
  check_all(made_with(Wave(0.5)), "updates[0]: a coefficient");
  check_all(made_with(Wave(1.0, Boundary::nearest)), "fields[0].boundary");
  check_all(made_with(Wave(1.0, Boundary::fixed, 8)), "injections[0].points");
}

TEST_CASE("systems that cannot be cut are refused on all ranks", "[system]") {
  check_all(made_with(Wave(), {.ranks = {3}, .depth = 7}), "halo");
  const auto refused = [](const StencilSystem& system, const Decomposition& cut) {
    return on_ranks(2, [&](const Comm& comm) {
      const Context context = context_of(tested_backends().front(), comm.rank());
      const DistributedSystemPlan plan(comm, context, system, 1, cut, {.operands = Memory::device});
    });
  };
  StencilSystem mixed({20, 20});
  const auto ring = mixed.state("ring", {.boundary = Boundary::periodic}), edge = mixed.state("edge");
  mixed.update(ring) = 0.5 * ring.at({1, 0}) + 0.1 * edge.at({-1, 0});
  mixed.update(edge) = 0.5 * edge;
  check_all(refused(mixed, {.ranks = {2, 1}}), "axis 0 cannot be cut");
  for (const std::string& error : refused(mixed, {})) CHECK(error.empty());  // the other axis is
  StencilSystem strided({20, 20});
  const auto wide = strided.state("wide", {.strides = {30, 1}});
  strided.update(wide) = 0.5 * wide;
  check_all(refused(strided, {}), "wide.strides = 30: must be packed");
  StencilSystem boxed({20, 20});
  const auto part = boxed.state("part", {.levels = 2});
  boxed.update(part) = 0.5 * part;
  boxed.within({0, 0}, {10, 20});
  check_all(refused(boxed, {}), "the whole domain is cut");
}

TEST_CASE("an execution of a system that fails on one rank fails on all, and the plans stay usable", "[system]") {
  const std::vector<std::string> errors = on_ranks(3, [&](const Comm& comm) {
    Running r(comm);
    const Wave& wave = r.wave;
    r.refused([&] { r.execute(wave.c2, comm.rank() == 2 ? nullptr : r.now.data()); });
    r.refused([&] { r.plan.execute({{wave.u, r.now.data()}, {wave.c2, r.c2.data()}}); });
    r.refused([&] { r.plan.execute({{wave.u, r.now.data(), r.before.data()}, {wave.c2, std::vector<double>()}}); });
    r.execute(wave.c2, r.now.data());
    throw Error(ErrorCode::internal, r.text);
  });
  check_all(errors, "u[-1] is missing: each field has an array");
  check_all(errors, "c2 is of type f64, the plan takes f32");
  CHECK_THAT(errors[2], ContainsSubstring("u = null"));
  for (const int rank : {0, 1}) CHECK_THAT(errors[std::size_t(rank)], ContainsSubstring("rank 2"));
}

TEST_CASE("a field of another system on one rank fails on all, and the plans stay usable", "[system]") {
  const std::vector<std::string> errors = on_ranks(3, [&](const Comm& comm) {
    Running r(comm);
    const Wave other;
    const SystemField& given = comm.rank() == 2 ? other.c2 : r.wave.c2;
    r.refused([&] { r.execute(given, r.now.data()); });
    r.refused([&] { r.plan.exchange(given, r.c2.data()); });
    r.execute(r.wave.c2, r.now.data());
    r.plan.exchange(r.wave.c2, r.c2.data());
    if (comm.rank() == 2) r.refused([&] { r.plan.newest(other.u); });
    throw Error(ErrorCode::internal, r.text);
  });
  const std::string whose = "of another StencilSystem";
  for (const char* of : {"field: 'c2' ", "field: 'u' "}) CHECK_THAT(errors[2], ContainsSubstring(of + whose));
  for (const int rank : {0, 1}) {
    // Ranks on devices compare before they begin.
    CHECK_THAT(errors[std::size_t(rank)],
               ContainsSubstring("rank 2 has failed") || ContainsSubstring("rank 2: u is missing"));
    CHECK_THAT(errors[std::size_t(rank)], ContainsSubstring("rank 2: field = -1"));
  }
}

}  // namespace tessera::test
