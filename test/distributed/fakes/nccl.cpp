// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What lib/distributed needs of NCCL, for ranks that are threads with the emulated device of test/plugins: messages
/// are carried when a group of them ends.

#include "../../plugins/fake_context.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

struct Id {
  char bytes[128];
};

/// Messages that were sent, by sender and receiver.
struct World {
  std::mutex mutex;
  std::condition_variable sent;
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> messages;
};
struct Communicator {
  std::shared_ptr<World> world;
  int rank;
};
struct Part {
  Communicator* of;
  char* data;
  std::size_t bytes;
  int peer;
};
thread_local std::vector<Part> sends, receives;

char* resolve(const void* data) {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(data) & ~tessera::test::kDeviceBit);
}

std::shared_ptr<World> world_of(const Id& id) {
  static std::mutex mutex;
  static std::map<std::int64_t, std::weak_ptr<World>> worlds;
  std::int64_t number = 0;
  std::memcpy(&number, id.bytes, sizeof number);
  const std::lock_guard lock(mutex);
  std::shared_ptr<World> world = worlds[number].lock();
  if (world == nullptr) worlds[number] = world = std::make_shared<World>();
  return world;
}

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT int ncclGetUniqueId(Id* id) {
  static std::atomic<std::int64_t> next{0};
  const std::int64_t number = next++;
  std::memcpy(id->bytes, &number, sizeof number);
  return 0;
}
EXPORT int ncclCommInitRank(void** made, int, Id id, int rank) {
  *made = new Communicator{world_of(id), rank};
  return 0;
}
EXPORT int ncclCommDestroy(void* made) {
  delete static_cast<Communicator*>(made);
  return 0;
}
EXPORT const char* ncclGetErrorString(int) { return "a message of another size"; }
EXPORT int ncclGroupStart() { return 0; }
EXPORT int ncclSend(const void* data, std::size_t bytes, int, int peer, void* of, void* stream) {
  if (stream == nullptr) return 1;
  sends.push_back({static_cast<Communicator*>(of), resolve(data), bytes, peer});
  return 0;
}
EXPORT int ncclRecv(void* data, std::size_t bytes, int, int peer, void* of, void* stream) {
  if (stream == nullptr) return 1;
  receives.push_back({static_cast<Communicator*>(of), resolve(data), bytes, peer});
  return 0;
}
EXPORT int ncclGroupEnd() {
  const std::vector<Part> out = std::move(sends), in = std::move(receives);
  sends.clear(), receives.clear();
  for (const Part& part : out) {
    World& world = *part.of->world;
    const std::lock_guard lock(world.mutex);
    world.messages[{part.of->rank, part.peer}].emplace_back(part.data, part.data + part.bytes);
    world.sent.notify_all();
  }
  for (const Part& part : in) {
    World& world = *part.of->world;
    std::unique_lock lock(world.mutex);
    auto& queue = world.messages[{part.peer, part.of->rank}];
    world.sent.wait(lock, [&queue] { return !queue.empty(); });
    const std::vector<char> message = std::move(queue.front());
    queue.pop_front();
    if (message.size() != part.bytes) return 1;
    std::memcpy(part.data, message.data(), part.bytes);
  }
  return 0;
}

}  // extern "C"
