// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Pieces of factors from the devices of ranks to those of others: as copies between devices, or as messages of NCCL.
#pragma once

#include "attempts.hpp"
#include "comm.hpp"
#include "driver.hpp"
#include "gathering.hpp"
#include "handles.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

/// Left and right.
inline constexpr std::size_t kFactors = 2;

/// All pieces of a factor that a rank gets from another one before a product.
struct Message {
  std::size_t factor;
  int peer;
  std::vector<Piece> pieces;

  std::int64_t elements() const {
    std::int64_t sum = 0;
    for (const Piece& piece : pieces) sum += piece.elements();
    return sum;
  }
};
/// What travels before a product, in one order on all ranks.
struct Messages {
  std::vector<Message> sent, received;
};

class Carrier {
 public:
  /// Collective: the fastest way that there is between the devices of all ranks, or null, and why there is none.
  /// `copier` is a context beside `context`; both outlive the carrier.
  static std::unique_ptr<Carrier> join(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                       tessera_context* copier, std::string& why_not);
  virtual ~Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// In words.
  virtual std::string name() const = 0;
  /// What travels in an execution, for each product, in elements of so many bytes. Makes room.
  virtual void expect(std::vector<Messages> all, std::int64_t element) = 0;
  /// Collective. What is queued on the context by now ends before anything travels from or to this rank.
  virtual void begin(const std::array<const void*, kFactors>& arrays, Attempts& attempts) = 0;
  /// Queues what travels before a product on the copier.
  virtual void queue(std::size_t product, const std::array<void*, kFactors>& gathered) = 0;
  /// Behind all that this rank has queued.
  virtual void finish() = 0;
  /// When all ranks have finished: what is queued on the context from now on waits until nobody reads this rank's
  /// arrays.
  virtual void leave() noexcept = 0;

 protected:
  Carrier() = default;
};

/// A piece in memory, with its elements as they lie in both arrays, or packed on one side.
inline Lines lines_of(const Piece& piece, std::int64_t element, const void* from, void* to) {
  const auto bytes = [element](std::int64_t elements) { return std::size_t(elements * element); };
  return {static_cast<const unsigned char*>(from) + piece.from * element,
          static_cast<unsigned char*>(to) + piece.to * element,
          bytes(piece.from_apart),
          bytes(piece.to_apart),
          std::size_t(piece.count),
          bytes(piece.length)};
}

}  // namespace tessera::distributed
