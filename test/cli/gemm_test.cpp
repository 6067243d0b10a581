// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Products of small integers, which are exact: compared bit for bit.

#include "npy_file.hpp"
#include "program.hpp"
#include "reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Matches;

namespace {

constexpr std::int64_t kM = 5, kN = 4, kK = 7;

template <class T>
std::vector<T> integers(std::int64_t count, int step) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(T((i * step) % 19 - 9));
  return values;
}

template <class T>
std::vector<T> product(T alpha, const std::vector<T>& a, const std::vector<T>& b, T beta, const std::vector<T>& c) {
  const tessera::GemmDesc desc{.m = kM, .n = kN, .k = kK, .dtype = tessera::kDType<T>};
  const auto value = gemm_reference(desc, alpha, a.data(), b.data(), beta, c.data(), true).value;
  return std::vector<T>(value.begin(), value.end());
}

template <class T>
std::vector<T> transposed(const std::vector<T>& x, std::int64_t rows, std::int64_t columns) {
  return fortran(x, {rows, columns});  // the same elements, read as columns x rows in C order
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("files in either order, transposed or not", "[gemm]", tessera::WideTypes) {
  need_backend();
  const auto a = integers<TestType>(kM * kK, 3), b = integers<TestType>(kK * kN, 5);
  const auto c = integers<TestType>(kM * kN, 7);
  const bool fortran_a = GENERATE(false, true), fortran_b = GENERATE(false, true);
  const bool trans_a = GENERATE(false, true), trans_b = GENERATE(false, true);
  CAPTURE(fortran_a, fortran_b, trans_a, trans_b);

  const TemporaryDirectory folder;
  const std::string a_file = folder.path() / "a.npy", b_file = folder.path() / "b.npy",
                    c_file = folder.path() / "c.npy";
  trans_a ? write_npy(a_file, transposed(a, kM, kK), {kK, kM}, fortran_a) : write_npy(a_file, a, {kM, kK}, fortran_a);
  trans_b ? write_npy(b_file, transposed(b, kK, kN), {kN, kK}, fortran_b) : write_npy(b_file, b, {kK, kN}, fortran_b);
  std::vector<std::string> arguments{"gemm", a_file, b_file, "-o", c_file};
  if (trans_a) arguments.push_back("--trans-a");
  if (trans_b) arguments.push_back("--trans-b");
  const Outcome outcome = tessera_run(arguments);

  CHECK(outcome.errors == "");
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.output, Matches("gemm .* ms .* GFLOP/s, .* GB/s\n"));
  CHECK(read_npy<TestType>(c_file, {kM, kN}) == product<TestType>(1, a, b, 0, c));
  CHECK(list(folder.path()) == std::vector<std::string>{"a.npy", "b.npy", "c.npy"});
}

TEST_CASE("alpha, beta and C0, which may be the output as well", "[gemm]") {
  need_backend();
  const auto a = integers<double>(kM * kK, 3), b = integers<double>(kK * kN, 5), c = integers<double>(kM * kN, 7);
  const bool fortran_c = GENERATE(false, true);
  const TemporaryDirectory folder;
  const std::string a_file = folder.path() / "a.npy", b_file = folder.path() / "b.npy",
                    c_file = folder.path() / "c.npy";
  write_npy(a_file, a, {kM, kK});
  write_npy(b_file, b, {kK, kN});
  write_npy(c_file, c, {kM, kN}, fortran_c);
  std::vector<std::string> arguments{"gemm", a_file, b_file, "-o", c_file, "--c", c_file, "--alpha", "-2"};

  SECTION("beta is 1 by default") {
    REQUIRE(tessera_run(arguments).exit_code == 0);
    CHECK(read_npy<double>(c_file, {kM, kN}) == product<double>(-2, a, b, 1, c));
  }
  SECTION("beta is given") {
    arguments.insert(arguments.end(), {"--beta", "3"});
    REQUIRE(tessera_run(arguments).exit_code == 0);
    CHECK(read_npy<double>(c_file, {kM, kN}) == product<double>(-2, a, b, 3, c));
  }
}

TEST_CASE("all versions of the format, and header texts that numpy reads too", "[gemm]") {
  need_backend();
  const auto a = integers<float>(kM * kK, 3), b = integers<float>(kK * kN, 5), c = integers<float>(kM * kN, 7);
  const TemporaryDirectory folder;
  const std::string a_file = folder.path() / "a.npy", b_file = folder.path() / "b.npy",
                    c_file = folder.path() / "c.npy";
  write_npy(b_file, b, {kK, kN});
  const auto run_with = [&](const std::string& header) {
    write_file(a_file, header + std::string(reinterpret_cast<const char*>(a.data()), a.size() * sizeof(float)));
    const Outcome outcome = tessera_run({"gemm", a_file, b_file, "-o", c_file});
    CHECK(outcome.errors == "");
    CHECK(read_npy<float>(c_file, {kM, kN}) == product<float>(1, a, b, 0, c));
  };
  for (const int version : {1, 2, 3}) run_with(npy_header(npy_dictionary("<f4", false, {kM, kK}), version));
  run_with(npy_header("{\"shape\":(5,7),\"fortran_order\":False,\"descr\":\"<f4\"}"));
  run_with(npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (5L, 7L,),}"));
}

TEST_CASE("every backend and algorithm by name", "[gemm]") {
  need_backend();
  const auto a = integers<float>(kM * kK, 3), b = integers<float>(kK * kN, 5), c = integers<float>(kM * kN, 7);
  const TemporaryDirectory folder;
  const std::string a_file = folder.path() / "a.npy", b_file = folder.path() / "b.npy",
                    c_file = folder.path() / "c.npy";
  write_npy(a_file, a, {kM, kK});
  write_npy(b_file, b, {kK, kN});
  int done = 0;
  for (const auto& backend : backends()) {
    if (!backend.at("available").get<bool>()) continue;
    for (const auto& algorithm : backend.at("algorithms").at("gemm")) {
      const std::string backend_name = backend.at("name"), algorithm_name = algorithm;
      const Outcome outcome =
          tessera_run({"gemm", a_file, b_file, "-o", c_file, "--backend", backend_name, "--algorithm", algorithm_name});
      if (outcome.exit_code == 1 && outcome.errors.find("support") != std::string::npos) continue;  // not this problem
      CAPTURE(backend_name, algorithm_name, outcome.errors);
      REQUIRE(outcome.exit_code == 0);
      CHECK_THAT(outcome.output, ContainsSubstring(algorithm_name));
      CHECK(read_npy<float>(c_file, {kM, kN}) == product<float>(1, a, b, 0, c));
      ++done;
    }
  }
  CHECK(done > 0);
}

TEST_CASE("an output that is a link, and the mode of a file that is replaced", "[gemm]") {
  need_backend();
  namespace fs = std::filesystem;
  const TemporaryDirectory folder;
  const fs::path a_file = folder.path() / "a.npy", link = folder.path() / "link.npy", c_file = folder.path() / "c.npy";
  write_npy<float>(a_file, {2}, {1, 1});
  write_file(c_file, "old");
  fs::permissions(c_file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("c.npy", link);
  REQUIRE(tessera_run({"gemm", a_file, a_file, "-o", link}).exit_code == 0);
  CHECK(fs::is_symlink(link));
  CHECK(read_npy<float>(c_file, {1, 1}) == std::vector<float>{4});
  CHECK(fs::status(c_file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(tessera_run({"gemm", a_file, a_file, "-o", "/dev/null"}).exit_code == 0);
  CHECK(fs::is_character_file("/dev/null"));
}
