// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Products over ranks whose emulated device fails at any call: all ranks fail or none does, none waits for ever, and a
/// plan that failed works again.

#include "ranks.hpp"

#include <catch2/catch_test_macros.hpp>

#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::test {

namespace {

constexpr int kRanks = 4;

/// A product that needs all that can fail: both factors travel, one is redistributed, and C is rounded at last.
GemmDesc small_product() {
  GemmDesc desc{.m = 6, .n = 5, .k = 7};
  desc.dtype = DType::bf16, desc.trans_a = Transpose::yes;
  return desc;
}

/// Sets the fault between the ranks' barriers, while none of them reads the environment.
class Fault {
 public:
  explicit Fault(std::string text) : text_(std::move(text)), all_(kRanks) {}
  /// Runs `body` with the fault on all ranks at a time.
  template <class Body>
  std::string run(const Comm& comm, Body&& body) {
    all_.arrive_and_wait();
    if (comm.rank() == 0) setenv("TESSERA_FAKE_FAULT", text_.c_str(), 1);
    all_.arrive_and_wait();
    std::string error;
    try {
      body();
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    all_.arrive_and_wait();
    if (comm.rank() == 0) unsetenv("TESSERA_FAKE_FAULT");
    all_.arrive_and_wait();
    return error;
  }

 private:
  std::string text_;
  std::barrier<> all_;
};

struct Arrays {
  Buffer<bfloat16> a, b, c;
  Arrays(const Context& context, const DistributedGemmPlan& plan)
      : a(context, plan.local(Role::a).elements),
        b(context, plan.local(Role::b).elements),
        c(context, plan.local(Role::c).elements) {}
};

const Layout kGrid{.grid_rows = 2, .grid_columns = 2, .block_rows = 2, .block_columns = 2};

/// C <- A B of ones.
void multiply(const Comm& comm, DistributedGemmPlan& plan, Arrays& arrays, std::vector<bfloat16>& c) {
  const std::vector<bfloat16> ones(42, bfloat16(1.0f));
  plan.scatter(Role::a, 0, ones.data(), arrays.a.data());
  plan.scatter(Role::b, 0, ones.data(), arrays.b.data());
  plan.execute(1, arrays.a.data(), arrays.b.data(), 0, arrays.c.data());
  plan.gather(Role::c, 0, arrays.c.data(), comm.rank() == 0 ? c.data() : nullptr);
}

/// What each rank says of a plan that is made, and of one that is used, under the fault.
std::vector<std::string> results(const std::string& text, bool making) {
  Fault fault(text);
  std::vector<std::string> said(kRanks);
  const auto errors = on_ranks(kRanks, [&](const Comm& comm) {
    const Context context("fake");
    const auto make = [&] {
      return DistributedGemmPlan(comm, context, small_product(), kGrid, kGrid, kGrid, {.operands = Memory::device});
    };
    DistributedGemmPlan plan = make();
    Arrays arrays(context, plan);
    std::vector<bfloat16> c(30);
    said[std::size_t(comm.rank())] = fault.run(comm, [&] {
      if (making)
        make();
      else
        multiply(comm, plan, arrays, c);
    });
    multiply(comm, plan, arrays, c);
    for (const bfloat16 value : c)
      if (comm.rank() == 0 && float(value) != 7.0f) throw std::runtime_error("the product after a failure is wrong");
  });
  for (const std::string& error : errors) CHECK(error == "");
  return said;
}

/// Lets the first call of an entry fail, the second one, and so on, until nothing does.
void check_entry(const std::string& entry, bool making) {
  for (int call = 1;; ++call) {
    INFO(entry << " " << call << (making ? ", of a plan that is made" : ", of an execution"));
    int failed = 0;
    for (const std::string& error : results(entry + ":" + std::to_string(call), making)) failed += !error.empty();
    CHECK((failed == 0 || failed == kRanks));
    if (failed == 0) {
      CHECK(call > 1);
      return;
    }
    REQUIRE(call < 300);
  }
}

}  // namespace

TEST_CASE("A device that fails on one rank fails the product on all", "[gemm][faults]") {
  for (const char* entry : {"context_create", "plan_create", "buffer_allocate"}) check_entry(entry, true);
  for (const char* entry : {"plan_execute", "copy", "synchronize"}) check_entry(entry, false);
  // The fakes of CUDA's driver fail as well. A plan that is made without it lets panels go through the host.
  const char* const driver = std::getenv("TESSERA_FAKE_DRIVER");
  if (driver != nullptr && *driver == '\0') check_entry("driver", false);
}

}  // namespace tessera::test
