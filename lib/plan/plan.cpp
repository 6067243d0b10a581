// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/plan.hpp"

#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "dispatch/environment.hpp"
#include "plan/verbose.hpp"

#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tessera::core {
namespace {

constexpr std::uintptr_t kWorkspaceAlignment = 256;

/// Holds the plan's flag for the time of an execution.
class ExclusiveExecution {
 public:
  explicit ExclusiveExecution(std::atomic<bool>& taken) : taken_(taken) {
    if (taken_.exchange(true, std::memory_order_acquire)) refuse();
  }
  ~ExclusiveExecution() { taken_.store(false, std::memory_order_release); }
  ExclusiveExecution(const ExclusiveExecution&) = delete;

 private:
  [[noreturn]] static void refuse() {
    throw Error(TESSERA_INVALID_ARGUMENT,
                "plan: an execution of it has not returned; one plan is executed by one thread at a time: give each "
                "thread a clone");
  }
  std::atomic<bool>& taken_;
};

/// The sums of no elements, which a product without any leaves to the core: it writes nothing else.
void clear_gradient(Context& context, tessera_memory memory, const Problem& problem, const tessera_operand* operands) {
  if (problem.op != TESSERA_OP_GEMM || problem.gemm.bias < TESSERA_BIAS_GRADIENT_PER_ROW) return;
  const Operand& bias = problem.operands[Problem::kBias];
  Layout values = bias.layout;
  if (values.strides[0] == 0) values.extents[0] = 1;  // one for the whole batch, also for one of none
  if (values.empty() || operands[Problem::kBias].data == nullptr) return;
  const std::int64_t size = element_size(bias.dtype);
  if (memory == TESSERA_MEMORY_HOST) {
    for (std::int64_t l = 0; l < values.extents[0]; ++l)
      for (std::int64_t i = 0; i < values.extents[1]; ++i)
        std::memset(static_cast<unsigned char*>(operands[Problem::kBias].data) +
                        (l * values.strides[0] + i * values.strides[1]) * size,
                    0, std::size_t(size));
    return;
  }
  const std::vector<unsigned char> zeros(std::size_t(values.count() * size), 0);
  tessera_copy copy = copy_between(values.packed(), values, size, TESSERA_COPY_TO_DEVICE);
  copy.target = operands[Problem::kBias].data, copy.source = zeros.data();
  context.call(context.table().copy, context.handle(), &copy);
}

PlanOptions options_for(tessera_memory operands) {
  PlanOptions options;
  options.operands = operands;
  return options;
}

}  // namespace

Plan::Plan(Problem problem, const PlanOptions& options, ChosenPlan chosen, int verbose)
    : problem_(std::move(problem)),
      operands_(options.operands),
      plan_(std::move(chosen.plan)),
      operand_count_(problem_.operands.size()),
      output_(problem_.output()),
      output_empty_(problem_.output_empty()),
      verbose_(verbose),
      chosen_(chosen.how) {
  lay_out_operands();
  if (is_staged(context(), operands_)) {
    staging_.emplace(plan_->shared_context(), problem_);
    staged_.resize(operand_count_);
  }
  take_workspace(options);
  count_bytes();
  describe();
}

Plan::Plan(const Plan& original)
    : Plan(original.problem_.copy(), options_for(original.operands_),
           {std::make_unique<BackendPlan>(original.plan_->shared_context(),
                                          SeenProblem(original.problem_, original.context(), original.operands_).get(),
                                          original.plan_->limits(),
                                          parse_algorithm(original.algorithm(), "algorithm", true)),
            original.chosen_},
           environment_verbose()) {
  if (verbose_ >= 1) print_verbose("plan " + description_);
}

