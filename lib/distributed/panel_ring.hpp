// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The panels of A along a row of the grid, or those of B along a column: from the rank that owns a panel to the next
/// one, and on, until all have it.
#pragma once

#include "attempts.hpp"
#include "comm.hpp"
#include "handles.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::distributed {

/// A rank's place in a row or column of the grid.
struct Ring {
  int place, size;
  int next, previous;  ///< ranks
  int tag;
};

/// A panel as a part of the local array of its owner. Ranks that get it have it dense.
struct Slice {
  int owner;                   ///< place in the ring
  std::int64_t rows, columns;  ///< the same on all ranks of the ring
  std::int64_t offset, ld;     ///< in the owner's array, in elements

  bool is_dense() const { return ld == columns || rows == 1; }
  std::int64_t elements() const { return rows * columns; }
};

/// Two panels are there at a time, so that one comes while the other is multiplied.
class PanelRing {
 public:
  /// `copier` is a context for copies to and from the device, or null where arrays are the host's own memory; it and
  /// `context` outlive the ring. Makes room for the panels; speaks to nobody.
  PanelRing(std::shared_ptr<Comm> comm, const Ring& ring, std::vector<Slice> slices, std::int64_t element,
            tessera_context* context, tessera_context* copier);

  /// Begins an execution on a local array.
  void start(const void* local) { local_ = static_cast<const unsigned char*>(local); }
  /// Begins to send a panel or to receive it. The panel two before it must not be read any more by the host.
  void begin(std::size_t panel, Attempts& attempts);
  /// Waits for it and sends it on. The panel two before it must not be read any more.
  void finish(std::size_t panel, Attempts& attempts);
  /// Waits until all that was sent has gone.
  void end();

  /// A panel that has come, in the memory of operands, and the elements between its rows.
  const void* data(std::size_t panel) const;
  std::int64_t ld(std::size_t panel) const;

 private:
  struct Slot {
    BufferHandle memory;                 ///< of operands
    std::vector<unsigned char> staging;  ///< where those are a device's
    Request receiving = {}, sending = {};
  };
  bool is_own(const Slice& slice) const { return slice.owner == ring_.place; }
  bool is_still(const Slice& slice) const { return ring_.size == 1 || slice.elements() == 0; }
  const unsigned char* own(const Slice& slice) const { return local_ + slice.offset * element_; }
  void* message(Slot& slot) const;
  void pack(const Slice& slice, void* packed) const;

  std::shared_ptr<Comm> comm_;
  Ring ring_;
  std::vector<Slice> slices_;
  std::int64_t element_;
  tessera_context* context_;
  tessera_context* copier_;
  const unsigned char* local_ = nullptr;
  std::array<Slot, 2> slots_;
};

}  // namespace tessera::distributed
