// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The perf suite as a program: its rows are complete and checked, wrong results are failures, bad input is refused,
/// and an interrupted run keeps what it had. Nothing here looks at a speed.

#include "program.hpp"

#include <tessera/tessera.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

/// Whether the median's interval lies within the samples; what was measured once has none.
bool has_interval(const json& row) {
  const auto value = [&](const char* key) { return row.at(key).get<double>(); };
  if (!row.contains("low")) return value("repetitions") == 1.0;
  return value("min") <= value("low") && value("low") <= value("high") && value("high") <= value("max");
}

/// How many rows of automatic choices a text has, with readable units.
int rows_shown(const std::string& text) {
  // "* tessera:cpu:packed   12.3 us   45.6 GFLOP/s   7.89 GB/s   1.02 of best peer   34.5 % of fma  +-6.78 %"
  const std::regex line(
      R"(\* tessera:cpu:\w+ +[0-9.]+ [num]?s +[0-9.]+ [kMGT]\w+/s +[0-9.]+ [kMGT]B/s +~?[0-9.]+ of best peer)"
      R"( +[0-9.]+ % of [a-z_ ]+  \+-[0-9.]+ %( NOISY)?(  \(\d repetitions?\))?(  error: [0-9.]+ ulps)?)"
      R"((  workspace: [0-9.]+ [kMG]?B)?)");
  int shown = 0;
  std::istringstream lines(text);
  for (std::string row; std::getline(lines, row);) shown += std::regex_match(row, line);
  return shown;
}

/// How many rows failed, all of these subjects. cuBLAS is wrong in 16 bits at 1023, by more than sums that are rounded
/// once can be.
int check_failures(const json& result, const std::string& subjects) {
  int failed = 0;
  for (const json& row : result.at("benchmarks"))
    if (row.contains("error_occurred")) {
      CHECK_THAT(row.at("name").get<std::string>(), ContainsSubstring(subjects));
      ++failed;
    }
  return failed;
}

/// What a run wrote that is ended once its file has that text; one that never has it ends by itself.
json interrupted(const std::string& arguments, const std::string& text) {
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "run.json";
  const char* const script = R"("$0" --backend cpu --json "$1" $2 & run=$!
while kill -0 $run 2>/dev/null && ! grep -qs "$3" "$1"; do sleep 0.1; done
kill -TERM $run; wait $run)";
  CHECK(run({"/bin/sh", "-c", script, TESSERA_PERF_PROGRAM, file, arguments, text}).exit_code == 1);
  CHECK_FALSE(std::filesystem::exists(file + ".partial"));
  return json::parse(std::ifstream(file));
}

void check_measured(const json& row) {
  CHECK_FALSE(row.contains("error_occurred"));
  for (const char* positive : {"real_time", "rate", "ceiling"}) CHECK(row.at(positive).get<double>() > 0.0);
  CHECK(row.at("repetitions").get<double>() >= 1.0);
  CHECK(has_interval(row));
  CHECK(row.at("label").get<std::string>() != "");
}

}  // namespace

TEST_CASE("every row of a run is measured, checked and written") {
  need_cpu();
  // One thread, which waits for no other where the machine is busy.
  const std::vector<std::string> selection = {"--backend", "cpu",    "--threads",
                                              "1",         "--case", "gemm/64/*,stencil/2d_star_r1_1021*"};
  std::vector<std::string> listing = selection, measuring = selection;
  listing.push_back("--list");
  measuring.insert(measuring.end(), {"--budget", "0.01", "--passes", "2"});

  const std::set<std::string> names = lines_of(run_perf(listing).output);
  REQUIRE(names.contains("gemm/64/f64/hot/tessera:cpu:reference"));
  REQUIRE(names.contains("stencil/2d_star_r1_1021^2_fixed/f32/cold/peer:openmp_loop"));
  const auto [outcome, result] = measured(measuring);
  std::set<std::string> found;
  std::map<std::string, std::string> automatic;
  for (const json& row : result.at("benchmarks")) {
    CAPTURE(row);
    const std::string name = *found.insert(row.at("name").get<std::string>()).first;
    check_measured(row);
    CHECK(row.contains("workspace") == (name.find("/tessera:") != std::string::npos));
    CHECK(row.contains("ulps") == name.starts_with("gemm/"));
    CHECK(row.contains("misrounded") == name.starts_with("gemm/"));
    if (!row.contains("automatic")) continue;
    CHECK(row.at("passes").at("real_time").size() == 2);
    CHECK(row.at("passes").at("ceiling").size() == 2);
    CHECK(name.find("/tessera:cpu:") != std::string::npos);
    CHECK(automatic.emplace(name.substr(0, name.rfind('/')), name).second);
  }
  CHECK(automatic.size() == 12);  // a product of two types and a stencil of four, cold and hot
  CHECK_FALSE(automatic["gemm/64/f32/cold"].ends_with(":reference"));
  for (const json& row : result.at("left_out")) found.insert(row.at("name").get<std::string>());
  for (const std::string& name : names) CHECK(found.contains(name));
  CHECK(result.at("context").at("git_commit").get<std::string>() != "");
  CHECK(rows_shown(outcome.output) == 8);  // 16-bit stencils have no peer
}

