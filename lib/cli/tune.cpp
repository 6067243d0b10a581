// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "commands.hpp"
#include "npy.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::cli {
namespace {

/// What all ways to say a problem share.
struct TuneTarget {
  std::string output, backend;
  bool device_operands = false;
  std::int64_t workspace_limit = 0, sm_limit = 0, top = 5;

  /// Returns the option of the file.
  CLI::Option* add_to(CLI::App& command) {
    add_parsed(command, "--top", top, parse_count, "N", "lines of the table: the fastest N ways (default: 5)");
    return add_file(command, "-o,--output", output,
                    "WISDOM: what was measured is added to it, and what else is in it stays; TESSERA_WISDOM, an "
                    "absolute path, makes programs use it");
  }
  void add_place_to(CLI::App& command) {
    command.add_option("--backend", backend, "cpu, cuda:1, ...: for plans there; default: the choice among all, too")
        ->type_name("NAME");
    command.add_flag("--device-operands", device_operands, "for operands in the device's memory; needs --backend");
    add_parsed(command, "--workspace-limit", workspace_limit, parse_count, "N",
               "most bytes that a product takes beside its operands (default: what plans take)");
    add_parsed(command, "--sm-limit", sm_limit, parse_count, "N",
               "most multiprocessors that it occupies (default: TESSERA_SM_LIMIT, else all)");
  }
  TunedProblem problem(std::variant<GemmDesc, StencilDesc> desc) const {
    TunedProblem made{std::move(desc), backend, 0, {}};
    made.options.operands = device_operands ? Memory::device : Memory::host;
    made.options.workspace_limit = std::uint64_t(workspace_limit);
    made.options.sm_limit = int(std::min<std::int64_t>(sm_limit, INT32_MAX));
    return made;
  }
};

struct Product : TuneTarget {
  std::vector<std::int64_t> sizes;
  bool trans_a = false, trans_b = false;
  std::optional<DType> dtype, dtype_b, output_type;
  Compute compute = Compute::environment;
  Bias bias = Bias::none;
  Activation activation = Activation::none;
  Sums sums = Sums::any;
  Triangle triangle = Triangle::none;

  GemmDesc desc() const {
    return {.m = sizes[0],
            .n = sizes[1],
            .k = sizes[2],
            .dtype = dtype.value_or(DType::f32),
            .trans_a = trans_a ? Transpose::yes : Transpose::no,
            .trans_b = trans_b ? Transpose::yes : Transpose::no,
            .batch = sizes[3],
            .compute = compute,
            .dtype_b = dtype_b,
            .dtype_d = output_type,
            .bias = bias,
            .activation = activation,
            .sums = sums,
            .triangle = triangle};
  }
};

struct Grid : TuneTarget, StencilOptions {
  std::vector<std::int64_t> extents;
  std::optional<DType> dtype;

