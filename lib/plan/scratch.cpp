// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/scratch.hpp"

#include "check.hpp"
#include "plan/backend_plan.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <type_traits>

namespace tessera::core {
namespace {

/// Half of the distance between 1 and the next number, of a complex type's parts.
double unit_of(tessera_dtype dtype) {
  return with_types(real_type(dtype), []<class T>(std::type_identity<T>) {
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
  const double products = is_complex(problem.gemm.dtype) ? 2.0 : 1.0;  // of a part
  const double k = products * double(std::max<std::int64_t>(problem.gemm.k, 1)),
               exact = 1.0 / unit_of(problem.scalar_dtype);
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

/// Of the host's memory, without driving others out: it is promised to whoever asks, and who touches too much is ended.
std::int64_t available_bytes() {
  std::int64_t kibibytes = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/meminfo", "re"), std::fclose);
  std::array<char, 128> line{};
  while (file != nullptr && std::fgets(line.data(), int(line.size()), file.get()) != nullptr)
    if (std::sscanf(line.data(), "MemAvailable: %" SCNd64, &kibibytes) == 1) break;
  return kibibytes > 0 ? kibibytes * 1024 / 4 * 3 : std::numeric_limits<std::int64_t>::max() / 2;
}

std::vector<unsigned char> random_block(tessera_dtype dtype, double most, std::size_t bytes) {
  std::minstd_rand random(1);
  std::uniform_int_distribution<int> number(-int(most), int(most));
  std::vector<unsigned char> block(bytes);
  with_types(real_type(dtype), [&]<class T>(std::type_identity<T>) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
      const T value = T(Scalar<T>(number(random)));
      std::memcpy(block.data() + at, &value, sizeof value);
    }
  });
  return block;
}

/// Of an operand of a set.
constexpr std::int64_t kAlignment = 256;

}  // namespace

class Scratch::Memory {
 public:
  Memory(const std::shared_ptr<Context>& context, std::int64_t bytes) : bytes_(bytes) {
    if (context != nullptr)
      device_ = std::make_unique<DeviceMemory>(context, bytes);
    else
      host_.reset(static_cast<unsigned char*>(::operator new(std::size_t(bytes), kAlignment, std::nothrow)));
    if (device_ == nullptr && host_ == nullptr)
      throw Error(TESSERA_OUT_OF_MEMORY, "no " + std::to_string(bytes) + " bytes of the host's memory to measure on");
  }

  unsigned char* data() const { return device_ ? static_cast<unsigned char*>(device_->data()) : host_.get(); }
  std::int64_t bytes() const { return bytes_; }
  /// Copies of the block from end to end.
  void repeat(const std::vector<unsigned char>& block) {
    const auto size = std::int64_t(block.size());
    if (device_) {
      device_->upload(0, block.data(), size);
      return device_->repeat(size);
    }
    for (std::int64_t at = 0; at < bytes_; at += size)
      std::memcpy(host_.get() + at, block.data(), std::size_t(std::min(size, bytes_ - at)));
  }
  void upload(std::int64_t offset, const std::vector<unsigned char>& source) {
    if (device_) return device_->upload(offset, source.data(), std::int64_t(source.size()));
    std::memcpy(host_.get() + offset, source.data(), source.size());
  }
  void download(std::int64_t offset, void* target, std::int64_t bytes) const {
    if (device_) return device_->download(offset, target, bytes);
    std::memcpy(target, host_.get() + offset, std::size_t(bytes));
  }

