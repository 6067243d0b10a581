// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// How factors travel between devices: TESSERA_TEST_CARRIER says by what they must, and large parts of C are computed
/// in parts.

#include "ranks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

const PlanOptions kOnDevice{.operands = Memory::device};

}  // namespace

TEST_CASE("Panels travel by what the environment says", "[gemm]") {
  const char* const carrier = std::getenv("TESSERA_TEST_CARRIER");
  if (carrier == nullptr) SKIP("TESSERA_TEST_CARRIER is not set");
  const auto errors = on_ranks(4, [&](const Comm& comm) {
    const Context context = one_thread(comm.rank());
    const std::string text =
        DistributedGemmPlan(comm, context, {.m = 8, .n = 8, .k = 8}, {}, {}, {}, kOnDevice).describe();
    if (text.find(carrier) == std::string::npos) throw std::runtime_error(text);
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("Ordered sums are refused where what is gathered would be cut along k", "[gemm]") {
  const char* const carrier = std::getenv("TESSERA_TEST_CARRIER");
  if (carrier == nullptr) SKIP("TESSERA_TEST_CARRIER is not set");
  const bool gathers = carrier == std::string("copies between devices") || carrier == std::string("NCCL");
  const auto errors_with = [](std::uint64_t limit) {
    return on_ranks(2, [&](const Comm& comm) {
      const Context context = one_thread(comm.rank());
      PlanOptions options = kOnDevice;
      options.workspace_limit = limit;
      const GemmDesc desc{.m = 64, .n = 64, .k = 256, .sums = Sums::ordered};
      DistributedGemmPlan(comm, context, desc, {}, {}, {}, options);
    });
  };
  for (const std::string& error : errors_with(UINT64_MAX)) CHECK(error == "");
  for (const std::string& error : errors_with(1))
    if (gathers)
      CHECK_THAT(error, Catch::Matchers::ContainsSubstring("raise workspace_limit"));
    else
      CHECK(error == "");
}

namespace {

/// C <- A B of small integers with k = 2, which each rank makes and checks itself. m and n are those of a rank's part.
void check_large_part(const std::function<Context(int)>& context_of_rank, int rows, int columns, std::int64_t m,
                      std::int64_t n) {
  const auto a = [](std::int64_t i, std::int64_t k) { return float(i % 7 - 3 + k); };
  const auto b = [](std::int64_t k, std::int64_t j) { return float(j % 5 - 2 + 2 * k); };
  const auto errors = on_ranks(rows * columns, [&](const Comm& comm) {
    const Context context = context_of_rank(comm.rank());
    const GemmDesc desc{.m = m * rows, .n = n * columns, .k = 2, .compute = Compute::strict};
    DistributedGemmPlan plan(comm, context, desc, {.grid_rows = rows}, {}, {}, kOnDevice);
    const std::int64_t row = comm.rank() / columns, column = comm.rank() % columns;
    const auto filled = [&](Role role, std::int64_t first_row, std::int64_t first_column, const auto& element) {
      const LocalMatrix local = plan.local(role);
      std::vector<float> values;
      values.reserve(std::size_t(local.elements));
      for (std::int64_t i = 0; i < local.rows; ++i)
        for (std::int64_t j = 0; j < local.columns; ++j) values.push_back(element(first_row + i, first_column + j));
      return values;
    };
    Buffer<float> mine_a(context, plan.local(Role::a).elements), mine_b(context, plan.local(Role::b).elements);
    mine_a.upload(filled(Role::a, row * m, column, a)), mine_b.upload(filled(Role::b, row, column * n, b));
    Buffer<float> mine_c(context, plan.local(Role::c).elements);
    plan.execute(1, mine_a.data(), mine_b.data(), 0, mine_c.data());
    std::vector<float> computed(std::size_t(m * n));
    mine_c.download(computed);
    const auto c = [&](std::int64_t i, std::int64_t j) { return a(i, 0) * b(0, j) + a(i, 1) * b(1, j); };
    if (computed != filled(Role::c, row * m, column * n, c)) throw std::runtime_error("C is wrong");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

}  // namespace

TEST_CASE("Large parts of C are computed in parts", "[gemm]") {
  // The emulated device has one multiprocessor, so that 16384 elements are a part.
  check_large_part(one_thread, 1, 2, 1100, 250);
  check_large_part(one_thread, 1, 2, 560, 130);
  check_large_part(one_thread, 2, 1, 250, 1100);
  check_large_part(one_thread, 2, 2, 1100, 250);
  check_large_part(one_thread, 2, 2, 560, 130);
}

TEST_CASE("Large parts of C on the devices of CUDA", "[gemm]") {
  std::size_t devices = 0;
  for (const BackendInfo& info : backends())
    if (info.name == "cuda" && (info.available || is_required("cuda"))) devices = info.devices.size();
  if (devices == 0) SKIP("there is no usable device of CUDA");
  const auto in_turn = [devices](int rank) { return Context("cuda:" + std::to_string(std::size_t(rank) % devices)); };
  check_large_part(in_turn, 1, 2, 8300, 4200);
  check_large_part(in_turn, 2, 1, 4200, 8300);
  check_large_part(in_turn, 2, 2, 8300, 4200);
}

}  // namespace tessera::test
