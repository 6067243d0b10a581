// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A rank's hold on a group of ranks, over whatever carries the bytes.
#pragma once

#include <tessera/distributed.h>
#include <tessera/plugin/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::distributed {

using plugin::Error;

class Comm;
class Nccl;

/// Tags of messages: of those that a transport carries through the host, and of blocks of a domain to and from a root.
inline constexpr int kExchangeTag = 0, kBlockTag = 1;

/// A message on its way. Waited for at last by its destructor: nobody may reuse its memory before.
class Request {
 public:
  Request() = default;
  Request(Comm& comm, void* handle) : comm_(&comm), handle_(handle) {}
  Request(Request&& other) noexcept
      : comm_(std::exchange(other.comm_, nullptr)), handle_(std::exchange(other.handle_, nullptr)) {}
  Request& operator=(Request&& other) noexcept {
    std::swap(comm_, other.comm_), std::swap(handle_, other.handle_);
    return *this;
  }
  ~Request();
  void wait();

 private:
  Comm* comm_ = nullptr;
  void* handle_ = nullptr;
};

class Comm {
 public:
  /// Takes the transport over, also where it throws.
  explicit Comm(const tessera_transport& transport);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  /// NCCL among the devices that the ranks used last, or why there is none.
  struct Devices {
    void* device = nullptr;
    std::shared_ptr<Nccl> nccl;
    std::string why_not;
  };
  Devices& devices() { return devices_; }

  int rank() const { return transport_.rank; }
  int size() const { return transport_.size; }
  bool is_broken() const { return !broken_.empty(); }

  void broadcast(void* data, std::size_t bytes, int root) { call_if_whole(transport_.broadcast, data, bytes, root); }
  void all_gather(const void* mine, void* all, std::size_t bytes) {
    call_if_whole(transport_.all_gather, mine, all, bytes);
  }
  /// Collective: each value becomes the largest that any rank has.
  template <std::size_t kCount>
  void all_reduce(std::array<std::int64_t, kCount>& values) {
    static_assert(sizeof values <= 32, "one small message of each rank, where the transport has no reduction");
    reduce(values.data(), kCount);
  }
  Request send(const void* data, std::size_t bytes, int peer, int tag) {
    void* handle = nullptr;
    call_if_whole(transport_.send, data, bytes, peer, tag, &handle);
    return {*this, handle};
  }
  Request receive(void* data, std::size_t bytes, int peer, int tag) {
    void* handle = nullptr;
    call_if_whole(transport_.receive, data, bytes, peer, tag, &handle);
    return {*this, handle};
  }

 private:
  friend class Request;
  void reduce(std::int64_t* values, std::size_t count);
  /// Calls a function of the transport and throws what it reports.
  template <class Function, class... Arguments>
  void call(Function function, Arguments... arguments) {
    std::array<char, 1024> message;
    message[0] = '\0';
    tessera_error error{sizeof error, TESSERA_OK, 0, message.data(), message.size()};
    const tessera_status status = function(transport_.state, arguments..., &error);
    if (status == TESSERA_OK) return;
    broken_ = message.data();
    throw Error(status, broken_);
  }
  /// The same unless one has failed before.
  template <class Function, class... Arguments>
  void call_if_whole(Function function, Arguments... arguments) {
    if (!broken_.empty()) throw Error(TESSERA_DEVICE_ERROR, "the group of ranks is broken: " + broken_);
    call(function, arguments...);
  }

  tessera_transport transport_;
  Devices devices_;
  std::vector<std::int64_t> gathered_;  ///< room for a reduction of a transport that has none
  std::string broken_;                  ///< why nobody can speak any more
};

/// The transport of a group of one.
tessera_transport self_transport();
/// Transports of `count` threads of this process.
void thread_transports(int count, tessera_transport* transports);

}  // namespace tessera::distributed

/// Comms are shared by handles and plans.
struct tessera_comm {
  std::shared_ptr<tessera::distributed::Comm> comm;
};
