// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "commands.hpp"
#include "npy.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::cli {
namespace {

/// Without what a terminal would obey: nobody knows who wrote a file.
std::string shown(const std::string& text, std::size_t most) {
  std::string result = npy::clip(text, most);
  std::replace_if(
      result.begin(), result.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return result;
}

constexpr std::size_t kMostText = 400;

void list(const std::string& name) {
  const wisdom::File file = wisdom::read(name);
  for (const wisdom::Entry& e : file.entries)
    std::printf("%s\n  %s, %.4g us, %.2f times as fast as by the model\n  on %s\n", shown(e.problem, kMostText).c_str(),
                shown(e.algorithm, kMostText).c_str(), e.seconds * 1e6, e.estimated_seconds / e.seconds,
                shown(e.machine, kMostText).c_str());
  std::printf("%zu entries, %zu lines that this version cannot read\n", file.entries.size(), file.unreadable.size());
}

void merge(const std::vector<std::string>& names, const std::string& output) {
  for (const std::string& name : names) {
    const std::size_t unreadable = wisdom::read(name).unreadable.size();
    if (unreadable > 0)
      std::fprintf(stderr, "tessera: %s: left out are lines that this version cannot read: %zu\n",
                   npy::clip(name, npy::kShownName).c_str(), unreadable);
    wisdom::load(name);
  }
  wisdom::save(output);
}

/// How texts of machines begin that are this one: "tessera 0.3.0, cuda (build) on NVIDIA H100".
std::vector<std::string> machines_here() {
  std::vector<std::string> machines;
  for (const BackendInfo& b : backends())
    for (const DeviceInfo& d : b.devices)
      machines.push_back(std::string("tessera ") + tessera_version() + ", " + b.name +
                         (b.variant.empty() ? "" : "-" + b.variant) + " (" + b.build_info + ") on " + d.name);
  return machines;
}

/// Says of each file what plans here can make of it. Throws where a file has lines that cannot be read.
void check(const std::vector<std::string>& names) {
  const std::vector<std::string> here = machines_here();
  const std::string choice = std::string("tessera ") + tessera_version() + ", one of ";
  std::size_t bad = 0;
  for (const std::string& name : names) {
    const wisdom::File file = wisdom::read(name);
    std::size_t own = 0, choices = 0;
    for (const wisdom::Entry& e : file.entries) {
      own +=
          std::any_of(here.begin(), here.end(), [&](const std::string& m) { return e.machine.starts_with(m + ", "); });
      choices += e.machine.starts_with(choice);
    }
    std::printf(
        "%s: %zu entries: %zu for backends and devices here, %zu choices among backends, %zu for others; %zu "
        "lines that this version cannot read\n",
        npy::clip(name, npy::kShownName).c_str(), file.entries.size(), own, choices,
        file.entries.size() - own - choices, file.unreadable.size());
    for (const std::string& line : file.unreadable) std::printf("  unreadable: %s\n", shown(line, 80).c_str());
    bad += file.unreadable.size();
  }
  check_printed(stdout);
  if (bad > 0)
    throw std::runtime_error(std::to_string(bad) +
                             " lines cannot be read: plans pass over them; remove them, or use "
                             "the version that wrote them");
}

}  // namespace

void add_wisdom(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("wisdom", "Looks at files of wisdom, and puts several together.");
  const auto name = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  CLI::App* lists = command->add_subcommand("list", "Prints what a file says.");
  add_file(*lists, "WISDOM", *name, "a file that `tessera tune` or a program wrote");
  lists->callback([name, &run] { run = [name] { list(*name); }; });

  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* checks =
      command->add_subcommand("check", "Says what plans here can use. Fails where lines cannot be read.");
  checks->add_option("WISDOM", *names, "files")->required()->type_name("FILE");
  checks->callback([names, &run] { run = [names] { check(*names); }; });

  CLI::App* merges = command->add_subcommand("merge", "Adds what files say to another; a later one's word counts.");
  merges->add_option("WISDOM", *names, "files, the one whose word counts last")->required()->type_name("FILE");
  add_file(*merges, "-o,--output", *output, "what else is in it stays");
  merges->callback([names, output, &run] { run = [names, output] { merge(*names, *output); }; });
  command->require_subcommand(1);
}

}  // namespace tessera::cli
