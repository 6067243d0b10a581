// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "named_cases.hpp"

namespace tessera::perf {

namespace {

constexpr auto any = Size::any, gpu = Size::gpu, host = Size::host;
constexpr char kWide[] = "f32 f64";
// Sums of 16 bits stay below f16's largest number, 65504: operands lie in [-1, 1), and k is 16384 at most.
constexpr char kNarrow[] = "f16 bf16";
constexpr char kTensor[] = "f16 bf16 bf16->f32 tf32";
constexpr char kWithEpilogue[] = "f32 bf16";
constexpr char kParts[] = "bf16x6 f16x3";
constexpr char kOther[] = "bf16x6 f16x3 tf32";

// clang-format off
constexpr Listed kCases[] = {
  // squares
  {any, kWide, "16 32 64* 128 256* 512 1024* 2048* 4096"},
  {gpu, kWide, "4096_NT* 8192 16384"},
  // odd
  {any, kWide, "127 1000*"},
  {host, kWide, "2047"},
  {gpu, kWide, "4095* 4097"},
  // skinny and deep
  {any, kWide, "1x8192x8192* 128x128x65536* 2048x8192x1024"},
  {gpu, kWide, "16x8192x8192* 64x8192x8192* 8192x1x8192 8192x16x8192 8192x64x8192 8192x8192x64 512x32000x4096"},
  {host, kWide, "1x2048x2048 16x2048x2048* 2048x16x2048 2048x2048x16 512x4096x1024"},
  // transposes, leading dimensions
  {host, kWide, "1024_NT 1024_TN* 1024_TT"},
  {gpu, kWide, "4096_TN 4096_TT"},
  {any, kWide, "1000_ld+24 1024_ld+7"},
  // strided batches; on devices 256 MiB of f32 operands at least
  {any, kWide, "4_batch10000 8_batch10000 16_batch10000* 32_batch10000"},
  {gpu, kWide, "4_batch1400000 8_batch350000 16_batch87500 32_batch22000 64_batch10000 128_batch1000* 256_batch1000"},
  {host, kWide, "64_batch1000"},
  // 16 bits, and f32 with arithmetic of tf32
  {any, kNarrow, "256 512"},
  {any, kTensor, "1024*"},
  {any, kNarrow, "2048"},
  {any, kTensor, "4096"},
  {gpu, kTensor, "8192"},
  {any, kNarrow, "1000 1x8192x8192"},
  {gpu, kNarrow, "4096_NT* 4095 16x8192x8192 64x8192x8192_NT 512x32000x4096 128_batch1000 16384"},
  {host, "bf16", "1024_NT 64_batch1000"},
  {gpu, "bf16", "16384_TN 4096_TN 4096_TT 3000 2047 4097 8192x16x8192 8192x8192x64"},
  // f32 with other arithmetic
  {gpu, kOther, "2048 4097"},
  {gpu, kParts, "4096* 8192 16384"},
  {gpu, "tf32", "4096_TN 8192_TN 16384 4095"},
  // what a bias and an activation cost beside the product alone
  {any, kWithEpilogue, "1024_bias_relu* 1024_bias_gelu* 1024_bias_gelu_tanh 1024_bias_silu"},
  {gpu, kWithEpilogue, "4096_bias_relu 4096_bias_gelu* 4096_bias_gelu_tanh"},
  {gpu, "bf16", "8192_bias_gelu_tanh 4096_bias_silu 8192_bias_silu"},
};
// clang-format on

}  // namespace

std::vector<Case> gemm_cases() { return listed(kCases, gemm_case); }

}  // namespace tessera::perf
