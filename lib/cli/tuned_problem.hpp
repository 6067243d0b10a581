// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A problem to tune, as a command line says it or a program's log.
#pragma once

#include <tessera/tessera.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::cli {

struct TunedProblem {
  std::variant<GemmDesc, StencilDesc> desc;
  std::string backend = {};  ///< "cuda:0"; "": among all that can run it
  int threads = 0;           ///< of its context; 0: not said
  PlanOptions options = {};
};

/// "512x32000x4096", "1024", "64x64x64x100": sizes m, n, k and the batch, of which one number stands for all three
/// sizes; of a grid one to three extents. Throws std::invalid_argument, with the grammar.
std::vector<std::int64_t> parse_product_size(const std::string& text);
std::vector<std::int64_t> parse_extents(const std::string& text);

/// The JSON of a line that a program printed with TESSERA_VERBOSE=1, where it holds a problem; none else.
std::optional<std::string> logged_problem(const std::string& line);

/// Reads what logged_problem() found. Throws std::invalid_argument that names the member which is wrong.
TunedProblem parse_problem(const std::string& json);

}  // namespace tessera::cli
