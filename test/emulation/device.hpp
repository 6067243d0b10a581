// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A device on which blocks of a kernel run one after the other on the processor. Threads are fibres, which go on until
/// they wait. So a kernel's arithmetic, its addresses and the order that its barriers give can be tested without a
/// device; what caches and clocks do cannot.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera::emulation {

/// Indices and sizes as CUDA's.
struct Extent {
  unsigned x = 1, y = 1, z = 1;
};

/// What is open in a run: the order in which threads get their turns, and when asynchronous copies arrive.
struct Schedule {
  enum Order { forward, backward, scattered } order = forward;
  bool late = false;  ///< copies arrive when they are waited for, else at once
};

class Device {
 public:
  static Device& instance() {
    static Device device;
    return device;
  }

  /// Runs a kernel. Throws where it hangs or leaves its shared memory, whose bytes are not zero at first.
  void run(Extent grid, int threads, std::uint32_t shared_bytes, const Schedule& schedule,
           const std::function<void()>& kernel) {
    grid_ = grid, schedule_ = schedule, kernel_ = &kernel;
    shared_.assign(shared_bytes, std::byte{0xff});
    threads_.resize(std::size_t(threads));
    for (block_.z = 0; block_.z < grid.z; ++block_.z)
      for (block_.y = 0; block_.y < grid.y; ++block_.y)
        for (block_.x = 0; block_.x < grid.x; ++block_.x) run_block();
    if (!fault_.empty()) throw std::runtime_error(std::exchange(fault_, {}));
  }

  Extent thread() const { return {unsigned(current_), 0, 0}; }
  Extent block() const { return block_; }
  Extent grid() const { return grid_; }
  Extent threads() const { return {unsigned(threads_.size()), 1, 1}; }

  // ---- Where threads wait

  void sync_block() { meet(whole_, int(threads_.size())); }
  void sync_warp() { meet(warps_[std::size_t(current_ / kWarp)], kWarp); }
  /// The value of the lane that far away in a group of so many lanes, or the lane's own.
  template <class T>
  T shuffle(T value, int distance, int width) {
    std::memcpy(lanes_[std::size_t(current_)].data(), &value, sizeof value);
    sync_warp();
    const int from = current_ % width + distance;
    if (from >= 0 && from < width) std::memcpy(&value, lanes_[std::size_t(current_ + distance)].data(), sizeof value);
    sync_warp();
    return value;
  }
  /// The sum of what the lanes of a warp have.
  unsigned sum(unsigned value) {
    std::memcpy(lanes_[std::size_t(current_)].data(), &value, sizeof value);
    sync_warp();
    unsigned sum = 0, other = 0;
    for (int lane = 0; lane < kWarp; ++lane) {
      std::memcpy(&other, lanes_[std::size_t(current_ / kWarp * kWarp + lane)].data(), sizeof other);
      sum += other;
    }
    sync_warp();
    return sum;
  }
  void barrier_init(std::uint32_t at, int count) { barriers_[at] = {count, count, 0, 0, {}}; }
  /// Arrives, and has the phase wait for so many bytes of bulk copies.
  void barrier_arrive(std::uint32_t at, std::int64_t bytes = 0) {
    Barrier& barrier = barriers_[at];
    barrier.bytes += bytes, --barrier.pending;
    end_phase(barrier);
  }
  void barrier_wait(std::uint32_t at, unsigned parity) {
    Barrier& barrier = barriers_[at];
    while (unsigned(barrier.phase & 1) == parity) {
      for (const Copy& c : std::exchange(barrier.copies, {})) arrive(barrier, c);
      if (unsigned(barrier.phase & 1) == parity) give_way();
    }
  }

  // ---- Shared memory, by its addresses

