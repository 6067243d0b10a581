// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/plan_key.hpp"

#include "problem/problem.hpp"

#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace tessera::core {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// Their bytes are compared: no padding.
static_assert(std::has_unique_object_representations_v<tessera_gemm_desc>);
static_assert(sizeof(tessera_tap) == sizeof(std::int64_t[TESSERA_MAX_RANK]) + sizeof(double));
static_assert(sizeof(tessera_stencil_desc) == sizeof(std::uint64_t[2]) + sizeof(std::int32_t[6]) +
                                                  sizeof(std::int64_t[3 * TESSERA_MAX_RANK + 2]) +
                                                  sizeof(tessera_tap*) + sizeof(tessera_boundary[TESSERA_MAX_RANK][2]) +
                                                  sizeof(double[TESSERA_MAX_RANK][2]));

/// Whether the taps can be read.
bool readable(const tessera_stencil_desc& d) {
  return d.rank >= 1 && d.rank <= TESSERA_MAX_RANK && d.taps != nullptr && d.tap_count >= 1 &&
         d.tap_size == sizeof(tessera_tap);
}

}  // namespace

PlanKey::PlanKey(const Context* context, const tessera_desc* desc, const PlanOptions& options) {
  add(reinterpret_cast<std::uintptr_t>(context));
  add(std::uint64_t(std::uint32_t(options.operands)) | std::uint64_t(std::uint32_t(effort(options))) << 32);
  const PlanLimits most = limits(options);
  add(most.workspace);
  add(std::uint64_t(most.multiprocessors));
  add(reinterpret_cast<std::uintptr_t>(options.prepared.get()));
  add(options.algorithm.size());
  add(options.algorithm.data(), options.algorithm.size());
  std::uint64_t size = 0;
  if (desc != nullptr) std::memcpy(&size, desc, sizeof size);
  const tessera_op op = size >= offsetof(tessera_desc, op) + sizeof(tessera_op) ? desc->op : 0;
  if (op == TESSERA_OP_GEMM)
    add_gemm(desc);
  else if (op == TESSERA_OP_STENCIL)
    add_stencil(desc);
  else if (op == TESSERA_OP_SYSTEM)
    throw plugin::Error(TESSERA_UNSUPPORTED,
                        "the plan cache keeps no plans of systems: keep the plan that tessera_plan_create makes");
  else
    validate(desc);  // says what is wrong
}

void PlanKey::add(const void* bytes, std::size_t size) {
  const std::size_t first = size_, words = (size + kWord - 1) / kWord;
  if (words == 0) return;
  if (begin_ == more_.data() || first + words > room_.size()) {
    if (begin_ == room_.data()) more_.assign(begin_, begin_ + first);
    more_.resize(first + words);
    begin_ = more_.data();
  }
  size_ = first + words;
  begin_[size_ - 1] = 0;
  std::memcpy(begin_ + first, bytes, size);
}

void PlanKey::add_gemm(const tessera_desc* desc) {
  auto d = plugin::read_struct<tessera_gemm_desc>(desc, "the GEMM descriptor");
  d.struct_size = sizeof d;
  add(&d, sizeof d);
}

void PlanKey::add_stencil(const tessera_desc* desc) {
  auto d = plugin::read_struct<tessera_stencil_desc>(desc, "the stencil descriptor");
  if (!readable(d)) validate(desc);  // says what is wrong, unless the taps come with fields that do not matter
  const auto* taps = reinterpret_cast<const unsigned char*>(d.taps);
  const std::uint64_t tap_size = d.tap_size;
  d.struct_size = sizeof d;
  d.taps = nullptr;
  d.tap_size = sizeof(tessera_tap);
  for (int axis = 0; axis < TESSERA_MAX_RANK; ++axis) {
    if (axis >= d.rank) d.extents[axis] = d.in_strides[axis] = d.out_strides[axis] = 0;
    for (int side = 0; side < 2; ++side) {
      if (axis >= d.rank) d.boundary[axis][side] = 0;
      if (d.boundary[axis][side] != TESSERA_BOUNDARY_CONSTANT) d.boundary_value[axis][side] = 0.0;
    }
  }
  add(&d, sizeof d);
  if (tap_size == sizeof(tessera_tap)) return add(taps, std::size_t(d.tap_count) * sizeof(tessera_tap));
  for (std::int64_t t = 0; t < d.tap_count; ++t) add(taps + std::uint64_t(t) * tap_size, sizeof(tessera_tap));
}

/// Multiplies and rotates: good enough for words that differ, and a few nanoseconds for a product.
std::uint64_t PlanKey::hash() const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  std::uint64_t low = size_, high = kOdd;
  for (std::size_t i = 0; i + 1 < size_; i += 2) {  // two chains of multiplications beside each other
    low = std::rotl((low ^ begin_[i]) * kOdd, 29);
    high = std::rotl((high ^ begin_[i + 1]) * kOdd, 31);
  }
  if (size_ % 2 != 0) low = (low ^ begin_[size_ - 1]) * kOdd;
  const std::uint64_t mixed = (low ^ std::rotl(high, 17)) * kOdd;
  return mixed ^ (mixed >> 32);
}

}  // namespace tessera::core