 private:
  static constexpr std::align_val_t kAlignment{256};
  struct Free {
    void operator()(unsigned char* data) const { ::operator delete(data, kAlignment); }
  };
  std::int64_t bytes_;
  std::unique_ptr<DeviceMemory> device_;
  std::unique_ptr<unsigned char, Free> host_;
};

Scratch::~Scratch() = default;

Scratch::Scratch(const std::shared_ptr<Context>& context, const Problem& problem)
    : problem_(problem), most_(largest_number(problem)) {
  // A device that fills its memory itself does so at once with more than its cache holds; others take milliseconds.
  const bool host = context == nullptr || context->on_host();
  const bool quick = !host && context->optional(&tessera_backend::buffer_repeat) != nullptr;
  const std::int64_t bytes_of_sets = std::int64_t(host ? 32 : 96) << 20, most_sets = quick ? bytes_of_sets : 64;
  const std::int64_t most_bytes = host ? available_bytes() : std::int64_t(1) << 50;
  std::int64_t bytes = 0;
  for (const Operand& operand : problem.operands) {
    const std::int64_t own = (operand.layout.reach() + 1) * element_size(operand.dtype);
    if (own > most_bytes - bytes - kAlignment)
      throw Error(TESSERA_OUT_OF_MEMORY,
                  "there are " + std::to_string(most_bytes) + " bytes to measure on, fewer than the operands have");
    distances_.push_back((own + kAlignment - 1) / kAlignment * kAlignment);
    bytes += distances_.back();
  }
  sets_ = std::clamp<std::int64_t>(bytes_of_sets / std::max<std::int64_t>(bytes, 1), 1, most_sets);
  const tessera_role first = problem.op == TESSERA_OP_GEMM ? TESSERA_ROLE_A : TESSERA_ROLE_IN;
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const bool behind = problem.op == TESSERA_OP_GEMM && i > Problem::kD;
    const tessera_role role = behind ? problem.operands[i].role : tessera_role(first + tessera_role(i));
    operands_.push_back({nullptr, problem.operands[i].dtype, role});
    memory_.push_back(filled(context, i));
    if (problem.is_prepared(i)) memory_.back() = prepared(context, *memory_.back());
  }
  for (int i = 0; i < 2; ++i) scalars_[i] = {problem.scalar_dtype, 0, i == 0 ? 1.0 : 0.0, 0.0};
}

/// By a block that is repeated: random numbers for all would take longer than most problems.
std::unique_ptr<Scratch::Memory> Scratch::filled(const std::shared_ptr<Context>& context, std::size_t operand) const {
  constexpr std::int64_t kBlock = std::int64_t(1) << 18;
  auto memory = std::make_unique<Memory>(context, sets_ * distances_[operand]);
  const std::int64_t block = std::min(memory->bytes(), kBlock);
  if (block > 0) memory->repeat(random_block(problem_.operands[operand].dtype, most_, std::size_t(block)));
  return memory;
}

std::unique_ptr<Scratch::Memory> Scratch::prepared(const std::shared_ptr<Context>& context, const Memory& sets) {
  const PreparedPlace& own = *problem_.prepared;
  std::int64_t& distance = distances_[own.place];
  const std::int64_t bytes = (own.bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto memory = std::make_unique<Memory>(context, sets_ * bytes);
  for (std::int64_t i = 0; i < sets_; ++i)
    write_form(*context, problem_, own.place, own.form, sets.data() + i * distance, memory->data() + i * bytes);
  context->synchronize();
  distance = bytes;
  return memory;
}

tessera_execution Scratch::next(void* workspace, std::uint64_t workspace_bytes) {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = problem_.operands[i];
    operands_[i].data =
        memory_[i]->data() + next_ * distances_[i] - operand.layout.origin() * element_size(operand.dtype);
  }
  next_ = (next_ + 1) % sets_;
  return {sizeof(tessera_execution),
          operands_.data(),
          sizeof(tessera_operand),
          operands_.size(),
          scalars_,
          sizeof(tessera_scalar),
          problem_.scalar_count,
          workspace,
          workspace_bytes,
          0};
}

std::pair<std::int64_t, std::array<std::int64_t, 3>> Scratch::windows() const {
  constexpr std::int64_t kElements = 4096;
  const std::int64_t elements = problem_.operands[problem_.output()].layout.reach() + 1;
  const std::int64_t count = std::min(elements, kElements);
  return {count, {0, (elements - count) / 2, elements - count}};
}

/// All bits set are a NaN in each type.
void Scratch::spoil() {
  const std::size_t output = problem_.output();
  const std::int64_t size = element_size(problem_.operands[output].dtype);
  const auto [count, begins] = windows();
  const std::vector<unsigned char> nan(std::size_t(count * size), 0xff);
  for (const std::int64_t first : begins) memory_[output]->upload(first * size, nan);
}

bool Scratch::beyond(double value) const {
  constexpr double kNear = 0.5;
  const tessera_dtype output = problem_.operands[problem_.output()].dtype;
  const double largest = with_types(real_type(output), []<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>)
      return double(std::numeric_limits<T>::max());
    else
      return std::is_same_v<T, float16> ? 65504.0 : double(std::numeric_limits<float>::max());
  });
  return !(std::abs(value) < kNear * largest);
}

std::vector<double> Scratch::sample() const {
  const Operand& output = problem_.operands[problem_.output()];
  const Memory& memory = *memory_[problem_.output()];
  const std::int64_t size = element_size(output.dtype);
  const auto [length, begins] = windows();
  const std::int64_t count = length;  // a lambda of clang 15 captures no structured binding
  std::vector<double> values;
  std::vector<unsigned char> bytes(std::size_t(count * size));
  for (const std::int64_t first : begins) {
    memory.download(first * size, bytes.data(), count * size);
    with_types(real_type(output.dtype), [&]<class T>(std::type_identity<T>) {
      for (std::int64_t i = 0; i < count * size / std::int64_t(sizeof(T)); ++i) {
        T value;
        std::memcpy(&value, bytes.data() + i * std::int64_t(sizeof value), sizeof value);
        values.push_back(double(Scalar<T>(value)));
      }
    });
  }
  return values;
}

/// Sums of products are exact, so that what is left is the activation, whose argument is below k most^2 + most, and
/// which errs by 8 u of it (docs/notes/bounds.md), and the rounding to D's type. A step of a stencil errs by (t + 4) u
/// of sum |c| times the largest number, and passes on what came before by sum |c|.
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
