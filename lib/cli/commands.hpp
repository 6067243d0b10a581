// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The subcommands. Each add_* registers its options and sets `run` to what is to be done after the command line has
/// been read. Mistakes that the command line alone shows are CLI11's errors (exit code 2), all else is thrown as a
/// std::exception (exit code 1).
#pragma once

#include <tessera/tessera.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace tessera::cli {

using Run = std::function<void()>;

void add_info(CLI::App& app, Run& run);
void add_gemm(CLI::App& app, Run& run);
void add_stencil(CLI::App& app, Run& run);
void add_tune(CLI::App& app, Run& run);
void add_wisdom(CLI::App& app, Run& run);

/// Throws std::runtime_error where something that was printed to the stream is lost.
void check_printed(std::FILE* stream);

/// Options that take a finite decimal number, or a decimal whole number of 0 and more. CLI11's own reading takes 010
/// for 8 and what is too large for the largest number.
CLI::Option* add_number(CLI::App& command, const std::string& name, std::optional<double>& value,
                        const std::string& description);
CLI::Option* add_number(CLI::App& command, const std::string& name, double& value, const std::string& description);
CLI::Option* add_count(CLI::App& command, const std::string& name, std::int64_t& value, const std::string& description);

/// What `parse` returns. Mistakes that the command line alone shows are mistakes of usage: its std::invalid_argument
/// is CLI11's error.
template <class Parse>
auto usage(Parse&& parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& error) {
    throw CLI::ValidationError(error.what());
  }
}

/// The options by which a user chooses what code runs where.
struct Choice {
  std::string backend;
  std::string algorithm;

  void add_to(CLI::App& command) {
    command
        .add_option("--backend", backend, "cpu, cuda:1, ...; default: TESSERA_BACKEND, else the best for the problem")
        ->type_name("NAME");
    command.add_option("--algorithm", algorithm, "name[:key=value,...] as 'tessera info' lists them")
        ->type_name("NAME");
  }
  template <class PlanType, class Desc>
  PlanType plan(const Desc& desc) const {
    const PlanOptions options{.algorithm = algorithm};
    return backend.empty() ? PlanType(desc, options) : PlanType(Context(backend), desc, options);
  }
};

}  // namespace tessera::cli