/// What executions look up of operands.
void Plan::lay_out_operands() {
  if (problem_.op == TESSERA_OP_SYSTEM) {
    of_system_.emplace(problem_);
    return;
  }
  const bool product = problem_.op == TESSERA_OP_GEMM;
  for (std::size_t i = 0; i < operand_count_; ++i) {
    const Operand& operand = problem_.operands[i];
    misaligned_[i] = std::uintptr_t(element_size(real_type(operand.dtype))) - 1;
    prepared_[i] = problem_.is_prepared(i) ? problem_.prepared->memory.get() : nullptr;
    separate_.role[i] = operand.role;
    const bool turned = product && i <= Problem::kB;  // A and B of a column-major product have changed places
    plugin_role_[i] = turned ? tessera_role(TESSERA_ROLE_A + std::int32_t(i)) : operand.role;
    separate_.place[i] = std::uint8_t(turned ? std::size_t(operand.role - TESSERA_ROLE_A) : i);
    const bool behind = product && operand.role >= TESSERA_ROLE_D;
    in_place_.role[i] = behind && operand.role == TESSERA_ROLE_D ? TESSERA_ROLE_C : operand.role;
    in_place_.place[i] = std::uint8_t(separate_.place[i] - (behind ? 1 : 0));
  }
  for (std::size_t w = 0; w < operand_count_; ++w)
    for (std::size_t other = 0; problem_.operands[w].written && other < operand_count_; ++other)
      if (other != w && (!problem_.operands[other].written || other < w)) apart_.emplace_back(w, other);
  if (product) same_layout_ = problem_.operands[Problem::kC].layout == problem_.operands[Problem::kD].layout;
}

Plan::~Plan() {
  if (queued_) context().settle();
}

void Plan::take_workspace(const PlanOptions& options) {
  const std::uint64_t needed = workspace_bytes();
  if (needed == 0) return;
  if (options.workspace != nullptr) {
    if (options.workspace_bytes < needed)
      invalid("workspace_bytes", std::int64_t(options.workspace_bytes), "this plan needs " + std::to_string(needed));
    if (reinterpret_cast<std::uintptr_t>(options.workspace) % kWorkspaceAlignment != 0)
      invalid("workspace", "not aligned", "must be aligned to " + std::to_string(kWorkspaceAlignment) + " bytes");
    workspace_ = options.workspace;
    return;
  }
  if (needed > std::uint64_t(INT64_MAX))
    throw Error(TESSERA_OUT_OF_MEMORY, "a workspace of " + std::to_string(needed) + " bytes: there is no such memory");
  own_workspace_ = std::make_unique<DeviceMemory>(plan_->shared_context(), std::int64_t(needed));
  workspace_ = own_workspace_->data();
}

void Plan::count_bytes() {
  bytes_ = sizeof(Plan) + 2 * problem_.taps.size() * sizeof(tessera_tap);
  if (own_workspace_ != nullptr) bytes_ += std::uint64_t(own_workspace_->bytes());
  if (staging_) bytes_ += staging_->bytes();
}

void Plan::describe() {
  const std::string prepared = problem_.prepared ? " | " + told_of_prepared() : std::string();
  description_ = problem_.text + " | " + backend_name() + "/" + algorithm() + " | device " +
                 std::to_string(context().device()) + " | " + (operands_ == TESSERA_MEMORY_HOST ? "host" : "device") +
                 " operands | workspace " + std::to_string(workspace_bytes()) + " bytes" + prepared + " | " + chosen_;
}

/// What it is, and what it gains by the model of time beside the same product of a B that lies as it was given.
std::string Plan::told_of_prepared() const {
  const SeenProblem seen(problem_, context(), operands_);
  Problem without = seen.get().copy();
  without.operands[without.prepared->place].layout = without.prepared->given;
  without.prepared.reset();
  without.describe_layouts();
  const auto seconds = [&](const Problem& problem, const AlgorithmSpec& algorithm) {
    return ways_to_run(context(), problem, operands_, plan_->limits(), algorithm).front().seconds;
  };
  const double gain = seconds(without, {}) / seconds(seen.get(), parse_algorithm(algorithm(), "algorithm", true));
  return "b prepared as " + problem_.prepared->form + ", by the model " + fixed_text_of(gain, 2) +
         " times as fast as without";
}

