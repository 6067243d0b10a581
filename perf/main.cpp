// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "suite.hpp"

#include <csignal>
#include <cstdlib>
#include <thread>

namespace tessera::perf {
namespace {

/// A name that stands for no backend is a mistake of the command line, one that cannot run here is not.
void require_known(const std::string& asked) {
  const std::string name = asked.substr(0, asked.find(':'));
  std::string known;
  for (const BackendInfo& info : tessera::backends()) {
    // "cpu" and "cpu-v3", or a family that "kokkos-openmp" is of.
    if (name == info.name || name.starts_with(info.name + "-") || info.name.starts_with(name + "-")) return;
    known += (known.empty() ? "" : ", ") + info.name;
  }
  throw UsageError{"--backend " + asked + ": there is no such backend; there is: " + known};
}

std::vector<std::string> chosen_backends(const Options& options, LeftOut& left_out) {
  for (const std::string& name : options.backends) require_known(name);
  if (!options.backends.empty()) return options.backends;
  if (const char* given = std::getenv("TESSERA_BACKEND");
      given != nullptr && *given != '\0' && std::string(given) != "auto")
    return {given};
  std::vector<std::string> names;
  for (const BackendInfo& info : tessera::backends())
    if (info.available)
      names.push_back(info.name);
    else
      left_out.emplace_back("backend " + info.name, info.reason);
  return names;
}

int default_threads() {
  const char* given = std::getenv("TESSERA_NUM_THREADS");
  if (given == nullptr) given = std::getenv("OMP_NUM_THREADS");
  return given != nullptr && std::atoi(given) > 0 ? std::atoi(given) : int(std::thread::hardware_concurrency());
}

Platforms open_platforms(const Options& options, Facts& facts, LeftOut& left_out) {
  Platforms platforms;
  const auto names = chosen_backends(options, left_out);
  for (const std::string& name : names) {
    try {
      open_backend(platforms, name, options.threads, facts, left_out);
    } catch (const std::exception& error) {
      if (names.size() == 1) throw;  // asked for: never falls back
      left_out.emplace_back("backend " + name, error.what());
    }
  }
  std::erase_if(platforms, [](const auto& platform) { return platform->backends.empty(); });
  if (platforms.empty()) throw std::runtime_error("no backend can be measured here; `tessera info` says why");
  return platforms;
}

int run(int argc, char** argv) {
  Options options;
  if (const int code = parse(argc, argv, options); code >= 0) return code;
  forget_forced_algorithms();
  if (!options.first_use.empty()) return print_first_use(options.first_use, options.threads);
  if (options.threads == 0) options.threads = default_threads();

  Facts facts = machine_facts();
  LeftOut left_out;
  Platforms platforms = open_platforms(options, facts, left_out);
  facts.emplace_back("threads", std::to_string(options.threads));
  if (is_named(options, "random")) {
    facts.emplace_back("seed", std::to_string(options.seed));
    std::fprintf(stderr, "--seed %llu\n", static_cast<unsigned long long>(options.seed));
  }

  Recorder recorder(options.json, facts);
  for (const auto& [name, reason] : left_out) recorder.leave_out(name, reason);
  Suite suite(options, platforms, recorder);
  suite.add_rows();
  if (options.list) {
    for (const std::string& name : suite.names()) std::printf("%s\n", name.c_str());
    return 0;
  }
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { Suite::interrupted = true; });
  suite.run();
  recorder.write();
  std::fprintf(stderr, "\n");
  recorder.print_tables(stdout);
  return recorder.failed() || Suite::interrupted ? 1 : 0;
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  return tessera::perf::run_program("tessera-perf", [&] { return tessera::perf::run(argc, argv); });
}
