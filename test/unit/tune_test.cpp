// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Tuning, and measuring among backends.

#include "errors.hpp"
#include "scene.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace tessera::test {

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

const GemmDesc kProduct{.m = 4, .n = 4, .k = 4};
const PlanOptions kDevice{.operands = Memory::device};

/// Of so many rows all emulations predict the same, and so little that no other backend is near.
const GemmDesc kCoveted{.m = 7777, .n = 1, .k = 1};

std::vector<Tried> those(const std::vector<Tried>& tried, bool Tried::*flag) {
  std::vector<Tried> found;
  std::ranges::copy_if(tried, std::back_inserter(found), [&](const Tried& t) { return t.*flag; });
  return found;
}

}  // namespace

TEST_CASE("tuning tells what it tried, and plans take the fastest from then on", "[tune]") {
  Scene scene;
  const std::vector<Tried> tried = GemmPlan::tune(scene.context(), kProduct, kDevice);
  REQUIRE(those(tried, &Tried::chosen).size() == 1);
  REQUIRE(those(tried, &Tried::estimated).size() == 1);
  const Tried chosen = those(tried, &Tried::chosen)[0], estimated = those(tried, &Tried::estimated)[0];
  CHECK_THAT(chosen.algorithm, ContainsSubstring("tuned:tile="));
  CHECK(estimated.algorithm == "plain");
  CHECK(chosen.backend == "fake");
  CHECK(chosen.device == 0);
  CHECK(estimated.seconds > 2e-3);  // it sleeps for so long
  CHECK(chosen.seconds < estimated.seconds);
  CHECK(chosen.whole_seconds == 0.0);
  const GemmPlan plan(scene.context(), kProduct, kDevice);
  CHECK_THAT(plan.describe(), EndsWith("| from wisdom"));
  CHECK(plan.algorithm() == chosen.algorithm);
}

TEST_CASE("tuning measures again, and leaves the file that TESSERA_WISDOM names alone", "[tune]") {
  Scene scene;
  const ScopedVariable file("TESSERA_WISDOM", scene.path());
  GemmPlan::tune(scene.context(), kProduct, kDevice);
  CHECK_FALSE(std::filesystem::exists(scene.path()));
  CHECK(scene.said("measured tuned"));
  GemmPlan::tune(scene.context(), kProduct, kDevice);
  CHECK(scene.said("measured tuned"));
  wisdom::save(scene.path());
  const wisdom::File saved = wisdom::read(scene.path());
  REQUIRE(saved.entries.size() == 1);
  CHECK_THAT(saved.entries[0].problem, ContainsSubstring("gemm f32->f32 strict 4x4x4"));
  CHECK_THAT(saved.entries[0].machine, ContainsSubstring("fake (an emulated device) on fake device 0"));
  CHECK(saved.entries[0].estimated_seconds > saved.entries[0].seconds);
}

TEST_CASE("what a process measured itself stays, whatever a file says of it", "[tune]") {
  Scene scene;
  GemmPlan::tune(scene.context(), kProduct, kDevice);
  wisdom::save(scene.path());
  std::string line;
  std::getline(std::ifstream(scene.path()), line);
  const std::size_t at = line.find("\"tuned:");
  line.replace(at, line.find('"', at + 1) + 1 - at, "\"plain\"");
  std::ofstream(scene.path()) << line << "\n";
  const ScopedVariable file("TESSERA_WISDOM", scene.path());
  CHECK(GemmPlan(scene.context(), kProduct, kDevice).algorithm().starts_with("tuned"));
  wisdom::forget();
  CHECK(GemmPlan(scene.context(), kProduct, kDevice).algorithm() == "plain");
}

TEST_CASE("threads that ask for one problem at a time get one algorithm", "[tune]") {
  Scene scene;
  const PlanOptions measure{.operands = Memory::device, .effort = Effort::measure};
  std::vector<std::string> algorithms(4);
  std::vector<std::thread> threads;
  for (std::string& algorithm : algorithms)
    threads.emplace_back([&] { algorithm = GemmPlan(fake(), kProduct, measure).algorithm(); });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::ranges::count(algorithms, algorithms.front()) == 4);
}

TEST_CASE("a winner that writes nothing is not trusted", "[tune]") {
  Scene scene;
  const ScopedVariable wrong("TESSERA_FAKE_TUNED", "idle");
  CHECK_THAT(GemmPlan(scene.context(), kProduct, {.operands = Memory::device, .effort = Effort::measure}).describe(),
             ContainsSubstring("fake/plain") && EndsWith("| estimated"));
  CHECK(scene.said("not measured, but estimated: fake/tuned"));
}

TEST_CASE("a problem is said with the algorithm that concerns the plan alone", "[tune]") {
  Scene scene;
  const ScopedVariable other("TESSERA_GEMM_ALGORITHM", "fakestatic/tuned:tile=8");
  const GemmPlan plan(scene.context(), kProduct, kDevice);
  CHECK(scene.said("\"backend\": \"fake:0\"}"));
}

