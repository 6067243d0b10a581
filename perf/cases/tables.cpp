// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cases.hpp"

#include <sstream>

namespace tessera::perf {

namespace {

constexpr auto any = Size::any, gpu = Size::gpu, host = Size::host;
constexpr char kOne[] = "f32";
constexpr char kWide[] = "f32 f64";
// Sums of 16 bits stay below f16's largest number, 65504: operands lie in [-1, 1), and k is 16384 at most.
constexpr char kNarrow[] = "f16 bf16";
constexpr char kTensor[] = "f16 bf16 bf16->f32 tf32";
constexpr char kWithEpilogue[] = "f32 bf16";
constexpr char kParts[] = "bf16x6 f16x3";
constexpr char kOther[] = "bf16x6 f16x3 tf32";
constexpr char kComplex[] = "c64 c128";
constexpr char kComplexParts[] = "c64+bf16x6 c64+f16x3";

// clang-format off
constexpr Listed kProducts[] = {
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
  // complex
  {any, kComplex, "256 1024* 2048 4096"},
  {gpu, kComplex, "8192 2048_TT"},
  {gpu, kComplexParts, "1024 2048 4096* 8192"},
  // what a bias and an activation cost beside the product alone
  {any, kWithEpilogue, "1024_bias_relu* 1024_bias_gelu* 1024_bias_gelu_tanh 1024_bias_silu"},
  {gpu, kWithEpilogue, "4096_bias_relu 4096_bias_gelu* 4096_bias_gelu_tanh"},
  {gpu, "bf16", "8192_bias_gelu_tanh 4096_bias_silu 8192_bias_silu"},
};

constexpr Listed kStencils[] = {
  // one step, domains far beyond the caches
  {gpu, kWide, "1d_derivative_r4_2^28* 1d_star_r1_2^28 1d_star_r2_2^28 1d_star_r3_2^28 1d_star_r4_2^28*"},
  {gpu, kWide, "2d_star_r1_16384^2* 2d_star_r2_16384^2 2d_star_r3_16384^2 2d_star_r4_16384^2*"},
  {gpu, kWide, "2d_box_r1_16384^2* 2d_box_r2_16384^2 2d_box_r3_16384^2"},
  {gpu, kWide, "3d_star_r1_768^3* 3d_star_r2_768^3 3d_star_r3_768^3 3d_star_r4_768^3 3d_box_r1_768^3*"},
  {gpu, kWide, "1d_star_r4_2^28_periodic 2d_star_r1_16384^2_periodic* 3d_star_r1_768^3_periodic"},
  {gpu, kWide, "3d_box_r1_768^3_periodic"},
  {host, kWide, "1d_derivative_r4_2^26* 1d_star_r1_2^26 1d_star_r2_2^26 1d_star_r3_2^26 1d_star_r4_2^26*"},
  {host, kWide, "2d_star_r1_8192^2* 2d_star_r2_8192^2 2d_star_r3_8192^2 2d_star_r4_8192^2"},
  {host, kWide, "2d_box_r1_8192^2* 2d_box_r2_8192^2 2d_box_r3_8192^2"},
  {host, kWide, "3d_star_r1_384^3* 3d_star_r2_384^3 3d_star_r3_384^3 3d_star_r4_384^3 3d_box_r1_384^3*"},
  {host, kWide, "1d_star_r4_2^26_periodic 2d_star_r1_8192^2_periodic 3d_star_r1_384^3_periodic"},
  {host, kWide, "3d_star_r4_256^3 3d_star_r4_256^3_periodic"},
  // odd extents, domains that a cache holds (measured cold and hot)
  {any, kWide, "1d_star_r4_1000003 2d_star_r1_1021^2 3d_star_r1_101^3 2d_star_r1_1024^2* 3d_star_r1_128^3"},
  {host, kWide, "1d_star_r4_2^24 2d_star_r1_4096^2 3d_star_r1_256^3"},
  // many steps
  {gpu, kWide, "2d_star_r1_16384^2_steps100* 2d_box_r2_16384^2_steps100 2d_star_r1_8192^2_steps12"},
  {gpu, kWide, "3d_star_r1_512^3_steps24* 3d_box_r1_512^3_steps24 2d_star_r1_16384^2_periodic_steps100"},
  {gpu, kWide, "3d_star_r1_512^3_periodic_steps24"},
  {host, kWide, "2d_star_r1_4096^2_steps20* 2d_box_r1_4096^2_steps20 3d_star_r1_256^3_steps20*"},
  {host, kWide, "2d_star_r1_4096^2_periodic_steps20"},
  {any, kWide, "2d_star_r1_1024^2_steps100 3d_star_r1_128^3_steps24"},
  {gpu, kWide, "1d_star_r1_2^28_steps1000* 1d_star_r4_2^28_steps1000 1d_star_r1_2^28_periodic_steps100"},
  {any, kWide, "1d_star_r1_2^20_steps100"},
  {gpu, kWide, "2d_star_r1_16384^2_steps1000 2d_box_r1_16384^2_steps1000 2d_star_r2_16384^2_steps1000"},
  {gpu, kWide, "3d_star_r1_512^3_steps1000"},
  {host, kWide, "2d_star_r1_8192^2_steps100 3d_star_r1_384^3_steps100"},
  // dense filters and long lines of taps
  {gpu, kWide, "2d_box_r3_4096^2_nearest* 2d_box_r5_4096^2_nearest 2d_box_r7_4096^2_nearest*"},
  {gpu, kWide, "2d_box_r15_2048^2_nearest 2d_box_r3_1080x1920_nearest 2d_box_r5_1080x1920_nearest"},
  {gpu, kWide, "3d_box_r2_256^3_nearest* 3d_box_r3_192^3_nearest 1d_box_r12_2^24_nearest 1d_box_r50_2^24_nearest*"},
  {host, kWide, "2d_box_r2_1024^2_nearest 2d_box_r3_1024^2_nearest 2d_box_r5_1024^2_nearest"},
  {gpu, kWide, "2d_product_r2_4096^2_nearest 2d_product_r7_4096^2_nearest* 2d_product_r15_4096^2_nearest"},
  {gpu, kWide, "2d_product_r7_1080x1920_nearest 3d_product_r2_256^3_nearest* 3d_product_r3_192^3_nearest"},
  {host, kWide, "2d_product_r7_1024^2_nearest* 2d_product_r2_4096^2_nearest 2d_product_r7_4096^2_nearest"},
  {host, kWide, "3d_product_r2_128^3_nearest*"},
  {host, kWide, "2d_box_r7_1024^2_nearest* 2d_box_r15_1024^2_nearest 2d_box_r2_4096^2_nearest"},
  {host, kWide, "2d_box_r7_4096^2_nearest 3d_box_r2_128^3_nearest* 3d_box_r3_128^3_nearest 1d_box_r50_2^22_nearest*"},
  // 16 bits, one step: after many their rounding errors are as large as the values
  {gpu, kNarrow, "1d_star_r1_2^28 1d_star_r4_2^28* 2d_star_r1_16384^2* 2d_star_r4_16384^2 2d_box_r1_16384^2"},
  {gpu, kNarrow, "3d_star_r1_768^3*"},
  {any, kNarrow, "2d_star_r1_1021^2"},
  {host, kNarrow, "1d_star_r4_2^26* 2d_star_r1_8192^2* 2d_box_r1_8192^2 3d_star_r1_384^3*"},
};

constexpr Listed kSystems[] = {
  // one step, domains far beyond the caches
  {gpu, kOne, "wave_o8_c2_sponge_512^3* wave_o8_c2_sponge_768^3"},
  {gpu, "f64", "wave_o8_c2_sponge_384^3*"},
  {gpu, kOne, "wave_o8_512^3 wave_o8_768^3 wave_o4_c2_512^3 wave_o4_c2_768^3 wave_o2_c2_512^3* wave_o2_c2_768^3"},
  {gpu, kOne, "diffusion_512^3* maxwell_384^3* elastic_384^3*"},
  {host, kWide, "wave_o8_c2_sponge_256^3*"},
  {host, kOne, "wave_o8_c2_sponge_384^3 wave_o8_256^3 wave_o8_384^3 wave_o4_c2_256^3 wave_o4_c2_384^3"},
  {host, kOne, "wave_o2_c2_256^3 wave_o2_c2_384^3 diffusion_192^3 maxwell_192^3 elastic_192^3"},
  {any, kOne, "gray_scott_4096^2* burgers_4096^2*"},
  {gpu, kOne, "allen_cahn_384^3*"},
  {host, kOne, "allen_cahn_192^3"},
  // domains that a cache holds
  {any, kOne, "wave_o8_c2_sponge_64^3* wave_o8_64^3 wave_o2_c2_64^3 diffusion_64^3* maxwell_64^3* elastic_64^3*"},
  {any, kOne, "gray_scott_512^2* burgers_512^2 allen_cahn_64^3"},
  // many steps
  {gpu, kOne, "wave_o8_c2_sponge_512^3_steps24* wave_o2_c2_512^3_steps100*"},
  {host, kOne, "wave_o8_c2_sponge_256^3_steps24 wave_o2_c2_256^3_steps24"},
  {any, kOne, "wave_o8_c2_sponge_64^3_steps24*"},
};
// Weights, n x k, and what models have behind them.
struct Layers {
  const char* weights;
  const char* epilogue;
};
constexpr Layers kLayers[] = {
  // Llama 2 and 3, 7 and 8 billion parameters: attention, both parts of the perceptron
  {"4096x4096 6144x4096 11008x4096 14336x4096 28672x4096 4096x14336", ""},
  // gpt2, then ViT-L
  {"768x768 2304x768 3072x768 768x3072", ""}, {"768x768 2304x768 768x3072", "_bias"}, {"3072x768", "_bias_gelu_tanh"},
  {"1024x1024 3072x1024 4096x1024 1024x4096", ""}, {"1024x1024 3072x1024 1024x4096", "_bias"},
  {"4096x1024", "_bias_gelu_tanh"},
  // BERT's vocabulary
  {"30522x768", "_bias"},
  // that no kernel and no model of times was made for: Qwen 2.5 (7 billion), Gemma 2 (2), Phi 3 (4),
  // Llama 3 (70, an eighth), DeepSeek 3, T5 and Whisper
  {"3584x3584 4608x3584 18944x3584 3584x18944 9216x2304 2304x9216 9216x3072 16384x3072 3072x8192", ""},
  {"1280x8192 8192x1024 7168x8192 8192x3584 1536x7168 7168x2048 2816x1024 1024x2816", ""},
  {"1280x1280 1280x5120", "_bias"}, {"5120x1280", "_bias_gelu_tanh"},
};
constexpr int kTokens[] = {1, 16, 32, 64, 197, 256, 333, 1024, 4096, 8192};
// Queries times keys, and what comes of them times values.
constexpr const char* kAttention[] = {"512x512x64_batch96_NT", "512x64x512_batch96", "197x197x64_batch256_NT",
                                      "197x64x197_batch256"};
// clang-format on

}  // namespace

std::vector<Case> gemm_cases() { return listed(kProducts, gemm_case); }
std::vector<Case> stencil_cases() { return listed(kStencils, stencil_case); }
std::vector<Case> system_cases() { return listed(kSystems, system_case); }

std::vector<Case> layer_cases() {
  std::vector<Case> cases;
  const auto add = [&cases](const std::string& name) {
    Case& c = cases.emplace_back(gemm_case(name));
    c.problem.name = "layers_" + c.problem.name;
    c.quick = false, c.kinds = kinds_named(kNarrow);
  };
  for (const int tokens : kTokens)
    for (const Layers& layers : kLayers) {
      std::istringstream weights(layers.weights);
      // Weights are stored as n rows of k.
      for (std::string nk; weights >> nk;) add(std::to_string(tokens) + "x" + nk + "_NT" + layers.epilogue);
    }
  for (const char* const product : kAttention) add(product);
  return cases;
}

}  // namespace tessera::perf
