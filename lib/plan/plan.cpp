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
#include <cstdio>

namespace tessera::core {
namespace {

constexpr std::uintptr_t kWorkspaceAlignment = 256;

template <class T>
const T& element(const T* array, std::uint64_t size, std::uint64_t index) {
  return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(array) + index * size);
}

double scalar_value(const tessera_execution& e, std::uint64_t index) {
  return element(e.scalars, e.scalar_size, index).real;
}

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

}  // namespace

Plan::Plan(Problem problem, std::shared_ptr<Context> context, tessera_memory operands, std::uint64_t workspace_limit)
    : problem_(std::move(problem)),
      context_(std::move(context)),
      operands_(operands),
      workspace_limit_(workspace_limit),
      operand_count_(problem_.operands.size()),
      output_(problem_.output()),
      first_role_(problem_.op == TESSERA_OP_GEMM ? TESSERA_ROLE_A : TESSERA_ROLE_IN),
      output_empty_(problem_.output_empty()),
      verbose_(environment_verbose()) {
  const bool product = problem_.op == TESSERA_OP_GEMM;
  for (std::size_t i = 0; i < operand_count_; ++i) {
    const Operand& operand = problem_.operands[i];
    misaligned_[i] = std::uintptr_t(element_size(operand.dtype)) - 1;
    separate_.role[i] = operand.role;
    separate_.place[i] = std::uint8_t(operand.role - first_role_);
    const bool behind = product && operand.role >= TESSERA_ROLE_D;
    in_place_.role[i] = behind && operand.role == TESSERA_ROLE_D ? TESSERA_ROLE_C : operand.role;
    in_place_.place[i] = std::uint8_t(separate_.place[i] - (behind ? 1 : 0));
  }
  if (product) same_layout_ = problem_.operands[Problem::kC].layout == problem_.operands[Problem::kD].layout;
}

Plan::Plan(std::shared_ptr<Context> context, const tessera_desc* desc, const PlanOptions& options)
    : Plan(validate(desc, environment_compute), std::move(context), options.operands, core::workspace_limit(options)) {
  one_of("operands", operands_, TESSERA_MEMORY_HOST, TESSERA_MEMORY_DEVICE, "host (0), device (1)");
  if (options.part) verbose_ = std::min(verbose_, 1);  // its executions are another plan's
  const AlgorithmSpec algorithm = forced_algorithm(options, problem_.op);
  const bool placed = context_ != nullptr;
  if (context_ == nullptr) {
    context_ = choose_context(algorithm, options);
  } else {
    require_known_algorithm({{}, algorithm}, problem_.op, &context_->backend());
    require_runnable(algorithm, context_->backend(), context_->device(), problem_.desc());
  }
  workspace_limit_ = core::workspace_limit(options, problem_, *context_);
  try {
    choose(algorithm, options);
    take_workspace(options);
  } catch (const Error& error) {  // a device's memory may be in use, by others now than when its algorithm was chosen
    const bool had_more = workspace_limit_ != core::workspace_limit(options);
    const bool otherwise = had_more || by_time_;
    if (error.status() != TESSERA_OUT_OF_MEMORY || !otherwise || options.tuning != nullptr) throw;
    if (verbose_ >= 1 && by_time_) print_verbose("not " + algorithm_ + ", but estimated: " + error.what());
    workspace_limit_ = core::workspace_limit(options);
    create(algorithm);
    if (by_time_) chosen_ = "estimated";
    take_workspace(options);
  }
  count_bytes();
  describe();
  if (verbose_ < 1 || options.part) return;
  print_verbose("plan " + description_);
  print_problem(algorithm, options, placed);
}

Plan::Plan(const Plan& original)
    : Plan(original.problem_.copy(), original.context_, original.operands_, original.workspace_limit_) {
  create(parse_algorithm(original.algorithm_, "algorithm", true));
  chosen_ = original.chosen_;
  take_workspace({});
  count_bytes();
  describe();
  if (verbose_ >= 1) print_verbose("plan " + description_);
}

Plan::~Plan() {
  if (queued_) context_->settle();
}

