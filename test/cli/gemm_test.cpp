// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Products of small integers, which are exact: compared bit for bit.

#include "element_numbers.hpp"
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
  for (std::int64_t i = 0; i < count; ++i) values.push_back(number<T>(double((i * step) % 19 - 9)));
  return values;
}

template <class T>
std::vector<double> numbers_of(const std::vector<T>& elements) {
  std::vector<double> values;
  for (const T element : elements) values.push_back(double(wide(element)));
  return values;
}

/// alpha A B + beta C + bias, whose sums are exact, as the elements that a file of D has.
template <class T, class D = T>
std::vector<double> result(const tessera::GemmDesc& desc, double alpha, const std::vector<T>& a,
                           const std::vector<T>& b, double beta, const std::vector<D>& c,
                           const std::vector<double>& bias = {}) {
  using S = tessera::Scalar<D>;
  std::vector<double> values;
  for (const auto x : gemm_reference<T, D>(desc, S(alpha), a.data(), b.data(), S(beta), c.data(), true, bias).value)
    values.push_back(double(stored<D>(x)));
  return values;
}

/// The types of files, and what says that one is bf16.
template <class T>
std::vector<std::string> type_arguments() {
  if (std::is_same_v<T, tessera::bfloat16>) return {"--dtype", "bf16"};
  return {};
}

template <class T>
std::vector<T> product(T alpha, const std::vector<T>& a, const std::vector<T>& b, T beta, const std::vector<T>& c) {
  const tessera::GemmDesc desc{.m = kM, .n = kN, .k = kK, .dtype = tessera::kDType<T>};
  const std::vector<double> values = result<T>(desc, double(alpha), a, b, double(beta), c);
  return std::vector<T>(values.begin(), values.end());
}

template <class T>
std::vector<T> transposed(const std::vector<T>& x, std::int64_t rows, std::int64_t columns) {
  return fortran(x, {rows, columns});  // the same elements, read as columns x rows in C order
}

}  // namespace

TEMPLATE_TEST_CASE("files in either order, transposed or not", "[gemm]", float, double, tessera::float16,
                   tessera::bfloat16) {
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
  for (const std::string& argument : type_arguments<TestType>()) arguments.push_back(argument);
  if (trans_a) arguments.push_back("--trans-a");
  if (trans_b) arguments.push_back("--trans-b");
  const Outcome outcome = tessera_run(arguments);

  CHECK(outcome.errors == "");
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.output, Matches(std::string("gemm .* ms .* GFLOP/s, .* GB/s\n") +
                                     (type_arguments<TestType>().empty()
                                          ? ""
                                          : "A read as .* <u2 as bf16.*, B .*, computed in bf16, written as bf16 in "
                                            "<u2\n")));
  CHECK(numbers_of(read_npy<TestType>(c_file, {kM, kN})) ==
        result<TestType>({.m = kM, .n = kN, .k = kK, .dtype = tessera::kDType<TestType>}, 1, a, b, 0, c));
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
