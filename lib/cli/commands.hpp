// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The subcommands. Each add_* registers its options and sets `run` to what is to be done after the command line has
/// been read. Mistakes that the command line alone shows are CLI11's errors (exit code 2), all else is thrown as a
/// std::exception (exit code 1).
#pragma once

#include <tessera/tessera.hpp>

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>

namespace tessera::cli {

using Run = std::function<void()>;

void add_info(CLI::App& app, Run& run);
void add_gemm(CLI::App& app, Run& run);
void add_stencil(CLI::App& app, Run& run);

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