TEST_CASE("nothing is tuned where nothing is left to choose", "[tune]") {
  Scene scene;
  const auto message = [&](const GemmDesc& desc, const PlanOptions& options) {
    return message_of(ErrorCode::invalid_argument, [&] { GemmPlan::tune(scene.context(), desc, options); });
  };
  CHECK_THAT(message(kProduct, {.operands = Memory::device, .algorithm = "tuned:tile=8"}),
             ContainsSubstring("algorithm = 'tuned' with parameters: leaves nothing to tune"));
  CHECK_THAT(message({.m = 0, .n = 4, .k = 4}, kDevice), ContainsSubstring("empty output"));
  const GemmDesc large{.m = 16, .n = 16, .k = 20'000'000};  // the device has 1 GiB
  CHECK_FALSE(message_of(ErrorCode::out_of_memory, [&] { GemmPlan::tune(scene.context(), large, kDevice); }).empty());
  CHECK_FALSE(scene.said("problem {"));
  CHECK(GemmPlan::tune(scene.context(), kProduct, kDevice).size() > 1);
}

TEST_CASE("a plan without a context measures backends with what is transferred, and remembers the one", "[tune]") {
  Scene scene;
  const ScopedVariable slow("TESSERA_FAKE_SLOW", "fake");  // the first of equals
  const std::string estimated = GemmPlan(kCoveted, {.effort = Effort::estimate}).describe();
  CHECK_THAT(estimated, ContainsSubstring("| fake/") && EndsWith("| estimated"));
  const GemmPlan measured(kCoveted, {.effort = Effort::measure});
  CHECK(measured.backend() != "fake");
  CHECK_THAT(measured.describe(), EndsWith("| measured"));
  CHECK(scene.said("measured with what is transferred: "));
  for (const Effort effort : {Effort::estimate, Effort::measure}) {
    const GemmPlan next(kCoveted, {.effort = effort});
    CHECK(next.backend() == measured.backend());
    CHECK(next.algorithm() == measured.algorithm());
    CHECK_THAT(next.describe(), EndsWith("| from wisdom"));
  }
  wisdom::save(scene.path());
  const auto is_choice = [](const wisdom::Entry& e) { return e.machine.find(", one of ") != std::string::npos; };
  const wisdom::File saved = wisdom::read(scene.path());
  REQUIRE(std::ranges::count_if(saved.entries, is_choice) == 1);
  const wisdom::Entry choice = *std::ranges::find_if(saved.entries, is_choice);
  CHECK(choice.algorithm == measured.backend() + ":0");
  CHECK_THAT(choice.machine, ContainsSubstring("fake (an emulated device) on fake device 0"));
}

TEST_CASE("backends are measured with the operands of any layout", "[tune]") {
  Scene scene;
  GemmDesc desc{.m = 7777, .n = 2, .k = 3, .order = Order::column_major, .trans_a = Transpose::yes, .batch = 2};
  desc.bias = Bias::per_row;
  std::swap(desc.m, desc.n);  // the emulations look at the rows of the row-major product
  CHECK_THAT(GemmPlan(desc, {.effort = Effort::measure}).describe(), EndsWith("| measured"));
  CHECK(scene.said("measured with what is transferred: "));
}

TEST_CASE("tuning among backends tells their times with what is transferred", "[tune]") {
  Scene scene;
  const ScopedVariable slow("TESSERA_FAKE_SLOW", "fake");
  const std::vector<Tried> tried = GemmPlan::tune(kCoveted);
  REQUIRE(those(tried, &Tried::chosen).size() == 1);
  CHECK(those(tried, &Tried::chosen)[0].backend != "fake");
  REQUIRE(those(tried, &Tried::estimated).size() == 1);
  CHECK(those(tried, &Tried::estimated)[0].backend == "fake");
  CHECK(std::ranges::count_if(tried, [](const Tried& t) { return t.whole_seconds > 0.0; }) >= 2);
}

TEST_CASE("C functions of tuning and wisdom name what is missing, and the visitor of tuning may be", "[tune]") {
  Scene scene;
  std::string text(256, '\0');
  tessera_error error{sizeof error, TESSERA_OK, 0, text.data(), text.size()};
  CHECK(tessera_wisdom_visit(
            nullptr, [](void*, const tessera_wisdom_entry*) {}, nullptr, &error) == TESSERA_INVALID_ARGUMENT);
  CHECK(tessera_wisdom_visit("x", nullptr, nullptr, &error) == TESSERA_INVALID_ARGUMENT);
  CHECK_THAT(text, ContainsSubstring("visit = null"));
  tessera_gemm_desc desc = tessera_packed_gemm(TESSERA_F32, 4, 4, 4);
  tessera_plan_options options{};
  options.struct_size = sizeof options;
  options.operands = TESSERA_MEMORY_DEVICE;
  CHECK(tessera_tune(scene.context().get(), reinterpret_cast<const tessera_desc*>(&desc), &options, nullptr, nullptr,
                     &error) == TESSERA_OK);
  CHECK(tessera_tune(scene.context().get(), nullptr, &options, nullptr, nullptr, &error) == TESSERA_INVALID_ARGUMENT);
}

}  // namespace tessera::test
