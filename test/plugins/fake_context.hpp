// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The emulated device: its memory, its queue, and its faults.
#pragma once

#include "fake_stats.hpp"

#include <tessera/plugin/operand_copy.hpp>
#include <tessera/plugin/plugin.hpp>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::test {

using plugin::Error;

/// Set in every device pointer: no address of a process on x86-64 or aarch64 has it, so the host faults on a touch.
constexpr std::uintptr_t kDeviceBit = std::uintptr_t{1} << 54;
/// What lives in all contexts.
struct Alive {
  std::atomic<std::int64_t> contexts{0}, allocations{0}, plans{0};
};
inline Alive alive;

/// Fails where TESSERA_FAKE_FAULT says that this call of the entry shall.
inline void may_fail(std::string_view entry) {
  static std::mutex mutex;
  static std::string told;
  static std::int64_t calls = 0;
  const std::lock_guard lock(mutex);
  const char* const variable = std::getenv("TESSERA_FAKE_FAULT");
  if (std::string text = variable == nullptr ? "" : variable; text != told) told = std::move(text), calls = 0;
  if (!told.starts_with(entry) || told.size() <= entry.size() || told[entry.size()] != ':') return;
  const char* const end = told.data() + told.size();
  std::int64_t first = 0;
  const auto [rest, error] = std::from_chars(told.data() + entry.size() + 1, end, first);
  std::string_view how(rest, std::size_t(end - rest));
  const bool for_good = how.starts_with('+');
  if (for_good) how.remove_prefix(1);
  if (error != std::errc{} || (!how.empty() && how != ":memory"))
    throw Error(TESSERA_INTERNAL, "TESSERA_FAKE_FAULT = '" + told + "': must be 'entry:n[+][:memory]'");
  ++calls;
  if (calls != first && !(for_good && calls > first)) return;
  const std::string message = std::string(entry) + " fails as TESSERA_FAKE_FAULT says";
  throw Error(how.empty() ? TESSERA_DEVICE_ERROR : TESSERA_OUT_OF_MEMORY, message);
}

/// All that a model of time needs to know here.
struct FakeMachine {
  int threads;
  int multiprocessors = 16;
};

struct FakeContext {
  using Machine = FakeMachine;
  explicit FakeContext(const tessera_backend_context_desc& desc) {
    may_fail("context_create");
    ++alive.contexts;
    static std::atomic<std::int32_t> latest{0};
    stats_.threads = desc.threads;
    stats_.threads_of_the_one_before = latest.exchange(desc.threads);
    stats_.high_priority = desc.high_priority;
    stats_.wrapped_stream = desc.wrap_stream ? desc.native_stream : nullptr;
  }
  ~FakeContext() { --alive.contexts; }
  FakeContext(const FakeContext&) = delete;
  FakeContext& operator=(const FakeContext&) = delete;
  FakeMachine machine() const { return {stats_.threads}; }
  void* native_stream() {
    stats_.contexts_of_process = alive.contexts;
    stats_.allocations_of_process = alive.allocations;
    stats_.plans_of_process = alive.plans;
    return &stats_;
  }

  void* allocate(std::uint64_t bytes) {
    may_fail("buffer_allocate");
    if (bytes > (std::uint64_t{1} << 30))
      throw Error(TESSERA_OUT_OF_MEMORY, std::to_string(bytes) + " bytes asked for; the device has 1073741824");
    char* const memory = static_cast<char*>(std::aligned_alloc(256, (bytes / 256 + 1) * 256));
    if (memory == nullptr) throw std::bad_alloc();
    const auto undo = [](char* m) { std::free(m); };
    std::unique_ptr<char, decltype(undo)> owned(memory, undo);
    std::memset(memory, 0xff, (bytes / 256 + 1) * 256);
    const std::lock_guard lock(memory_);
    allocations_[memory] = bytes;
    owned.release();
    ++stats_.live_allocations, ++stats_.allocations, ++alive.allocations;
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) | kDeviceBit);
  }
  void free(void* data) noexcept {
    char* const memory = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(data) & ~kDeviceBit);
    const std::lock_guard lock(memory_);
    if (allocations_.erase(memory) == 0) return;
    --stats_.live_allocations, --alive.allocations;
    std::free(memory);
  }

  /// The host's view of [pointer + first, pointer + last), which must lie in one allocation.
  char* resolve(const void* pointer, std::int64_t first, std::int64_t last) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if ((address & kDeviceBit) == 0) throw Error(TESSERA_DEVICE_ERROR, "a host pointer was given to the device");
    char* const memory = reinterpret_cast<char*>(address & ~kDeviceBit);
    const std::lock_guard lock(memory_);
    auto after = allocations_.upper_bound(memory);
    if (after == allocations_.begin()) throw Error(TESSERA_DEVICE_ERROR, "illegal address");
    --after;
    const std::int64_t offset = memory - after->first;
    if (offset + first < 0 || offset + last > std::int64_t(after->second))
      throw Error(TESSERA_DEVICE_ERROR, "illegal address: outside the allocation");
    return memory;
  }

  void synchronize() {
    may_fail("synchronize");
    run_queue();
  }
