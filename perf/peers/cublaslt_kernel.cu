// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a user does whose activation cuBLASLt lacks: its product with a bias, then a kernel that activates the result
/// where it lies.

#include "cublas.hpp"

#include "../devices/cuda_error.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace tessera::perf {

namespace {

/// What cuBLASLt may have for D: no f64.
using Types = TypeList<float, float16, bfloat16>;

/// x / (1 + e^-x). The exponential never overflows: it is of -|x|.
__device__ inline float silu(float x) {
  const float e = __expf(-fabsf(x));
  return __fdividef(x < 0.0f ? x * e : x, 1.0f + e);
}

/// The same bits as another type. CUDA's pairs are not trivially copyable, as std::bit_cast wants them.
template <class To, class From>
__device__ To as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<const To&>(from);
}

/// 32 bits of elements: one or two.
template <class T>
__device__ std::uint32_t activated(std::uint32_t word);
template <>
__device__ inline std::uint32_t activated<float>(std::uint32_t word) {
  return __float_as_uint(silu(__uint_as_float(word)));
}
template <>
__device__ inline std::uint32_t activated<float16>(std::uint32_t word) {
  const float2 x = __half22float2(as<__half2>(word));
  return as<std::uint32_t>(__floats2half2_rn(silu(x.x), silu(x.y)));
}
template <>
__device__ inline std::uint32_t activated<bfloat16>(std::uint32_t word) {
  const float2 x = __bfloat1622float2(as<__nv_bfloat162>(word));
  return as<std::uint32_t>(__floats2bfloat162_rn(silu(x.x), silu(x.y)));
}
template <class T>
__device__ uint4 activated(uint4 v) {
  return {activated<T>(v.x), activated<T>(v.y), activated<T>(v.z), activated<T>(v.w)};
}

constexpr unsigned kThreads = 256;
constexpr unsigned kVectors = 2;  ///< of a thread, which all are read before one is written

/// From the end on: the product wrote that last, so that it may still be in the second-level cache.
template <class T>
__global__ void __launch_bounds__(kThreads) silu_in_place(uint4* data, std::int64_t count) {
  const std::int64_t first = count - 1 - std::int64_t(blockIdx.x) * (kThreads * kVectors) - threadIdx.x;
  uint4 vectors[kVectors];
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i)
    if (first >= i * kThreads) vectors[i] = data[first - i * kThreads];
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i)
    if (first >= i * kThreads) data[first - i * kThreads] = activated<T>(vectors[i]);
}

void enqueue_silu(DType dtype, void* data, std::size_t bytes, cudaStream_t stream) {
  const auto count = std::int64_t(bytes / sizeof(uint4));
  const auto blocks = unsigned((count + kThreads * kVectors - 1) / (kThreads * kVectors));
  with_types<Types>(dtype, [&]<class T>(std::type_identity<T>) {
    silu_in_place<T><<<blocks, kThreads, 0, stream>>>(static_cast<uint4*>(data), count);
  });
  succeed(cudaGetLastError());
}

class CublasLtAndKernel : public Competitor {
 public:
  explicit CublasLtAndKernel(cudaStream_t stream) : stream_(stream), product_(make_cublaslt(stream, FromList::best)) {}

  std::string name() const override { return "peer:cublaslt+kernel"; }
  std::string unsupported(const Problem& p) const override {
    if (p.gemm.activation != TESSERA_ACTIVATION_SILU) return "its activation is silu";
    const GemmShape& g = p.gemm;
    const bool packed = p.out_gaps == 0 && (g.batch == 1 || g.stride_c == g.m * g.ldc);
    if (!packed || p.out_bytes() % sizeof(uint4) != 0 || size_of(p.kind.dtype_out) > sizeof(float))
      return "its kernel takes whole vectors without gaps, of f32 at most";
    return product_->unsupported(product_of(p));
  }
  /// The product's result is rounded, and what the kernel makes of it again.
  Rounding rounding() const override { return Rounding::before_activation; }
  Execute prepare(const Problem& p) override { return with_kernel(p, product_->prepare(product_of(p))); }
  std::vector<Candidate> candidates(const Problem& p) override {
    std::vector<Candidate> found = product_->candidates(product_of(p));
    for (Candidate& candidate : found) candidate = {with_kernel(p, candidate.execute), rounding()};
    return found;
  }

 private:
  Execute with_kernel(const Problem& p, const Execute& product) const {
    return
        [product, dtype = p.kind.dtype_out, bytes = p.out_bytes(), stream = stream_](const void* const* in, void* out) {
          product(in, out);
          enqueue_silu(dtype, out, bytes, stream);
        };
  }
  /// With the bias, and without the activation.
  static Problem product_of(Problem p) {
    p.gemm.activation = TESSERA_ACTIVATION_NONE;
    return p;
  }
  cudaStream_t stream_;
  std::unique_ptr<Competitor> product_;
};

}  // namespace

std::unique_ptr<Competitor> make_cublaslt_kernel(cudaStream_t stream) {
  return std::make_unique<CublasLtAndKernel>(stream);
}

}  // namespace tessera::perf
