// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The transport between threads of a process: the receiver copies out of the sender's memory.

#include "comm.hpp"

#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace tessera::distributed {
namespace {

/// A message that was sent; the sender waits until it has been copied.
struct Sent {
  const void* data;
  std::size_t bytes;
  enum { waiting, copying, received } state = waiting;
};

/// Messages from one rank to another with one tag. The n-th receive takes the n-th message.
struct Channel {
  std::map<std::uint64_t, Sent*> messages;
  std::uint64_t sent = 0, received = 0;  ///< begun
};

/// Where threads meet.
struct Hub {
  explicit Hub(int count) : left(std::size_t(count), false) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::tuple<int, int, int>, Channel> channels;  ///< by sender, receiver, tag
  std::vector<bool> left;                                 ///< ranks that are gone
};

/// What `wait` is for.
struct Operation {
  bool sends;
  int peer;
  Channel* channel;
  std::uint64_t number;
  Sent message;
  void* target = nullptr;
};

/// Tags of broadcasts and of what ranks gather, which no message has.
constexpr int kBroadcast = -1, kGather = -2;

class Rank {
 public:
  Rank(std::shared_ptr<Hub> hub, int rank, int size) : hub_(std::move(hub)), rank_(rank), size_(size) {}
  ~Rank() {
    const std::lock_guard lock(hub_->mutex);
    hub_->left[std::size_t(rank_)] = true;
    hub_->changed.notify_all();
  }

  Operation* send(const void* data, std::size_t bytes, int peer, int tag) {
    return begin({true, peer, nullptr, 0, {data, bytes}}, channel_of(rank_, peer, tag));
  }
  Operation* receive(void* data, std::size_t bytes, int peer, int tag) {
    return begin({false, peer, nullptr, 0, {nullptr, bytes}, data}, channel_of(peer, rank_, tag));
  }

  void wait(Operation* handle) {
    const std::unique_ptr<Operation> operation(handle);
    std::unique_lock lock(hub_->mutex);
    if (operation->sends)
      finish_send(lock, *operation);
    else
      finish_receive(lock, *operation);
  }

  void broadcast(void* data, std::size_t bytes, int root) {
    if (rank_ != root) return wait(receive(data, bytes, root, kBroadcast));
    std::vector<Operation*> sends(std::size_t(size_), nullptr);
    for (int peer = 0; peer < size_; ++peer)
      if (peer != root) sends[std::size_t(peer)] = send(data, bytes, peer, kBroadcast);
    std::exception_ptr failure;
    for (Operation* send : sends) try {
        if (send != nullptr) wait(send);
      } catch (...) {  // the others wait for theirs
        failure = std::current_exception();
      }
    if (failure) std::rethrow_exception(failure);
  }

  void all_gather(const void* mine, void* all, std::size_t bytes) {
    auto* const parts = static_cast<unsigned char*>(all);
    if (rank_ != 0) {
      wait(send(mine, bytes, 0, kGather));
    } else {
      if (bytes > 0) std::memcpy(parts, mine, bytes);
      for (int peer = 1; peer < size_; ++peer) wait(receive(parts + bytes * std::size_t(peer), bytes, peer, kGather));
    }
    broadcast(all, bytes * std::size_t(size_), 0);
  }

 private:
  using Name = std::tuple<int, int, int>;
  Name channel_of(int from, int to, int tag) const {
    if (from < 0 || from >= size_ || to < 0 || to >= size_)
      throw Error(TESSERA_INVALID_ARGUMENT, "peer = " + std::to_string(from == rank_ ? to : from) +
                                                ": must lie in [0, " + std::to_string(size_) + ")");
    return {from, to, tag};
  }
  Operation* begin(const Operation& what, const Name& name) {
    auto made = std::make_unique<Operation>(what);
    const std::lock_guard lock(hub_->mutex);
    Channel& channel = hub_->channels[name];
    made->channel = &channel;
    made->number = made->sends ? channel.sent : channel.received;
    if (made->sends) channel.messages.emplace(made->number, &made->message);
    ++(made->sends ? channel.sent : channel.received);
    if (made->sends) hub_->changed.notify_all();
    return made.release();
  }
  bool has_left(int peer) const { return hub_->left[std::size_t(peer)]; }
  [[noreturn]] void refuse(int peer) const {
    throw Error(TESSERA_DEVICE_ERROR, "rank " + std::to_string(peer) + " has left the group of rank " +
                                          std::to_string(rank_) + ", which waits for it");
  }

