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
    for (block_.y = 0; block_.y < grid.y; ++block_.y)
      for (block_.x = 0; block_.x < grid.x; ++block_.x) run_block();
    if (!fault_.empty()) throw std::runtime_error(std::exchange(fault_, {}));
  }

  Extent thread() const { return {unsigned(current_), 0, 0}; }
  Extent block() const { return block_; }
  Extent grid() const { return grid_; }

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
  void barrier_init(std::uint32_t at, int count) { barriers_[at] = {count, count, 0}; }
  void barrier_arrive(std::uint32_t at) {
    Barrier& barrier = barriers_[at];
    if (--barrier.pending == 0) barrier.pending = barrier.count, ++barrier.phase;
  }
  void barrier_wait(std::uint32_t at, unsigned parity) {
    while (unsigned(barriers_[at].phase & 1) == parity) give_way();
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
      threads_[std::size_t(current_)].copies.push_back({to, from, bytes});
    else
      store(to, from, bytes);
  }
  void wait_for_copies() {
    for (const Copy& c : threads_[std::size_t(current_)].copies) store(c.to, c.from, c.bytes);
    threads_[std::size_t(current_)].copies.clear();
  }

 private:
  static constexpr int kWarp = 32;
  struct Copy {
    std::uint32_t to;
    const void* from;
    std::size_t bytes;
  };
  struct Thread {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(std::size_t{1} << 17);
    std::vector<Copy> copies;
    bool ended = false;
  };
  struct Barrier {
    int count, pending, phase;
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
      thread.ended = false, thread.copies.clear();
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.data();
      thread.context.uc_stack.ss_size = thread.stack.size();
      thread.context.uc_link = nullptr;
      makecontext(&thread.context, enter, 0);
    }
    constexpr int kMostTurns = 100000;  // of a thread; a kernel that waits for more hangs
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