void Plan::create(const AlgorithmSpec& algorithm) {
  if (operands_ == TESSERA_MEMORY_HOST && !context_->on_host()) staging_.emplace(context_, problem_);
  const Backend& backend = context_->backend();
  tessera_plan_request request{};
  request.struct_size = sizeof request;
  request.desc = staging_ ? staging_->problem().desc() : problem_.desc();
  request.workspace_limit = workspace_limit_;
  const std::vector<tessera_parameter> parameters = c_parameters(algorithm);
  if (concerns(algorithm, backend.name(), backend.variant())) force(algorithm, parameters, request);
  tessera_plan_reply reply{};
  reply.struct_size = sizeof reply;
  tessera_backend_plan* made = nullptr;
  context_->call(context_->table().plan_create, context_->handle(), &request, &made, &reply);
  handle_ = {made, Destroy{context_.get()}};
  const auto broken = [&](const std::string& what) { throw Error(TESSERA_INTERNAL, context_->name() + " " + what); };
  if (made == nullptr) broken("made no plan and reported no error");
  if (reply.algorithm == nullptr) broken("does not name its plan's algorithm");
  if (problem_.op == TESSERA_OP_GEMM && reply.workspace_bytes > workspace_limit_)
    broken("wants a workspace of " + std::to_string(reply.workspace_bytes) + " bytes; the limit is " +
           std::to_string(workspace_limit_));
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
  if (workspace_bytes_ > std::uint64_t(INT64_MAX))
    throw Error(TESSERA_OUT_OF_MEMORY,
                "a workspace of " + std::to_string(workspace_bytes_) + " bytes: there is no such memory");
  own_workspace_ = std::make_unique<DeviceMemory>(context_, std::int64_t(workspace_bytes_));
  workspace_ = own_workspace_->data();
}

void Plan::count_bytes() {
  bytes_ = sizeof(Plan) + 2 * problem_.taps.size() * sizeof(tessera_tap);
  if (own_workspace_ != nullptr) bytes_ += std::uint64_t(own_workspace_->bytes());
  if (staging_) bytes_ += staging_->bytes();
}

void Plan::describe() {
  description_ = problem_.text + " | " + context_->name() + "/" + algorithm_ + " | device " +
                 std::to_string(context_->device()) + " | " + (operands_ == TESSERA_MEMORY_HOST ? "host" : "device") +
                 " operands | workspace " + std::to_string(workspace_bytes_) + " bytes | " + chosen_;
}

const Operand& Plan::operand_with(tessera_role role) const {
  for (const Operand& operand : problem_.operands)
    if (operand.role == role) return operand;
  std::vector<std::string> known;
  for (const Operand& operand : problem_.operands)
    known.push_back(std::to_string(operand.role) + " (" + operand.name + ")");
  invalid("role", role, "must be one of the plan's: " + join(known));
}

/// beta = 0 does not read C; alpha = 0 or k = 0 does not read A and B; an empty output reads nothing.
bool Plan::reads(const Operand& operand, const tessera_execution& execution) const {
  if (output_empty_ || operand.written || operand.layout.empty()) return false;
  if (operand.role == TESSERA_ROLE_C) return scalar_value(execution, 1) != 0.0;
  if (operand.role == TESSERA_ROLE_A || operand.role == TESSERA_ROLE_B)
    return scalar_value(execution, 0) != 0.0 && problem_.gemm.k != 0;
  return true;
}

void Plan::check_counts(const tessera_execution& e) const {
  const std::uint64_t most = operand_count_, least = problem_.op == TESSERA_OP_GEMM ? most - 1 : most;
  if (e.operand_count < least || e.operand_count > most)
    invalid("operand_count", std::int64_t(e.operand_count),
            "must be " + std::to_string(least) +
                (least == most ? "" : ", or " + std::to_string(most) + " where D is another matrix than C"));
  if (e.scalar_count != problem_.scalar_count)
    invalid("scalar_count", std::int64_t(e.scalar_count), "must be " + std::to_string(problem_.scalar_count));
  if (e.operands == nullptr)
    invalid("operands", "null", "must point to " + std::to_string(e.operand_count) + " operands");
  constexpr std::uint64_t operand = sizeof(tessera_operand), scalar = sizeof(tessera_scalar);
  plugin::check_size(e.operand_size, operand, operand, "the operands", "operand_size");
  if (problem_.scalar_count == 0) return;
  if (e.scalars == nullptr)
    invalid("scalars", "null", "must point to " + std::to_string(problem_.scalar_count) + " scalars");
  plugin::check_size(e.scalar_size, scalar, scalar, "the scalars", "scalar_size");
}