  void finish_send(std::unique_lock<std::mutex>& lock, Operation& send) {
    Sent& message = send.message;
    hub_->changed.wait(lock, [&] {
      return message.state == Sent::received || (message.state == Sent::waiting && has_left(send.peer));
    });
    if (message.state == Sent::received) return;
    send.channel->messages.erase(send.number);
    refuse(send.peer);
  }

  void finish_receive(std::unique_lock<std::mutex>& lock, Operation& receive) {
    auto& messages = receive.channel->messages;
    hub_->changed.wait(lock, [&] { return messages.contains(receive.number) || has_left(receive.peer); });
    const auto found = messages.find(receive.number);
    if (found == messages.end()) refuse(receive.peer);
    Sent& message = *found->second;
    messages.erase(found);
    message.state = Sent::copying;
    const std::size_t bytes = message.bytes;
    if (bytes == receive.message.bytes && bytes > 0) {
      lock.unlock();  // the sender does not go before the state says so
      std::memcpy(receive.target, message.data, bytes);
      lock.lock();
    }
    message.state = Sent::received;
    hub_->changed.notify_all();
    if (bytes != receive.message.bytes)
      throw Error(TESSERA_INTERNAL, "rank " + std::to_string(receive.peer) + " sent " + std::to_string(bytes) +
                                        " bytes; rank " + std::to_string(rank_) + " expects " +
                                        std::to_string(receive.message.bytes));
  }

  std::shared_ptr<Hub> hub_;
  int rank_, size_;
};

Rank& rank_of(void* state) { return *static_cast<Rank*>(state); }

tessera_transport transport_of(std::unique_ptr<Rank> state, int rank, int size) {
  tessera_transport t{};
  t.struct_size = sizeof t;
  t.rank = rank, t.size = size;
  t.broadcast = [](void* of, void* data, std::uint64_t bytes, int root, tessera_error* error) {
    return plugin::guard(error, [&] { rank_of(of).broadcast(data, bytes, root); });
  };
  t.all_gather = [](void* of, const void* mine, void* all, std::uint64_t bytes, tessera_error* error) {
    return plugin::guard(error, [&] { rank_of(of).all_gather(mine, all, bytes); });
  };
  t.send = [](void* of, const void* data, std::uint64_t bytes, int peer, int tag, void** request,
              tessera_error* error) {
    return plugin::guard(error, [&] { *request = rank_of(of).send(data, bytes, peer, tag); });
  };
  t.receive = [](void* of, void* data, std::uint64_t bytes, int peer, int tag, void** request, tessera_error* error) {
    return plugin::guard(error, [&] { *request = rank_of(of).receive(data, bytes, peer, tag); });
  };
  t.wait = [](void* of, void* request, tessera_error* error) {
    return plugin::guard(error, [&] { rank_of(of).wait(static_cast<Operation*>(request)); });
  };
  t.destroy = [](void* of) { delete static_cast<Rank*>(of); };
  t.state = state.release();
  return t;
}

}  // namespace

tessera_transport self_transport() {
  tessera_transport alone;
  thread_transports(1, &alone);
  return alone;
}

void thread_transports(int count, tessera_transport* transports) {
  const auto hub = std::make_shared<Hub>(count);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int rank = 0; rank < count; ++rank) ranks.push_back(std::make_unique<Rank>(hub, rank, count));
  for (int rank = 0; rank < count; ++rank)
    transports[rank] = transport_of(std::move(ranks[std::size_t(rank)]), rank, count);
}

}  // namespace tessera::distributed
