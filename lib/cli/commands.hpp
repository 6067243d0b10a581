// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The subcommands. Each add_* registers its options and sets `run` to what is to be done after the command line has
/// been read. Mistakes that the command line alone shows are CLI11's errors (exit code 2), all else is thrown as a
/// std::exception (exit code 1). And the options that several of them have.
#pragma once

#include "spec/spec.hpp"

#include <tessera/tessera.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::cli {

using Run = std::function<void()>;

void add_info(CLI::App& app, Run& run);
void add_gemm(CLI::App& app, Run& run);
void add_stencil(CLI::App& app, Run& run);
void add_tune(CLI::App& app, Run& run);
void add_wisdom(CLI::App& app, Run& run);

/// Throws std::runtime_error where something that was printed to the stream is lost.
void check_printed(std::FILE* stream);

/// What `parse` returns; its std::invalid_argument is CLI11's error.
template <class Parse>
auto usage(Parse&& parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& error) {
    throw CLI::ValidationError(error.what());
  }
}

/// A file that must be named.
CLI::Option* add_file(CLI::App& command, const std::string& name, std::string& value, const std::string& description);
/// An option whose text `parse` reads, given the option's name as well. CLI11's own reading of numbers takes 010 for 8
/// and what is too large for the largest number.
template <class Value, class Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& name, Value& value, Parse parse, const std::string& type,
                        const std::string& description) {
  const auto read = [&value, name, parse](const std::string& text) {
    value = usage([&] { return parse(text, name); });
  };
  return command.add_option_function<std::string>(name, read, description)->type_name(type);
}
CLI::Option* add_compute(CLI::App& command, Compute& value);
CLI::Option* add_activation(CLI::App& command, Activation& value);
CLI::Option* add_product_sums(CLI::App& command, Sums& value);
CLI::Option* add_triangle(CLI::App& command, Triangle& value);
/// "row" or "column".
CLI::Option* add_bias(CLI::App& command, const std::string& name, Bias& value, const std::string& description);

/// What a stencil is, but for the array.
struct StencilOptions {
  std::string taps_file, boundary_text = "fixed";
  std::optional<std::string> named_text;
  std::optional<std::vector<std::int64_t>> origin;
  std::optional<double> value, spacing;
  std::int64_t steps = 1;
  Sums sums = Sums::any;
  // Set by parse().
  std::optional<NamedTaps> named;
  std::vector<BoundaryAxis> boundary;

  void add_to(CLI::App& command);
  /// Once the command line has been read.
  void parse();
  /// Throws what reading a file throws, and tessera::Error.
  Taps taps(int rank) const;
};

/// By which a user chooses what code runs where.
struct Choice {
  std::string backend, algorithm;

  void add_to(CLI::App& command);
  template <class PlanType, class Desc>
  PlanType plan(const Desc& desc) const {
    const PlanOptions options{.algorithm = algorithm};
    return backend.empty() ? PlanType(desc, options) : PlanType(Context(backend), desc, options);
  }
};

}  // namespace tessera::cli