#if defined(TESSERA_FAKE_FATAL)
  /// The other one must live until this one is waited for.
  void wait_for(FakeContext& earlier) {
    ++stats_.waits;
    queue_.push_back([&earlier] { earlier.run_queue(); });
  }
#endif
  void run_queue() {
    std::vector<std::function<void()>> work;
    work.swap(queue_);
    for (const auto& item : work) item();
  }
  void copy(const tessera_copy& c) {
    may_fail("copy");
    run_queue();
    ++stats_.copies;
    const bool to_device = c.direction == TESSERA_COPY_TO_DEVICE;
    std::int64_t index[TESSERA_COPY_MAX_RANK] = {}, reach = 0;
    for (int axis = 0; axis < c.rank; ++axis) {
      if (c.extents[axis] == 0) return;
      reach += (c.extents[axis] - 1) * (to_device ? c.target_strides : c.source_strides)[axis];
    }
    const std::int64_t bytes = (reach + 1) * std::int64_t(c.element_size);
    char* const target = to_device ? resolve(c.target, 0, bytes) : static_cast<char*>(c.target);
    const char* const source = to_device ? static_cast<const char*>(c.source) : resolve(c.source, 0, bytes);
    for (bool more = true; more;) {
      std::int64_t to = 0, from = 0;
      for (int axis = 0; axis < c.rank; ++axis) {
        to += index[axis] * c.target_strides[axis];
        from += index[axis] * c.source_strides[axis];
      }
      std::memcpy(target + to * std::int64_t(c.element_size), source + from * std::int64_t(c.element_size),
                  c.element_size);
      more = false;
      for (int axis = c.rank; axis-- > 0 && !more;) {
        if (++index[axis] < c.extents[axis])
          more = true;
        else
          index[axis] = 0;
      }
    }
  }

  /// Copies of operands when the queue runs.
  plugin::CopyOperand copying(const plugin::OperandCopy& c) {
    return plugin::with_copied_types(
        c, [this, c]<class From, class To>(std::type_identity<From>, std::type_identity<To>) -> plugin::CopyOperand {
          return [this, c](const void* from, void* to) {
            queue_.push_back([this, c, from, to] {
              const std::int64_t rows = c.rows * c.matrices;
              for (std::int64_t row = 0; row < rows; ++row)
                for (std::int64_t column = 0; column < c.columns; ++column) {
                  const std::int64_t at = row / c.rows * c.stride + row % c.rows * c.ld + column;
                  const From& read = reinterpret_cast<const From*>(resolve(from, 0, 0))[at];
                  To& written = reinterpret_cast<To*>(resolve(to, 0, 0))[row * c.copy_ld + column];
                  if constexpr (std::is_same_v<From, To>)
                    written = read;
                  else
                    written = To(plugin::Scalar<From>(read));
                }
            });
          };
        });
  }
  static double copying_seconds(const FakeMachine&, const plugin::OperandCopy&) { return 1.0; }

  /// Sums of D's rows or columns when the queue runs.
  plugin::SumBias summing(const plugin::BiasGradient& g) {
    return plugin::with_types(g.dtype, [this, g]<class T>(std::type_identity<T>) -> plugin::SumBias {
      return [this, g](const void* d, void* bias) {
        queue_.push_back([this, g, d, bias] {
          using S = plugin::Scalar<T>;
          const std::int64_t values = g.per_row ? g.m : g.n, terms = g.per_row ? g.n : g.m;
          const T* const from = reinterpret_cast<const T*>(resolve(d, 0, 0));
          char* const to = resolve(bias, 0, 0);
          for (std::int64_t vector = 0; vector < (g.shared() ? 1 : g.batch); ++vector)
            for (std::int64_t value = 0; value < values; ++value) {
              S sum = 0;
              for (std::int64_t item = 0; item < (g.shared() ? g.batch : 1); ++item)
                for (std::int64_t term = 0; term < terms; ++term)
                  sum += S(from[(vector + item) * g.stride_d + (g.per_row ? value : term) * g.ldd +
                                (g.per_row ? term : value)]);
              const std::int64_t place = vector * g.stride + value * g.increment;
              if (g.dtype_bias == g.dtype)
                reinterpret_cast<T*>(to)[place] = T(sum);
              else
                reinterpret_cast<S*>(to)[place] = sum;
            }
        });
      };
    });
  }

  FakeStats stats_;
  std::set<const void*> plans_;
  std::vector<std::function<void()>> queue_;

 private:
  // Of the device, whose contexts share its memory.
  static inline std::mutex memory_;
  static inline std::map<char*, std::uint64_t> allocations_;
};

}  // namespace tessera::test
