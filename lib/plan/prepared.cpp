// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/prepared.hpp"

#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "dispatch/environment.hpp"
#include "plan/backend_plan.hpp"
#include "plan/make_plan.hpp"
#include "plan/staging.hpp"
#include "plan/verbose.hpp"

#include <tessera/plugin/epilogue.hpp>
#include <tessera/plugin/structs.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace tessera::core {
namespace {

/// Of B, in the caller's terms.
struct Matched {
  std::int64_t n, k, matrices;
  tessera_dtype dtype, dtype_b;
  tessera_transpose trans_b;

  Matched(const Problem& p, std::size_t place) : k(p.gemm.k) {
    const bool is_b = place == Problem::kB;
    n = is_b ? p.gemm.n : p.gemm.m;
    dtype = is_b ? p.gemm.dtype : p.gemm.dtype_b, dtype_b = is_b ? p.gemm.dtype_b : p.gemm.dtype;
    trans_b = is_b ? p.gemm.trans_b : p.gemm.trans_a;
    matrices = p.gemm.batch > 1 && p.operands[place].layout.strides[0] != 0 ? p.gemm.batch : 1;
  }
};

std::size_t place_of_b(const Problem& problem) {
  return problem.operands[Problem::kB].role == TESSERA_ROLE_B ? Problem::kB : Problem::kA;
}

void require_product(const tessera_desc* desc) {
  if (desc != nullptr && desc->op != TESSERA_OP_GEMM)
    invalid("prepared", "an operand", "is for plans of matrix products; leave it out for others");
}

}  // namespace

Prepared::Prepared(std::shared_ptr<Context> context, Problem problem, const PlanOptions& options, const GivenOperand& b)
    : context_(std::move(context)), problem_(std::move(problem)) {
  place_.place = place_of_b(problem_);
  const Operand& operand = problem_.operands[place_.place];
  const auto address = reinterpret_cast<std::uintptr_t>(b.data);
  const auto needed = std::uint64_t(operand.layout.reach() + 1);
  if (b.data == nullptr && needed > 0) invalid("b", "null", "must point to " + std::to_string(needed) + " elements");
  if (b.elements < needed)
    invalid("b", std::to_string(b.elements) + " elements", "must have " + std::to_string(needed));
  if (address % size_of(operand.dtype) != 0)
    invalid("b", std::int64_t(address),
            "must be aligned to its elements of " + std::to_string(size_of(operand.dtype)) + " bytes");
  lay_out(options, b.data);
  place_.memory = {memory_, memory_->data()}, place_.bytes = memory_->bytes();
  description_ = "b of " + problem_.text + " | " + context_->name() + " | device " +
                 std::to_string(context_->device()) + " | as " + place_.form + " | " +
                 std::to_string(memory_->bytes()) + " bytes";
}

void Prepared::lay_out(const PlanOptions& options, const void* b) {
  const Operand& operand = problem_.operands[place_.place];
  const SeenProblem seen(problem_, *context_, options.operands);
  place_.given = seen.get().operands[place_.place].layout;
  const AlgorithmSpec algorithm = forced_algorithm(options, TESSERA_OP_GEMM);
  const PreparedForm best =
      best_form(*context_, seen.get(), place_.place, options.operands, limits(options, problem_, *context_), algorithm);
  place_.form = best.text;
  if (best.bytes > std::uint64_t(INT64_MAX))
    throw Error(TESSERA_OUT_OF_MEMORY, "b takes " + std::to_string(best.bytes) + " bytes: there is no such memory");
  memory_ = std::make_shared<DeviceMemory>(context_, std::int64_t(best.bytes));
  if (operand.layout.empty()) return;
  std::unique_ptr<DeviceMemory> staged;
  if (is_staged(*context_, options.operands)) {
    const std::int64_t size = element_size(operand.dtype);
    staged = std::make_unique<DeviceMemory>(context_, place_.given.count() * size);
    tessera_copy copy = copy_between(operand.layout, place_.given, size, TESSERA_COPY_TO_DEVICE);
    copy.target = staged->data(), copy.source = b;
    context_->call(context_->table().copy, context_->handle(), &copy);
    b = staged->data();
  }
  write_form(*context_, seen.get(), place_.place, place_.form, b, memory_->data());
  context_->synchronize();
}

