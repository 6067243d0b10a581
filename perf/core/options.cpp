// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "options.hpp"

#include "check.hpp"

#include <CLI/CLI.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <random>

namespace tessera::perf {

namespace {

/// Adds the cases that an option names, each once.
void read_cases(Options& options, const std::string& option, const std::vector<std::string>& texts,
                Case (*read)(const std::string&), const char* grammar) {
  for (const std::string& text : texts) try {
      const Case c = read(text);
      const Problem problem = resolve(c);
      if (const std::string reason = uncheckable(problem); !reason.empty()) throw std::invalid_argument(reason);
      const auto same = [&](const Case& other) { return resolve(other).label() == problem.label(); };
      if (std::none_of(options.asked.begin(), options.asked.end(), same)) options.asked.push_back(c);
    } catch (const std::invalid_argument& error) {
      throw UsageError{option + " " + text + ": " + error.what() + "\n" + grammar};
    }
}

/// Problems that the caller names, and how others are drawn.
struct Asked {
  std::vector<std::string> products, stencils;
  std::string seed, count;
};

/// The number that an option has, or the usual one.
std::uint64_t whole_number(const std::string& option, const std::string& text, std::uint64_t usual, std::uint64_t least,
                           std::uint64_t most, const std::string& remedy) {
  if (text.empty()) return usual;
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && rest == text.data() + text.size() && least <= value && value <= most) return value;
  throw UsageError{option + " " + text + ": must be a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most) + "; without " + option + " " + remedy};
}

void require_kinds(const std::vector<std::string>& names) {
  std::string known;
  for (const Kind& kind : all_kinds()) known += (known.empty() ? "" : ", ") + kind.name();
  for (const std::string& name : names)
    if (!kind_named(name)) throw UsageError{"--dtype " + name + ": there is no such type; there is: " + known};
}

void add_options(CLI::App& app, Options& options, Asked& asked) {
  app.add_option("--backend", options.backends, "cpu, cpu-v3, cuda, cuda:1 ...; default: TESSERA_BACKEND, else all")
      ->delimiter(',');
  app.add_option("--algorithm", options.algorithms, "algorithms whose name matches (peers stay)")->delimiter(',');
  app.add_option("--case", options.cases,
                 "rows whose name, or what stands before the subject, matches: a glob or a part. Groups that run only "
                 "where it names them: gemm/layers_*, gemm/random-aligned_*, gemm/random-odd_*")
      ->delimiter(',');
  app.add_option("--dtype", options.dtypes, "types that cases run in: f32, bf16, 'bf16->f32', tf32 ... (default: all)")
      ->delimiter(',');
  app.add_option("--gemm", asked.products, "a product of your own, 512x32000x4096:TN:bf16; see below")->delimiter(',');
  app.add_option("--stencil", asked.stencils, "a stencil of your own, 3d_star_r1:512:periodic:f64; see below")
      ->delimiter(',');
  app.add_option("--seed", asked.seed, "draws the same problems of random-aligned and random-odd again");
  app.add_option("--count", asked.count, "problems of each type of those (default: 100)");
  app.add_flag("--quick", options.quick, "the most telling cases, a minute or two per backend");
  app.add_flag("!--no-peers", options.peers, "Tessera and the ceilings alone");
  app.add_flag("--list", options.list, "print the names of what would run");
  app.add_option("--json", options.json, "write the results there, also while the run goes on");
  app.add_option("--repetitions", options.repetitions, "samples of each row (default: what the budget allows)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--passes", options.passes,
                 "visits to the list of rows, which share the samples (default: on hosts, whose speed swings, 5, "
                 "--quick 3; else 1)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--budget", options.budget, "seconds of measuring for each row")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "CPU threads of everything (default: all)")->check(CLI::Range(1, 4096));
  app.add_option("--first-use", options.first_use)->group("");  // the child process of the first-use measurement
  app.allow_extras();
  app.footer(
      std::string("Problems of your own, alone or beside what --case selects:\n") + kGemmGrammar + kStencilGrammar +
      "Rows are <op>/<case>/<dtype>/<cache>/<subject>. Exit codes: 0 ok, 1 something failed or was wrong, 2 usage.");
}

}  // namespace

void forget_forced_algorithms() {
  for (const char* variable : {"TESSERA_GEMM_ALGORITHM", "TESSERA_STENCIL_ALGORITHM", "TESSERA_SYSTEM_ALGORITHM"})
    unsetenv(variable);
}

int parse(int argc, char** argv, Options& options) {
  CLI::App app("Measures every backend and algorithm of Tessera beside its peers and the machine's ceilings.");
  Asked asked;
  add_options(app, options, asked);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const std::string& flag : app.remaining())
    throw UsageError{flag.starts_with("--benchmark_")
                         ? flag + " was an option of Google Benchmark, which is gone: --case selects rows, by globs"
                         : "unknown argument " + flag + " (see --help)"};
  read_cases(options, "--gemm", asked.products, gemm_case, kGemmGrammar);
  read_cases(options, "--stencil", asked.stencils, stencil_case, kStencilGrammar);
  require_kinds(options.dtypes);
  options.seed = whole_number("--seed", asked.seed, std::random_device{}(), 0, UINT64_MAX, "one is drawn and printed");
  options.count = std::int64_t(whole_number("--count", asked.count, 100, 1, 10000, "100 are drawn"));
  if (options.budget <= 0.0) options.budget = options.quick ? 0.06 : 0.3;
  return -1;
}

bool matches(const std::string& pattern, const std::string& text) {
  if (pattern.find_first_of("*?") != std::string::npos) return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  return text.find(pattern) != std::string::npos;
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(), [&](const auto& p) { return matches(p, text); });
}

bool is_named(const Options& options, const std::string& word) {
  return std::any_of(options.cases.begin(), options.cases.end(),
                     [&](const std::string& pattern) { return pattern.find(word) != std::string::npos; });
}

}  // namespace tessera::perf
