// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cases.hpp"

namespace tessera::perf {

namespace {

struct Row {
  std::int64_t m, n, k;
  Size size = Size::any;
  bool quick = false;
  std::int64_t batch = 1;
  const char* transposes = "NN";
  std::int64_t padding = 0;  ///< elements between the rows of each matrix
  const char* kinds = "f32 f64";
  tessera_activation activation = TESSERA_ACTIVATION_NONE;  ///< with a bias for each column
};

// Sums of 16 bits stay below f16's largest number, 65504: operands lie in [-1, 1), and k is 16384 at most.
constexpr char kNarrow[] = "f16 bf16";
constexpr char kTensor[] = "f16 bf16 bf16->f32 tf32";
constexpr char kWithEpilogue[] = "f32 bf16";
constexpr char kParts[] = "bf16x6 f16x3";
constexpr char kOther[] = "bf16x6 f16x3 tf32";
constexpr auto kRelu = TESSERA_ACTIVATION_RELU;
constexpr auto kGelu = TESSERA_ACTIVATION_GELU;
constexpr auto kGeluTanh = TESSERA_ACTIVATION_GELU_TANH;
constexpr auto kSilu = TESSERA_ACTIVATION_SILU;

// clang-format off
constexpr Row kRows[] = {
  // squares
  {16, 16, 16},
  {32, 32, 32},
  {64, 64, 64, Size::any, true},
  {128, 128, 128},
  {256, 256, 256, Size::any, true},
  {512, 512, 512},
  {1024, 1024, 1024, Size::any, true},
  {2048, 2048, 2048, Size::any, true},
  {4096, 4096, 4096, Size::any},
  {4096, 4096, 4096, Size::gpu, true, 1, "NT"},
  {8192, 8192, 8192, Size::gpu},
  {16384, 16384, 16384, Size::gpu},
  // odd
  {127, 127, 127},
  {1000, 1000, 1000, Size::any, true},
  {2047, 2047, 2047, Size::host},
  {4095, 4095, 4095, Size::gpu, true},
  {4097, 4097, 4097, Size::gpu},
  // skinny and deep
  {1, 2048, 2048, Size::host},
  {1, 8192, 8192, Size::any, true},
  {16, 8192, 8192, Size::gpu, true},
  {64, 8192, 8192, Size::gpu, true},
  {8192, 1, 8192, Size::gpu},
  {8192, 16, 8192, Size::gpu},
  {8192, 64, 8192, Size::gpu},
  {8192, 8192, 64, Size::gpu},
  {16, 2048, 2048, Size::host, true},
  {2048, 16, 2048, Size::host},
  {2048, 2048, 16, Size::host},
  {128, 128, 65536, Size::any, true},
  {2048, 8192, 1024},
  {512, 32000, 4096, Size::gpu},
  {512, 4096, 1024, Size::host},
  // transposes
  {1024, 1024, 1024, Size::host, false, 1, "NT"},
  {1024, 1024, 1024, Size::host, true, 1, "TN"},
  {1024, 1024, 1024, Size::host, false, 1, "TT"},
  {4096, 4096, 4096, Size::gpu, false, 1, "TN"},
  {4096, 4096, 4096, Size::gpu, false, 1, "TT"},
  // leading dimensions
  {1000, 1000, 1000, Size::any, false, 1, "NN", 24},
  {1024, 1024, 1024, Size::any, false, 1, "NN", 7},
  // strided batches
  {4, 4, 4, Size::any, false, 10000},
  {8, 8, 8, Size::any, false, 10000},
  {16, 16, 16, Size::any, true, 10000},
  {32, 32, 32, Size::any, false, 10000},
  {4, 4, 4, Size::gpu, false, 1400000},  // from here on 256 MiB of f32 operands at least
  {8, 8, 8, Size::gpu, false, 350000},
  {16, 16, 16, Size::gpu, false, 87500},
  {32, 32, 32, Size::gpu, false, 22000},
  {64, 64, 64, Size::gpu, false, 10000},
  {64, 64, 64, Size::host, false, 1000},
  {128, 128, 128, Size::gpu, true, 1000},
  {256, 256, 256, Size::gpu, false, 1000},
  // 16 bits, and f32 with arithmetic of tf32
  {256, 256, 256, Size::any, false, 1, "NN", 0, kNarrow},
  {512, 512, 512, Size::any, false, 1, "NN", 0, kNarrow},
  {1024, 1024, 1024, Size::any, true, 1, "NN", 0, kTensor},
  {2048, 2048, 2048, Size::any, false, 1, "NN", 0, kNarrow},
  {4096, 4096, 4096, Size::any, false, 1, "NN", 0, kTensor},
  {4096, 4096, 4096, Size::gpu, true, 1, "NT", 0, kNarrow},
  {8192, 8192, 8192, Size::gpu, false, 1, "NN", 0, kTensor},
  {1000, 1000, 1000, Size::any, false, 1, "NN", 0, kNarrow},
  {4095, 4095, 4095, Size::gpu, false, 1, "NN", 0, kNarrow},
  {1, 8192, 8192, Size::any, false, 1, "NN", 0, kNarrow},
  {16, 8192, 8192, Size::gpu, false, 1, "NN", 0, kNarrow},
  {64, 8192, 8192, Size::gpu, false, 1, "NT", 0, kNarrow},
  {1024, 1024, 1024, Size::host, false, 1, "NT", 0, "bf16"},
  {512, 32000, 4096, Size::gpu, false, 1, "NN", 0, kNarrow},
  {128, 128, 128, Size::gpu, false, 1000, "NN", 0, kNarrow},
  {64, 64, 64, Size::host, false, 1000, "NN", 0, "bf16"},
  {16384, 16384, 16384, Size::gpu, false, 1, "NN", 0, kNarrow},
  {16384, 16384, 16384, Size::gpu, false, 1, "TN", 0, "bf16"},
  {4096, 4096, 4096, Size::gpu, false, 1, "TN", 0, "bf16"},
  {4096, 4096, 4096, Size::gpu, false, 1, "TT", 0, "bf16"},
  {3000, 3000, 3000, Size::gpu, false, 1, "NN", 0, "bf16"},
  {2047, 2047, 2047, Size::gpu, false, 1, "NN", 0, "bf16"},
  {4097, 4097, 4097, Size::gpu, false, 1, "NN", 0, "bf16"},
  {8192, 16, 8192, Size::gpu, false, 1, "NN", 0, "bf16"},
  {8192, 8192, 64, Size::gpu, false, 1, "NN", 0, "bf16"},
  // f32 with other arithmetic
  {2048, 2048, 2048, Size::gpu, false, 1, "NN", 0, kOther},
  {4096, 4096, 4096, Size::gpu, true, 1, "NN", 0, kParts},
  {8192, 8192, 8192, Size::gpu, false, 1, "NN", 0, kParts},
  {16384, 16384, 16384, Size::gpu, false, 1, "NN", 0, kParts},
  {4096, 4096, 4096, Size::gpu, false, 1, "TN", 0, "tf32"},
  {8192, 8192, 8192, Size::gpu, false, 1, "TN", 0, "tf32"},
  {16384, 16384, 16384, Size::gpu, false, 1, "NN", 0, "tf32"},
  {4095, 4095, 4095, Size::gpu, false, 1, "NN", 0, "tf32"},
  {4097, 4097, 4097, Size::gpu, false, 1, "NN", 0, kOther},
  // what a bias and an activation cost beside the product alone
  {1024, 1024, 1024, Size::any, true, 1, "NN", 0, kWithEpilogue, kRelu},
  {1024, 1024, 1024, Size::any, true, 1, "NN", 0, kWithEpilogue, kGelu},
  {1024, 1024, 1024, Size::any, false, 1, "NN", 0, kWithEpilogue, kGeluTanh},
  {4096, 4096, 4096, Size::gpu, false, 1, "NN", 0, kWithEpilogue, kRelu},
  {4096, 4096, 4096, Size::gpu, true, 1, "NN", 0, kWithEpilogue, kGelu},
  {4096, 4096, 4096, Size::gpu, false, 1, "NN", 0, kWithEpilogue, kGeluTanh},
  {8192, 8192, 8192, Size::gpu, false, 1, "NN", 0, "bf16", kGeluTanh},
  {1024, 1024, 1024, Size::any, false, 1, "NN", 0, kWithEpilogue, kSilu},
  {4096, 4096, 4096, Size::gpu, false, 1, "NN", 0, "bf16", kSilu},
  {8192, 8192, 8192, Size::gpu, false, 1, "NN", 0, "bf16", kSilu},
};
// clang-format on

}  // namespace

std::vector<Case> gemm_cases() {
  std::vector<Case> cases;
  for (const Row& row : kRows) {
    GemmShape g = padded_shape(row.m, row.n, row.k, row.transposes[0] == 'T', row.transposes[1] == 'T', row.padding);
    g.batch = row.batch;
    if (row.activation != TESSERA_ACTIVATION_NONE) add_epilogue(g, row.activation);
    Case c = listed(row, Op::gemm, name_of(g));
    c.problem.gemm = g;
    cases.push_back(c);
  }
  return cases;
}

}  // namespace tessera::perf
