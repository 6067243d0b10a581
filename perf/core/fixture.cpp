// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::perf {

namespace {

/// Sets of operands begin at multiples of this.
constexpr std::int64_t kAlignment = 256;

std::int64_t padded(std::int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

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
  if (problem.op == Op::system) system_ = std::make_unique<SystemFixture>(device, problem, seed, sets_);
  for (std::size_t operand = 0; operand <= kOut; ++operand) {
    const std::size_t bytes = operand < kOut ? problem.in_bytes(operand) : problem.out_bytes();
    if (bytes == 0) continue;
    distance_[operand] = padded(std::int64_t(bytes));
    memory_[operand] = static_cast<char*>(device.allocate(std::size_t(sets_ * distance_[operand])));
    if (operand < kOut) {
      const DType dtype = problem.in_dtype(operand);
      device.fill(memory_[operand], dtype, sets_ * distance_[operand] / std::int64_t(size_of(dtype)),
                  input_seed(seed, int(operand)), {});
    } else
      device.poison(memory_[operand], std::size_t(sets_ * distance_[operand]));
  }
}

Fixture::~Fixture() {
  for (char* memory : memory_)
    if (memory != nullptr) device_->release(memory);
}

Reference& Fixture::reference() {
  if (!reference_) reference_.emplace(problem_, seed_);
  return *reference_;
}

void Fixture::execute(const Execute& function, std::int64_t i, bool hot) const {
  const std::int64_t set = hot ? 0 : i % sets_;
  if (system_) return system_->execute(function, set);
  const void* const in[] = {memory_[0] + set * distance_[0], memory_[1] + set * distance_[1],
                            memory_[2] + set * distance_[2]};
  function(in, memory_[kOut] + set * distance_[kOut]);
}

Verdict Fixture::check(const Execute& function, double& seconds, Rounding rounding) {
  if (system_) return system_->check(function, seconds);
  device_->poison(memory_[kOut], problem_.out_bytes());
  seconds = device_->time([&] { execute(function, 0, true); });
  return reference().check(*device_, memory_[kOut], rounding);
}

Verdict Fixture::chain(const Execute& part) {
  if (system_) return system_->chain(part);
  const std::size_t bytes = problem_.out_bytes();
  const auto release = [this](void* memory) { device_->release(memory); };
  const std::unique_ptr<void, decltype(release)> second(device_->allocate(bytes), release);
  void* const out[] = {memory_[kOut], second.get()};
  for (void* const memory : out) device_->poison(memory, bytes);
  const void* in = memory_[0];
  Verdict verdict;
  for (std::int64_t i = 0; i < Problem::kParts; ++i) {
    part(&in, out[i % 2]);
    in = out[i % 2];
    if (i > 0) continue;
    verdict = Reference(problem_.part(), seed_).check(*device_, in);
    if (!verdict.failure.empty()) return verdict;
  }
  reference().adopt(*device_, in);
  return verdict;
}

}  // namespace tessera::perf