TEST_CASE("types of 16 bits, tf32, biases and activations are checked, and their bytes counted") {
  need_cpu();
  constexpr double kSquare = 1024.0 * 1024.0;
  // The traffic of A, B and D, each once, and of a bias.
  const std::map<std::string, double> bytes = {{"gemm/1024/bf16->f32/cold", 8 * kSquare},
                                               {"gemm/1024/f16/cold", 6 * kSquare},
                                               {"gemm/1024/tf32/cold", 12 * kSquare},
                                               {"gemm/1024_bias_gelu/bf16/cold", 6 * kSquare + 2048},
                                               {"gemm/1024_bias_silu/bf16/cold", 6 * kSquare + 2048},
                                               {"gemm/1024_bias_relu/f32/cold", 12 * kSquare + 4096}};
  std::string cases;
  for (const auto& [name, unused] : bytes) cases += (cases.empty() ? "" : ",") + name;
  const json result = measured({"--backend", "cpu", "--algorithm", "packed", "--no-peers", "--case", cases, "--budget",
                                "0.01", "--passes", "1"})
                          .result;
  REQUIRE(result.at("benchmarks").size() == bytes.size());
  for (const json& row : result.at("benchmarks")) {
    CAPTURE(row);
    CHECK_FALSE(row.contains("error_occurred"));
    const std::string name = row.at("name");
    const double moved = row.at("traffic").get<double>() * 1e3 * row.at("real_time").get<double>();
    CHECK(std::abs(moved / bytes.at(name.substr(0, name.rfind('/'))) - 1.0) < 1e-4);
    CHECK(row.at("max_error").get<double>() > 0.0);
    CHECK(row.at("max_error").get<double>() <= 1.0);
    CHECK(row.at("workspace").get<double>() > 0.0);  // packed copies of A and B
    CHECK(row.at("workspace").get<double>() <= double(TESSERA_DEFAULT_WORKSPACE_LIMIT));
    // Where the processor has dot products of bf16, which may be slower.
    if (row.at("label") != "matrix_unit" || name.find("/bf16") == std::string::npos) CHECK(row.at("label") == "fma");
  }
}

TEST_CASE("workspaces, their limit, kernels of an execution and a peer of two kernels on a Hopper GPU") {
  need("cuda");
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "run.json";
  const std::string products = "gemm/4096/bf16x6/cold,gemm/1024_bias_silu/*/cold";
  const Outcome outcome = run_perf({"--backend", "cuda", "--algorithm", "warpgroup*,multistage*", "--case",
                                    products + ",overhead/enqueue_gemm_*", "--budget", "0.01", "--json", file});
  INFO(outcome.errors);
  const json result = json::parse(std::ifstream(file));
  CHECK(outcome.exit_code == (check_failures(result, "/peer:cublas") > 0));
  const std::string gpu = result.at("context").at("gpu");
  if (gpu.find("H100") == std::string::npos && gpu.find("H200") == std::string::npos)
    SKIP("warpgroup_f32 is for Hopper, this is " << gpu);
  const auto value = [&](const std::string& name, const char* key) {
    CAPTURE(name, key);
    for (const json& row : result.at("benchmarks"))
      if (row.at("name") == name && row.contains(key)) return row.at(key).get<double>();
    FAIL_CHECK("there is no such row, or it lacks the value");
    return -1.0;
  };
  constexpr double kLimit = double(TESSERA_DEFAULT_WORKSPACE_LIMIT);
  const std::string whole = "gemm/4096/bf16x6/cold/tessera:cuda:warpgroup_f32", limited = whole + "@64MiB";
  CHECK(value(whole, "automatic") == 1.0);
  CHECK(value(whole, "workspace") > kLimit);
  CHECK(value(limited, "workspace") > 0.0);
  CHECK(value(limited, "workspace") <= kLimit);
  for (const json& row : result.at("benchmarks"))  // products that take no more by themselves have no such row
    if (row.at("name").get<std::string>().find('@') != std::string::npos) CHECK(row.at("name") == limited);
  for (const char* dtype : {"f32", "bf16"})
    CHECK(value(std::string("gemm/1024_bias_silu/") + dtype + "/cold/peer:cublaslt+kernel", "max_error") <= 1.0);
  const std::string enqueue = "overhead/enqueue_gemm_", ours = "/hot/tessera:cuda:";
  CHECK(value(enqueue + "256/f32" + ours + "multistage", "kernels") >= 1.0);
  CHECK(value(enqueue + "256/bf16" + ours + "warpgroup", "kernels") >= 1.0);
  CHECK(value(enqueue + "1023/bf16" + ours + "warpgroup", "kernels") >= 2.0);
  CHECK(value(enqueue + "1024/bf16x6" + ours + "warpgroup_f32", "kernels") >= 2.0);
}

