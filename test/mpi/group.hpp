// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A transport of MPI as the library calls it.
#pragma once

#include "world.hpp"

#include <tessera/mpi.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::test {

/// How a call ended.
struct Result {
  tessera_status status;
  std::string message;
  bool is(tessera_status expected, const std::string& part) const {
    return status == expected && message.find(part) != std::string::npos;
  }
};

class Group {
 public:
  explicit Group(MPI_Comm communicator, std::uint64_t largest_piece = mpi::detail::kLargestPiece);
  ~Group() { destroy(); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const { return transport_.rank; }
  int size() const { return transport_.size; }
  void destroy() {
    if (transport_.state != nullptr) transport_.destroy(transport_.state);
    transport_.state = nullptr;
  }

  Result broadcast(void* data, std::size_t bytes, int root) const {
    return call(transport_.broadcast, data, bytes, root);
  }
  Result all_gather(const void* mine, void* all, std::size_t bytes) const {
    return call(transport_.all_gather, mine, all, bytes);
  }
  Result send(const void* data, std::size_t bytes, int peer, int tag, void** request) const {
    return call(transport_.send, data, bytes, peer, tag, request);
  }
  Result receive(void* data, std::size_t bytes, int peer, int tag, void** request) const {
    return call(transport_.receive, data, bytes, peer, tag, request);
  }
  Result wait(void* request) const { return call(transport_.wait, request); }

 private:
  template <class Function, class... Arguments>
  Result call(Function function, Arguments... arguments) const {
    char message[512] = {};
    tessera_error error{sizeof error, TESSERA_OK, 0, message, sizeof message};
    const tessera_status status = function(transport_.state, arguments..., &error);
    return {status, message};
  }

  tessera_transport transport_{};
};

inline void require_ok(const Result& result, const std::string& what) {
  require(result.status == TESSERA_OK, what + ": " + result.message);
}

/// Byte `i` of the message with that number.
inline unsigned char byte_of(std::uint64_t number, std::size_t i) {
  return static_cast<unsigned char>(number * 131 + i * (2 * number + 1) + (i >> 8) * 7);
}

/// `count` messages between ranks of the group: sizes, tags, the order of calls and pauses between them are random.
void exchange(const Group& group, int count, std::size_t largest);

}  // namespace tessera::test
