// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// tessera-models-<backend>: the backend's models of time, evaluated on measured offers. It prints the coefficients in
/// force, then, for each line of coefficients that it reads, a line of predicted seconds, one for each offer of the
/// file. perf/fit/fit.py varies the coefficients until the two agree.
#include "canonical.hpp"
#include "measured.hpp"

#include TESSERA_FIT_MACHINE

#include <tessera/tessera.h>
#include <tessera/plugin/algorithm.hpp>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <span>
#include <sstream>

namespace tessera::perf {
namespace {

/// A measured offer, ready to be predicted.
struct Question {
  std::function<double(const fit::Machine&)> seconds;
};

/// Offers that were measured had room.
constexpr std::uint64_t kAnyWorkspace = std::uint64_t(1) << 50;

template <class Problem>
void add_questions(const Problem& problem, const std::vector<MeasuredOffer>& offers, std::vector<Question>& questions) {
  for (const MeasuredOffer& offer : offers)
    for (const auto& algorithm : plugin::Register<fit::Context, Problem>::all())
      if (algorithm.name == name_of_algorithm(offer.algorithm))
        questions.push_back(
            {[&algorithm, problem, given = parameters_of(offer.algorithm)](const fit::Machine& machine) {
              plugin::OfferList list;
              algorithm.offers(problem, machine, given, kAnyWorkspace, list);
              return list.cheapest().seconds;
            }});
}

int run(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  const MeasuredRun run = read_measured(file);
  std::vector<Question> questions;
  for (const MeasuredProblem& p : run.problems)
    if (p.problem.op == Op::gemm)
      add_questions(gemm_problem(p.problem), p.offers, questions);
    else
      add_questions(stencil_problem(p.problem), p.offers, questions);

  fit::Machine machine = fit::machine(run.machine);
  const std::span<double> coefficients = fit::coefficients(machine, run.problems.at(0).problem.op);
  for (const double c : coefficients) std::printf("%.17g ", c);
  std::printf("\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream numbers(line);
    for (double& c : coefficients) numbers >> c;
    if (!numbers) throw std::runtime_error("a line must hold " + std::to_string(coefficients.size()) + " numbers");
    for (const Question& q : questions) std::printf("%.9g ", q.seconds(machine));
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: " + std::string(argv[0]) + " MEASURED.jsonl");
    return tessera::perf::run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera-models: %s\n", error.what());
    return 1;
  }
}
