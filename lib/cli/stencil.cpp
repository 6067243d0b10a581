// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "stencil_job.hpp"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace tessera::cli {
namespace {

struct StencilCommand : StencilArguments {
  Choice choice;
};

template <Element T>
void apply(const Choice& choice, StencilJob& job) {
  const Fields& input = job.input();
  auto plan = choice.plan<StencilPlan>(job.desc());
  const T* const in = input.array.data<T>();
  std::vector<T> results = job.results<T>();
  const auto execute = [&] {
    for (std::int64_t at = 0; at < input.computed() * input.size(); at += input.size())
      plan.execute(in + at, results.data() + at);
  };
  const Timing timing = measure(execute);
  job.finish(results, plan.describe(), timing);
}

void run_stencil(const StencilCommand& arguments, const ParsedStencilArguments& parsed) {
  StencilJob job(arguments, parsed);
  with_types(job.desc().dtype, [&]<class T>(std::type_identity<T>) { apply<T>(arguments.choice, job); });
}

}  // namespace

void add_stencil(CLI::App& app, Run& run) {
  const auto arguments = std::make_shared<StencilCommand>();
  CLI::App* const command = add_stencil_command(app, *arguments);
  arguments->choice.add_to(*command);
  command->callback(
      [arguments, &run] { run = [arguments, parsed = parse(*arguments)] { run_stencil(*arguments, parsed); }; });
}

}  // namespace tessera::cli
