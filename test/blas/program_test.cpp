// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// libtessera_blas preloaded into a program: whose code runs, and what happens where Tessera cannot compute.

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>

namespace {

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using Variables = std::map<std::string, std::optional<std::string>>;

constexpr const char* kBlas = TESSERA_BLAS_LIBRARY;
constexpr const char* kBoth = TESSERA_BLAS_LIBRARY ":" TESSERA_NEXT_BLAS;
/// 46 entry points, each 3 * 52 + 4 * 4, where 52 are the elements of A^T A.
constexpr const char* kSum = "7912\n";

Outcome program(const char* what, const Variables& variables) { return run({TESSERA_BLAS_PROGRAM, what}, variables); }

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST_CASE("a preloaded library computes, and no BLAS behind it is asked", "[blas]") {
  const Outcome o = program("product", {{"LD_PRELOAD", kBoth}, {"TESSERA_VERBOSE", "1"}});
  REQUIRE(o.exit_code == 0);
  REQUIRE(o.output == kSum);
  REQUIRE_THAT(o.errors, ContainsSubstring("gemm f32 m=2 n=2 k=2") && ContainsSubstring("gemm f64 m=2 n=2 k=2"));
}

TEST_CASE("what Tessera cannot compute the next BLAS does", "[blas]") {
  Variables variables = {{"LD_PRELOAD", kBoth}, {"TESSERA_BACKEND", "no_such"}, {"TESSERA_VERBOSE", "1"}};
  Outcome o = program("product", variables);
  REQUIRE(o.exit_code == 0);
  REQUIRE_THAT(o.output, Catch::Matchers::EndsWith(kSum));
  // Batches are of two: 8 + 15 * 2 each of f32 and f64.
  const std::size_t single = 9, batches = 14;
  REQUIRE(count(o.output, "next sgemm_\n") == single + 2 * batches);
  REQUIRE(count(o.output, "next dgemm_\n") == single + 2 * batches);
  REQUIRE(count(o.errors, "done by the next BLAS: ") == 2 * (single + 2 * batches));
  REQUIRE_THAT(o.errors, ContainsSubstring("tessera: dgemm_ m=2 n=2 k=2 TN: ") && ContainsSubstring("no_such"));

  variables["TESSERA_VERBOSE"] = std::nullopt;
  o = program("product", variables);
  REQUIRE(o.exit_code == 0);
  REQUIRE(o.errors.empty());
}

TEST_CASE("a product into one of its operands goes to the next BLAS", "[blas]") {
  const Outcome o = program("overlap", {{"LD_PRELOAD", kBoth}, {"TESSERA_VERBOSE", "1"}});
  REQUIRE(o.output == "next dgemm_\n15\n");
  REQUIRE_THAT(o.errors, ContainsSubstring("they must not share an element"));
}

TEST_CASE("a symmetric product is computed, or the next BLAS does it", "[blas]") {
  Outcome o = program("symmetric", {{"LD_PRELOAD", kBoth}});
  REQUIRE(o.output == "49\n");  // 9 + 15 + 25
  o = program("symmetric", {{"LD_PRELOAD", kBoth}, {"TESSERA_BACKEND", "no_such"}, {"TESSERA_VERBOSE", "1"}});
  REQUIRE(o.output == "next dsyrk_\n49\n");
  REQUIRE_THAT(o.errors, ContainsSubstring("tessera: dsyrk_ m=2 n=2 k=1 TN: done by the next BLAS: "));
  o = run({TESSERA_BLAS_PROGRAM, "symmetric", "overlap"}, {{"LD_PRELOAD", kBoth}, {"TESSERA_VERBOSE", "1"}});
  REQUIRE(o.output == "next dsyrk_\n9\n");
}

TEST_CASE("a BLAS that was loaded for its caller alone is found as well", "[blas]") {
  const Outcome o = run({TESSERA_BLAS_PROGRAM, "product", TESSERA_NEXT_BLAS},
                        {{"LD_PRELOAD", kBlas}, {"TESSERA_BACKEND", "no_such"}});
  REQUIRE(o.exit_code == 0);
  REQUIRE(count(o.output, "next dgemm_\n") == 37);
  REQUIRE_THAT(o.output, Catch::Matchers::EndsWith(kSum));
}

TEST_CASE("without another BLAS the program is aborted, with the reason", "[blas]") {
  const Outcome o = program("product", {{"LD_PRELOAD", kBlas}, {"TESSERA_BACKEND", "no_such"}});
  REQUIRE(o.signal == SIGABRT);
  REQUIRE_THAT(o.errors,
               ContainsSubstring("sgemm_ m=2 n=2 k=2 TN: no other BLAS is there") && ContainsSubstring("no_such"));
}

TEST_CASE("without an xerbla a bad argument is told on stderr, and the program goes on", "[blas]") {
  const Outcome o = program("bad_argument", {{"LD_PRELOAD", kBlas}});
  REQUIRE(o.exit_code == 0);
  REQUIRE(o.output == "4\n4\n");
  REQUIRE(o.errors ==
          " ** On entry to DGEMM  parameter number  3 had an illegal value\n"
          " ** On entry to cblas_dgemm parameter number  4 had an illegal value\n");
}

TEST_CASE("a program that uses no BLAS never wakes the library", "[blas]") {
  const Outcome o = program("none", {{"LD_PRELOAD", kBlas}, {"TESSERA_VERBOSE", "1"}, {"TESSERA_BACKEND", "no_such"}});
  REQUIRE(o.exit_code == 0);
  REQUIRE(o.errors.empty());
}

}  // namespace
