// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cuda_ceilings.hpp"

#include "../devices/cuda_error.hpp"

#include <type_traits>

namespace tessera::perf {

namespace {

constexpr int kThreads = 256, kBlocksPerMultiprocessor = 8, kChains = 8, kRounds = 8192;

/// Two registers an operation: with three, some lie in one bank of the register file and take a cycle more.
template <class T>
__global__ void __launch_bounds__(kThreads) fma_kernel(float* sink, T growth) {
  T chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = T(threadIdx.x + i);
#pragma unroll 4
  for (int round = 0; round < kRounds; ++round)
#pragma unroll
    for (int i = 0; i < kChains; ++i) chain[i] = chain[i] * growth + chain[i];
  T sum = 0;
  for (int i = 0; i < kChains; ++i) sum += chain[i];
  if (sum == T(-1)) *sink = float(sum);  // never, which the compiler cannot know
}

/// D (16x8) += A (16x16) B (16x8) in f64 a warp: the shape that reaches the full rate from sm_90 on.
__global__ void __launch_bounds__(kThreads) f64_mma_kernel(float* sink, double scale) {
#if __CUDA_ARCH__ >= 900
  double a[8], b[4], d[4][4]{};
  for (double& x : a) x = scale * threadIdx.x;
  for (double& x : b) x = scale;
#pragma unroll 2
  for (int round = 0; round < kRounds / 8; ++round)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
          "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
          : "+d"(d[i][0]), "+d"(d[i][1]), "+d"(d[i][2]), "+d"(d[i][3])
          : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
            "d"(b[1]), "d"(b[2]), "d"(b[3]));
  double sum = 0;
  for (auto& row : d)
    for (double x : row) sum += x;
  if (sum == -1.0) *sink = float(sum);
#else
  if (scale == -1.0) *sink = 0.0f;
#endif
}

/// D (16x8) += A B by a warp, whose lanes hold four registers of A, two of B, and four numbers of D.
template <class T>
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, float16>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else if constexpr (std::is_same_v<T, bfloat16>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else  // f32 as tf32
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

/// Products of a warp's matrix unit on registers alone, D in f32.
template <class T>
__global__ void __launch_bounds__(kThreads) mma_kernel(float* sink, unsigned bits) {
  const unsigned a[4] = {bits, bits + threadIdx.x, bits, bits}, b[2] = {bits, bits};
  float d[kChains][4]{};
#pragma unroll 2
  for (int round = 0; round < kRounds / 4; ++round)
#pragma unroll
    for (auto& chain : d) multiply<T>(chain, a, b);
  float sum = 0.0f;
  for (auto& chain : d)
    for (const float x : chain) sum += x;
  if (sum == -1.0f) *sink = sum;
}

__global__ void copy_kernel(const float4* __restrict__ in, float4* __restrict__ out) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
/// Four words a thread, so that enough reads are under way.
__global__ void read_kernel(const float4* __restrict__ in, float4* sink) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x * 4 + threadIdx.x;
  float4 x[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = in[i + std::size_t(j) * blockDim.x];
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) sum += x[j].x + x[j].y + x[j].z + x[j].w;
  if (sum == -1e30f) *sink = x[0];  // never: the data are in [-1, 1)
}
__global__ void write_kernel(float4* out, float value) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = make_float4(value, value, value, value);
}

}  // namespace

double enqueue_arithmetic(Ceiling ceiling, DType dtype, float* sink, cudaStream_t stream) {
  int device = 0, count = 0, major = 0;
  succeed(cudaGetDevice(&device));
  succeed(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  succeed(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  const int blocks = count * kBlocksPerMultiprocessor;
  const double threads = double(blocks) * kThreads;
  double operations = 2.0 * kChains * kRounds * threads;
  if (ceiling == Ceiling::matrix_unit && dtype == kDType<double>) {
    if (major < 9) return 0.0;
    f64_mma_kernel<<<unsigned(blocks), kThreads, 0, stream>>>(sink, 1e-3);
    operations = 2.0 * 16 * 8 * 16 * 4 * (kRounds / 8) * (threads / 32);
  } else if (ceiling == Ceiling::matrix_unit || ceiling == Ceiling::matrix_unit_tf32) {
    if (major < 8) return 0.0;
    with_types<TypeList<float, float16, bfloat16>>(dtype, [&]<class T>(std::type_identity<T>) {
      mma_kernel<T><<<unsigned(blocks), kThreads, 0, stream>>>(sink, 0u);
      const double depth = 32.0 / sizeof(T);  // bytes of a row of A
      operations = 2.0 * 16 * 8 * depth * kChains * (kRounds / 4) * (threads / 32);
    });
  } else {
    with_types<WideTypes>(dtype, [&]<class T>(std::type_identity<T>) {
      fma_kernel<T><<<unsigned(blocks), kThreads, 0, stream>>>(sink, T(1e-6));
    });
  }
  succeed(cudaGetLastError());
  return operations;
}

void enqueue_memory_pass(Ceiling ceiling, void* in, void* out, std::size_t half, cudaStream_t stream) {
  auto* const a = static_cast<float4*>(in);
  auto* const b = static_cast<float4*>(out);
  const auto blocks = unsigned(half / 4096);  // 256 threads of 16 bytes each
  switch (ceiling) {
    case Ceiling::copy:
      succeed(cudaMemcpyAsync(out, in, half, cudaMemcpyDeviceToDevice, stream));
      break;
    case Ceiling::copy_streaming:
      copy_kernel<<<blocks, 256, 0, stream>>>(a, b);
      break;
    case Ceiling::read:
      read_kernel<<<blocks, 64, 0, stream>>>(a, b);
      read_kernel<<<blocks, 64, 0, stream>>>(b, a);
      break;
    default:
      write_kernel<<<blocks, 256, 0, stream>>>(a, 0.5f);
      write_kernel<<<blocks, 256, 0, stream>>>(b, 0.25f);
      break;
  }
  succeed(cudaGetLastError());
}

}  // namespace tessera::perf
