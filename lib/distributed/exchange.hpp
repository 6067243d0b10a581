// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The exchange of halos between the blocks of a decomposition, through host memory.
#pragma once

#include "arrays.hpp"
#include "comm.hpp"
#include "decomposition.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::distributed {

/// What a rank sends and receives between two steps. Each message begins with a word that says whether its sender has
/// failed, so that a failure reaches the neighbours instead of silence.
class Exchange {
 public:
  Exchange(std::shared_ptr<Comm> comm, const std::vector<Decomposition::Halo>& sent,
           const std::vector<Decomposition::Halo>& received, const Array& array);

  /// Packs what the neighbours need of the array and lets it go. With `failed` the messages say so alone.
  void begin(tessera_context* context, void* array, bool failed);
  /// Waits for what the neighbours send and writes it around the block; nothing once one has failed. Returns the first
  /// neighbour that has failed, or -1.
  int finish(tessera_context* context, void* array, bool failed);

 private:
  /// Before the points of a message, which are aligned as any type wants it.
  static constexpr std::int64_t kHead = 64;
  struct Message {
    Decomposition::Halo halo;
    std::vector<unsigned char> bytes;
    Request request = {};

    void* points() { return bytes.data() + kHead; }
  };
  std::vector<Message> messages(const std::vector<Decomposition::Halo>& halos) const;

  std::shared_ptr<Comm> comm_;
  Array array_;
  std::vector<Message> sent_, received_;
};

}  // namespace tessera::distributed
