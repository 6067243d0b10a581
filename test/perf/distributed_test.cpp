// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// tessera-perf-distributed as a program: the rows of all ranks together and of one are there, checked and written.

#include "program.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <map>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

TEST_CASE("two ranks are measured beside one") {
  need_cpu();
  const json result =
      measured({"--backend", "cpu", "--ranks", "2", "--threads", "1", "--quick", "--passes", "2", "--budget", "0.01"},
               0, TESSERA_PERF_DISTRIBUTED)
          .result;
  CHECK(result.at("left_out").empty());
  CHECK(result.at("context").at("ranks") == "2");
  std::map<std::string, json> rows;
  for (const json& row : result.at("benchmarks")) {
    CAPTURE(row);
    CHECK(row.at("real_time").get<double>() > 0.0);
    CHECK(row.at("max_error").get<double>() <= 1.0);
    rows[row.at("name")] = row;
  }
  const std::string weak = "distributed/weak_3d_star_r1_64^3_fixed_steps4_ranks2/f32/cold/tessera:cpu:";
  for (const char* subject : {"distributed", "one_rank", "at_once"}) CHECK(rows.contains(weak + subject));
  CHECK(rows[weak + "distributed"].at("halo_bytes").get<double>() >= 4.0 * 64 * 64);
  CHECK_THAT(rows[weak + "distributed"].at("label").get<std::string>(), ContainsSubstring("rank 0 of 2x1x1"));
  const std::string wave = "distributed/weak_wave_o8_c2_48^3_steps4_ranks2/f32/cold/tessera:cpu:";
  for (const char* subject : {"distributed", "one_rank", "at_once"}) CHECK(rows.contains(wave + subject));
  const std::string strong = "distributed/strong_gemm_256_blocks64_ranks2/f32/cold/tessera:cpu:";
  for (const char* subject : {"distributed", "one_rank"}) CHECK(rows.contains(strong + subject));
  CHECK(rows.contains("distributed/exchange_67108864/f32/cold/ceiling:host"));
}

TEST_CASE("what the ranks cannot measure is refused") {
  need_cpu();
  const auto refused = [](const std::vector<std::string>& arguments) {
    return run_perf(arguments, TESSERA_PERF_DISTRIBUTED);
  };
  CHECK(refused({"--backend", "nonesuch"}).exit_code == 2);
  const Outcome nothing = refused({"--backend", "cpu", "--case", "nonesuch"});
  CHECK(nothing.exit_code == 2);
  CHECK_THAT(nothing.errors, ContainsSubstring("no case matches"));
}
