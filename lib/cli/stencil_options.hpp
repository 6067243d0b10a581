// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Options of what a stencil is, which several subcommands have.
#pragma once

#include "taps_spec.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::cli {

/// What the command line alone determines.
struct ParsedStencil {
  std::optional<NamedTaps> named;
  std::vector<std::int64_t> origin;
  std::vector<BoundaryAxis> boundary;
};

struct StencilOptions {
  std::string taps_file, boundary = "fixed";
  std::optional<std::string> named, origin;
  std::optional<double> value, spacing;
  std::int64_t steps = 1;
  Sums sums = Sums::any;

  void add_to(CLI::App& command);
  /// Throws std::invalid_argument.
  ParsedStencil parse() const;
  /// Throws what reading a file throws, and tessera::Error.
  Taps taps(const ParsedStencil& parsed, int rank) const;
};

}  // namespace tessera::cli
