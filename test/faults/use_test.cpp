// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Memory and the device's functions fail in everything that a program does with backends that are loaded.

#include "../plugins/fake_stats.hpp"
#include "process.hpp"
#include "small_work.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <algorithm>
#include <complex>
#include <memory>
#include <new>
#include <vector>

namespace tessera::test {
namespace {

const ContextOptions kTwoThreads{std::nullopt, 2};

const SmallGemm& gemm() {
  static const SmallGemm work;
  return work;
}
/// Those with a memory or an engine of their own, as far as they are usable here.
std::vector<std::string> tested_backends() {
  std::vector<std::string> names;
  for (const BackendInfo& info : backends())
    if (info.available && (info.name == "faulty" || info.name == "cpu" || info.name == "kokkos-openmp"))
      names.push_back(info.name);
  return names;
}

BackendInfo backend_info(const std::string& name) {
  for (BackendInfo& info : backends())
    if (info.name == name) return std::move(info);
  throw std::logic_error("there is no backend " + name);
}

template <class T, std::size_t n>
void require_equal(const std::array<T, n>& expected, const Buffer<T>& buffer) {
  std::array<T, n> result{};
  buffer.download(result);
  if (result != expected) throw WrongResult("the contents of a buffer are wrong");
}

void gemm_on_device(Context& context, GemmPlan& plan) {
  const std::int64_t size = std::int64_t(gemm().a.size());
  Buffer<float> a(context, size), b(context, size), c(context, size);
  a.upload(gemm().a);
  b.upload(gemm().b);
  plan.execute(1, a.data(), b.data(), 0, c.data());
  context.synchronize();
  require_equal(gemm().product, c);
}

void on_device(Context& context, const SmallStencil& work, StencilPlan& plan) {
  const std::int64_t size = std::int64_t(work.in.size());
  Buffer<float> in(context, size), out(context, size);
  in.upload(work.in);
  plan.execute(in.data(), out.data());
  require_equal(work.out, out);
}

/// The emulated device counts: whatever failed, nothing is left on it.
void require_empty(Context& context) {
  if (context.backend() != "faulty") return;
  const auto& stats = *static_cast<const FakeStats*>(context.native_stream());
  CHECK(stats.live_allocations == 0);
  CHECK(stats.live_plans == 0);
  CHECK(stats.executions_of_dead_plans == 0);
}

void in_memory_and_device(const std::string& backend, const std::function<void()>& work) {
  every_fault(Family::memory, work);
  if (backend == "faulty") every_fault(Family::device, work);
}

}  // namespace

TEST_CASE("the call that was named fails, and no other", "[use]") {
  const auto has_memory = [] {
    void* volatile const block = ::operator new(1, std::nothrow);  // volatile, or compilers leave it out
    ::operator delete(block);
    return block != nullptr;
  };
  for (const Extent extent : {Extent::once, Extent::for_good}) {
    std::array<bool, 3> had{};
    bool hit = false;
    {
      const Injection injection(Family::memory, extent, 2);
      for (bool& memory : had) memory = has_memory();
      hit = injection.hit();
    }
    CHECK(hit);
    CHECK(had == std::array{true, false, extent == Extent::once});
  }
}

TEST_CASE("contexts and buffers survive every fault", "[use]") {
  const std::string name = GENERATE(from_range(tested_backends()));
  INFO(name);
  in_memory_and_device(name, [&] {
    Context context(name, kTwoThreads);
    context.synchronize();
  });
  Context context(name);
  in_memory_and_device(name, [&] {
    Buffer<float> buffer(context, std::int64_t(gemm().a.size()));
    buffer.upload(gemm().a);
    require_equal(gemm().a, buffer);
  });
  require_empty(context);
}

TEST_CASE("plans of triangles and of complex products survive every fault", "[use]") {
  const std::string name = GENERATE(from_range(tested_backends()));
  INFO(name);
  Context context(name, kTwoThreads);
  constexpr std::int64_t n = SmallGemm::n;
  const auto has = [&](const char* algorithm) {
    return std::ranges::count(backend_info(name).gemm_algorithms, algorithm) != 0;
  };
  if (has("triangles"))
    in_memory_and_device(name, [&] {
      GemmDesc desc = SmallGemm::kDesc;
      desc.triangle = Triangle::lower;
      GemmPlan plan(context, desc, {.algorithm = "triangles"});
      SmallGemm::Matrix c = gemm().product;
      for (std::int64_t i = 0; i < n; ++i) std::fill_n(c.begin() + i * n, i + 1, 0.0f);
      plan.execute(1.0f, gemm().a, gemm().b, 0.0f, c);
      gemm().check(c);
    });
  if (has("doubled"))
    in_memory_and_device(name, [&] {
      using Z = std::complex<float>;
      const std::vector<Z> a(std::size_t(n * n), Z(1, 1)), product(a.size(), Z(0, 2 * float(n)));
      std::vector<Z> d(a.size());
      GemmPlan plan(context, {.m = n, .n = n, .k = n, .dtype = DType::c64}, {.algorithm = "doubled"});
      plan.execute(Z(1), a, a, Z(0), d);
      if (d != product) throw WrongResult("the complex product is wrong");
    });
  require_empty(context);
}

TEST_CASE("plans of every algorithm survive every fault", "[use]") {
  const std::string name = GENERATE(from_range(tested_backends()));
  const Memory operands = GENERATE(Memory::host, Memory::device);
  Context context(name, kTwoThreads);
  const BackendInfo info = backend_info(name);
  for (const std::string& algorithm : info.gemm_algorithms) {
    if (algorithm == "triangles" || algorithm == "doubled") continue;  // of other products: below
    INFO(name << " " << algorithm);
    in_memory_and_device(name, [&] {
      GemmPlan plan(context, SmallGemm::kDesc, {.operands = operands, .algorithm = algorithm});
      operands == Memory::host ? gemm().on_host(plan) : gemm_on_device(context, plan);
    });
  }
  for (const std::string& algorithm : info.stencil_algorithms) {
    INFO(name << " " << algorithm);
    in_memory_and_device(name, [&] {
      const SmallStencil& work = small_stencil(algorithm);
      StencilPlan plan(context, work.desc, {.operands = operands, .algorithm = algorithm});
      operands == Memory::host ? work.on_host(plan) : on_device(context, work, plan);
    });
  }
  require_empty(context);
}

TEST_CASE("plans that are there survive every fault of an execution and of a clone", "[use]") {
  const std::string name = GENERATE(from_range(tested_backends()));
  const Memory operands = GENERATE(Memory::host, Memory::device);
  INFO(name);
  Context context(name, kTwoThreads);
  {
    GemmPlan product(context, SmallGemm::kDesc, {.operands = operands});
    StencilPlan sweep(context, small_stencil().desc, {.operands = operands});
    const auto execute = [&](GemmPlan& p, StencilPlan& s) {
      operands == Memory::host ? gemm().on_host(p) : gemm_on_device(context, p);
      operands == Memory::host ? small_stencil().on_host(s) : on_device(context, small_stencil(), s);
    };
    in_memory_and_device(name, [&] { execute(product, sweep); });
    in_memory_and_device(name, [&] {
      GemmPlan other_product = product.clone();
      StencilPlan other_sweep = sweep.clone();
      execute(other_product, other_sweep);
    });
  }
  require_empty(context);
}

TEST_CASE("the plan cache survives every fault", "[use]") {
  const std::string name = GENERATE(from_range(tested_backends()));
  const Memory operands = GENERATE(Memory::host, Memory::device);
  INFO(name);
  Context context(name, kTwoThreads);
  const auto execute = [&] {
    GemmPlan product = GemmPlan::borrow(context, SmallGemm::kDesc, {.operands = operands}),
             second = GemmPlan::borrow(context, SmallGemm::kDesc, {.operands = operands});
    StencilPlan sweep = StencilPlan::borrow(context, small_stencil().desc, {.operands = operands});
    for (GemmPlan* const plan : {&product, &second})
      operands == Memory::host ? gemm().on_host(*plan) : gemm_on_device(context, *plan);
    operands == Memory::host ? small_stencil().on_host(sweep) : on_device(context, small_stencil(), sweep);
  };
  in_memory_and_device(name, [&] {  // plans are made
    plan_cache::clear();
    execute();
  });
  CHECK(plan_cache::info().lent == 0);
  plan_cache::clear();
  execute();
  const auto before = plan_cache::info();
  CHECK(before.idle == 3);
  in_memory_and_device(name, execute);  // plans are there
  CHECK(plan_cache::info().made == before.made);
  CHECK(plan_cache::info().idle == 3);
  in_memory_and_device(name, [&] { plan_cache::limit(1, 1 << 20); });
  CHECK(plan_cache::info().idle == 1);
  plan_cache::limit(1024, 256 << 20);
  in_memory_and_device(name, [&] {  // a context goes with its plans
    Context own(name, kTwoThreads);
    GemmPlan::borrow(own, SmallGemm::kDesc);
  });
  plan_cache::clear();
  require_empty(context);
}

TEST_CASE("one call without a context survives every fault", "[use]") {
  for (const Family family : {Family::memory, Family::device})
    every_fault(family, [&] {
      plan_cache::clear();
      SmallGemm::Matrix c{};
      tessera::gemm(SmallGemm::kDesc, 1, gemm().a, gemm().b, 0, c);
      gemm().check(c);
    });
  CHECK(plan_cache::info().lent == 0);
  plan_cache::clear();
}

TEST_CASE("a fault never makes the choice fall on another backend", "[use]") {
  const std::string forced = GENERATE("", "plain", "faulty/plain");
  const ScopedVariable variable("TESSERA_GEMM_ALGORITHM", forced);
  const std::string context_backend = Context().backend();
  const std::string gemm_backend = GemmPlan(SmallGemm::kDesc).backend();
  const std::string stencil_backend = StencilPlan(small_stencil().desc).backend();
  const auto same = [](const std::string& expected, const std::string& backend) {
    if (backend != expected) throw WrongResult("the choice fell on another backend");
  };
  for (const Family family : {Family::memory, Family::device}) {
    every_fault(family, [&] { same(context_backend, Context().backend()); });
    every_fault(family, [&] {
      GemmPlan plan(SmallGemm::kDesc);
      same(gemm_backend, plan.backend());
      gemm().on_host(plan);
    });
    every_fault(family, [&] {
      StencilPlan plan(small_stencil().desc);
      same(stencil_backend, plan.backend());
      small_stencil().on_host(plan);
    });
  }
}

TEST_CASE("the list of backends survives every fault", "[use]") {
  const std::vector<BackendInfo> expected = backends();
  const auto same = [](const BackendInfo& a, const BackendInfo& b) {
    return a.name == b.name && a.reason == b.reason && a.score == b.score && a.devices.size() == b.devices.size() &&
           a.gemm_algorithms == b.gemm_algorithms && a.stencil_algorithms == b.stencil_algorithms;
  };
  for (const Family family : {Family::memory, Family::device})
    every_fault(family, [&] {
      const std::vector<BackendInfo> found = backends();
      if (!std::equal(found.begin(), found.end(), expected.begin(), expected.end(), same))
        throw WrongResult("the list of backends is another one");
    });
}

TEST_CASE("what is said survives every fault", "[use]") {
  const ScopedVariable verbose("TESSERA_VERBOSE", "2");
  const bool throws = GENERATE(false, true);
  static int lines;
  tessera_set_verbose_callback(
      [](const char*, void* user) {
        ++lines;
        if (user != nullptr) throw 1;
      },
      throws ? &lines : nullptr);
  Context context("faulty");
  for (const Family family : {Family::memory, Family::device})
    every_fault(family, [&] {
      GemmPlan plan(context, SmallGemm::kDesc, {.algorithm = "tuned"});
      gemm().on_host(plan);
    });
  tessera_set_verbose_callback(nullptr, nullptr);
  CHECK(lines > 0);
  require_empty(context);
}

TEST_CASE("a refusal is an error under every fault", "[use]") {
  Context context("faulty");
  const auto refused = [](ErrorCode expected, auto&& work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.code() == expected && error.what()[0] != '\0') return;
      throw;
    }
    throw WrongResult("it was not refused");
  };
  const auto both = [](const std::function<void()>& work) {
    for (const Family family : {Family::memory, Family::device}) every_fault(family, work);
  };
  both([&] { refused(ErrorCode::backend_unavailable, [] { Context none("nonsense"); }); });
  both([&] { refused(ErrorCode::invalid_argument, [&] { GemmPlan(context, {.m = -3, .n = 1, .k = 1}); }); });
  both([&] {
    refused(ErrorCode::unsupported, [&] { GemmPlan(context, SmallGemm::kDesc, {.algorithm = "nonsense"}); });
  });
  both([&] { refused(ErrorCode::invalid_argument, [&] { Buffer<float>(context, 4).upload(gemm().a); }); });
  both([&] {
    refused(ErrorCode::invalid_argument, [&] {
      StencilDesc desc = small_stencil().desc;
      desc.boundary = BoundaryAxis(Boundary::periodic, Boundary::fixed);
      StencilPlan(context, desc);
    });
  });
  GemmPlan plan(context, SmallGemm::kDesc);
  SmallGemm::Matrix c{};
  both([&] { refused(ErrorCode::invalid_argument, [&] { plan.execute(1, nullptr, gemm().b.data(), 0, c.data()); }); });
}

}  // namespace tessera::test
