// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The blocks of a field: what a rank has of a domain that is cut, and how it comes from and to one rank.
#pragma once

#include "arrays.hpp"
#include "comm.hpp"
#include "decomposition.hpp"
#include "exchange.hpp"

#include <tessera/distributed.h>

#include <cstdint>
#include <vector>

namespace tessera::distributed {

/// A rank's block with the points of its neighbours around it.
Array array_of(const Decomposition& cut, int rank, std::int64_t element);
/// What travels to and from it of a field.
Halos halos_of(const Decomposition& cut, int rank, std::int64_t element, const Reach& reach);
/// The block for the public.
tessera_block block_of(const Decomposition& cut, int rank);

/// Collective: throws on all ranks unless the arguments of a move from or to one rank are right, and the root the same.
void check_move(Comm& comm, int root, const void* global, const void* local);

/// Moves the blocks of a field between a root's array of the whole domain, in host memory, and those of the ranks.
class BlockMove {
 public:
  BlockMove(Comm& comm, const Decomposition& cut, const Index& extents, std::int64_t element);

  /// Collective. Contexts are those of the local array's memory: `context` has what was queued on it done before.
  void scatter(int root, const void* global, void* local, tessera_context* copier);
  void gather(int root, const void* local, void* global, tessera_context* context, tessera_context* copier);

 private:
  void begin(int root, const void* global, const void* local);

  Comm& comm_;
  const Decomposition& cut_;
  Array whole_, own_;
  std::vector<unsigned char> moved_;  ///< a block on its way to or from the root
};

}  // namespace tessera::distributed
