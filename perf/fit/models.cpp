// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// tessera-models-<backend>: the backend's models of time, evaluated on measured offers. It prints the coefficients in
/// force, then, for each line of coefficients that it reads, a line of predicted seconds, one for each offer of the
/// file. perf/fit/fit.py varies the coefficients until the two agree.
#include "canonical.hpp"
#include "cases.hpp"

#include TESSERA_FIT_MACHINE

#include <tessera/tessera.h>
#include <tessera/plugin/algorithm.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <span>
#include <sstream>
#include <stdexcept>

namespace tessera::perf {
namespace {

using Json = nlohmann::ordered_json;

/// Predicts the seconds of a measured offer.
using Question = std::function<double(const fit::Machine&)>;

/// Offers that were measured had room.
constexpr std::uint64_t kAnyWorkspace = std::uint64_t(1) << 50;

/// Those of an algorithm and its parameters' keys, "multistage:tile_m,split": in each row values, then microseconds.
template <class Problem>
void add_questions(const Problem& problem, const std::string& form, const Json& rows, std::vector<Question>& all) {
  std::istringstream text(form);
  std::string name, key;
  std::vector<std::string> keys;
  for (std::getline(text, name, ':'); std::getline(text, key, ',');) keys.push_back(key);
  for (const auto& algorithm : plugin::Register<fit::Context, Problem>::all()) {
    if (algorithm.name != name) continue;
    if constexpr (std::is_same_v<Problem, plugin::GemmProblem>)
      if (problem.mixed() && !algorithm.features.mixed)
        throw std::runtime_error("the fit knows no copies of operands, which a product of two types by " + form +
                                 " has");
    for (const Json& row : rows) {
      std::vector<tessera_parameter> values;
      for (std::size_t i = 0; i < keys.size(); ++i) values.push_back({keys[i].c_str(), row.at(i)});
      const plugin::GivenParameters given(values.data(), sizeof(tessera_parameter), values.size());
      all.push_back([&algorithm, problem, given, what = form + " of " + row.dump()](const fit::Machine& machine) {
        plugin::OfferList list;
        algorithm.offers(problem, machine, given, kAnyWorkspace, list);
        if (list.empty()) throw std::runtime_error("no algorithm offers " + what);
        return list.cheapest().seconds;
      });
    }
  }
}

/// Of a line of tessera-perf-offers: the type, the problem's name, and rows of offers by their form.
void add_questions(Op op, const Json& line, std::vector<Question>& all) {
  const std::string name = std::string(line.at(1)) + "/" + std::string(line.at(0));
  const Case c = op == Op::gemm ? gemm_case(name) : stencil_case(name);
  const Problem problem = resolve(c, c.kinds.front());
  for (const auto& [form, rows] : line.at(2).items())
    op == Op::gemm ? add_questions(gemm_problem(problem), form, rows, all)
                   : add_questions(stencil_problem(problem), form, rows, all);
}

int run(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  std::string line;
  std::getline(file, line);
  const Json head = Json::parse(line);
  const Op op = head.at("op") == "gemm" ? Op::gemm : Op::stencil;
  std::vector<Question> questions;
  while (std::getline(file, line)) add_questions(op, Json::parse(line), questions);

  fit::Machine machine = fit::machine(head);
  const std::span<double> coefficients = fit::coefficients(machine, op);
  for (const double c : coefficients) std::printf("%.17g ", c);
  std::printf("\n");
  std::fflush(stdout);
  while (std::getline(std::cin, line)) {
    std::istringstream numbers(line);
    for (double& c : coefficients) numbers >> c;
    if (!numbers) throw std::runtime_error("a line must hold " + std::to_string(coefficients.size()) + " numbers");
    for (const Question& seconds : questions) std::printf("%.9g ", seconds(machine));
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
