// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "usage.hpp"

#include "clip.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace tessera::cli {
namespace {

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

/// Names of the long options of a command and of its groups.
std::vector<std::string> long_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  for (const CLI::App* group : command.get_subcommands([](const CLI::App* app) { return app->get_name().empty(); })) {
    const std::vector<std::string> more = long_options(*group);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

/// The option that was perhaps meant; "" where none is near.
std::string nearest_option(const CLI::App& command, const std::string& word) {
  constexpr std::size_t kFar = 3, kMaxWord = 64;
  if (!word.starts_with("--") || word.size() > kMaxWord) return "";
  const std::string given = word.substr(2, word.find('=') - 2);
  std::string nearest;
  std::size_t least = std::min(kFar, given.size() / 2 + 1);
  for (const std::string& name : long_options(command))
    if (const std::size_t letters = distance(given, name); letters < least) {
      least = letters;
      nearest = "--" + name;
    }
  return nearest;
}

}  // namespace

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  constexpr std::size_t kMaxText = 1024;  // bytes; of the command line, which may be long
  return app->get_name() + ": error: " + npy::clip(error.what(), kMaxText) +
         "\nRun with --help for more information.\n";
}

std::string subcommand_message(const CLI::App& app, int argc, char** argv) {
  std::string known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    known += (known.empty() ? "" : ", ") + command->get_name();
  const char* const* const word = std::find_if(argv + 1, argv + argc, [](const char* text) { return text[0] != '-'; });
  const std::string said =
      word == argv + argc ? "no subcommand was given" : "there is no subcommand '" + npy::clip(*word) + "'";
  const bool systems = word != argv + argc && *word == std::string_view("system");
  return said + "; there are " + known + (systems ? kSystems : "");
}

std::string unexpected_message(const CLI::App& app) {
  const CLI::App* innermost = &app;
  while (!innermost->get_subcommands().empty()) innermost = innermost->get_subcommands().front();
  const CLI::App& command = *innermost;
  std::string words, advice;
  for (const std::string& word : app.remaining(true)) {
    words += (words.empty() ? "" : " ") + word;
    if (const std::string meant = nearest_option(command, word); advice.empty() && !meant.empty())
      advice = "; did you mean " + meant + "?";
  }
  return "not expected here: " + words + advice;
}

}  // namespace tessera::cli