const Operand& Plan::operand_with(tessera_role role) const {
  for (const Operand& operand : problem_.operands)
    if (operand.role == role) return operand;
  std::vector<std::string> known;
  for (const Operand& operand : problem_.operands)
    known.push_back(std::to_string(operand.role) + " (" + operand.name + ")");
  invalid("role", role, "must be one of the plan's: " + join(known));
}

void Plan::execute(const tessera_execution& execution) {
  const ExclusiveExecution exclusive(executing_);
  if (of_system_) return execute_system(execution);
  std::array<tessera_operand, kMaxOperands> operands;
  if (!take_operands(execution, operands.data())) examine(execution, operands.data());
  if (output_empty_) return clear_gradient(context(), operands_, problem_, operands.data());
  check_overlap(operands.data());
  const tessera_execution canonical{sizeof canonical,        operands.data(),
                                    sizeof(tessera_operand), operand_count_,
                                    execution.scalars,       execution.scalar_size,
                                    problem_.scalar_count,   workspace_,
                                    workspace_bytes(),       0};
  queued_ = true;
  if (verbose_ >= 2) return run_and_tell(canonical);
  run(canonical);
}

void Plan::execute_system(const tessera_execution& execution) {
  const std::vector<tessera_operand>& operands = of_system_->take(execution);
  if (output_empty_) return;
  const tessera_execution canonical{sizeof canonical,
                                    operands.data(),
                                    sizeof(tessera_operand),
                                    operands.size(),
                                    nullptr,
                                    0,
                                    0,
                                    workspace_,
                                    workspace_bytes(),
                                    0};
  queued_ = true;
  if (verbose_ >= 2) return run_and_tell(canonical);
  run(canonical);
}

tessera_role Plan::level_after(std::int32_t field, std::int32_t level) const {
  if (!of_system_) invalid("plan", "'" + problem_.text + "'", "must be of a system of fields");
  const System& system = problem_.system->system();
  one_of("field", field, 0, std::int64_t(system.fields.size()) - 1, "the system's fields");
  const System::Field& known = system.fields[std::size_t(field)];
  if (level > 0 || level < known.oldest())
    invalid("level", level, "'" + known.name + "' has the levels " + std::to_string(known.oldest()) + " to 0");
  const int place = known.kind == TESSERA_FIELD_STATE ? place_of_level(known, system.steps, -level) : 0;
  return tessera_role(TESSERA_ROLE_FIELD + 4 * field + place);
}

void Plan::run(const tessera_execution& execution) {
  if (staging_) return run_staged(execution);
  plan_->execute(execution);
}

void Plan::run_staged(const tessera_execution& execution) {
  for (std::size_t i = 0; i < operand_count_; ++i) {
    staged_[i] = execution.operands[i];
    staged_[i].data = staging_->device_pointer(i);
    // C is uploaded as D where both are one and D is.
    const bool as_d = i == Problem::kC && staging_->keeps(Problem::kD) &&
                      execution.operands[i].data == execution.operands[Problem::kD].data;
    if (as_d)
      staged_[i].data = staging_->device_pointer(Problem::kD);
    else if (reads(problem_.operands[i], execution) || staging_->keeps(i))
      staging_->upload(i, execution.operands[i].data);
  }
  tessera_execution on_device = execution;
  on_device.operands = staged_.data();
  plan_->execute(on_device);
  for (std::size_t i = 0; i < operand_count_; ++i)
    if (problem_.operands[i].written) staging_->download(i, execution.operands[i].data);
}

void Plan::run_and_tell(const tessera_execution& execution) {
  const auto start = std::chrono::steady_clock::now();
  run(execution);
  context().synchronize();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print_verbose("execute " + fixed_text_of(seconds * 1e3, 3) + " ms " + description_);
}

}  // namespace tessera::core