/// Puts the operands into the plugin's order. False where an argument may be wrong, or comes in another order:
/// examine() tells. Nothing here builds a message, since it is on the way of products that take 50 ns themselves.
bool Plan::take_operands(const tessera_execution& e, tessera_operand* operands) const {
  const auto believable = [](std::uint64_t size, std::uint64_t least) {
    return size >= least && size <= plugin::kMaxStructSize;
  };
  const bool separate = e.operand_count == operand_count_;
  if (!separate && (problem_.op != TESSERA_OP_GEMM || e.operand_count + 1 != operand_count_)) return false;
  if (e.operands == nullptr || !believable(e.operand_size, sizeof *operands)) return false;
  const bool scalars = e.scalar_count != 0;
  if (e.scalar_count != problem_.scalar_count) return false;
  if (scalars && (e.scalars == nullptr || !believable(e.scalar_size, sizeof *e.scalars))) return false;
  bool plain = e.operand_size == sizeof *operands && (!scalars || e.scalar_size == sizeof *e.scalars);
  std::int32_t differences = 0;
  for (std::size_t i = 0; i < e.scalar_count; ++i) {
    const tessera_scalar& given = element(e.scalars, e.scalar_size, i);
    differences |= (given.dtype ^ problem_.scalar_dtype) | given.reserved;
    plain &= given.imaginary == 0.0;
  }
  const Expected& expected = separate ? separate_ : in_place_;
  std::uintptr_t misaligned = 0;
  for (std::size_t i = 0; i < operand_count_; ++i) {
    const tessera_operand& given = element(e.operands, e.operand_size, expected.place[i]);
    // Field by field, as the caller has just written them: a wider load would wait until all are in the cache.
    operands[i] = {given.data, given.dtype, tessera_role(first_role_ + i)};
    differences |= (given.dtype ^ problem_.operands[i].dtype) | (given.role ^ expected.role[i]);
    misaligned |= reinterpret_cast<std::uintptr_t>(given.data) & misaligned_[i];
    plain &= given.data != nullptr;
  }
  return plain && differences == 0 && misaligned == 0;
}

/// Throws what is wrong with the arguments, if anything is: a null pointer is allowed where it is not followed. Else
/// puts the operands into the plugin's order.
void Plan::examine(const tessera_execution& e, tessera_operand* operands) const {
  check_counts(e);
  for (std::size_t i = 0; i < problem_.scalar_count; ++i) examine_scalar(e, i);
  for (std::size_t i = 0; i < e.operand_count; ++i) operand_with(element(e.operands, e.operand_size, i).role);
  for (std::size_t i = 0; i < operand_count_; ++i) {
    const Operand& known = problem_.operands[i];
    const tessera_operand* given = find(e, known.role);
    if (given == nullptr && known.role == TESSERA_ROLE_D) given = find(e, TESSERA_ROLE_C);
    if (given == nullptr)
      invalid(std::string("operand ") + known.name, "missing",
              "must be given, with role = " + std::to_string(known.role));
    examine_operand(e, i, *given);
    operands[i] = {given->data, given->dtype, tessera_role(first_role_ + i)};
  }
}

/// The operand with that role, null where there is none.
const tessera_operand* Plan::find(const tessera_execution& e, tessera_role role) const {
  const tessera_operand* found = nullptr;
  for (std::size_t i = 0; i < e.operand_count; ++i) {
    const tessera_operand& given = element(e.operands, e.operand_size, i);
    if (given.role != role) continue;
    if (found != nullptr) invalid(std::string("operand ") + operand_with(role).name, "given twice", "must come once");
    found = &given;
  }
  return found;
}

namespace {

[[noreturn]] void refuse_dtype(const std::string& name, tessera_dtype given, tessera_dtype own, const char* field) {
  validate_dtype("dtype of " + name, given);
  const std::string type = name_of(given), wanted = name_of(own);
  throw Error(TESSERA_INVALID_ARGUMENT, name + " is of type " + type + ", the plan takes " + wanted + ": set ." +
                                            field + " of its descriptor to " + type + ", or pass " + wanted);
}

/// The field of a descriptor that says the type of an operand.
const char* dtype_field(tessera_role role) {
  return role == TESSERA_ROLE_C || role == TESSERA_ROLE_D ? "dtype_d"
         : role == TESSERA_ROLE_BIAS                      ? "dtype_bias"
                                                          : "dtype";
}

}  // namespace

