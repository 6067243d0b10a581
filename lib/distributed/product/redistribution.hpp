// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A matrix from one distribution to another one: one message between each two ranks that share elements of it.
#pragma once

#include "block_cyclic.hpp"
#include "group/comm.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::distributed {

class Redistribution {
 public:
  /// Both are of the same matrix, of elements of 2, 4 or 8 bytes. Makes room for the messages; speaks to nobody.
  Redistribution(std::shared_ptr<Comm> comm, const Spread& from, const Spread& to, std::int64_t element);

  /// Packs what others need of this rank's array of `from`, in host memory.
  void pack(const void* source);
  /// Collective: sends and receives the messages.
  void exchange();
  /// Writes all elements of this rank's array of `to`, in host memory.
  void unpack(void* target) const;

 private:
  struct Message {
    int peer;
    std::vector<Run> rows, columns;
    std::vector<unsigned char> bytes;
    Request request = {};
  };
  Message make_message(int peer, int sender, int receiver) const;

  std::shared_ptr<Comm> comm_;
  Spread from_, to_;
  std::int64_t element_;
  std::vector<Message> sent_, received_;
};

}  // namespace tessera::distributed
