// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Plans that leave multiprocessors to others: which they occupy, and the same bits.

#include "gemm_trial.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tessera::test {

namespace {

using Catch::Matchers::ContainsSubstring;

int multiprocessors() {
  int count = 0;
  succeed(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

/// A function of the driver by its name.
template <class Function>
Function* driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  succeed(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
#else
  succeed(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found));
#endif
  REQUIRE(found == cudaDriverEntryPointSuccess);
  return reinterpret_cast<Function*>(function);
}

/// Blocks, each with so much shared memory that it shares a multiprocessor with no block of a product, write down where
/// they run.
class Probe {
 public:
  static constexpr int kBlocks = 1024, kSharedBytes = 200 << 10;

  Probe() {
    static constexpr const char* kCode = R"(
.version 7.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry probe(.param .u64 places)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [places];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %smid;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
)";
    succeed(cudaFree(nullptr));  // makes the context
    succeed(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    succeed(cudaMalloc(&places_, kBlocks * sizeof(unsigned)));
    REQUIRE(driver<CUresult(CUmodule*, const void*)>("cuModuleLoadData")(&module_, kCode) == CUDA_SUCCESS);
    REQUIRE(driver<CUresult(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction")(&function_, module_, "probe") ==
            CUDA_SUCCESS);
    REQUIRE(driver<CUresult(CUfunction, CUfunction_attribute, int)>("cuFuncSetAttribute")(
                function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kSharedBytes) == CUDA_SUCCESS);
  }
  ~Probe() {
    cudaStreamDestroy(stream_);
    cudaFree(places_);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// Those that were free.
  std::set<unsigned> run() {
    void* arguments[] = {&places_};
    using Launch = CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                            void**, void**);
    REQUIRE(driver<Launch>("cuLaunchKernel")(function_, kBlocks, 1, 1, 32, 1, 1, kSharedBytes, stream_, arguments,
                                             nullptr) == CUDA_SUCCESS);
    std::vector<unsigned> places(kBlocks);
    succeed(cudaMemcpyAsync(places.data(), places_, kBlocks * sizeof(unsigned), cudaMemcpyDeviceToHost, stream_));
    succeed(cudaStreamSynchronize(stream_));
    return {places.begin(), places.end()};
  }

 private:
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  cudaStream_t stream_ = nullptr;
  void* places_ = nullptr;
};

/// What a product occupies while it runs.
int occupied(Context& context, const GemmDesc& desc, int limit) {
  Probe probe;
  REQUIRE(int(probe.run().size()) == multiprocessors());
  Buffer<bfloat16> a(context, desc.m * desc.k), b(context, desc.k * desc.n), c(context, desc.m * desc.n);
  GemmPlan plan(context, desc, {.operands = Memory::device, .sm_limit = limit});
  CAPTURE(plan.describe());
  plan.execute(1.0f, a.data(), b.data(), 0.0f, c.data());
  context.synchronize();
  auto* const stream = static_cast<cudaStream_t>(context.native_stream());
  plan.execute(1.0f, a.data(), b.data(), 0.0f, c.data());
  plan.execute(1.0f, a.data(), b.data(), 0.0f, c.data());
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::set<unsigned> free = probe.run();
  REQUIRE(cudaStreamQuery(stream) == cudaErrorNotReady);  // the probe has not waited for the products
  context.synchronize();
  return multiprocessors() - int(free.size());
}

}  // namespace

TEST_CASE("a plan occupies no more multiprocessors than its limit") {
  Context context = open_cuda();
  require_hopper();
  const GemmDesc desc{.m = 16384, .n = 16384, .k = 16384, .dtype = DType::bf16};  // some 13 ms
  for (const int limit : {1, 3, 7, 33, 100, multiprocessors() - 1}) {
    INFO(limit);
    const int found = occupied(context, desc, limit);
    CHECK(found <= limit);
    CHECK(found > limit - 8);  // a cluster's blocks at most are not to be placed
  }
}

TEMPLATE_TEST_CASE("a limit of multiprocessors changes no bit of an algorithm with its parameters", "", float16,
                   bfloat16, float) {
  using T = TestType;
  Context context = open_cuda();
  require_hopper();
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{2048, 1032, 264}, {136, 264, 4096}, {8, 8, 8}}) {
    GemmDesc desc{.m = m, .n = n, .k = k, .dtype = kDType<T>};
    if (sizeof(T) == sizeof(Scalar<T>)) desc.compute = Compute::tf32;
    std::vector<T> a, b;
    for (const float v : fractions(m * k, 1)) a.push_back(T(v));
    for (const float v : fractions(k * n, 2)) b.push_back(T(v));
    Buffer<T> device_a(context, m * k), device_b(context, k * n), device_c(context, m * n);
    device_a.upload(a), device_b.upload(b);
    const auto result = [&](const std::string& algorithm, int limit) {
      GemmPlan plan(context, desc, {.operands = Memory::device, .algorithm = algorithm, .sm_limit = limit});
      plan.execute(1.0f, device_a.data(), device_b.data(), 0.0f, device_c.data());
      std::vector<T> elements(std::size_t(m * n));
      device_c.download(elements);
      std::vector<double> values;
      for (const T element : elements) values.push_back(double(wide(element)));
      return values;
    };
    for (const int limit : {1, 7, 100, multiprocessors(), 100000}) {
      const std::string chosen =
          GemmPlan(context, desc, {.operands = Memory::device, .algorithm = "warpgroup", .sm_limit = limit})
              .algorithm();
      CAPTURE(limit, chosen, m, n, k);
      CHECK(result(chosen, limit) == result(chosen, 0));
    }
  }
}

TEST_CASE("algorithms that cannot keep a limit of multiprocessors say so by name") {
  Context context = open_cuda();
  try {
    GemmPlan(context, {.m = 64, .n = 64, .k = 64}, {.operands = Memory::device, .sm_limit = 1});
    FAIL("no algorithm of f32 keeps one");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unsupported);
    for (const char* name : {"multistage", "naive", "tiled_shared", "small"})
      CHECK_THAT(error.what(), ContainsSubstring(std::string(name) + ": cannot keep to sm_limit = 1"));
  }
}

}  // namespace tessera::test
