// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan.hpp"

#include "check.hpp"
#include "environment.hpp"
#include "selection.hpp"
#include "verbose.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace tessera::core {
namespace {

constexpr std::uint64_t kDefaultWorkspaceLimit = std::uint64_t{64} << 20;
constexpr std::uintptr_t kWorkspaceAlignment = 256;

AlgorithmSpec forced_algorithm(const PlanOptions& options, tessera_op op) {
  return options.algorithm.empty() ? environment_algorithm(op) : parse_algorithm(options.algorithm, "algorithm", true);
}

template <class T>
const T& element(const T* array, std::uint64_t size, std::uint64_t index) {
  return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(array) + index * size);
}

double scalar_value(const tessera_execution& e, std::uint64_t index) {
  return element(e.scalars, e.scalar_size, index).real;
}

}  // namespace

Plan::Plan(std::shared_ptr<Context> context, const tessera_desc* desc, const PlanOptions& options)
    : problem_(validate(desc)),
      context_(std::move(context)),
      operands_(options.operands),
      operand_count_(problem_.operands.size()),
      misaligned_(std::uintptr_t(element_size(problem_.dtype)) - 1),
      output_empty_(problem_.output_empty()),
      verbose_(environment_verbose()) {
  for (std::size_t i = 0; i < operand_count_; ++i) caller_index_[i] = std::uint64_t(problem_.operands[i].caller_index);
  one_of("operands", operands_, TESSERA_MEMORY_HOST, TESSERA_MEMORY_DEVICE, "host (0), device (1)");
  const AlgorithmSpec algorithm = forced_algorithm(options, problem_.op);
  check_backend_known(algorithm);
  if (context_ == nullptr) {
    if (operands_ == TESSERA_MEMORY_DEVICE)
      invalid("operands", "device without a context", "pass the context whose device holds them");
    ContextRequest request;
    request.backend = environment_backend();
    request.algorithm = algorithm;
    request.desc = problem_.desc();
    request.operands = operands_;
    request.threads = environment_threads();
    context_ = make_context(request);
  } else {
    check_algorithm(algorithm, *context_, problem_.desc());
  }
  if (operands_ == TESSERA_MEMORY_HOST && !context_->on_host()) staging_.emplace(context_, problem_);
  create(options, algorithm);
  try {
    take_workspace(options);
    describe();
  } catch (...) {
    context_->table().plan_destroy(handle_);
    throw;
  }
  if (verbose_ >= 1) print_verbose("plan " + description_);
}

Plan::~Plan() {
  if (queued_) context_->settle();
  context_->table().plan_destroy(handle_);
}

void Plan::create(const PlanOptions& options, const AlgorithmSpec& algorithm) {
  const Backend& backend = context_->backend();
  tessera_plan_request request{};
  request.struct_size = sizeof request;
  request.desc = staging_ ? staging_->problem().desc() : problem_.desc();
  request.workspace_limit = options.workspace != nullptr   ? options.workspace_bytes
                            : options.workspace_limit != 0 ? options.workspace_limit
                                                           : kDefaultWorkspaceLimit;
  std::vector<tessera_parameter> parameters;
  if (concerns(algorithm, backend.name(), backend.variant())) {
    request.algorithm = algorithm.name.c_str();
    for (const auto& [key, value] : algorithm.parameters) parameters.push_back({key.c_str(), value});
    request.parameters = parameters.data();
    request.parameter_size = sizeof(tessera_parameter);
    request.parameter_count = parameters.size();
  }
  tessera_plan_reply reply{};
  reply.struct_size = sizeof reply;
  context_->call(context_->table().plan_create, context_->handle(), &request, &handle_, &reply);
  algorithm_ = reply.algorithm;
  workspace_bytes_ = reply.workspace_bytes;
}

