// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "gemm_job.hpp"

#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace tessera::cli {
namespace {

struct GemmCommand : GemmArguments {
  Choice choice;
};

/// A and B of type T, C0 and the output of type D.
template <Element T, Element D>
void multiply(const Choice& choice, GemmJob& job) {
  using S = Scalar<D>;
  const GemmDesc& desc = job.desc();
  const GemmOperands& operands = job.operands();
  auto plan = choice.plan<GemmPlan>(desc);
  const T *const a = operands.a.data<T>(), *const b = operands.b.data<T>();
  const std::vector<D> c0 = job.c0<D>();
  std::vector<D> d(std::size_t(desc.m) * std::size_t(desc.n));
  const auto execute = [&](const auto&... bias) {
    if (c0.empty())
      plan.execute(S(job.alpha()), a, b, S(0), d.data(), bias...);
    else
      plan.execute(S(job.alpha()), a, b, S(job.beta()), c0.data(), d.data(), bias...);
  };
  const auto execute_all = [&] {
    operands.bias ? execute(bias(std::span(operands.bias->data<S>(), std::size_t(operands.bias->size)))) : execute();
  };
  const Timing timing = measure(execute_all);
  job.finish(d, plan.describe(), timing);
}

void run_gemm(const GemmCommand& arguments, const ParsedGemmArguments& parsed) {
  GemmJob job(arguments, parsed);
  with_types(job.desc().dtype, [&]<class T>(std::type_identity<T>) {
    job.desc().dtype_d == kDType<T> ? multiply<T, T>(arguments.choice, job)
                                    : multiply<T, Scalar<T>>(arguments.choice, job);
  });
}

}  // namespace

void add_gemm(CLI::App& app, Run& run) {
  const auto arguments = std::make_shared<GemmCommand>();
  CLI::App* const command = add_gemm_command(app, *arguments);
  arguments->choice.add_to(*command);
  command->callback(
      [arguments, &run] { run = [arguments, parsed = parse(*arguments)] { run_gemm(*arguments, parsed); }; });
}

}  // namespace tessera::cli
