// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A group of processes that speak over sockets: a transport of tessera/distributed.h whose ranks may be killed.
#pragma once

#include <tessera/distributed.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace tessera::test {

/// A rank's sockets to all ranks; its own is -1.
using Descriptors = std::vector<int>;
/// Sockets between all ranks of a group: ends[a][b] is a's to b.
std::vector<Descriptors> connect_all(int count);

/// One rank's ends of the sockets. One that waits for a rank whose process has ended, or which has destroyed its group,
/// gets an error.
class Sockets {
 public:
  Sockets(int rank, Descriptors descriptors);
  ~Sockets();
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  /// The transport, whose `destroy` deletes this object; with a reduction or without.
  tessera_transport transport(bool reduces = false);
  /// Collective calls so far, and the bytes that this rank has given to them, of broadcasts also to receive.
  struct Collectives {
    int calls = 0;
    std::uint64_t bytes = 0;
  };
  const Collectives& collectives() const { return collectives_; }
  /// The process is killed when it waits for the n-th message from now on.
  void kill_in_wait(int number) { waits_left_ = number; }

 private:
  struct Header {
    std::int64_t tag;
    std::uint64_t bytes;
  };
  struct Message {
    bool outgoing;
    int peer;
    std::int64_t tag;
    std::uint64_t bytes;
    const char* source;       ///< of an outgoing one
    char* target;             ///< of an incoming one
    std::uint64_t number;     ///< of an incoming one among those of its tag
    std::size_t written = 0;  ///< of an outgoing one, with its header
  };
  /// What came with a tag and was not waited for yet, by its number.
  struct Channel {
    std::map<std::uint64_t, std::vector<char>> arrived;
    std::uint64_t came = 0, asked = 0;
  };
  struct Peer {
    int descriptor;
    bool left = false;
    std::deque<Message*> outgoing;
    std::vector<char> incoming;  ///< the beginning of a header and its message
    std::map<std::int64_t, Channel> channels;
  };

  Message* send(const void* data, std::uint64_t bytes, int peer, std::int64_t tag);
  Message* receive(void* data, std::uint64_t bytes, int peer, std::int64_t tag);
  void wait(Message* message);
  void broadcast(void* data, std::uint64_t bytes, int root);
  void all_gather(const void* mine, void* all, std::uint64_t bytes);
  void all_reduce(std::int64_t* values, std::uint64_t count);
  void count(std::uint64_t bytes) { ++collectives_.calls, collectives_.bytes += bytes; }

  bool is_done(const Message& message) const;
  void move_bytes();
  void write_some(Peer& peer);
  void read_some(Peer& peer);
  void deliver(Peer& peer);

  int rank_, waits_left_ = 0;
  Collectives collectives_;
  std::vector<Peer> peers_;
};

}  // namespace tessera::test
