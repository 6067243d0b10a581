// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Options of what a product is, which several subcommands have.
#pragma once

#include <tessera/gemm.hpp>

#include <CLI/CLI.hpp>

#include <string>

namespace tessera::cli {

CLI::Option* add_compute(CLI::App& command, Compute& value);
CLI::Option* add_activation(CLI::App& command, Activation& value);
/// "row" or "column".
CLI::Option* add_bias(CLI::App& command, const std::string& name, Bias& value, const std::string& description);

}  // namespace tessera::cli
