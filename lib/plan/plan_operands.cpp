// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a plan of a product or a stencil takes the operands of an execution.
#include "check.hpp"
#include "plan/plan.hpp"

#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::core {
namespace {

template <class T>
const T& element(const T* array, std::uint64_t size, std::uint64_t index) {
  return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(array) + index * size);
}

/// " (a, b, c)".
std::string listed(const std::vector<std::string>& names) { return names.empty() ? "" : " (" + join(names) + ")"; }

bool is_zero(const tessera_execution& e, std::uint64_t index) {
  const tessera_scalar& scalar = element(e.scalars, e.scalar_size, index);
  return scalar.real == 0.0 && scalar.imaginary == 0.0;
}

}  // namespace

/// beta = 0 does not read C; alpha = 0 or k = 0 does not read A and B; an empty output reads nothing.
bool Plan::reads(const Operand& operand, const tessera_execution& execution) const {
  if (of_system_) return operand.role < TESSERA_ROLE_RECORDED && !operand.layout.empty();
  if (output_empty_ || operand.written || operand.layout.empty()) return false;
  if (problem_.prepared && operand.role == TESSERA_ROLE_B) return false;  // of the caller's
  if (operand.role == TESSERA_ROLE_C) return !is_zero(execution, 1);
  if (operand.role == TESSERA_ROLE_A || operand.role == TESSERA_ROLE_B)
    return !is_zero(execution, 0) && problem_.gemm.k != 0;
  return true;
}

void Plan::check_counts(const tessera_execution& e) const {
  const std::uint64_t most = operand_count_, least = problem_.op == TESSERA_OP_GEMM ? most - 1 : most;
  if (e.operand_count < least || e.operand_count > most) {
    std::vector<std::string> names;
    for (const Operand& operand : problem_.operands)
      if (least == most || operand.role != TESSERA_ROLE_D) names.push_back(operand.name);
    invalid("operand_count", std::int64_t(e.operand_count),
            "must be " + std::to_string(least) + listed(names) +
                (least == most ? "" : ", or " + std::to_string(most) + " with d where D is another matrix than C"));
  }
  if (e.scalar_count != problem_.scalar_count) {
    const std::vector<std::string> names(problem_.scalar_names, problem_.scalar_names + problem_.scalar_count);
    invalid("scalar_count", std::int64_t(e.scalar_count),
            "must be " + std::to_string(problem_.scalar_count) + listed(names));
  }
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
  const bool complex = is_complex(problem_.scalar_dtype);
  for (std::size_t i = 0; i < e.scalar_count; ++i) {
    const tessera_scalar& given = element(e.scalars, e.scalar_size, i);
    differences |= (given.dtype ^ problem_.scalar_dtype) | given.reserved;
    plain &= complex || given.imaginary == 0.0;
  }
  const Expected& expected = separate ? separate_ : in_place_;
  std::uintptr_t misaligned = 0;
  for (std::size_t i = 0; i < operand_count_; ++i) {
    const tessera_operand& given = element(e.operands, e.operand_size, expected.place[i]);
    // Field by field, as the caller has just written them: a wider load would wait until all are in the cache.
    void* const own = prepared_[i];  // then the caller gives none
    operands[i] = {own != nullptr ? own : given.data, given.dtype, plugin_role_[i]};
    differences |= (given.dtype ^ problem_.operands[i].dtype) | (given.role ^ expected.role[i]);
    misaligned |= reinterpret_cast<std::uintptr_t>(given.data) & misaligned_[i];
    plain &= (given.data != nullptr) == (own == nullptr);
  }
  return plain && differences == 0 && misaligned == 0;
}

