// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Plans that measure, and remember, on the emulated device: of its algorithms `plain` is predicted to be the fastest,
/// and made slow here.

#include "../plugins/message_of.hpp"
#include "errors.hpp"
#include "scene.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

std::string chosen(Context& context, const GemmDesc& desc, const PlanOptions& options) {
  return GemmPlan(context, desc, options).describe();
}

const GemmDesc kProduct{.m = 4, .n = 4, .k = 4};
const PlanOptions kMeasure{.operands = Memory::device, .effort = Effort::measure},
    kEstimate{.operands = Memory::device, .effort = Effort::estimate};

}  // namespace

TEST_CASE("a plan that measures takes what is the fastest, and the next one takes it from wisdom", "[effort]") {
  Scene scene;
  CHECK_THAT(chosen(scene.context(), kProduct, kEstimate), ContainsSubstring("fake/plain") && EndsWith("| estimated"));
  const std::string measured = chosen(scene.context(), kProduct, kMeasure);
  CHECK_THAT(measured, ContainsSubstring("fake/tuned:tile=16,split=1") && EndsWith("| measured"));
  CHECK(scene.said("measured tuned:tile=16,split=1"));
  for (const PlanOptions& options : {kEstimate, kMeasure, PlanOptions{.operands = Memory::device}})
    CHECK_THAT(chosen(scene.context(), kProduct, options),
               ContainsSubstring("fake/tuned") && EndsWith("| from wisdom"));
  wisdom::forget();
  CHECK_THAT(chosen(scene.context(), kProduct, kEstimate), EndsWith("| estimated"));
}

TEST_CASE("wisdom is of a problem and a machine", "[effort]") {
  Scene scene;
  chosen(scene.context(), kProduct, kMeasure);
  GemmDesc other = kProduct;
  const auto is_known = [&](const PlanOptions& options) {
    return chosen(scene.context(), other, options).ends_with("from wisdom");
  };
  CHECK(is_known(kEstimate));
  CHECK_FALSE(is_known({.effort = Effort::estimate}));  // host operands
  CHECK_FALSE(is_known({.operands = Memory::device, .workspace_limit = 12345}));
  CHECK_FALSE(is_known({.operands = Memory::device, .sm_limit = 5}));
  CHECK_FALSE(is_known({.operands = Memory::device, .algorithm = "plain"}));
  other.m = 5;
  CHECK_FALSE(is_known(kEstimate));
  other = kProduct, other.lda = 6;
  CHECK_FALSE(is_known(kEstimate));
  other = kProduct, other.dtype = DType::f64;
  CHECK_FALSE(is_known(kEstimate));
  other = kProduct, other.bias = Bias::per_row;
  CHECK_FALSE(is_known(kEstimate));
  Context second("fake:1");
  CHECK_FALSE(chosen(second, kProduct, kEstimate).ends_with("from wisdom"));
}

TEST_CASE("what is forced with parameters is not measured, and of what is forced by name the best is", "[effort]") {
  Scene scene;
  PlanOptions forced = kMeasure;
  forced.algorithm = "tuned:tile=8";
  CHECK_THAT(chosen(scene.context(), kProduct, forced), ContainsSubstring("tile=8") && EndsWith("| forced"));
  forced.algorithm = "plain";
  CHECK_THAT(chosen(scene.context(), kProduct, forced), ContainsSubstring("fake/plain") && EndsWith("| measured"));
}

TEST_CASE("a name alone is forced, and the model chooses its parameters where it has any", "[effort]") {
  Scene scene;
  PlanOptions forced = kEstimate;
  forced.algorithm = "tuned";
  CHECK_THAT(chosen(scene.context(), kProduct, forced),
             ContainsSubstring("fake/tuned:tile=16,split=1") && EndsWith("| forced, parameters estimated"));
  forced.algorithm = "plain";
  CHECK_THAT(chosen(scene.context(), kProduct, forced), ContainsSubstring("fake/plain") && EndsWith("| forced"));
  const ScopedVariable other("TESSERA_GEMM_ALGORITHM", "fakestatic/tuned");
  CHECK_THAT(chosen(scene.context(), kProduct, kEstimate), EndsWith("| estimated"));
}

TEST_CASE("a draft runs where its name is forced, and nothing takes it by itself", "[effort]") {
  Scene scene;
  const auto is_draft = [](const auto& way) { return way.algorithm.starts_with("draft"); };
  for (const PlanOptions& options : {kEstimate, kMeasure, kEstimate})  // the last one by wisdom
    CHECK_THAT(chosen(scene.context(), kProduct, options), !ContainsSubstring("draft"));
  CHECK(GemmPlan(kProduct).backend() != "fake");  // whose draft would be the fastest of all backends
  CHECK(std::ranges::none_of(GemmPlan::tune(scene.context(), kProduct, kMeasure), is_draft));
  CHECK(std::ranges::none_of(GemmPlan::offers(scene.context(), kProduct, kEstimate), is_draft));

  PlanOptions forced = kMeasure;
  forced.algorithm = "draft";
  CHECK(std::ranges::all_of(GemmPlan::offers(scene.context(), kProduct, forced), is_draft));
  CHECK(std::ranges::all_of(GemmPlan::tune(scene.context(), kProduct, forced), is_draft));
  CHECK_THAT(chosen(scene.context(), kProduct, forced), ContainsSubstring("fake/draft"));
  CHECK_THAT(chosen(scene.context(), kProduct, kEstimate), !ContainsSubstring("draft"));  // wisdom of what was forced
  const ScopedVariable variable("TESSERA_GEMM_ALGORITHM", "fake/draft");
  CHECK_THAT(chosen(scene.context(), kProduct, kEstimate), ContainsSubstring("fake/draft"));
}

