// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Series that the ranks of a group record together.
#pragma once

#include "comm.hpp"
#include "handles.hpp"
#include "system_description.hpp"

#include <cstdint>
#include <vector>

namespace tessera::distributed {

/// A rank records what lies in its boxes. A series all of whose points lie in one box comes from there; of others the
/// points come one by one, and each rank adds them in the list's order, by fused multiply-adds as all backends do.
class Recordings {
 public:
  /// Collective. `boxes` are what this rank makes by a plan each.
  Recordings(Comm& comm, tessera_context* context, const SystemDescription& system, const std::vector<Box>& boxes);

  /// Where a piece records a set: rows of all steps.
  void* array(std::size_t piece, std::size_t set) const;
  /// Collective, behind an execution: writes all series on all ranks, from the first step's row on.
  void gather(Comm& comm, const std::vector<void*>& series) const;
  bool empty() const { return system_.recordings().empty(); }

 private:
  struct Piece {
    std::vector<Slot> slots;
    std::vector<std::int64_t> begin;  ///< of each set in the buffer, in elements
    BufferHandle buffer;
  };
  template <class T>
  void gather_as(Comm& comm, const std::vector<void*>& series) const;
  template <class T>
  T* bring(std::size_t piece, std::size_t set, T* slot) const;
  template <class T>
  std::vector<T> assembled(std::size_t set, const std::vector<T>& all) const;

  const SystemDescription& system_;
  tessera_context* context_;
  std::int64_t element_;
  std::vector<Piece> pieces_;
  std::vector<Slot> all_;  ///< of all ranks, each as many as the largest has: set = -1 where there is none
  std::int64_t most_ = 0;  ///< slots of a rank
};

}  // namespace tessera::distributed