  StencilDesc desc() const {
    return {.extents = extents,
            .taps = taps(int(extents.size())),
            .boundary = Boundaries(boundary),
            .steps = steps,
            .dtype = dtype.value_or(DType::f32),
            .sums = sums};
  }
};

/// The ways that were measured, and what the plan says that takes the chosen one.
template <class PlanType, class Desc>
std::pair<std::vector<Tried>, std::string> tune_plan(const TunedProblem& problem, const Desc& desc) {
  std::optional<Context> context;
  if (!problem.backend.empty()) context.emplace(problem.backend, ContextOptions{.threads = problem.threads});
  std::vector<Tried> tried =
      context ? PlanType::tune(*context, desc, problem.options) : PlanType::tune(desc, problem.options);
  const auto chosen = std::find_if(tried.begin(), tried.end(), [](const Tried& t) { return t.chosen; });
  if (chosen == tried.end()) throw std::runtime_error("nothing was measured");
  if (!context) context.emplace(chosen->backend + ":" + std::to_string(chosen->device));
  PlanOptions options = problem.options;
  options.algorithm = chosen->algorithm;
  return {std::move(tried), PlanType(*context, desc, options).describe()};
}

void print_way(const Tried& way, bool whole) {
  std::printf("  %10.4g %10.4g", way.seconds * 1e6, way.predicted_seconds * 1e6);
  if (whole && way.whole_seconds > 0.0) std::printf(" %10.4g", way.whole_seconds * 1e6);
  if (whole && way.whole_seconds == 0.0) std::printf(" %10s", "");
  std::printf("  %s:%d/%s%s\n", way.backend.c_str(), way.device, way.algorithm.c_str(),
              way.chosen      ? way.estimated ? "  <- taken, as by the model" : "  <- taken"
              : way.estimated ? "  <- by the model"
                              : "");
}

/// The fastest ways, the one that is taken, and the one that the model would take; how many others there are.
void print_table(const std::string& text, std::vector<Tried> tried, std::size_t top) {
  const bool whole = std::any_of(tried.begin(), tried.end(), [](const Tried& t) { return t.whole_seconds > 0.0; });
  std::printf("%s\n  %10s %10s%s  of %zu ways\n", text.substr(0, text.find(" | ")).c_str(), "us", "predicted",
              whole ? " transfers+" : "", tried.size());
  std::stable_sort(tried.begin(), tried.end(), [](const Tried& a, const Tried& b) { return a.seconds < b.seconds; });
  const Tried *taken = nullptr, *by_model = nullptr;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const Tried& way = tried[i];
    if (way.chosen) taken = &way;
    if (way.estimated) by_model = &way;
    const bool shown = i < top || way.chosen || way.estimated || way.whole_seconds > 0.0;
    shown ? print_way(way, whole) : void(++left_out);
  }
  if (left_out > 0) std::printf("  and %zu more, which --top %zu leaves out\n", left_out, top);
  if (taken == nullptr || by_model == nullptr) return;
  const bool places = taken->backend != by_model->backend;
  double model = by_model->seconds, now = taken->seconds;
  if (places)
    for (const Tried& way : tried)
      if (way.backend == by_model->backend && way.whole_seconds > 0.0) model = way.whole_seconds;
  if (places) now = taken->whole_seconds;
  std::printf("  %.2f times as fast as by the model%s\n", model / now, places ? ", with what is transferred" : "");
}

void tune(const TunedProblem& problem, const TuneTarget& target) {
  const auto* const product = std::get_if<GemmDesc>(&problem.desc);
  const auto [tried, text] = product ? tune_plan<GemmPlan>(problem, *product)
                                     : tune_plan<StencilPlan>(problem, std::get<StencilDesc>(problem.desc));
  wisdom::save(target.output);
  print_table(text, tried, std::size_t(target.top));
  check_printed(stdout);
}

/// Every problem of a log once, in its order.
std::vector<std::string> read_log(const std::string& name) {
  std::ifstream file;
  if (name != "-") {
    file.open(name);
    if (!file) throw npy::Error(name, "cannot be read");
  }
  std::istream& log = name == "-" ? std::cin : file;
  std::vector<std::string> problems;
  std::set<std::string> seen;
  for (std::string line; std::getline(log, line);)
    if (const auto problem = logged_problem(line); problem && seen.insert(*problem).second)
      problems.push_back(*problem);
  if (log.bad()) throw npy::Error(name, "cannot be read to its end");
  if (problems.empty())
    throw npy::Error(name,
                     "holds no problem: lines 'tessera: problem {...}', which programs print with "
                     "TESSERA_VERBOSE=1 where no algorithm is forced with its parameters");
  return problems;
}

/// Goes on behind a problem that cannot be tuned.
void tune_log(const std::string& name, const TuneTarget& target) {
  const std::vector<std::string> problems = read_log(name);
  std::size_t failed = 0;
  for (const std::string& text : problems) {
    try {
      tune(parse_problem(text), target);
    } catch (const std::exception& error) {
      ++failed;
      std::fprintf(stderr, "tessera: not tuned: %s: %s\n", npy::clip(text, 400).c_str(), error.what());
    }
  }
  if (failed > 0)
    throw std::runtime_error(std::to_string(failed) + " of " + std::to_string(problems.size()) +
                             " problems were not tuned");
}

