// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What is said of a command line that is wrong.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace tessera::cli {

/// What is printed for an error that CLI11 found.
std::string usage_message(const CLI::App* app, const CLI::Error& error);

/// Of a command line that names no subcommand. Before one there are options without values alone.
std::string subcommand_message(const CLI::App& app, int argc, char** argv);

/// Of words that are no option and no value of one, in their order, with the option that was perhaps meant.
std::string unexpected_message(const CLI::App& app);

}  // namespace tessera::cli