TEST_CASE("a backend that computes nonsense has failed, however fast it is") {
  const json result =
      measured({"--backend", "oldtable", "--no-peers", "--case", "gemm/16/f32/cold", "--budget", "0.01"}, 1).result;
  REQUIRE(result.at("benchmarks").size() == 1);
  const json& row = result.at("benchmarks").front();
  CHECK(row.at("name") == "gemm/16/f32/cold/tessera:oldtable:zero");
  CHECK(row.at("error_occurred") == true);
  CHECK_FALSE(row.contains("rate"));
}

TEST_CASE("backends of one place compete with one set of peers") {
  need_cpu();
  const std::vector<std::string> arguments = {
      "--backend", "cpu,oldtable,fake", "--case", "gemm/16/f32/cold,ceiling/copy/*", "--budget", "0.01"};
  const json result = measured(arguments, 1).result;  // oldtable computes nonsense
  std::map<std::string, int> rows;
  for (const json& row : result.at("benchmarks")) {
    CHECK(row.at("place") == "host");
    ++rows[row.at("name").get<std::string>()];
  }
  CHECK(rows.contains("gemm/16/f32/cold/tessera:cpu:packed"));
  CHECK(rows.contains("gemm/16/f32/cold/tessera:oldtable:zero"));
  CHECK(rows.contains("ceiling/copy/f32/cold/ceiling:host"));
  for (const auto& [name, count] : rows) {
    CAPTURE(name);
    CHECK(count == 1);
  }
  // A stream of its own makes no backend one of CUDA's.
  const json& left_out = result.at("left_out");
  const auto fake = std::find_if(left_out.begin(), left_out.end(),
                                 [](const json& entry) { return entry.at("name") == "backend fake"; });
  REQUIRE(fake != left_out.end());
  CHECK_THAT(fake->at("reason").get<std::string>(),
             ContainsSubstring("fake computes on a device that the suite cannot measure"));
}

TEST_CASE("bad input is refused with what would be right") {
  const TemporaryDirectory folder;
  struct Row {
    std::vector<std::string> arguments;
    int exit_code;
    std::string message;
  };
  const std::vector<Row> rows = {
      {{"--backend", "cpuu"}, 2, "there is no such backend; there is: "},
      {{"--backend", "unavailable"}, 1, "the moon is not full"},
      {{"--backend", "fake"}, 1, "a device that the suite cannot measure"},
      {{"--backend", "oldtable", "--case", "gemm/nosuch"}, 2, "--list"},
      {{"--backend", "oldtable", "--algorithm", "nosuch"}, 2, "--list"},
      {{"--benchmark_filter=gemm/64"}, 2, "--benchmark_filter=gemm/64 was an option of Google Benchmark"},
      {{"--benchmark_filter", "gemm/64"}, 2, "--case selects rows"},
      {{"--nosuch"}, 2, "--nosuch"},
      {{"--repetitions", "0"}, 2, "--repetitions"},
      {{"--passes", "0"}, 2, "--passes"},
      {{"--dtype", "f32,f8"}, 2, "--dtype f8: there is no such type; there is: f32, f64, "},
      {{"--seed", "7x"}, 2, "--seed 7x: must be a whole number from 0 to 18446744073709551615; without --seed one is"},
      {{"--seed=-1"}, 2, "--seed -1: must be a whole number from 0 to"},
      {{"--seed", "18446744073709551616"}, 2, "--seed 18446744073709551616: must be"},
      {{"--count", "0"}, 2, "--count 0: must be a whole number from 1 to 10000; without --count 100 are drawn"},
      {{"--count", "10001"}, 2, "--count 10001: must be"},
      {{"--json", folder.path() / "no" / "such" / "folder.json", "--case", "gemm/16"}, 1, "cannot write"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    const Outcome outcome = run_perf(row.arguments);
    CHECK(outcome.exit_code == row.exit_code);
    CHECK_THAT(outcome.errors, ContainsSubstring(row.message));
  }
}

TEST_CASE("rows of an earlier pass stay when a later one is interrupted") {
  need_cpu();
  const json result = interrupted("--case gemm/16/f32/cold --budget 30 --passes 1000", "\"passes\"");
  REQUIRE_FALSE(result.at("benchmarks").empty());
  for (const json& row : result.at("benchmarks")) {
    CAPTURE(row);
    CHECK(row.at("passes").at("real_time").size() >= 2);
  }
  for (const json& row : result.at("left_out")) CHECK(row.at("reason") != "the run was interrupted");
}

TEST_CASE("an interrupted run keeps the rows that were finished") {
  need_cpu();
  const json result = interrupted("--case stencil/2d_star_r1_10 --budget 0.05", "max_error");
  CHECK_FALSE(result.at("benchmarks").empty());
  const json& left_out = result.at("left_out");
  CHECK(std::any_of(left_out.begin(), left_out.end(),
                    [](const json& entry) { return entry.at("reason") == "the run was interrupted"; }));
}
