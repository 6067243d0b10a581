// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The problems that are measured, one table per operation.
#pragma once

#include "problem.hpp"

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera::perf {

/// Where a case is measured.
enum class Size {
  any,   ///< everywhere
  host,  ///< CPU backends: seconds of work at most
  gpu,   ///< devices
};

struct Case {
  Problem problem;  ///< without the kind
  Size size = Size::any;
  bool quick = false;            ///< part of --quick
  std::vector<Kind> kinds = {};  ///< that it is measured in
};

std::vector<Case> gemm_cases();
std::vector<Case> stencil_cases();
std::vector<Case> system_cases();

// Those of kGroups run where --case names them.
/// Of 16 bits: layers of language models and of vision transformers.
std::vector<Case> layer_cases();

// ---- Cases by their names: what --gemm and --stencil of the command line say, and what rows are called

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

/// Names as cases have them, in the order of the numbers.
inline constexpr const char* kPatterns[] = {"star", "box", "derivative", "product"};
inline constexpr const char* kModels[] = {"wave",       "diffusion", "maxwell",   "elastic",
                                          "gray_scott", "burgers",   "allen_cahn"};
inline constexpr const char* kActivations[] = {"none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"};

/// Every kind that there is; those of stencils are of one type alone.
std::vector<Kind> all_kinds();

/// What has the name; none where nothing has.
std::optional<Kind> kind_named(const std::string& name);
std::optional<Pattern> pattern_named(const std::string& name);
std::optional<Model> model_named(const std::string& name);
std::optional<Boundary> boundary_named(const std::string& name);
std::optional<tessera_activation> activation_named(const std::string& name);

/// The value, or a std::runtime_error with the name that stands for nothing.
template <class T>
T required(const std::optional<T>& found, const std::string& what, const std::string& name) {
  if (!found) throw std::runtime_error(what + " " + name);
  return *found;
}

/// The kinds of these names, separated by spaces: "f32 bf16->f32". Throws std::runtime_error where there is no such
/// one.
std::vector<Kind> kinds_named(const std::string& names);

/// Matrices whose rows are `padding` elements longer than need be.
GemmShape padded_shape(std::int64_t m, std::int64_t n, std::int64_t k, bool trans_a, bool trans_b,
                       std::int64_t padding);

/// Gives a product a bias for each column, and the activation of that number.
void add_epilogue(GemmShape& shape, tessera_activation activation);

/// The case's name in its rows: "1024x16x1024_batch10_ld+7_TN_bias_relu", "2d_star_r1_1024^2_fixed_steps100",
/// "wave_o8_c2_sponge_512^3_steps24".
std::string name_of(const GemmShape& shape);
std::string name_of(const StencilShape& shape);
std::string name_of(const SystemShape& shape);

/// The problem of a kind: counts, work and traffic filled in.
Problem resolve(const Case& c, Kind kind);
/// Of a case's first kind.
inline Problem resolve(const Case& c) { return resolve(c, c.kinds.front()); }

}  // namespace tessera::perf
