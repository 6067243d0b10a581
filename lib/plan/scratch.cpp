// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/scratch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

namespace tessera::core {
namespace {

/// Half of the distance between 1 and the next number.
double unit_of(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>)
      return double(std::numeric_limits<T>::epsilon()) / 2;
    else
      return std::is_same_v<T, float16> ? 0x1p-11 : 0x1p-8;
  });
}

/// The largest whole number so that k products of two have an exact sum in the type of sums; all are exact in 8 bits.
double largest_number(const Problem& problem) {
  double most = 127;
  if (problem.op != TESSERA_OP_GEMM) return most;
  const double k = double(std::max<std::int64_t>(problem.gemm.k, 1)), exact = 1.0 / unit_of(problem.scalar_dtype);
  while (most > 1 && most * most * k > exact) --most;
  return most;
}

/// x^n, without the library of mathematics, which the core does without.
double power(double x, std::int64_t n) {
  double result = 1.0;
  for (; n > 0; n /= 2, x *= x)
    if (n % 2 != 0) result *= x;
  return result;
}

std::vector<unsigned char> random_block(tessera_dtype dtype, double most, std::size_t bytes) {
  std::minstd_rand random(1);
  std::uniform_int_distribution<int> number(-int(most), int(most));
  std::vector<unsigned char> block(bytes);
  with_types(dtype, [&]<class T>(std::type_identity<T>) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
      const T value = T(Scalar<T>(number(random)));
      std::memcpy(block.data() + at, &value, sizeof value);
    }
  });
  return block;
}

}  // namespace

Scratch::Scratch(const std::shared_ptr<Context>& context, const Problem& problem)
    : context_(context), problem_(problem), most_(largest_number(problem)) {
  constexpr std::int64_t kMostSets = 64, kAlignment = 256;
  const std::int64_t bytes_of_sets = std::int64_t(context->on_host() ? 32 : 96) << 20;
  std::int64_t bytes = 0;
  for (const Operand& operand : problem.operands) {
    const std::int64_t own = (operand.layout.reach() + 1) * element_size(operand.dtype);
    distances_.push_back((own + kAlignment - 1) / kAlignment * kAlignment);
    bytes += distances_.back();
  }
  sets_ = std::clamp<std::int64_t>(bytes_of_sets / std::max<std::int64_t>(bytes, 1), 1, kMostSets);
  const tessera_role first = problem.op == TESSERA_OP_GEMM ? TESSERA_ROLE_A : TESSERA_ROLE_IN;
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    memory_.push_back(std::make_unique<DeviceMemory>(context, sets_ * distances_[i]));
    fill(i);
    operands_.push_back({nullptr, problem.operands[i].dtype, tessera_role(first + tessera_role(i))});
  }
  for (int i = 0; i < 2; ++i) scalars_[i] = {problem.scalar_dtype, 0, i == 0 ? 1.0 : 0.0, 0.0};
}

/// By a block that is repeated: random numbers for all would take longer than most problems.
void Scratch::fill(std::size_t operand) {
  constexpr std::int64_t kBlock = std::int64_t(1) << 20;
  DeviceMemory& memory = *memory_[operand];
  const std::int64_t bytes = memory.bytes(), block = std::min(bytes, kBlock);
  if (bytes == 0) return;
  memory.upload(0, random_block(problem_.operands[operand].dtype, most_, std::size_t(block)).data(), block);
  memory.repeat(block);
}

tessera_execution Scratch::next(void* workspace, std::uint64_t workspace_bytes) {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = problem_.operands[i];
    operands_[i].data = static_cast<unsigned char*>(memory_[i]->data()) + next_ * distances_[i] -
                        operand.layout.origin() * element_size(operand.dtype);
  }
  next_ = (next_ + 1) % sets_;
  return {sizeof(tessera_execution), operands_.data(), sizeof(tessera_operand),
          operands_.size(),          scalars_,         sizeof(tessera_scalar),
          problem_.scalar_count,     workspace,        workspace_bytes};
}

std::vector<double> Scratch::sample() const {
  constexpr std::int64_t kElements = 4096;
  const Operand& output = problem_.operands[problem_.output()];
  const DeviceMemory& memory = *memory_[problem_.output()];
  const std::int64_t size = element_size(output.dtype), elements = output.layout.reach() + 1;
  const std::int64_t count = std::min(elements, kElements);
  std::vector<double> values;
  std::vector<unsigned char> bytes(std::size_t(count * size));
  for (const std::int64_t first : {std::int64_t(0), (elements - count) / 2, elements - count}) {
    memory.download(first * size, bytes.data(), count * size);
    with_types(output.dtype, [&]<class T>(std::type_identity<T>) {
      for (std::int64_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, bytes.data() + i * std::int64_t(sizeof value), sizeof value);
        values.push_back(double(Scalar<T>(value)));
      }
    });
  }
  return values;
}

/// Sums of products are exact, so that what is left is the activation, whose argument is below k most^2 + most, and
/// which errs by 8 u of it (docs/testing.md), and the rounding to D's type. A step of a stencil errs by (t + 4) u of
/// sum |c| times the largest number, and passes on what came before by sum |c|.
double Scratch::tolerance(double value) const {
  const double unit = unit_of(problem_.scalar_dtype);
  const tessera_dtype output = problem_.operands[problem_.output()].dtype;
  const double rounding = 2 * unit_of(output) * std::abs(value);
  if (problem_.op == TESSERA_OP_GEMM) {
    const bool exact = problem_.gemm.activation == TESSERA_ACTIVATION_NONE;
    const double argument = double(problem_.gemm.k) * most_ * most_ + most_;
    const double sums = largest_number(problem_) > 1.0 ? 0.0 : double(problem_.gemm.k) * 2 * unit * argument;
    return exact ? sums : sums + 16 * unit * argument + rounding;
  }
  double gain = 0.0;
  for (const tessera_tap& tap : problem_.taps) gain += std::abs(tap.coefficient);
  const double steps = double(problem_.stencil.steps), growth = power(std::max(gain, 1.0), problem_.stencil.steps);
  const double taps = double(problem_.taps.size()) + 4;
  return 2 * steps * growth * most_ * (taps * unit + 2 * unit_of(output)) + rounding;
}

}  // namespace tessera::core
