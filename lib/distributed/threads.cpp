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
struct Parcel {
  const void* data;
  std::size_t bytes;
  enum { waiting, leaving, gone } state = waiting;
};

/// Messages from one rank to another with one tag. The n-th receive takes the n-th message.
struct Channel {
  std::map<std::uint64_t, Parcel*> parcels;
  std::uint64_t sent = 0, asked = 0;
};

/// Where threads meet.
struct Hub {
  explicit Hub(int count) : left(std::size_t(count), false) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::tuple<int, int, int>, Channel> channels;  ///< by sender, receiver, tag
  std::vector<bool> left;                                 ///< ranks that are gone
};

struct Message {
  bool to_send;
  int peer;
  Channel* channel;
  std::uint64_t number;
  Parcel parcel;
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

  Message* send(const void* data, std::size_t bytes, int peer, int tag) {
    auto message = std::make_unique<Message>(Message{true, peer, nullptr, 0, {data, bytes}});
    const std::lock_guard lock(hub_->mutex);
    message->channel = &channel(rank_, peer, tag);
    message->channel->parcels.emplace(message->channel->sent, &message->parcel);
    message->number = message->channel->sent++;
    hub_->changed.notify_all();
    return message.release();
  }

  Message* receive(void* data, std::size_t bytes, int peer, int tag) {
    auto message = std::make_unique<Message>(Message{false, peer, nullptr, 0, {nullptr, bytes}, data});
    const std::lock_guard lock(hub_->mutex);
    message->channel = &channel(peer, rank_, tag);
    message->number = message->channel->asked++;
    return message.release();
  }

  void wait(Message* handle) {
    const std::unique_ptr<Message> message(handle);
    std::unique_lock lock(hub_->mutex);
    if (message->to_send)
      see_off(lock, *message);
    else
      fetch(lock, *message);
  }

  void broadcast(void* data, std::size_t bytes, int root) {
    if (rank_ != root) return wait(receive(data, bytes, root, kBroadcast));
    std::vector<Message*> sent(std::size_t(size_), nullptr);
    for (int peer = 0; peer < size_; ++peer)
      if (peer != root) sent[std::size_t(peer)] = send(data, bytes, peer, kBroadcast);
    std::exception_ptr failure;
    for (Message* message : sent) try {
        if (message != nullptr) wait(message);
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
  Channel& channel(int from, int to, int tag) const {
    if (from < 0 || from >= size_ || to < 0 || to >= size_)
      throw Error(TESSERA_INVALID_ARGUMENT, "peer = " + std::to_string(from == rank_ ? to : from) +
                                                ": must lie in [0, " + std::to_string(size_) + ")");
    return hub_->channels[{from, to, tag}];
  }
  bool has_left(int peer) const { return hub_->left[std::size_t(peer)]; }
  [[noreturn]] void refuse(int peer) const {
    throw Error(TESSERA_DEVICE_ERROR, "rank " + std::to_string(peer) + " has left the group of rank " +
                                          std::to_string(rank_) + ", which waits for it");
  }

  void see_off(std::unique_lock<std::mutex>& lock, Message& message) {
    Parcel& parcel = message.parcel;
    hub_->changed.wait(lock, [&] {
      return parcel.state == Parcel::gone || (parcel.state == Parcel::waiting && has_left(message.peer));
    });
    if (parcel.state == Parcel::gone) return;
    message.channel->parcels.erase(message.number);
    refuse(message.peer);
  }

  void fetch(std::unique_lock<std::mutex>& lock, Message& message) {
    auto& parcels = message.channel->parcels;
    hub_->changed.wait(lock, [&] { return parcels.contains(message.number) || has_left(message.peer); });
    const auto found = parcels.find(message.number);
    if (found == parcels.end()) refuse(message.peer);
    Parcel& parcel = *found->second;
    parcels.erase(found);
    parcel.state = Parcel::leaving;
    const std::size_t bytes = parcel.bytes;
    if (bytes == message.parcel.bytes && bytes > 0) {
      lock.unlock();  // the sender does not go before the state says so
      std::memcpy(message.target, parcel.data, bytes);
      lock.lock();
    }
    parcel.state = Parcel::gone;
    hub_->changed.notify_all();
    if (bytes != message.parcel.bytes)
      throw Error(TESSERA_INTERNAL, "rank " + std::to_string(message.peer) + " sent " + std::to_string(bytes) +
                                        " bytes; rank " + std::to_string(rank_) + " expects " +
                                        std::to_string(message.parcel.bytes));
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
    return plugin::guard(error, [&] { rank_of(of).wait(static_cast<Message*>(request)); });
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
