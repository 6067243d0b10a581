// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What ranks say to each other before an execution, counted by their transport: one collective of at most 32 bytes a
/// rank, or none. Memory that ends on one rank, which is no reason for the others to wait, and memory that an execution
/// does not take again. Ranks are threads that speak over sockets; TESSERA_TEST_CARRIER says by what halos and factors
/// must travel.

#include "ranks.hpp"
#include "sockets.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {
thread_local int allocations_left = -1;           ///< until one fails; -1: none does
thread_local std::size_t largest_allocation = 0;  ///< bytes
}  // namespace

// Not inline: the compiler would take malloc and free for a pair of others.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  largest_allocation = std::max(largest_allocation, bytes);
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tessera::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr int kRanks = 3;
const PlanOptions kOnDevice{.operands = Memory::device};

/// Whether halos and factors travel between devices, whose arrays are all that others know.
bool is_on_devices() {
  const char* const carrier = std::getenv("TESSERA_TEST_CARRIER");
  return carrier != nullptr && std::string(carrier).find("host") == std::string::npos &&
         std::string(carrier).find("one device") == std::string::npos;
}

/// Runs `body` on ranks that speak over sockets.
std::vector<std::string> on_sockets(bool reduces, const std::function<void(const Comm&, Sockets&)>& body) {
  const std::vector<Descriptors> ends = connect_all(kRanks);
  std::vector<std::string> errors(kRanks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Sockets* const sockets = new Sockets(rank, ends[std::size_t(rank)]);
        const Comm comm(sockets->transport(reduces));
        body(comm, *sockets);
      } catch (const std::exception& failure) {
        errors[std::size_t(rank)] = failure.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// Throws unless `body` makes so many collective calls, of few bytes each.
void expect_calls(const Sockets& sockets, int calls, const std::function<void()>& body) {
  const Sockets::Collectives before = sockets.collectives();
  body();
  const int made = sockets.collectives().calls - before.calls;
  const std::uint64_t bytes = sockets.collectives().bytes - before.bytes;
  if (made != calls || bytes > std::uint64_t(32 * calls))
    throw std::runtime_error(std::to_string(made) + " collective calls of " + std::to_string(bytes) + " bytes, not " +
                             std::to_string(calls));
}

const StencilDesc kHeat{.extents = {32, 20}, .taps = taps::identity(2) + 0.1 * taps::laplacian(2), .steps = 4};
const Decomposition kSlabs{.ranks = {kRanks, 1}, .depth = 1};

struct Heat {
  Heat(const Comm& comm, const Context& context) : plan(comm, context, kHeat, kSlabs, kOnDevice) {
    for (int i = 0; i < 2; ++i) arrays.emplace_back(context, plan.block().elements);
    for (Buffer<float>& array : arrays) array.upload(std::vector<float>(std::size_t(array.size()), 1.0f));
  }
  void execute() { plan.execute(arrays[0].data(), arrays[1].data()); }

  DistributedStencilPlan plan;
  std::vector<Buffer<float>> arrays;
};

struct Wave {
  Wave(const Comm& comm, const Context& context) : u(system.state("u", {.levels = 2, .boundary = Boundary::fixed})) {
    system.update(u) = 2 * u - u[-1] + u.under(0.1 * taps::laplacian(2, 4));
    plan.emplace_back(comm, context, system, 4, kSlabs, kOnDevice);
    for (int i = 0; i < 2; ++i) arrays.emplace_back(context, plan[0].block().elements);
    for (Buffer<float>& array : arrays) array.upload(std::vector<float>(std::size_t(array.size()), 1.0f));
    fields = {{u, arrays[0].data(), arrays[1].data()}};
  }
  void execute() { plan[0].execute(fields); }

  StencilSystem system{{36, 20}};
  SystemField u;
  std::vector<DistributedSystemPlan> plan;
  std::vector<Buffer<float>> arrays;
  std::vector<FieldArrays> fields;
};

struct Multiplication {
  Multiplication(const Comm& comm, const Context& context)
      : plan(comm, context, {.m = 24, .n = 20, .k = 16}, {}, {}, {}, kOnDevice) {
    for (const Role role : {Role::a, Role::b, Role::c}) {
      matrices.emplace_back(context, plan.local(role).elements);
      matrices.back().upload(std::vector<float>(std::size_t(matrices.back().size()), 1.0f));
    }
  }
  void execute() { plan.execute(1, matrices[0].data(), matrices[1].data(), 0, matrices[2].data()); }

  DistributedGemmPlan plan;
  std::vector<Buffer<float>> matrices;
};

template <class Work>
void check_calls(const Comm& comm, const Sockets& sockets, int calls) {
  const Context context = one_thread(comm.rank());
  Work work(comm, context);
  for (int i = 0; i < 3; ++i) expect_calls(sockets, calls, [&] { work.execute(); });
}

}  // namespace

TEST_CASE("An execution has one small collective before it, or none", "[collectives]") {
  for (const bool reduces : {false, true}) {
    const int before = is_on_devices() ? 1 : 0;  // else halos say whether their sender has failed
    const std::vector<std::string> errors = on_sockets(reduces, [&](const Comm& comm, const Sockets& sockets) {
      check_calls<Heat>(comm, sockets, before);
      check_calls<Wave>(comm, sockets, before);
      check_calls<Multiplication>(comm, sockets, 2);  // and one behind it
    });
    for (const std::string& error : errors) CHECK(error == "");
  }
}

TEST_CASE("Halos travel by what the environment says", "[collectives]") {
  const char* const carrier = std::getenv("TESSERA_TEST_CARRIER");
  if (carrier == nullptr) SKIP("TESSERA_TEST_CARRIER is not set");
  const auto errors = on_ranks(kRanks, [&](const Comm& comm) {
    const Context context = one_thread(comm.rank());
    const std::string text = Heat(comm, context).plan.describe();
    if (text.find(carrier) == std::string::npos) throw std::runtime_error(text);
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("The text of an error travels where there is one", "[collectives]") {
  for (const bool reduces : {false, true}) {
    const std::vector<std::string> errors = on_sockets(reduces, [&](const Comm& comm, Sockets& sockets) {
      const Context context = one_thread(comm.rank());
      Multiplication work(comm, context);
      const Sockets::Collectives before = sockets.collectives();
      std::string text;
      try {
        work.plan.execute(1, work.matrices[0].data(), comm.rank() == 1 ? nullptr : work.matrices[1].data(), 0,
                          work.matrices[2].data());
      } catch (const Error& error) {
        text = error.what();
      }
      const Sockets::Collectives& after = sockets.collectives();
      if (after.calls - before.calls != 2 || after.bytes - before.bytes > 2048)
        throw std::runtime_error("a failure takes " + std::to_string(after.calls - before.calls) + " collective calls");
      work.execute();
      throw std::runtime_error(text);
    });
    CHECK_THAT(errors[1], ContainsSubstring("b = null"));
    for (const int rank : {0, 2}) CHECK_THAT(errors[std::size_t(rank)], ContainsSubstring("rank 1: b = null"));
  }
}

TEMPLATE_TEST_CASE("Memory that ends on one rank leaves nobody waiting", "[collectives]", Wave, Multiplication) {
  const char* const carrier = std::getenv("TESSERA_TEST_CARRIER");
  const bool waits = carrier != nullptr && std::string(carrier) == "NCCL";
  if (waits && std::is_same_v<TestType, Multiplication>) SKIP("messages of NCCL wait for a rank that has failed");
  for (int allocation = 0; allocation < (waits ? 3 : 20); ++allocation) {
    INFO("allocation " << allocation);
    const std::vector<std::string> errors = on_ranks(kRanks, [&](const Comm& comm) {
      const Context context = one_thread(comm.rank());
      TestType work(comm, context);
      std::string text;
      if (comm.rank() == 1) allocations_left = allocation;
      try {
        work.execute();
      } catch (const std::exception& error) {
        allocations_left = -1;
        text = error.what();
      }
      allocations_left = -1;
      work.execute();
      throw std::runtime_error("then: " + text);
    });
    const bool went_well = errors[1] == "then: ";  // an execution makes no more than that
    const bool broken = errors[1].starts_with("the group of ranks is broken: ");  // amid its messages
    for (const std::string& error : errors) {
      CAPTURE(error);
      CHECK(error.starts_with("then: ") != broken);
      CHECK((error == "then: ") == went_well);
    }
    if (went_well) break;
  }
}

TEST_CASE("Sums of products in 16 bits are rounded in memory of the plan", "[collectives]") {
  const auto errors = on_ranks(2, [](const Comm& comm) {
    const Context context = one_thread(comm.rank());
    // The least memory, so that k comes in ranges also where factors travel between devices.
    PlanOptions options = kOnDevice;
    options.workspace_limit = 1;
    DistributedGemmPlan plan(comm, context, {.m = 256, .n = 128, .k = 256, .dtype = DType::bf16}, {}, {}, {}, options);
    std::vector<Buffer<bfloat16>> matrices;
    for (const Role role : {Role::a, Role::b, Role::c}) {
      matrices.emplace_back(context, plan.local(role).elements);
      matrices.back().upload(std::vector<bfloat16>(std::size_t(matrices.back().size()), bfloat16(1.0f)));
    }
    largest_allocation = 0;
    for (int time = 0; time < 2; ++time) plan.execute(1, matrices[0].data(), matrices[1].data(), 1, matrices[2].data());
    const std::size_t largest = largest_allocation, bytes = std::size_t(plan.local(Role::c).elements) * 2;
    if (largest >= bytes) throw std::runtime_error("an execution allocates " + std::to_string(largest) + " bytes");
    std::vector<bfloat16> c(bytes / 2);
    matrices[2].download(c);
    for (const bfloat16 value : c)  // 1 + 256 is rounded to 256, to which 256 are added
      if (float(value) != 512.0f) throw std::runtime_error("C is wrong");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

}  // namespace tessera::test