void add_product(CLI::App& tune_command, Run& run) {
  CLI::App* command = tune_command.add_subcommand("gemm", "Tunes a product.");
  const auto p = std::make_shared<Product>();
  add_parsed(*command, "SIZE", p->sizes, parse_product_size, "TEXT", "N, MxNxK or MxNxKxBATCH")->required();
  command->add_flag("--trans-a", p->trans_a, "op(A) is the transpose of what is stored");
  command->add_flag("--trans-b", p->trans_b, "op(B) is the transpose of what is stored");
  add_parsed(*command, "--dtype", p->dtype, parse_element_type, "TYPE",
             "of A and B: " + element_names() + " (default: f32)");
  add_parsed(*command, "--dtype-b", p->dtype_b, parse_element_type, "TYPE", "of B, where that is another type");
  add_parsed(*command, "--output-type", p->output_type, parse_element_type, "TYPE",
             "of C and D (default: the wider of A and B), or f32");
  add_compute(*command, p->compute);
  add_bias(*command, "--bias", p->bias, "a vector is added, a value to each row or column");
  add_activation(*command, p->activation);
  add_product_sums(*command, p->sums);
  add_triangle(*command, p->triangle);
  p->add_place_to(*command);
  p->add_to(*command);
  command->callback([p, &run] { run = [p] { tune(p->problem(p->desc()), *p); }; });
}

void add_grid(CLI::App& tune_command, Run& run) {
  CLI::App* command = tune_command.add_subcommand("stencil", "Tunes a stencil.");
  const auto g = std::make_shared<Grid>();
  add_parsed(*command, "EXTENTS", g->extents, parse_extents, "TEXT", "N, NxN or NxNxN")->required();
  static_cast<StencilOptions&>(*g).add_to(*command);
  add_parsed(*command, "--dtype", g->dtype, parse_element_type, "TYPE",
             "of the points: " + element_names() + " (default: f32)");
  g->add_place_to(*command);
  static_cast<TuneTarget&>(*g).add_to(*command);
  command->footer("Named taps:\n" + NamedTaps::help());
  command->callback([g, &run] {
    g->parse();
    if (g->boundary.size() != 1 && g->boundary.size() != g->extents.size())
      throw CLI::ValidationError("--boundary names the modes of " + std::to_string(g->boundary.size()) +
                                 " axes, and the grid has " + std::to_string(g->extents.size()) +
                                 ": give one for each axis or one for all");
    run = [g] { tune(g->problem(g->desc()), *g); };
  });
}

}  // namespace

void add_tune(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand(
      "tune",
      "Measures which algorithm is the fastest for a problem, or for all of a program's, and keeps it as wisdom.");
  add_product(*command, run);
  add_grid(*command, run);
  const auto target = std::make_shared<TuneTarget>();
  const auto log = std::make_shared<std::string>();
  command
      ->add_option("--log", *log,
                   "what a program printed with TESSERA_VERBOSE=1; -: standard input. Each of its problems is tuned")
      ->type_name("FILE");
  target->add_to(*command)->required(false);
  command->footer(
      "The environment of the program counts: TESSERA_BACKEND, TESSERA_NUM_THREADS, OMP_NUM_THREADS, "
      "TESSERA_SM_LIMIT. A problem that takes below 1 ms is measured for 0.4 s, a longer one for 10 s or 24 "
      "executions, whichever is more.");
  command->callback([target, log, command, &run] {
    const bool problem = !command->get_subcommands().empty();
    if (problem && log->empty()) return;
    if (problem || log->empty()) throw CLI::ValidationError("tune: say one of gemm SIZE, stencil EXTENTS, --log FILE");
    if (target->output.empty()) throw CLI::RequiredError("--output");
    run = [target, log] { tune_log(*log, *target); };
  });
}

}  // namespace tessera::cli
