// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// --gemm and --stencil of the perf suite: the user's own problems run as the suite's do, and nothing else does.

#include "program.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

/// The names of what would run, and those without their subjects.
struct Listed {
  std::set<std::string> rows, cases;
};

Listed listed(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--backend", "cpu", "--list"});
  const Outcome outcome = run_perf(arguments);
  INFO(outcome.errors);
  CHECK(outcome.exit_code == 0);
  Listed listed;
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    CHECK(listed.rows.insert(line).second);
    listed.cases.insert(line.substr(0, line.rfind('/')));
  }
  return listed;
}

using Names = std::set<std::string>;

}  // namespace

TEST_CASE("problems of the command line run alone, or beside the cases that --case selects") {
  need_cpu();
  const std::vector<std::string> own = {"--gemm", "48x33x20:TN:f64", "--gemm", "48x33x20_TN/f64", "--quick"};
  CHECK(listed(own).cases == Names{"gemm/48x33x20_TN/f64/cold"});
  const auto beside = [&](const std::string& cases) {
    std::vector<std::string> arguments = own;
    arguments.insert(arguments.end(), {"--case", cases});
    return listed(arguments).cases;
  };
  CHECK(beside("gemm/64/f32/cold") == Names{"gemm/48x33x20_TN/f64/cold", "gemm/64/f32/cold"});
  CHECK(beside("gemm/nosuch") == Names{"gemm/48x33x20_TN/f64/cold"});
  // One that the suite has as well runs once, and is compared with what it is compared with there.
  CHECK(listed({"--gemm", "64", "--case", "gemm/64/f32/*"}).rows == listed({"--case", "gemm/64/f32/*"}).rows);
}

TEST_CASE("--case selects rows by their whole names, or by what stands before the subject") {
  need_cpu();
  const Names ours = {"gemm/64/f32/cold/tessera:cpu:packed", "gemm/64/f32/hot/tessera:cpu:packed"};
  CHECK(listed({"--case", "gemm/64/f32/*/tessera:cpu:packed"}).rows == ours);
  CHECK(listed({"--case", "gemm/64/f32/cold", "--algorithm", "packed", "--no-peers"}).rows == Names{*ours.begin()});
}

TEST_CASE("groups run where they are named, the random ones as their seed says") {
  need_cpu();
  const auto cases = [](const char* pattern, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--case", pattern};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return listed(arguments).cases;
  };
  const auto of_group = [](const Names& names) {
    return std::count_if(names.begin(), names.end(), [](const std::string& name) {
      return name.starts_with("gemm/layers_") || name.starts_with("gemm/random-");
    });
  };
  CHECK(of_group(cases("gemm/*")) == 0);
  CHECK(of_group(cases("gemm/random*/cold", {"--dtype", "f64", "--count", "1"})) == 2);
  CHECK(cases("gemm/64/*/cold", {"--dtype", "f64"}) == Names{"gemm/64/f64/cold"});
  CHECK(cases("gemm/layers_197x*_bias_gelu_tanh/bf16/cold") ==
        Names{"gemm/layers_197x3072x768_NT_bias_gelu_tanh/bf16/cold",
              "gemm/layers_197x4096x1024_NT_bias_gelu_tanh/bf16/cold",
              "gemm/layers_197x5120x1280_NT_bias_gelu_tanh/bf16/cold"});
  const Names seven = cases("gemm/random-*/f64/cold", {"--seed", "7", "--count", "5"});
  CHECK(seven.size() == 10);  // aligned and odd
  CHECK(of_group(seven) == 10);
  CHECK(cases("gemm/random-*/f64/cold", {"--seed", "7", "--count", "5"}) == seven);
  CHECK(cases("gemm/random-*/f64/cold", {"--seed", "8", "--count", "5"}) != seven);
}

TEST_CASE("a seed that the suite draws is printed, and draws the same problems again") {
  need_cpu();
  const auto drawn = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--backend", "cpu", "--list", "--count", "4", "--case", "gemm/random-*/f32/cold"});
    return run_perf(more);
  };
  const Outcome first = drawn({});
  REQUIRE(first.errors.starts_with("--seed "));
  const std::string seed = first.errors.substr(7, first.errors.find('\n') - 7);
  CHECK(drawn({"--seed", seed}).output == first.output);
  CHECK(drawn({}).output != first.output);
}

