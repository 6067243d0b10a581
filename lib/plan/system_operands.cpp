// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/system_operands.hpp"

#include "check.hpp"

#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace tessera::core {
namespace {

const tessera_operand& element(const tessera_execution& e, std::uint64_t index) {
  return *reinterpret_cast<const tessera_operand*>(reinterpret_cast<const char*>(e.operands) + index * e.operand_size);
}

bool share_element(const Operand& a, const void* at_a, const Operand& b, const void* at_b) {
  const std::int64_t size_a = element_size(a.dtype), size_b = element_size(b.dtype), unit = std::min(size_a, size_b);
  const auto distance =
      std::int64_t(reinterpret_cast<std::uintptr_t>(at_b) - reinterpret_cast<std::uintptr_t>(at_a)) / unit;
  return core::share_element(a.layout.split(size_a / unit), b.layout.split(size_b / unit), distance);
}

}  // namespace

SystemOperands::SystemOperands(const Problem& problem) : problem_(problem), operands_(problem.operands.size()) {
  for (std::vector<void*>& pointers : apart_) pointers.assign(operands_.size(), nullptr);
}

std::vector<tessera_operand>& SystemOperands::take(const tessera_execution& e) {
  check_shape(e);
  for (std::size_t i = 0; i < operands_.size(); ++i) operands_[i] = {nullptr, 0, problem_.operands[i].role};
  for (std::uint64_t i = 0; i < e.operand_count; ++i) {
    const tessera_operand& given = element(e, i);
    const std::size_t place = place_of(given.role);
    if (operands_[place].dtype != 0) invalid(problem_.operands[place].name, "given twice", "must come once");
    plugin::refuse_tail(&given, sizeof given, e.operand_size, problem_.operands[place].name);
    check(place, given);
    operands_[place] = given;
  }
  for (std::size_t i = 0; i < operands_.size(); ++i)
    if (operands_[i].dtype == 0) refuse_missing(e.operand_count);
  skip_rows(e.first_step);
  check_overlap();
  return operands_;
}

/// That there are operands to read; which they are is checked as they are taken.
void SystemOperands::check_shape(const tessera_execution& e) const {
  if (e.scalar_count != 0) invalid("scalar_count", std::int64_t(e.scalar_count), "must be 0");
  at_least("first_step", e.first_step, 0);
  if (e.operand_count == 0) return;
  if (e.operands == nullptr)
    invalid("operands", "null", "must point to " + std::to_string(e.operand_count) + " operands");
  constexpr std::uint64_t size = sizeof(tessera_operand);
  plugin::check_size(e.operand_size, size, size, "the operands", "operand_size");
}

/// Every one that was given has a place of its own, so that there are too few.
void SystemOperands::refuse_missing(std::uint64_t count) const {
  std::vector<std::string> names, roles;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].dtype != 0) continue;
    names.push_back(problem_.operands[i].name);
    roles.push_back(std::to_string(problem_.operands[i].role));
  }
  throw Error(TESSERA_INVALID_ARGUMENT,
              join_few(names) + (names.size() == 1 ? " is" : " are") +
                  " missing: each field has an array, a state one for each of its levels (in C " +
                  std::to_string(operands_.size()) + " operands, not " + std::to_string(count) + ", with the roles " +
                  join_few(roles) + " as well)");
}

std::size_t SystemOperands::place_of(tessera_role role) const {
  const auto& known = problem_.operands;
  const auto found = std::find_if(known.begin(), known.end(), [&](const Operand& o) { return o.role == role; });
  if (found != known.end()) return std::size_t(found - known.begin());
  std::vector<std::string> roles;
  for (const Operand& operand : known)
    roles.push_back(std::string(operand.name) + " (role " + std::to_string(operand.role) + ")");
  invalid("role", role, "must be one of the plan's: " + join_few(roles));
}

void SystemOperands::check(std::size_t place, const tessera_operand& given) const {
  const Operand& known = problem_.operands[place];
  if (given.dtype != known.dtype) {
    validate_dtype(std::string("dtype of ") + known.name, given.dtype);
    const std::string type = name_of(given.dtype), wanted = name_of(known.dtype);
    const char* const set =
        known.role < TESSERA_ROLE_INJECTED ? "set dtype of its field or of the system" : "set dtype of the system";
    throw Error(TESSERA_INVALID_ARGUMENT, std::string(known.name) + " is of type " + type + ", the plan takes " +
                                              wanted + ": " + set + ", or pass " + wanted);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(given.data);
  if (address == 0 && !known.layout.empty())
    invalid(known.name, "null", "must point to " + std::to_string(known.layout.reach() + 1) + " elements");
  const std::int64_t size = element_size(known.dtype);
  if (address % std::uintptr_t(size) != 0)
    invalid(known.name, std::int64_t(address), "must be aligned to its elements of " + std::to_string(size) + " bytes");
}

void SystemOperands::skip_rows(std::int64_t first_step) {
  if (first_step == 0) return;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& known = problem_.operands[i];
    if (known.role < TESSERA_ROLE_INJECTED || known.layout.empty()) continue;
    const std::int64_t row = known.layout.strides[0] * element_size(known.dtype);
    if (first_step > INT64_MAX / row - problem_.system->system().steps)
      invalid(
          "first_step", first_step,
          std::string(known.name) + ", a row a step of " + std::to_string(row) + " bytes, must stay below 2^63 bytes");
    operands_[i].data = static_cast<char*>(operands_[i].data) + first_step * row;
  }
}

void SystemOperands::check_overlap() {
  const auto fields = std::size_t(std::count_if(
      operands_.begin(), operands_.end(), [](const tessera_operand& o) { return o.role < TESSERA_ROLE_INJECTED; }));
  for (std::size_t i = fields; i < operands_.size(); ++i)  // their rows differ from execution to execution
    for (std::size_t j = 0; j < i; ++j) require_apart(i, j);
  const auto same = [&](const std::vector<void*>& pointers) {
    return std::equal(pointers.begin(), pointers.begin() + std::ptrdiff_t(fields), operands_.begin(),
                      [](void* pointer, const tessera_operand& operand) { return pointer == operand.data; });
  };
  if (std::any_of(apart_.begin(), apart_.end(), same)) return;
  for (std::size_t i = 0; i < fields; ++i)
    for (std::size_t j = 0; j < i; ++j) require_apart(i, j);
  std::vector<void*>& cleared = apart_[next_];
  for (std::size_t i = 0; i < fields; ++i) cleared[i] = operands_[i].data;
  next_ = (next_ + 1) % kRemembered;
}

void SystemOperands::require_apart(std::size_t i, std::size_t j) const {
  const Operand &a = problem_.operands[i], &b = problem_.operands[j];
  if (!a.written && !b.written) return;
  const auto begin = [this](std::size_t k) { return reinterpret_cast<std::uintptr_t>(operands_[k].data); };
  const auto end = [&](std::size_t k, const Operand& o) {
    return begin(k) + std::uintptr_t(o.layout.reach() + 1) * std::uintptr_t(element_size(o.dtype));
  };
  if (end(i, a) <= begin(j) || end(j, b) <= begin(i)) return;
  if (share_element(a, operands_[i].data, b, operands_[j].data))
    invalid(b.name, "an array that overlaps " + std::string(a.name),
            "they must not share an element; blocks of one parent array are fine");
}

}  // namespace tessera::core