/// Throws what is wrong with the arguments, if anything is: a null pointer is allowed where it is not followed. Else
/// puts the operands into the plugin's order.
void Plan::examine(const tessera_execution& e, tessera_operand* operands) const {
  check_counts(e);
  for (std::size_t i = 0; i < e.operand_count; ++i) operand_with(element(e.operands, e.operand_size, i).role);
  for (std::size_t i = 0; i < operand_count_; ++i) {
    const Operand& known = problem_.operands[i];
    const tessera_operand* given = find(e, known.role);
    if (given == nullptr && known.role == TESSERA_ROLE_D) given = find(e, TESSERA_ROLE_C);
    if (given == nullptr)
      invalid(std::string("operand ") + known.name, "missing",
              "must be given, with role = " + std::to_string(known.role));
    examine_operand(e, i, *given);
    void* const data = problem_.is_prepared(i) ? prepared_[i] : given->data;
    operands[i] = {data, given->dtype, plugin_role_[i]};
  }
  // Behind the operands: in C++ and Python the type of alpha follows from theirs.
  for (std::size_t i = 0; i < problem_.scalar_count; ++i) examine_scalar(e, i);
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

/// `field` of the descriptor could be of the given type; null where it could not.
[[noreturn]] void refuse_dtype(const std::string& name, tessera_dtype given, tessera_dtype own, const char* field) {
  validate_product_dtype("dtype of " + name, given);
  const std::string type = name_of(given), wanted = name_of(own);
  const std::string set =
      field == nullptr ? "" : std::string("set .") + field + " of its descriptor to " + type + ", or ";
  throw Error(TESSERA_INVALID_ARGUMENT,
              name + " is of type " + type + ", the plan takes " + wanted + ": " + set + "pass " + wanted);
}

/// The field of a descriptor that says the type of an operand, where it could say `given`.
const char* dtype_field(const Problem& problem, tessera_role role, tessera_dtype given) {
  const auto may_be = [&](tessera_dtype usual) { return given == usual || given == scalar_dtype(usual); };
  if (role == TESSERA_ROLE_BIAS) return may_be(problem.gemm.dtype_d) ? "dtype_bias" : nullptr;
  if (problem.op != TESSERA_OP_GEMM || !is_known(DType(given))) return "dtype";
  const std::size_t a = size_of(problem.gemm.dtype), b = size_of(problem.gemm.dtype_b);
  const tessera_dtype wider = b > a ? problem.gemm.dtype_b : problem.gemm.dtype;
  if (role == TESSERA_ROLE_C || role == TESSERA_ROLE_D) return may_be(wider) ? "dtype_d" : nullptr;
  const bool mixed = problem.gemm.dtype != problem.gemm.dtype_b;
  const bool first = problem.operands[Problem::kA].role == role;  // of the two, which may have changed places
  const std::size_t other = first ? b : a, size = size_of(given);
  const bool fits =
      size == 2 * other || other == 2 * size || given == (first ? problem.gemm.dtype_b : problem.gemm.dtype);
  if (role == TESSERA_ROLE_B && fits) return "dtype_b";
  return mixed && !fits ? nullptr : "dtype";
}

}  // namespace

void Plan::examine_scalar(const tessera_execution& e, std::size_t index) const {
  const std::string name = problem_.scalar_names[index];
  const tessera_scalar& given = element(e.scalars, e.scalar_size, index);
  if (given.dtype != problem_.scalar_dtype) refuse_dtype(name, given.dtype, problem_.scalar_dtype, nullptr);
  if (given.reserved != 0) invalid("reserved of " + name, given.reserved, "must be 0");
  if (given.imaginary != 0.0 && !is_complex(problem_.scalar_dtype))
    invalid("imaginary of " + name, text_of(given.imaginary), "must be 0: the plan's type is real");
  plugin::refuse_tail(&given, sizeof given, e.scalar_size, name.c_str());
}

void Plan::examine_operand(const tessera_execution& e, std::size_t index, const tessera_operand& given) const {
  const Operand& known = problem_.operands[index];
  const char* const name = operand_with(given.role).name;  // of C, where that is D
  if (given.dtype != known.dtype)
    refuse_dtype(name, given.dtype, known.dtype, dtype_field(problem_, known.role, given.dtype));
  plugin::refuse_tail(&given, sizeof given, e.operand_size, name);
  const auto address = reinterpret_cast<std::uintptr_t>(given.data);
  if (problem_.is_prepared(index)) {
    if (address != 0) invalid(name, "not null", "must be null: the plan has it, prepared");
    return;
  }
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
  const bool c_is_d = in_place(operands);
  for (Apart& pair : apart_) {
    const void *const written = operands[pair.written].data, *const other = operands[pair.other].data;
    if (written == nullptr || other == nullptr || prepared_[pair.other] != nullptr) continue;
    if (c_is_d && pair.other == Problem::kC) continue;  // D is among the others
    const auto distance =
        std::int64_t(reinterpret_cast<std::uintptr_t>(written) - reinterpret_cast<std::uintptr_t>(other));
    if (std::find(pair.distances.begin(), pair.distances.end(), distance) == pair.distances.end())
      require_apart(pair, distance,
                    problem_.operands[c_is_d && pair.written == output_ ? Problem::kC : pair.written].name);
  }
}

void Plan::require_apart(Apart& pair, std::int64_t distance, const char* name) {
  const Operand &read = problem_.operands[pair.other], &written = problem_.operands[pair.written];
  const std::int64_t size = element_size(read.dtype), size_written = element_size(written.dtype);
  const std::int64_t unit = std::min(size, size_written);
  const std::int64_t between = written.layout.origin() * (size_written / unit) - read.layout.origin() * (size / unit);
  if (share_element(read.layout.split(size / unit), written.layout.split(size_written / unit),
                    distance / unit + between))
    invalid(name, "an array that overlaps " + std::string(read.name),
            "they must not share an element; blocks of one parent array are fine");
  pair.distances[pair.next] = distance;
  pair.next = (pair.next + 1) % pair.distances.size();
}

}  // namespace tessera::core
