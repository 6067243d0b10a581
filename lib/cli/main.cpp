// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "commands.hpp"

#include <tessera/tessera.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace tessera::cli {

void check_printed(std::FILE* stream) {
  if (std::fflush(stream) != 0 || std::ferror(stream) != 0)
    throw std::runtime_error(stream == stderr ? "standard error cannot be written"
                                              : "standard output cannot be written");
}

namespace {

enum ExitCode { kOk = 0, kFailure = 1, kUsage = 2 };

constexpr int kMaxMessage = 16384;  // bytes; room for the library's longest, which lists every plugin
constexpr char kOutOfMemory[] = "tessera: error: out of memory\n";

/// CLI11 has static objects, which take memory before main() could catch anything, and functions that must not throw
/// and yet take memory: until the command line is read, memory that ends ends the program.
[[gnu::constructor(101)]] void guard_command_line() {
  std::set_new_handler([] {
    [[maybe_unused]] const ssize_t printed = ::write(STDERR_FILENO, kOutOfMemory, std::strlen(kOutOfMemory));
    ::_exit(kFailure);
  });
}

void prepare_process() {
  // Without this a file that the program opens could become a standard stream that is closed.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  // A write beyond the limit of a file's size or to a pipe that nobody reads is an error like any other.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

/// What is printed for an error that CLI11 found.
std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  constexpr std::size_t kMaxText = 1024;  // bytes; of the command line, which may be long
  return app->get_name() + ": error: " + npy::clip(error.what(), kMaxText) +
         "\nRun with --help for more information.\n";
}

/// Of a command line that names no subcommand. Before one there are options without values alone.
std::string subcommand_message(const CLI::App& app, int argc, char** argv) {
  const std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
  const std::string known = npy::joined(commands, ", ", [](const CLI::App* command) { return command->get_name(); });
  const char* const* const word = std::find_if(argv + 1, argv + argc, [](const char* text) { return text[0] != '-'; });
  const std::string said =
      word == argv + argc ? "no subcommand was given" : "there is no subcommand '" + npy::clip(*word) + "'";
  const bool systems = word != argv + argc && *word == std::string_view("system");  // which there was up to 0.2
  return said + "; there are " + known + (systems ? "; systems are stepped in C++ and Python: docs/systems.md" : "");
}

void set_up(CLI::App& app, Run& run) {
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 the command line is wrong. A failed run leaves the output file as it was.");
  app.set_version_flag("--version", app.get_name() + " " + tessera_version());
  app.require_subcommand(1);
  app.failure_message(usage_message);
  for (const auto add : {add_info, add_gemm, add_stencil, add_tune, add_wisdom}) add(app, run);
}

ExitCode run_program(int argc, char** argv) {
  CLI::App app("Matrix products and stencils on files, on the backends that are found when the program runs.",
               "tessera");
  Run run;
  set_up(app, run);
  const auto say = [&](const CLI::Error& error) { return app.exit(error); };
  try {
    app.parse(argc, argv);
    std::set_new_handler(nullptr);
    run();
  } catch (const CLI::RequiredError& error) {
    if (!app.get_subcommands().empty()) return say(error), kUsage;
    return say(CLI::ValidationError(subcommand_message(app, argc, argv))), kUsage;
  } catch (const CLI::ExtrasError&) {  // CLI11 would say the words from the last to the first
    const auto word = [](const std::string& text) { return text; };
    return say(CLI::ValidationError("not expected here: " + npy::joined(app.remaining(true), " ", word))), kUsage;
  } catch (const CLI::ParseError& error) {
    if (say(error) != 0) return kUsage;
  }
  check_printed(stdout);
  return kOk;
}

ExitCode fail(const char* message) {
  const char* const more = std::strlen(message) > std::size_t(kMaxMessage) ? "..." : "";
  std::fprintf(stderr, "tessera: error: %.*s%s\n", kMaxMessage, message, more);
  return kFailure;
}

}  // namespace
}  // namespace tessera::cli

int main(int argc, char** argv) {
  tessera::cli::prepare_process();
  try {
    return tessera::cli::run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    return tessera::cli::fail("out of memory");
  } catch (const std::exception& error) {
    return tessera::cli::fail(error.what());
  }
}
