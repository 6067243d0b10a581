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
#include <numeric>
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

/// For those who knew the subcommand that there was up to 0.2.
constexpr char kSystems[] = "; systems of fields are stepped in C++ and in Python, as docs/systems.md shows";

/// How many letters must be put in, taken out or replaced to make one word the other (Levenshtein's distance).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // from what was read of a to each beginning of b
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// Puts into `nearest` the long option of a command or its groups that is the fewest letters, below `least`, away.
void find_nearest(const CLI::App& command, const std::string& given, std::size_t& least, std::string& nearest) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::size_t letters = distance(given, name); letters < least) {
        least = letters;
        nearest = name;
      }
  for (const CLI::App* group : command.get_subcommands([](const CLI::App* app) { return app->get_name().empty(); }))
    find_nearest(*group, given, least, nearest);
}

/// The option that was perhaps meant; "" where none is near.
std::string nearest_option(const CLI::App& command, const std::string& word) {
  constexpr std::size_t kFar = 3, kMaxWord = 64;
  if (!word.starts_with("--") || word.size() > kMaxWord) return "";
  const std::string given = word.substr(2, word.find('=') - 2);
  std::size_t least = std::min(kFar, given.size() / 2 + 1);
  std::string nearest;
  find_nearest(command, given, least, nearest);
  return nearest;
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
  const bool systems = word != argv + argc && *word == std::string_view("system");
  return said + "; there are " + known + (systems ? kSystems : "");
}

/// Of words that are no option and no value of one, in their order, with the option that was perhaps meant.
std::string unexpected_message(const CLI::App& app) {
  const CLI::App* innermost = &app;
  while (!innermost->get_subcommands().empty()) innermost = innermost->get_subcommands().front();
  const CLI::App& command = *innermost;
  std::string words, advice;
  for (const std::string& word : app.remaining(true)) {
    words += (words.empty() ? "" : " ") + word;
    if (const std::string meant = nearest_option(command, word); advice.empty() && !meant.empty())
      advice = "; did you mean --" + meant + "?";
  }
  return "not expected here: " + words + advice;
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
  } catch (const CLI::ExtrasError&) {
    return say(CLI::ValidationError(unexpected_message(app))), kUsage;
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