void Plan::take_workspace(const PlanOptions& options) {
  if (workspace_bytes_ == 0) return;
  if (options.workspace != nullptr) {
    if (options.workspace_bytes < workspace_bytes_)
      invalid("workspace_bytes", std::int64_t(options.workspace_bytes),
              "this plan needs " + std::to_string(workspace_bytes_));
    if (reinterpret_cast<std::uintptr_t>(options.workspace) % kWorkspaceAlignment != 0)
      invalid("workspace", "not aligned", "must be aligned to " + std::to_string(kWorkspaceAlignment) + " bytes");
    workspace_ = options.workspace;
    return;
  }
  own_workspace_ = std::make_unique<DeviceMemory>(context_, std::int64_t(workspace_bytes_));
  workspace_ = own_workspace_->data();
}

void Plan::describe() {
  description_ = problem_.text + " | " + context_->name() + ":" + std::to_string(context_->device()) + " " +
                 algorithm_ + " | " + (operands_ == TESSERA_MEMORY_HOST ? "host" : "device") +
                 " operands | workspace " + std::to_string(workspace_bytes_) + " bytes";
}

const Operand& Plan::operand_of_caller(std::uint64_t index) const {
  for (const Operand& operand : problem_.operands)
    if (std::uint64_t(operand.caller_index) == index) return operand;
  invalid("operand", std::int64_t(index), "must be below " + std::to_string(problem_.operands.size()));
}

/// beta = 0 does not read C; alpha = 0 or k = 0 does not read A and B; an empty output reads nothing.
bool Plan::reads(const Operand& operand, const tessera_execution& execution) const {
  if (output_empty_ || operand.layout.empty()) return false;
  if (problem_.op != TESSERA_OP_GEMM) return !operand.written;
  if (operand.written) return scalar_value(execution, 1) != 0.0;
  return scalar_value(execution, 0) != 0.0 && problem_.gemm.k != 0;
}

void Plan::check_counts(const tessera_execution& e) const {
  const std::size_t count = problem_.operands.size();
  if (e.operand_count != count)
    invalid("operand_count", std::int64_t(e.operand_count), "must be " + std::to_string(count));
  if (e.scalar_count != problem_.scalar_count)
    invalid("scalar_count", std::int64_t(e.scalar_count), "must be " + std::to_string(problem_.scalar_count));
  if (e.operands == nullptr) invalid("operands", "null", "must point to " + std::to_string(count) + " operands");
  if (e.operand_size < sizeof(tessera_operand))
    invalid("operand_size", std::int64_t(e.operand_size), "must be sizeof(tessera_operand)");
  if (problem_.scalar_count > 0 && e.scalars == nullptr)
    invalid("scalars", "null", "must point to " + std::to_string(problem_.scalar_count) + " scalars");
  if (problem_.scalar_count > 0 && e.scalar_size < sizeof(tessera_scalar))
    invalid("scalar_size", std::int64_t(e.scalar_size), "must be sizeof(tessera_scalar)");
}

/// Puts the operands into the plugin's order. False where an argument may be wrong: examine() tells. Nothing here
/// builds a message, since it is on the way of products that take 50 ns themselves.
bool Plan::take_operands(const tessera_execution& e, tessera_operand* operands) const {
  if (e.operand_count != operand_count_ || e.operands == nullptr || e.operand_size < sizeof(tessera_operand))
    return false;
  if (e.scalar_count != problem_.scalar_count) return false;
  if (e.scalar_count > 0 && (e.scalars == nullptr || e.scalar_size < sizeof(tessera_scalar))) return false;
  tessera_dtype differences = 0;
  for (std::size_t i = 0; i < e.scalar_count; ++i)
    differences |= element(e.scalars, e.scalar_size, i).dtype ^ problem_.dtype;
  std::uintptr_t addresses = 0;
  bool null = false;
  for (std::size_t i = 0; i < operand_count_; ++i) {
    const tessera_operand& given = element(e.operands, e.operand_size, caller_index_[i]);
    // Field by field, as the caller has just written them: a wider load would wait until all are in the cache.
    operands[i] = {given.data, given.dtype, 0};
    differences |= given.dtype ^ problem_.dtype;
    addresses |= reinterpret_cast<std::uintptr_t>(given.data);
    null |= given.data == nullptr;
  }
  return differences == 0 && !null && (addresses & misaligned_) == 0;
}

