// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Problems made from a fuzzer's bytes: mostly small and right, now and then extreme or wrong.
#pragma once

#include "bytes.hpp"
#include "gemm_cases.hpp"
#include "stencil_cases.hpp"

namespace tessera::test {

template <class Case>
struct Drawn {
  Case problem;
  /// Nothing in it is extreme, wrong or a matter of taste: it must be accepted.
  bool tame = true;
};

Drawn<GemmCase> draw_gemm(Bytes& bytes);
Drawn<StencilCase> draw_stencil(Bytes& bytes);

/// 0, 1, -1, powers of 2, the ends of the range, anything.
std::int64_t extreme(Bytes& bytes);

/// Small enough to be executed and compared: its arrays, the padded ones of the reference and its work.
bool affordable(const GemmDesc& desc);
bool affordable(const StencilDesc& desc);

}  // namespace tessera::test
