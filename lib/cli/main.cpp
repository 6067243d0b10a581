// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "usage.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace {

enum ExitCode { kOk = 0, kFailure = 1, kUsage = 2 };

constexpr std::size_t kMaxMessage = 16384;  // bytes; room for the library's longest, which lists every plugin
constexpr char kOutOfMemory[] = "tessera: error: out of memory\n";

/// CLI11 has static objects, which take memory before main() could catch anything, and functions that must not throw
/// and yet take memory: until the command line is read, memory that ends ends the program.
[[gnu::constructor(101)]] void guard_command_line() {
  std::set_new_handler([] {
    [[maybe_unused]] const ssize_t printed = ::write(STDERR_FILENO, kOutOfMemory, std::strlen(kOutOfMemory));
    ::_exit(kFailure);
  });
}

/// Without this a file that the program opens could become its standard output.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

int fail(const char* message) {
  if (std::strlen(message) > kMaxMessage)
    std::fprintf(stderr, "tessera: error: %.*s...\n", int(kMaxMessage), message);
  else
    std::fprintf(stderr, "tessera: error: %s\n", message);
  return kFailure;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Matrix products, stencils and systems of fields on files, on the backends that are found when the program runs.",
      "tessera");
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 the command line is wrong. A failed run leaves the output file as it was.");
  app.set_version_flag("--version", std::string("tessera ") + tessera_version());
  app.require_subcommand(1);
  app.failure_message(tessera::cli::usage_message);
  tessera::cli::Run command;
  tessera::cli::add_info(app, command);
  tessera::cli::add_gemm(app, command);
  tessera::cli::add_stencil(app, command);
  tessera::cli::add_system(app, command);
  tessera::cli::add_tune(app, command);
  tessera::cli::add_wisdom(app, command);
  try {
    app.parse(argc, argv);
    std::set_new_handler(nullptr);
    command();
  } catch (const CLI::RequiredError& error) {
    if (!app.get_subcommands().empty()) return app.exit(error), kUsage;
    return app.exit(CLI::ValidationError(tessera::cli::subcommand_message(app, argc, argv))), kUsage;
  } catch (const CLI::ExtrasError&) {
    return app.exit(CLI::ValidationError(tessera::cli::unexpected_message(app))), kUsage;
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return kUsage;
  }
  tessera::cli::check_printed(stdout);
  return kOk;
}

}  // namespace

void tessera::cli::check_printed(std::FILE* stream) {
  if (std::fflush(stream) != 0 || std::ferror(stream) != 0)
    throw std::runtime_error(stream == stderr ? "standard error cannot be written"
                                              : "standard output cannot be written");
}

int main(int argc, char** argv) {
  occupy_standard_streams();
  // A write beyond the limit of a file's size or to a pipe that nobody reads is an error like any other.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
