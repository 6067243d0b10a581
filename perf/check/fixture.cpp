// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::perf {

namespace {

/// Sets of operands begin at multiples of this.
constexpr std::int64_t kAlignment = 256;

using Use = SystemOperand::Use;

}  // namespace

std::int64_t Fixture::sets(const Device& device, const Problem& problem) {
  const double beyond = 2.0 * double(device.cache_bytes());
  return std::max<std::int64_t>(1, std::int64_t(std::ceil(beyond / std::max(problem.footprint(), 4.0 * kAlignment))));
}

double Fixture::bytes(const Device& device, const Problem& problem) {
  return double(sets(device, problem)) * (problem.footprint() + 4.0 * kAlignment);
}

Fixture::Fixture(Device& device, const Problem& problem, std::uint64_t seed)
    : device_(&device), problem_(problem), seed_(seed), sets_(sets(device, problem)) {
  if (is_system()) {
    for (std::size_t i = 0; i < problem.operands.size(); ++i) {
      const SystemOperand& o = problem.operands[i];
      const bool changes = o.use == Use::state || o.use == Use::recorded;
      add(problem.kind.dtype, o.count, operand_seed(seed, i), o.range, o.use == Use::recorded, changes);
    }
  } else {
    for (std::size_t i = 0; i < Reference::kOut; ++i)
      add(problem.in_dtype(i), problem.in_count[i], input_seed(seed, int(i)), {}, false, false);
    const bool added = problem.gemm.beta != 0.0f;  // to what is there
    add(problem.kind.dtype_out, problem.out_count, input_seed(seed, Reference::kOut), {}, !added, true);
  }
  restore();
}

Fixture::~Fixture() {
  for (const Operand& operand : operands_)
    if (operand.memory != nullptr) device_->release(operand.memory);
}

void Fixture::add(DType dtype, std::int64_t count, std::uint64_t seed, Range range, bool written, bool restored) {
  const std::int64_t bytes = count * std::int64_t(size_of(dtype));
  const std::int64_t distance = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  Operand& operand = operands_.emplace_back(Operand{dtype, count, seed, range, written, restored, distance});
  if (count == 0) return;
  operand.memory = static_cast<char*>(device_->allocate(std::size_t(sets_ * distance)));
  if (!restored) fill(operand);
}

/// Element i of the first set is that of the seed, which checks know.
void Fixture::fill(const Operand& o) {
  if (o.written)
    device_->poison(o.memory, std::size_t(sets_ * o.distance));
  else
    device_->fill(o.memory, o.dtype, sets_ * o.distance / std::int64_t(size_of(o.dtype)), o.seed, o.range);
}

void Fixture::restore() {
  lists_.assign(std::size_t(sets_), {});
  for (const Operand& operand : operands_) {
    if (operand.restored) fill(operand);
    for (std::int64_t set = 0; set < sets_; ++set)
      lists_[std::size_t(set)].push_back(operand.memory + set * operand.distance);
  }
}

Reference& Fixture::reference() {
  if (!reference_) reference_.emplace(problem_, seed_);
  return *reference_;
}

void Fixture::execute(const Execute& function, std::int64_t i, bool hot) const {
  std::vector<void*>& list = lists_[std::size_t(hot ? 0 : i % sets_)];
  if (is_system())
    function(nullptr, list.data());
  else
    function(list.data(), list[Reference::kOut]);
}

Verdict Fixture::check(const Execute& function, double& seconds, Rounding rounding) {
  restore();
  seconds = device_->time([&] { execute(function, 0, true); });
  return reference().check(*device_, lists_[0].data(), rounding);
}

Verdict Fixture::chain(const Execute& part) {
  if (is_system()) return chain_of_steps(part);
  const std::size_t bytes = problem_.out_bytes();
  const auto release = [this](void* memory) { device_->release(memory); };
  const std::unique_ptr<void, decltype(release)> second(device_->allocate(bytes), release);
  std::vector<void*> list = lists_[0];  // out of which the next part reads
  void* const out[] = {list[Reference::kOut], second.get()};
  for (void* const memory : out) device_->poison(memory, bytes);
  Verdict verdict;
  for (std::int64_t i = 0; i < Problem::kParts; ++i) {
    const void* const in = i == 0 ? list[0] : list[Reference::kOut];
    list[Reference::kOut] = out[i % 2];
    part(&in, list[Reference::kOut]);
    if (i > 0) continue;
    verdict = Reference(problem_.part(), seed_).check(*device_, list.data());
    if (!verdict.failure.empty()) return verdict;
  }
  reference().adopt(*device_, list.data());
  return verdict;
}

Verdict Fixture::chain_of_steps(const Execute& step) {
  restore();
  const auto is_series = [this](std::size_t i) { return problem_.operands[i].use >= Use::injected; };
  std::vector<void*>& list = lists_[0];
  Verdict verdict;
  for (std::int64_t i = 0; i < problem_.parts(); ++i) {
    // Each step has its own row of the series.
    for (std::size_t s = 0; s < list.size(); ++s)
      if (const Operand& o = operands_[s]; is_series(s))
        list[s] = o.memory + i * (o.count / problem_.parts()) * std::int64_t(size_of(o.dtype));
    step(nullptr, list.data());
    if (i > 0) continue;
    verdict = Reference(problem_.part(), seed_).check(*device_, list.data());
    if (!verdict.failure.empty()) return verdict;
  }
  for (std::size_t s = 0; s < list.size(); ++s)
    if (is_series(s)) list[s] = operands_[s].memory;
  reference().adopt(*device_, list.data());
  return verdict;
}

}  // namespace tessera::perf