  void load(void* value, std::uint32_t at, std::size_t bytes) {
    if (inside(at, bytes)) std::memcpy(value, shared_.data() + at, bytes);
  }
  void store(std::uint32_t at, const void* value, std::size_t bytes) {
    if (inside(at, bytes)) std::memcpy(shared_.data() + at, value, bytes);
  }
  void copy(std::uint32_t to, const void* from, std::size_t bytes) {
    if (schedule_.late)
      threads_[std::size_t(current_)].copies.push_back({to, from, bytes, threads_[std::size_t(current_)].groups});
    else
      store(to, from, bytes);
  }
  /// Copies since the last such call are a group.
  void end_group() { ++threads_[std::size_t(current_)].groups; }
  /// Until at most so many of the thread's groups are under way.
  void wait_for_copies(int groups = 0) {
    Thread& thread = threads_[std::size_t(current_)];
    for (Copy& c : thread.copies)
      if (c.group < thread.groups - groups) store(c.to, c.from, std::exchange(c.bytes, 0));
  }
  void bulk_copy(std::uint32_t to, const void* from, std::size_t bytes, std::uint32_t at) {
    require_aligned(to, 16), require_aligned(reinterpret_cast<std::uintptr_t>(from), 16), require_aligned(bytes, 16);
    if (schedule_.late)
      barriers_[at].copies.push_back({to, from, bytes});
    else
      arrive(barriers_[at], {to, from, bytes});
  }
  /// A vector access that is not aligned is a fault.
  void require_aligned(std::uint64_t address, std::uint64_t bytes) {
    if (address % bytes != 0)
      fault_ = "address " + std::to_string(address) + " is no multiple of " + std::to_string(bytes);
  }

 private:
  static constexpr int kWarp = 32;
  struct Copy {
    std::uint32_t to;
    const void* from;
    std::size_t bytes;
    int group = 0;
  };
  struct Thread {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(std::size_t{1} << 17);
    std::vector<Copy> copies;
    int groups = 0;  ///< that have ended
    bool ended = false;
  };
  struct Barrier {
    int count, pending, phase;
    std::int64_t bytes;  ///< of bulk copies that are missing
    std::vector<Copy> copies;
  };
  struct Group {
    int there = 0, meetings = 0;
  };

  void run_block() {
    whole_ = {};
    warps_.assign(threads_.size() / kWarp, {});
    lanes_.assign(threads_.size(), {});
    barriers_.clear();
    for (Thread& thread : threads_) {
      thread.ended = false, thread.groups = 0, thread.copies.clear();
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.data();
      thread.context.uc_stack.ss_size = thread.stack.size();
      thread.context.uc_link = nullptr;
      makecontext(&thread.context, enter, 0);
    }
    constexpr int kMostTurns = 1000000;  // of a thread; a kernel that waits for more hangs
    int turns = 0;
    for (bool any = true; any && fault_.empty(); ++turns) {
      any = false;
      for (std::size_t i = 0; i < threads_.size(); ++i) any = turn(i) || any;
      if (turns == kMostTurns) fault_ = "the kernel hangs";
    }
  }
  /// Whether the i-th thread in the order of this run had something to do.
  bool turn(std::size_t i) {
    const std::size_t count = threads_.size();
    const std::size_t place = schedule_.order == Schedule::forward    ? i
                              : schedule_.order == Schedule::backward ? count - 1 - i
                                                                      : i * 37 % count;
    Thread& thread = threads_[place];
    if (thread.ended) return false;
    current_ = int(place);
    swapcontext(&scheduler_, &thread.context);
    return true;
  }
  static void enter() {
    Device& device = instance();
    (*device.kernel_)();
    device.threads_[std::size_t(device.current_)].ended = true;
    device.give_way();
  }
  void give_way() { swapcontext(&threads_[std::size_t(current_)].context, &scheduler_); }
  void meet(Group& group, int size) {
    const int meeting = group.meetings;
    if (++group.there == size) {
      group.there = 0, ++group.meetings;
      return;
    }
    while (group.meetings == meeting) give_way();
  }
  void arrive(Barrier& barrier, const Copy& c) {
    store(c.to, c.from, c.bytes);
    barrier.bytes -= std::int64_t(c.bytes);
    end_phase(barrier);
  }
  static void end_phase(Barrier& barrier) {
    if (barrier.pending == 0 && barrier.bytes == 0) barrier.pending = barrier.count, ++barrier.phase;
  }
  bool inside(std::uint32_t at, std::size_t bytes) {
    if (at + bytes <= shared_.size()) return true;
    fault_ = "shared memory ends at " + std::to_string(shared_.size()) + ", address " + std::to_string(at);
    return false;
  }

  Extent grid_, block_{0, 0, 0};
  Schedule schedule_;
  const std::function<void()>* kernel_ = nullptr;
  ucontext_t scheduler_;
  std::vector<Thread> threads_;
  int current_ = 0;
  std::vector<std::byte> shared_;
  std::map<std::uint32_t, Barrier> barriers_;
  Group whole_;
  std::vector<Group> warps_;
  std::vector<std::array<char, 16>> lanes_;
  std::string fault_;
};

}  // namespace tessera::emulation
