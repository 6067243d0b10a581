// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Cases by their names: what --gemm and --stencil of the command line say, and what rows are called.
#pragma once

#include "cases.hpp"

#include <span>
#include <string>

namespace tessera::perf {

/// What the texts look like, each with an example.
extern const char* const kGemmGrammar;
extern const char* const kStencilGrammar;

/// The case that a text names, in one kind: "512x32000x4096:TN:bf16" or, as in the names of rows,
/// "1024_ld+7_TN_bias_relu/bf16". Throws std::invalid_argument, which says what is wrong with which piece and what may
/// stand there.
Case gemm_case(const std::string& text);
/// "3d_star_r4:512x512x4096:nearest:f64:steps=20" or "3d_star_r4_512x512x4096_nearest_steps20/f64".
Case stencil_case(const std::string& text);
/// "wave_o8_c2_sponge_512^3_steps24" as in the names of rows.
Case system_case(const std::string& text);

/// Cases of a table: where they are measured, their kinds, and their names as those of rows, separated by spaces; a *
/// marks those of --quick.
struct Listed {
  Size size;
  const char* kinds;
  const char* names;
};
/// `read` is one of the above.
std::vector<Case> listed(std::span<const Listed> lines, Case (*read)(const std::string&));

}  // namespace tessera::perf