/// Throws what is wrong with the arguments, if anything is: a null pointer is allowed where it is not followed.
void Plan::examine(const tessera_execution& e) const {
  check_counts(e);
  for (std::size_t i = 0; i < problem_.scalar_count; ++i)
    if (const auto dtype = element(e.scalars, e.scalar_size, i).dtype; dtype != problem_.dtype)
      invalid("dtype of scalar " + std::to_string(i), dtype,
              std::string("the plan is of type ") + dtype_name(problem_.dtype));
  for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
    const Operand& known = problem_.operands[i];
    const tessera_operand& given = element(e.operands, e.operand_size, caller_index_[i]);
    if (given.dtype != problem_.dtype)
      invalid(std::string("dtype of ") + known.name, given.dtype,
              std::string("the plan is of type ") + dtype_name(problem_.dtype));
    const auto address = reinterpret_cast<std::uintptr_t>(given.data);
    if (address == 0 && (reads(known, e) || (known.written && !known.layout.empty())))
      invalid(known.name, "null", "must point to " + std::to_string(known.layout.reach() + 1) + " elements");
    if ((address & misaligned_) != 0)
      invalid(known.name, std::int64_t(address),
              "must be aligned to its elements of " + std::to_string(misaligned_ + 1) + " bytes");
  }
}

void Plan::check_overlap(const tessera_operand* operands) {
  const std::size_t output = operand_count_ - 1;
  const auto written = reinterpret_cast<std::uintptr_t>(operands[output].data);
  for (std::size_t i = 0; i < output; ++i) {
    if (operands[i].data == nullptr) continue;
    const auto distance = std::int64_t(written - reinterpret_cast<std::uintptr_t>(operands[i].data));
    if (cleared_[i][0] != distance && cleared_[i][1] != distance) require_apart(i, distance);
  }
}

void Plan::require_apart(std::size_t input, std::int64_t distance) {
  const Operand& read = problem_.operands[input];
  const Operand& written = problem_.operands.back();
  const std::int64_t between = written.layout.origin() - read.layout.origin();
  if (share_element(read.layout, written.layout, distance / element_size(problem_.dtype) + between))
    invalid(written.name, "an array that overlaps " + std::string(read.name),
            "they must not share an element; blocks of one parent array are fine");
  cleared_[input] = {distance, cleared_[input][0]};
}

void Plan::execute(const tessera_execution& execution) {
  std::array<tessera_operand, kMaxOperands> operands;
  if (!take_operands(execution, operands.data())) examine(execution);
  if (output_empty_) return;
  check_overlap(operands.data());
  const tessera_execution canonical{sizeof canonical,      operands.data(),   sizeof(tessera_operand),
                                    operand_count_,        execution.scalars, execution.scalar_size,
                                    problem_.scalar_count, workspace_,        workspace_bytes_};
  queued_ = true;
  if (verbose_ >= 2) return run_and_tell(canonical);
  if (staging_) return run_staged(canonical);
  context_->call(context_->table().plan_execute, handle_, &canonical);
}

void Plan::run_staged(const tessera_execution& execution) {
  std::array<tessera_operand, kMaxOperands> staged{};
  for (std::size_t i = 0; i < operand_count_; ++i) {
    staged[i] = execution.operands[i];
    staged[i].data = staging_->device_pointer(i);
    if (reads(problem_.operands[i], execution)) staging_->upload(i, execution.operands[i].data);
  }
  tessera_execution on_device = execution;
  on_device.operands = staged.data();
  context_->call(context_->table().plan_execute, handle_, &on_device);
  staging_->download(operand_count_ - 1, execution.operands[operand_count_ - 1].data);
}

void Plan::run_and_tell(const tessera_execution& execution) {
  const auto start = std::chrono::steady_clock::now();
  if (staging_)
    run_staged(execution);
  else
    context_->call(context_->table().plan_execute, handle_, &execution);
  context_->synchronize();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::array<char, 64> time{};
  std::snprintf(time.data(), time.size(), "%.3f ms ", seconds * 1e3);
  print_verbose("execute " + std::string(time.data()) + description_);
}

}  // namespace tessera::core
