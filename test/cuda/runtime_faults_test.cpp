// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Every call of the CUDA runtime fails once and for good, in the variant of the plugin that failing_runtime.cpp makes.

#include "../faults/small_work.hpp"
#include "cuda_support.hpp"

#include <catch2/generators/catch_generators.hpp>

#include <vector>

namespace tessera::test {
namespace {

/// Both work on a device of CUDA; what the driver keeps on the host is its own affair.
void every_call(const std::function<void()>& work) { every_fault(Family::device, work, Counted::device); }

/// Larger than what travels in one piece, so that the pinned chunks are needed.
constexpr std::int64_t kStaged = 5 << 20;

template <class T, std::size_t n>
void require_equal(const std::array<T, n>& expected, const Buffer<T>& buffer) {
  std::array<T, n> result{};
  buffer.download(result);
  if (result != expected) throw WrongResult("the contents of a buffer are wrong");
}

void on_device(Context& context, const SmallGemm& gemm, GemmPlan& plan) {
  const std::int64_t size = std::int64_t(gemm.a.size());
  Buffer<float> a(context, size), b(context, size), c(context, size);
  a.upload(gemm.a);
  b.upload(gemm.b);
  plan.execute(1, a.data(), b.data(), 0, c.data());
  context.synchronize();
  require_equal(gemm.product, c);
}

void on_device(Context& context, const SmallStencil& stencil, StencilPlan& plan) {
  const std::int64_t size = std::int64_t(stencil.in.size());
  Buffer<float> in(context, size), out(context, size);
  in.upload(stencil.in);
  plan.execute(in.data(), out.data());
  require_equal(stencil.out, out);
}

BackendInfo cuda_info() {
  for (BackendInfo& info : backends())
    if (info.name == "cuda") return std::move(info);
  throw std::logic_error("cuda is not in the list");
}

/// Runs `make_and_run`, but for algorithms that refuse the problem.
void where_supported(const std::function<void()>& make_and_run) {
  try {
    make_and_run();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return;
  }
  every_call(make_and_run);
}

}  // namespace

TEST_CASE("contexts, buffers and the choice survive every fault of the CUDA runtime", "[cuda]") {
  Context context = open_cuda();
  every_call([&] {
    Context other("cuda", {.high_priority = true});
    other.wait_for(context);
    other.synchronize();
  });
  const std::vector<float> source(kStaged, 2.0f);
  std::vector<float> target(kStaged);
  every_call([&] {
    Buffer<float> buffer(context, kStaged);
    buffer.upload(source);
    buffer.download(target);
    if (target != source) throw WrongResult("the contents of a buffer are wrong");
  });
  const std::string expected = GemmPlan(SmallGemm::kDesc).backend();
  every_call([&] {
    if (GemmPlan(SmallGemm::kDesc).backend() != expected) throw WrongResult("the choice fell on another backend");
  });
}

TEST_CASE("plans of every algorithm survive every fault of the CUDA runtime", "[cuda]") {
  Context context = open_cuda();
  const BackendInfo info = cuda_info();
  const Memory operands = GENERATE(Memory::host, Memory::device);
  const SmallGemm gemm;
  for (const std::string& algorithm : info.gemm_algorithms) {
    INFO(algorithm);
    GemmDesc desc = SmallGemm::kDesc;
    const bool by_parts = algorithm == "warpgroup_f32" || algorithm == "skinny_parts";
    if (by_parts) desc.compute = Compute::f16x3;  // strict is not for it
    where_supported([&] {
      GemmPlan plan(context, desc, {.operands = operands, .algorithm = algorithm});
      operands == Memory::host ? gemm.on_host(plan) : on_device(context, gemm, plan);
    });
  }
  for (const std::string& algorithm : info.stencil_algorithms) {
    INFO(algorithm);
    const SmallStencil& stencil = small_stencil(algorithm);
    where_supported([&] {
      StencilPlan plan(context, stencil.desc, {.operands = operands, .algorithm = algorithm});
      operands == Memory::host ? stencil.on_host(plan) : on_device(context, stencil, plan);
    });
  }
}

TEST_CASE("plans that are there survive every fault of the CUDA runtime", "[cuda]") {
  Context context = open_cuda();
  const Memory operands = GENERATE(Memory::host, Memory::device);
  const SmallGemm gemm;
  const SmallStencil& stencil = small_stencil();
  GemmPlan product(context, SmallGemm::kDesc, {.operands = operands});
  StencilPlan sweep(context, stencil.desc, {.operands = operands});
  every_call([&] {
    operands == Memory::host ? gemm.on_host(product) : on_device(context, gemm, product);
    operands == Memory::host ? stencil.on_host(sweep) : on_device(context, stencil, sweep);
  });
  every_call([&] {
    GemmPlan other = product.clone();
    operands == Memory::host ? gemm.on_host(other) : on_device(context, gemm, other);
  });
}

}  // namespace tessera::test
