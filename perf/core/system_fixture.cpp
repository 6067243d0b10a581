// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_fixture.hpp"

namespace tessera::perf {

namespace {

/// Sets begin at multiples of this.
constexpr std::int64_t kAlignment = 256;

}  // namespace

SystemFixture::SystemFixture(Device& device, const Problem& problem, std::uint64_t seed, std::int64_t sets)
    : device_(&device), problem_(problem), seed_(seed), sets_(sets) {
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const std::int64_t bytes = problem.operands[i].count * std::int64_t(size_of(problem.kind.dtype));
    distance_.push_back((bytes + kAlignment - 1) / kAlignment * kAlignment);
    memory_.push_back(static_cast<char*>(device.allocate(std::size_t(sets_ * distance_[i]))));
    fill(i);
  }
  restore();
}

SystemFixture::~SystemFixture() {
  for (char* memory : memory_) device_->release(memory);
}

/// Element i of the first set is that of the seed, which checks know.
void SystemFixture::fill(std::size_t operand) {
  const std::int64_t bytes = sets_ * distance_[operand];
  if (problem_.operands[operand].use == SystemOperand::Use::recorded)
    device_->poison(memory_[operand], std::size_t(bytes));
  else
    device_->fill(memory_[operand], problem_.kind.dtype, bytes / std::int64_t(size_of(problem_.kind.dtype)),
                  operand_seed(seed_, operand), problem_.operands[operand].range);
}

void SystemFixture::restore() {
  lists_.assign(std::size_t(sets_), {});
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const SystemOperand::Use use = problem_.operands[i].use;
    if (use == SystemOperand::Use::state || use == SystemOperand::Use::recorded) fill(i);
    for (std::int64_t set = 0; set < sets_; ++set) lists_[std::size_t(set)].push_back(memory_[i] + set * distance_[i]);
  }
}

SystemReference& SystemFixture::reference() {
  if (!reference_) reference_.emplace(problem_, seed_);
  return *reference_;
}

void SystemFixture::execute(const Execute& function, std::int64_t set) const {
  function(nullptr, lists_[std::size_t(set)].data());
}

Verdict SystemFixture::check(const Execute& function, double& seconds) {
  restore();
  seconds = device_->time([&] { execute(function, 0); });
  return reference().check(*device_, lists_[0].data());
}

Verdict SystemFixture::chain(const Execute& step) {
  restore();
  const Problem part = problem_.part();
  const std::int64_t size = std::int64_t(size_of(problem_.kind.dtype));
  std::vector<void*>& list = lists_[0];
  Verdict verdict;
  for (std::int64_t i = 0; i < problem_.parts(); ++i) {
    // Each step has its own row of the series.
    for (std::size_t s = 0; s < list.size(); ++s)
      if (const SystemOperand& operand = problem_.operands[s]; operand.use >= SystemOperand::Use::injected)
        list[s] = memory_[s] + i * (operand.count / problem_.parts()) * size;
    step(nullptr, list.data());
    if (i > 0) continue;
    verdict = SystemReference(part, seed_).check(*device_, list.data());
    if (!verdict.failure.empty()) return verdict;
  }
  for (std::size_t s = 0; s < list.size(); ++s)
    if (problem_.operands[s].use >= SystemOperand::Use::injected) list[s] = memory_[s];
  reference().adopt(*device_, list.data());
  return verdict;
}

}  // namespace tessera::perf
