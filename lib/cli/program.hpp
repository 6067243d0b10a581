// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the program does around its subcommands.
#pragma once

#include "commands.hpp"

#include <CLI/CLI.hpp>

namespace tessera::cli {

enum ExitCode { kOk = 0, kFailure = 1, kUsage = 2 };

/// Opens the standard streams that are closed, and lets writes that a signal would end fail like any others.
void prepare_process();

/// What the program says of itself and how it takes its subcommands.
void set_up(CLI::App& app);

/// Reads the command line and then calls `run`. Returns the exit code; kUsage where the command line is wrong.
int run_program(CLI::App& app, int argc, char** argv, const Run& run);

/// "tessera: error: <message>" on stderr. Returns kFailure.
int fail(const char* message);

}  // namespace tessera::cli