std::shared_ptr<Context> Prepared::context_of_plan(const std::shared_ptr<Context>& given) const {
  if (given == nullptr) return context_;
  if (&given->backend() == &context_->backend() && given->device() == context_->device()) return given;
  const auto place = [](const Context& c) { return c.name() + ":" + std::to_string(c.device()); };
  invalid("prepared", "an operand of " + place(*context_),
          "must be prepared where the plan runs, in a context of " + place(*given));
}

void Prepared::require_same(const Problem& problem) const {
  if (problem.gemm.triangle != TESSERA_TRIANGLE_NONE)
    invalid("triangle", plugin::name_of_triangle(problem.gemm.triangle),
            "must be none (0) beside a prepared operand: pass the matrix");
  if (place_of_b(problem) != place_.place) invalid("order", "another", "must be that for which b was prepared");
  const Matched own(problem_, place_.place), asked(problem, place_.place);
  const auto same = [](const char* field, const std::string& given, const std::string& wanted) {
    if (given != wanted) invalid(field, given, "b was prepared for " + wanted);
  };
  same("n", std::to_string(asked.n), std::to_string(own.n));
  same("k", std::to_string(asked.k), std::to_string(own.k));
  same("dtype", name_of(asked.dtype), name_of(own.dtype));
  same("dtype_b", name_of(asked.dtype_b), name_of(own.dtype_b));
  same("trans_b", std::to_string(asked.trans_b), std::to_string(own.trans_b));
  same("compute", plugin::name_of_compute(problem.gemm.compute), plugin::name_of_compute(problem_.gemm.compute));
  same("sums", problem.gemm.sums == TESSERA_SUMS_ANY ? "any" : "ordered",
       problem_.gemm.sums == TESSERA_SUMS_ANY ? "any" : "ordered");
  same("whole_n", std::to_string(problem.gemm.whole_n), std::to_string(problem_.gemm.whole_n));
  if (asked.matrices != own.matrices)
    invalid("batch", std::to_string(problem.gemm.batch) + " with " + std::to_string(asked.matrices) + " matrices of b",
            "b was prepared as " + std::to_string(own.matrices) + (own.matrices == 1 ? ": set stride_b = 0" : ""));
}

Problem Prepared::problem_of(const tessera_desc* desc) const {
  require_product(desc);
  auto d = plugin::read_struct<tessera_gemm_desc>(desc, "the GEMM descriptor");
  d.struct_size = sizeof d;
  d.ldb = TESSERA_PACKED;
  if (d.stride_b != 0) d.stride_b = TESSERA_PACKED;
  Problem problem = validate(reinterpret_cast<const tessera_desc*>(&d), environment_compute);
  require_same(problem);
  problem.prepared = place_;
  return problem;
}

std::shared_ptr<const Prepared> prepare(std::shared_ptr<Context> context, const tessera_desc* desc,
                                        const PlanOptions& options, const GivenOperand& b) {
  require_product(desc);
  Problem problem = validate(desc, environment_compute);
  if (is_complex(problem.gemm.dtype))
    invalid("dtype", name_of(problem.gemm.dtype), "must be real: complex products take no prepared operand");
  one_of("operands", options.operands, TESSERA_MEMORY_HOST, TESSERA_MEMORY_DEVICE, "host (0), device (1)");
  const PlanRequest request{problem, options, forced_algorithm(options, problem.op), environment_verbose()};
  if (context == nullptr)
    context = choose_context(request).context;
  else
    require_runnable(request.algorithm, context->backend(), context->device(), problem.desc());
  auto prepared = std::make_shared<const Prepared>(std::move(context), problem.copy(), options, b);
  request.say("prepared " + prepared->description());
  return prepared;
}

Problem problem_of_plan(const tessera_desc* desc, const PlanOptions& options) {
  return options.prepared != nullptr ? options.prepared->problem_of(desc) : validate(desc, environment_compute);
}

}  // namespace tessera::core
