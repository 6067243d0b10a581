// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The problems that are measured, one table per operation.
#pragma once

#include "problem.hpp"

#include <optional>
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

/// Names as cases have them, in the order of the numbers.
inline constexpr const char* kPatterns[] = {"star", "box", "derivative"};
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
