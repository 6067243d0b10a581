// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// All ranks know all messages. Each begins to send and to receive its own in an order of its own, but for those of one
/// peer and tag, waits in another order, and leaves some for later.

#include "group.hpp"
#include "random.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <tuple>
#include <vector>

namespace tessera::test {

namespace {

struct Exchange {
  std::uint64_t number;
  int from, to, tag;
  std::size_t bytes;
};

/// One rank's part of an exchange. Bytes around the memory show what is written beside it.
struct Operation {
  static constexpr std::size_t kMargin = 16;
  static constexpr unsigned char kUntouched = 0xa5;

  Operation(const Exchange& of, bool to_send) : exchange(of), sends(to_send) {
    memory.assign(of.bytes + 2 * kMargin, kUntouched);
    if (!sends) return;
    for (std::size_t i = 0; i < of.bytes; ++i) memory[kMargin + i] = byte_of(of.number, i);
  }
  std::tuple<int, int, int, bool> channel() const { return {exchange.from, exchange.to, exchange.tag, sends}; }
  std::string name() const {
    return "message " + std::to_string(exchange.number) + " of " + std::to_string(exchange.bytes) + " bytes from " +
           std::to_string(exchange.from) + " to " + std::to_string(exchange.to) + " with tag " +
           std::to_string(exchange.tag);
  }

  std::size_t first_wrong() const {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const bool inside = i >= kMargin && i < kMargin + exchange.bytes;
      if (memory[i] != (inside ? byte_of(exchange.number, i - kMargin) : kUntouched)) return i;
    }
    return memory.size();
  }

  void begin(const Group& group) {
    unsigned char* const data = memory.data() + kMargin;
    require_ok(sends ? group.send(data, exchange.bytes, exchange.to, exchange.tag, &request)
                     : group.receive(data, exchange.bytes, exchange.from, exchange.tag, &request),
               name());
  }
  void end(const Group& group) {
    require_ok(group.wait(request), name());
    if (const std::size_t wrong = first_wrong(); wrong < memory.size())
      require(false, name() + ": is wrong at byte " + std::to_string(std::int64_t(wrong) - std::int64_t(kMargin)));
  }

  Exchange exchange;
  bool sends;
  std::vector<unsigned char> memory;
  void* request = nullptr;
};
using Operations = std::vector<std::unique_ptr<Operation>>;

std::size_t random_size(Random& random, std::size_t largest) {
  const std::int64_t kind = random.integer(0, 199), most = std::int64_t(largest);
  if (kind < 20) return 0;
  if (kind < 150) return std::size_t(random.integer(1, std::min<std::int64_t>(256, most)));
  if (kind < 199) return std::size_t(random.integer(1, std::min<std::int64_t>(32768, most)));
  return std::size_t(random.integer(most / 2 + 1, most));
}

void shuffle(Operations& operations, Random& random) {
  for (std::size_t i = operations.size(); i > 1; --i)
    std::swap(operations[i - 1], operations[std::size_t(random.integer(0, std::int64_t(i) - 1))]);
}

/// Puts the operations of each channel into the order of their numbers, in the places that they have.
void order_channels(Operations& operations) {
  std::map<std::tuple<int, int, int, bool>, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < operations.size(); ++i) places[operations[i]->channel()].push_back(i);
  for (const auto& [channel, of] : places) {
    Operations sorted;
    for (const std::size_t i : of) sorted.push_back(std::move(operations[i]));
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a->exchange.number < b->exchange.number; });
    for (std::size_t i = 0; i < of.size(); ++i) operations[of[i]] = std::move(sorted[i]);
  }
}

void pause_sometimes(Random& random) {
  const std::int64_t kind = random.integer(0, 31);
  if (kind == 0) std::this_thread::sleep_for(std::chrono::microseconds(random.integer(1, 300)));
  if (kind == 1) std::this_thread::yield();
}

/// This rank's operations of the next messages.
Operations next_round(const Group& group, Random& random, std::uint64_t first, std::uint64_t last,
                      std::size_t largest) {
  const int tags[] = {0, 1, 7, 32767};
  Operations operations;
  for (std::uint64_t number = first; number < last; ++number) {
    const int from = int(random.integer(0, group.size() - 1)), to = int(random.integer(0, group.size() - 1));
    const int tag = tags[random.integer(0, 3)];
    const Exchange exchange{number, from, to, tag, random_size(random, largest)};
    for (const bool sends : {true, false})
      if (group.rank() == (sends ? from : to)) operations.push_back(std::make_unique<Operation>(exchange, sends));
  }
  return operations;
}

}  // namespace

void exchange(const Group& group, int count, std::size_t largest) {
  Random common("messages"), own("rank " + std::to_string(group.rank()));
  Operations begun;
  for (std::uint64_t first = 0, last = 0; first < std::uint64_t(count); first = last) {
    last = std::min(std::uint64_t(count), first + std::uint64_t(common.integer(1, 60)));
    Operations round = next_round(group, common, first, last, largest);
    shuffle(round, own);
    order_channels(round);
    for (auto& operation : round) {
      pause_sometimes(own);
      operation->begin(group);
      begun.push_back(std::move(operation));
    }
    shuffle(begun, own);
    const std::size_t kept = last < std::uint64_t(count) ? std::size_t(own.integer(0, 10)) : 0;
    for (; begun.size() > kept; begun.pop_back()) {
      pause_sometimes(own);
      begun.back()->end(group);
    }
  }
}

}  // namespace tessera::test
