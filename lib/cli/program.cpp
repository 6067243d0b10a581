// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "program.hpp"

#include "usage.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace tessera::cli {
namespace {

constexpr std::size_t kMaxMessage = 16384;  // bytes; room for the library's longest, which lists every plugin

/// Without this a file that the program opens could become its standard output.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

void check_printed(std::FILE* stream) {
  if (std::fflush(stream) != 0 || std::ferror(stream) != 0)
    throw std::runtime_error(stream == stderr ? "standard error cannot be written"
                                              : "standard output cannot be written");
}

void prepare_process() {
  occupy_standard_streams();
  // A write beyond the limit of a file's size or to a pipe that nobody reads is an error like any other.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

void set_up(CLI::App& app) {
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 the command line is wrong. A failed run leaves the output file as it was.");
  app.set_version_flag("--version", app.get_name() + " " + tessera_version());
  app.require_subcommand(1);
  app.failure_message(usage_message);
}

int run_program(CLI::App& app, int argc, char** argv, const Run& run) {
  const auto say = [&](const CLI::Error& error) { return app.exit(error); };
  try {
    app.parse(argc, argv);
    run();
  } catch (const CLI::RequiredError& error) {
    if (!app.get_subcommands().empty()) return say(error), kUsage;
    return say(CLI::ValidationError(subcommand_message(app, argc, argv))), kUsage;
  } catch (const CLI::ExtrasError&) {
    return say(CLI::ValidationError(unexpected_message(app))), kUsage;
  } catch (const CLI::ParseError& error) {
    if (say(error) != 0) return kUsage;
  }
  check_printed(stdout);
  return kOk;
}

int fail(const char* message) {
  if (std::strlen(message) > kMaxMessage)
    std::fprintf(stderr, "tessera: error: %.*s...\n", int(kMaxMessage), message);
  else
    std::fprintf(stderr, "tessera: error: %s\n", message);
  return kFailure;
}

}  // namespace tessera::cli