void Plan::examine_scalar(const tessera_execution& e, std::size_t index) const {
  const std::string name = problem_.scalar_names[index];
  const tessera_scalar& given = element(e.scalars, e.scalar_size, index);
  if (given.dtype != problem_.scalar_dtype) refuse_dtype(name, given.dtype, problem_.scalar_dtype, "dtype");
  if (given.reserved != 0) invalid("reserved of " + name, given.reserved, "must be 0");
  if (given.imaginary != 0.0)
    invalid("imaginary of " + name, text_of(given.imaginary), "must be 0: the plan's type is real");
  plugin::refuse_tail(&given, sizeof given, e.scalar_size, name.c_str());
}

void Plan::examine_operand(const tessera_execution& e, std::size_t index, const tessera_operand& given) const {
  const Operand& known = problem_.operands[index];
  const char* const name = operand_with(given.role).name;  // of C, where that is D
  if (given.dtype != known.dtype) refuse_dtype(name, given.dtype, known.dtype, dtype_field(known.role));
  plugin::refuse_tail(&given, sizeof given, e.operand_size, name);
  const auto address = reinterpret_cast<std::uintptr_t>(given.data);
  if (address == 0 && (reads(known, e) || (known.written && !known.layout.empty())))
    invalid(name, "null", "must point to " + std::to_string(known.layout.reach() + 1) + " elements");
  if ((address & misaligned_[index]) != 0)
    invalid(name, std::int64_t(address),
            "must be aligned to its elements of " + std::to_string(misaligned_[index] + 1) + " bytes");
}

/// Whether D is C. Throws where it has C's memory and another layout.
bool Plan::in_place(const tessera_operand* operands) const {
  if (problem_.op != TESSERA_OP_GEMM || operands[Problem::kC].data != operands[Problem::kD].data) return false;
  if (!same_layout_) invalid("d", "the memory of c", "must be another matrix where ldd or stride_d is not that of C");
  return true;
}

void Plan::check_overlap(const tessera_operand* operands) {
  const auto written = reinterpret_cast<std::uintptr_t>(operands[output_].data);
  const bool c_is_d = in_place(operands);
  for (std::size_t i = 0; i < operand_count_; ++i) {
    if (i == output_ || operands[i].data == nullptr || (c_is_d && i == Problem::kC)) continue;
    const auto distance = std::int64_t(written - reinterpret_cast<std::uintptr_t>(operands[i].data));
    const auto& known = cleared_[i].distances;
    if (std::find(known.begin(), known.end(), distance) == known.end())
      require_apart(i, distance, problem_.operands[c_is_d ? Problem::kC : output_].name);
  }
}

void Plan::require_apart(std::size_t input, std::int64_t distance, const char* name) {
  const Operand& read = problem_.operands[input];
  const Operand& written = problem_.operands[output_];
  const std::int64_t size = element_size(read.dtype), size_written = element_size(written.dtype);
  const std::int64_t unit = std::min(size, size_written);
  const std::int64_t between = written.layout.origin() * (size_written / unit) - read.layout.origin() * (size / unit);
  if (share_element(read.layout.split(size / unit), written.layout.split(size_written / unit),
                    distance / unit + between))
    invalid(name, "an array that overlaps " + std::string(read.name),
            "they must not share an element; blocks of one parent array are fine");
  Cleared& cleared = cleared_[input];
  cleared.distances[cleared.next] = distance;
  cleared.next = (cleared.next + 1) % cleared.distances.size();
}

void Plan::execute(const tessera_execution& execution) {
  const ExclusiveExecution exclusive(executing_);
  std::array<tessera_operand, kMaxOperands> operands;
  if (!take_operands(execution, operands.data())) examine(execution, operands.data());
  if (output_empty_) return;
  check_overlap(operands.data());
  const tessera_execution canonical{sizeof canonical,      operands.data(),   sizeof(tessera_operand),
                                    operand_count_,        execution.scalars, execution.scalar_size,
                                    problem_.scalar_count, workspace_,        workspace_bytes_};
  queued_ = true;
  if (verbose_ >= 2) return run_and_tell(canonical);
  run(canonical);
}

void Plan::run(const tessera_execution& execution) {
  if (staging_) return run_staged(execution);
  context_->call(context_->table().plan_execute, handle_.get(), &execution);
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
  context_->call(context_->table().plan_execute, handle_.get(), &on_device);
  staging_->download(output_, execution.operands[output_].data);
}

void Plan::run_and_tell(const tessera_execution& execution) {
  const auto start = std::chrono::steady_clock::now();
  run(execution);
  context_->synchronize();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::array<char, 64> time{};
  std::snprintf(time.data(), time.size(), "%.3f ms ", seconds * 1e3);
  print_verbose("execute " + std::string(time.data()) + description_);
}

}  // namespace tessera::core