TEST_CASE("TESSERA_PLAN_EFFORT and TESSERA_WISDOM do it without a change of code", "[effort]") {
  Scene scene;
  const ScopedVariable file("TESSERA_WISDOM", scene.path());
  const PlanOptions plain{.operands = Memory::device};
  CHECK_THAT(chosen(scene.context(), kProduct, plain), EndsWith("| estimated"));
  CHECK_FALSE(std::filesystem::exists(scene.path()));  // written by measuring alone
  {
    const ScopedVariable effort("TESSERA_PLAN_EFFORT", "measure");
    CHECK_THAT(chosen(scene.context(), kProduct, plain), EndsWith("| measured"));
  }
  wisdom::forget();
  CHECK_THAT(chosen(scene.context(), kProduct, plain), ContainsSubstring("fake/tuned") && EndsWith("| from wisdom"));
  const ScopedVariable bad("TESSERA_PLAN_EFFORT", "patient");
  CHECK_THAT(message_of(ErrorCode::invalid_argument, [&] { chosen(scene.context(), kProduct, plain); }),
             ContainsSubstring("TESSERA_PLAN_EFFORT = 'patient': must be one of estimate, measure"));
}

TEST_CASE("the current directory is no place for wisdom", "[effort]") {
  Scene scene;
  const ScopedVariable file("TESSERA_WISDOM", "wisdom");
  CHECK_THAT(message_of(ErrorCode::invalid_argument, [&] { chosen(scene.context(), kProduct, kEstimate); }),
             ContainsSubstring("TESSERA_WISDOM = 'wisdom': must be an absolute path"));
}

TEST_CASE("wisdom that does not fit is a miss, and a line says so", "[effort]") {
  Scene scene;
  chosen(scene.context(), kProduct, kMeasure);
  wisdom::save(scene.path());
  std::string text;
  std::getline(std::ifstream(scene.path()), text);
  for (const std::string algorithm : {"gone", "tuned:tile=3,split=1", "tuned:tiles=8", "tuned:", "a b", "fast/tuned"}) {
    std::string changed = text;
    changed.replace(changed.find("tuned:tile=16,split=1"), 21, algorithm);
    std::ofstream(scene.path("changed")) << changed << "\n";
    wisdom::forget();
    wisdom::load(scene.path("changed"));
    CAPTURE(algorithm);
    CHECK_THAT(chosen(scene.context(), kProduct, kEstimate), EndsWith("| estimated"));
    CHECK(scene.said("wisdom is ignored: "));
  }
}

TEST_CASE("a wisdom file that cannot be used is told of, and plans are made without", "[effort]") {
  Scene scene;
  std::filesystem::create_directory(scene.path());
  const ScopedVariable file("TESSERA_WISDOM", scene.path());
  CHECK_THAT(chosen(scene.context(), kProduct, kMeasure), EndsWith("| measured"));
  CHECK(scene.said("is no regular file"));
  CHECK_THAT(message_of(ErrorCode::invalid_argument, [&] { wisdom::load(scene.path("none")); }),
             ContainsSubstring("No such file"));
  CHECK_THAT(message_of(ErrorCode::invalid_argument, [&] { wisdom::save(scene.path()); }),
             ContainsSubstring("no regular file"));
}

TEST_CASE("a winner that computes something else is not trusted", "[effort]") {
  Scene scene;
  const ScopedVariable wrong("TESSERA_FAKE_TUNED", "wrong");
  CHECK_THAT(chosen(scene.context(), kProduct, kMeasure), ContainsSubstring("fake/plain") && EndsWith("| estimated"));
  CHECK(scene.said("not measured, but estimated: fake/tuned:tile=16,split=1 computes"));
  CHECK_FALSE(chosen(scene.context(), kProduct, kEstimate).ends_with("from wisdom"));
}

TEST_CASE("without memory for operands a plan is estimated, and a line says so", "[effort]") {
  Scene scene;
  const GemmDesc large{.m = 16, .n = 16, .k = 20'000'000};  // the device has 1 GiB
  CHECK_THAT(chosen(scene.context(), large, kMeasure), EndsWith("| estimated"));
  CHECK(scene.said("not measured, but estimated: "));
}

TEST_CASE("a failure of the device while a plan is measured leaves nothing behind", "[effort]") {
  Scene scene;
  for (const std::string fault : {"plan_execute:1", "plan_execute:3", "synchronize:2", "copy:1", "buffer_allocate:2"}) {
    const ScopedVariable failing("TESSERA_FAKE_FAULT", fault);
    CAPTURE(fault);
    try {
      chosen(scene.context(), kProduct, kMeasure);
    } catch (const Error& error) {
      CHECK_THAT(error.what(), ContainsSubstring("fails as TESSERA_FAKE_FAULT says"));
    }
    wisdom::forget();
  }
  CHECK_THAT(chosen(scene.context(), kProduct, kMeasure), EndsWith("| measured"));
}

TEST_CASE("plans of the cache know efforts apart, and a clone how its original was chosen", "[effort]") {
  Scene scene;
  CHECK_THAT(GemmPlan::borrow(scene.context(), kProduct, kEstimate).describe(), EndsWith("| estimated"));
  CHECK_THAT(GemmPlan::borrow(scene.context(), kProduct, kMeasure).describe(), EndsWith("| measured"));
  const GemmPlan plan(scene.context(), kProduct, kEstimate);
  CHECK_THAT(plan.clone().describe(), EndsWith("| from wisdom"));
}

}  // namespace tessera::test
