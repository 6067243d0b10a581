// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The exchange of halos between the blocks of a decomposition, through host memory.
#pragma once

#include "arrays.hpp"
#include "comm.hpp"
#include "decomposition.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::distributed {

/// What travels of an array, in the order of the tags.
struct Halos {
  Array array;
  std::vector<Decomposition::Halo> sent, received;
  std::vector<std::int64_t> sources;  ///< of what is received: bytes from the begin of the sender's array

  bool empty() const { return sent.empty() && received.empty(); }
  double received_bytes() const {
    double bytes = 0.0;
    for (const Decomposition::Halo& halo : received) bytes += double(halo.box.points() * array.element);
    return bytes;
  }
};

/// What a rank sends and receives between two steps: all that a neighbour needs of several arrays in one message. Each
/// begins with a word that says whether its sender has failed, so that a failure reaches the neighbours instead of
/// silence.
class Exchange {
 public:
  Exchange(std::shared_ptr<Comm> comm, const std::vector<Halos>& arrays);

  /// Packs what the neighbours need of the arrays and lets it go. With `failed` the messages say so alone.
  void begin(tessera_context* context, const std::vector<void*>& arrays, bool failed);
  /// Waits for what the neighbours send and writes it around the blocks; nothing once one has failed. Returns the first
  /// neighbour that has failed, or -1.
  int finish(tessera_context* context, const std::vector<void*>& arrays, bool failed);

 private:
  struct Part {
    std::size_t array;  ///< its place among them
    Box box;
    std::size_t begin;  ///< in the message
  };
  struct Message {
    int peer, tag;
    std::vector<Part> parts = {};
    std::vector<unsigned char> bytes = {};
    Request request = {};
  };
  void add(std::vector<Message>& messages, std::size_t array, const Decomposition::Halo& halo);

  std::shared_ptr<Comm> comm_;
  std::vector<Array> arrays_;
  std::vector<Message> sent_, received_;
};

}  // namespace tessera::distributed
