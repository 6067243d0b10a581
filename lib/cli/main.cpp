// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "program.hpp"

#include <cstring>
#include <exception>
#include <new>

#include <unistd.h>

namespace {

constexpr char kOutOfMemory[] = "tessera: error: out of memory\n";

/// CLI11 has static objects, which take memory before main() could catch anything, and functions that must not throw
/// and yet take memory: until the command line is read, memory that ends ends the program.
[[gnu::constructor(101)]] void guard_command_line() {
  std::set_new_handler([] {
    [[maybe_unused]] const ssize_t printed = ::write(STDERR_FILENO, kOutOfMemory, std::strlen(kOutOfMemory));
    ::_exit(tessera::cli::kFailure);
  });
}

int run(int argc, char** argv) {
  CLI::App app("Matrix products and stencils on files, on the backends that are found when the program runs.",
               "tessera");
  tessera::cli::set_up(app);
  tessera::cli::Run command;
  tessera::cli::add_info(app, command);
  tessera::cli::add_gemm(app, command);
  tessera::cli::add_stencil(app, command);
  tessera::cli::add_tune(app, command);
  tessera::cli::add_wisdom(app, command);
  return tessera::cli::run_program(app, argc, argv, [&] {
    std::set_new_handler(nullptr);
    command();
  });
}

}  // namespace

int main(int argc, char** argv) {
  tessera::cli::prepare_process();
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return tessera::cli::fail("out of memory");
  } catch (const std::exception& error) {
    return tessera::cli::fail(error.what());
  }
}