TEST_CASE("what is added to what D holds is checked") {
  need_cpu();
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "run.json";
  const Outcome outcome = run_perf({"--gemm", "48x33x20_ld+3_TN_beta1_bias/f32,48x33x20_beta1/f64,9_beta1/bf16",
                                    "--backend", "cpu,oldtable", "--budget", "0.01", "--passes", "1", "--json", file});
  CHECK(outcome.exit_code == 1);  // oldtable computes nonsense
  std::map<std::string, int> right;
  const json result = json::parse(std::ifstream(file));
  for (const json& row : result.at("benchmarks")) {
    CAPTURE(row);
    const std::string name = row.at("name");
    CHECK(row.contains("error_occurred") == (name.find(":oldtable:") != std::string::npos));
    right[name.substr(0, name.rfind('/'))] += !row.contains("error_occurred");
  }
  CHECK(right.size() == 6);
  for (const auto& [name, count] : right) CHECK(count >= 2);
}

TEST_CASE("problems of the command line are measured, checked and written as the suite's are") {
  need_cpu();
  const std::vector<std::string> own = {"--gemm",    "48x33x20:TN:f64:ld+5:gelu_tanh",
                                        "--gemm",    "40x50x60x3:bf16->f32",
                                        "--stencil", "3d_star_r4:20x30x40:nearest:f64",
                                        "--stencil", "2d_box_r5:64:constant:steps=3",
                                        "--stencil", "1d_derivative_r2:1000:reflect,2d_star_r1:64:mirror"};
  const Listed names = listed(own);
  for (const char* row : {"stencil/3d_star_r4_20x30x40_nearest/f64/cold/peer:openmp_loop",
                          "stencil/2d_box_r5_64^2_constant_steps3/f32/hot/tessera:cpu:reference",
                          "gemm/48x33x20_ld+5_TN_bias_gelu_tanh/f64/cold/tessera:cpu:packed"})
    CHECK(names.rows.contains(row));
  REQUIRE(names.cases.size() == 12);  // six, cold and hot

  std::vector<std::string> arguments = own;
  // One thread, which waits for no other where the machine is busy.
  arguments.insert(arguments.end(), {"--backend", "cpu", "--threads", "1", "--budget", "0.01", "--passes", "1"});
  const json result = measured(arguments).result;
  Names found, checked, families;
  for (const json& row : result.at("benchmarks")) {
    CAPTURE(row);
    families.insert(row.at("family"));
    const std::string name = *found.insert(row.at("name").get<std::string>()).first;
    CHECK_FALSE(row.contains("error_occurred"));
    if (row.at("max_error").get<double>() > 0.0) checked.insert(name.substr(0, name.rfind('/')));
  }
  CHECK(checked == names.cases);
  CHECK(families == Names{"products with a bias", "batches of products", "1D star, one sweep", "2D star, one sweep",
                          "3D star, one sweep", "2D box, many steps"});
  for (const json& row : result.at("left_out")) found.insert(row.at("name").get<std::string>());
  for (const std::string& name : names.rows) CHECK(found.contains(name));
}

TEST_CASE("a wrong problem is refused with the piece, the grammar and an example, and nothing runs") {
  const TemporaryDirectory folder;
  struct Row {
    std::vector<std::string> arguments;
    std::string message, example;
  };
  const std::vector<Row> rows = {
      {{"--gemm", "512x0x4096"}, "--gemm 512x0x4096: '512x0x4096': n must be", "Example:     --gemm 512x"},
      {{"--gemm=-4"}, "--gemm -4: '-4': a size must be", "Example:     --gemm 512x"},
      {{"--gemm", "16", "--stencil", "3d_star_r1:8:wrap"}, "'wrap': no option", "Example:     --stencil 3d_star"},
      {{"--stencil", "2d_star_r1:512:bf16:steps=500"}, "more than 15 steps in bf16", "Example:     --stencil 3d"},
      {{"--gemm", "2147483647x1000000x1"}, "gemm/2147483647x1000000x1/f32 does not fit in memory", "85 %"},
      {{"--stencil", "3d_star_r1:1000000"}, "does not fit in memory: operands and a copy", "85 %"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    const std::string file = folder.path() / "run.json";
    std::vector<std::string> arguments = row.arguments;
    arguments.insert(arguments.end(), {"--backend", "oldtable", "--json", file});
    const Outcome outcome = run_perf(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.errors, ContainsSubstring(row.message) && ContainsSubstring(row.example));
    CHECK(outcome.output == "");
    CHECK_FALSE(std::filesystem::exists(file));
  }
  CHECK_THAT(run_perf({"--help"}).output, ContainsSubstring("Example:     --stencil 3d_star_r4:"));
}
