// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Limits of the workspace at the ends of their range: a plan takes no more, and is made in either case.

#include "runner.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tessera::test {

namespace {

/// Products with every transpose, of a size that algorithms cut into blocks and slices, and a batch.
std::vector<GemmCase> cases() {
  std::vector<GemmCase> list;
  for (const Transpose trans_a : {Transpose::no, Transpose::yes})
    for (const Transpose trans_b : {Transpose::no, Transpose::yes}) {
      GemmDesc desc{.m = 70, .n = 90, .k = 2100, .trans_a = trans_a, .trans_b = trans_b};
      list.push_back({"a limit", desc, 1.0, 0.5, GemmData::wide_a});
      desc.k = 33, desc.batch = 3;
      list.push_back({"a limit of a batch", desc, 1.0, 0.5, GemmData::wide_a});
      desc.m = 12, desc.n = 20;  // few enough for every algorithm
      list.push_back({"a limit of a small batch", desc, 1.0, 0.5, GemmData::wide_a});
    }
  return list;
}

}  // namespace

TEST_CASE("a limit of any size is a limit", "[limits]") {
  for (const int threads : {1, 3}) {
    Subject subject(threads);
    for (const std::string& name : subject.tested(TESSERA_OP_GEMM)) {
      Tally tally;
      for (const GemmCase& c : cases())
        for (const std::uint64_t limit : {std::uint64_t{1}, std::uint64_t{1} << 63, UINT64_MAX}) {
          INFO(name << ", workspace_limit = " << limit << ", " << threads << " threads");
          GemmTrial<float> trial(c);
          try {
            GemmPlan plan(subject.context(), trial.desc(), {.algorithm = name, .workspace_limit = limit});
            CHECK(plan.workspace_bytes() <= limit);
            CHECK(trial.run(subject.context(), plan, Memory::host).empty());
            ++tally.run;
          } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::unsupported);
            ++tally.refused[error.what()];
          }
        }
      report(subject.spec() + "/" + name + " within limits", tally, is_for_some_products(name));
    }
  }
}

TEST_CASE("a copy of an operand in another type counts in the limit, and an empty product has none",
          "[limits][mixed]") {
  Subject subject;
  const GemmDesc desc{.m = 70, .n = 90, .k = 2100, .dtype_b = DType::bf16};
  GemmDesc empty = desc;
  empty.m = 0;
  constexpr std::uint64_t kCopy = 2100 * 96 * sizeof(float);  // B in f32, its rows at multiples of 8 elements
  const auto plan_of = [&](const GemmDesc& d, const std::string& algorithm, std::uint64_t limit) {
    return GemmPlan(subject.context(), d, {.algorithm = algorithm, .workspace_limit = limit});
  };
  Tally tally;
  for (const std::string& name : subject.tested(TESSERA_OP_GEMM)) try {
      const GemmPlan plan = plan_of(desc, name, 0);
      INFO(plan.algorithm());
      ++tally.run;
      CHECK(plan.workspace_bytes() >= kCopy);
      CHECK(plan_of(empty, name, 0).workspace_bytes() < kCopy);
      for (const std::string& asked : {name, plan.algorithm()}) {
        std::string message;
        try {
          plan_of(desc, asked, kCopy - 1);
        } catch (const Error& error) {
          message = error.what();
          CHECK(error.code() == ErrorCode::unsupported);
        }
        CHECK(message.find("workspace_limit") != std::string::npos);
      }
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::unsupported);
      ++tally.refused[error.what()];
    }
  report(subject.spec() + " with a copy within limits", tally, !subject.is_complete());
}

}  // namespace tessera::test
