// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "machine.hpp"
#include "overheads.hpp"
#include "suite.hpp"

#include <benchmark/benchmark.h>

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
    if (name == info.name || name.rfind(info.name + "-", 0) == 0 || info.name.rfind(name + "-", 0) == 0) return;
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

/// Runs what the suite has registered. Returns the exit code.
int run_benchmarks(char* program, Options& options, Recorder& recorder) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { Suite::interrupted = true; });
  std::vector<char*> arguments{program};
  for (std::string& flag : options.benchmark_flags) arguments.push_back(flag.data());
  int count = int(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  benchmark::RunSpecifiedBenchmarks(&recorder);
  recorder.write();
  std::fprintf(stderr, "\n");
  recorder.print_tables(stdout);
  return recorder.failed() || Suite::interrupted ? 1 : 0;
}

int run(int argc, char** argv) {
  Options options;
  if (const int code = parse(argc, argv, options); code >= 0) return code;
  // The suite forces one algorithm after the other. Where it forces none, the backend itself must choose.
  for (const char* variable : {"TESSERA_GEMM_ALGORITHM", "TESSERA_STENCIL_ALGORITHM", "TESSERA_SYSTEM_ALGORITHM"})
    unsetenv(variable);
  if (!options.first_use.empty()) return print_first_use(options.first_use, options.threads);
  if (options.threads == 0) options.threads = default_threads();

  Facts facts = machine_facts();
  LeftOut left_out;
  Platforms platforms = open_platforms(options, facts, left_out);
  facts.emplace_back("threads", std::to_string(options.threads));

  Recorder recorder(options.json, facts);
  for (const auto& [name, reason] : left_out) recorder.leave_out(name, reason);
  for (const auto& [key, value] : facts) benchmark::AddCustomContext(key, value);
  Suite suite(options, platforms, recorder);
  suite.add_rows();
  if (options.list) {
    for (const std::string& name : suite.names()) std::printf("%s\n", name.c_str());
    return 0;
  }
  return run_benchmarks(argv[0], options, recorder);
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  try {
    return tessera::perf::run(argc, argv);
  } catch (const tessera::perf::UsageError& error) {
    std::fprintf(stderr, "tessera-perf: %s\n", error.message.c_str());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera-perf: %s\n", error.what());
    return 1;
  }
}
