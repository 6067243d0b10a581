// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The panels of A along a row of the grid, or those of B along a column: from the rank that owns a panel to the next
/// one, and on, until all have it.
#pragma once

#include "group/agreement.hpp"
#include "handles.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
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
            tessera_context* context, tessera_context* copier)
      : comm_(std::move(comm)),
        ring_(ring),
        slices_(std::move(slices)),
        element_(element),
        context_(context),
        copier_(copier) {
    std::int64_t bytes = 0;
    for (const Slice& slice : slices_)
      if (!is_still(slice)) bytes = std::max(bytes, slice.elements() * element_);
    for (Slot& slot : slots_) {
      if (bytes > 0) slot.memory = make_buffer(context_, bytes);
      if (bytes > 0 && copier_ != nullptr) slot.staging.resize(std::size_t(bytes));
    }
  }

  /// Begins an execution on a local array.
  void start(const void* local) { local_ = local; }

  /// Begins to send a panel or to receive it. The panel two before it must not be read any more by the host.
  void begin(std::size_t panel, Progress& progress) {
    const Slice& slice = slices_[panel];
    Slot& slot = slots_[panel % 2];
    if (is_still(slice)) return;
    slot.sending.wait();
    const std::size_t bytes = std::size_t(slice.elements() * element_);
    if (!is_own(slice)) {
      slot.receiving = comm_->receive(message(slot), bytes, ring_.previous, ring_.tag);
      return;
    }
    const void* packed = own(slice);
    if (copier_ != nullptr || !slice.is_dense()) {
      packed = message(slot);
      const Piece piece{0, 0, {1, slice.rows, slice.columns}, {0, slice.ld}, {}};
      progress.run([&] { pack(copier_ == nullptr ? context_ : copier_, piece, element_, own(slice), message(slot)); });
    }
    slot.sending = comm_->send(packed, bytes, ring_.next, ring_.tag);
  }

  /// Waits for it and sends it on. The panel two before it must not be read any more.
  void finish(std::size_t panel, Progress& progress) {
    const Slice& slice = slices_[panel];
    Slot& slot = slots_[panel % 2];
    if (is_still(slice) || is_own(slice)) return;
    slot.receiving.wait();
    const std::int64_t bytes = slice.elements() * element_;
    if ((ring_.place + 1) % ring_.size != slice.owner)
      slot.sending = comm_->send(message(slot), std::size_t(bytes), ring_.next, ring_.tag);
    if (copier_ == nullptr) return;
    progress.run([&] {
      void* const memory = tessera_buffer_data(slot.memory.get());
      copy_bytes(copier_, memory, slot.staging.data(), bytes, TESSERA_COPY_TO_DEVICE);
    });
  }

  /// Waits until all that was sent has gone.
  void end() {
    for (Slot& slot : slots_) slot.sending.wait();
  }

  /// A panel that has come, in the memory of operands, and the elements between its rows.
  const void* data(std::size_t panel) const {
    const Slice& slice = slices_[panel];
    return is_own(slice) ? own(slice) : tessera_buffer_data(slots_[panel % 2].memory.get());
  }
  std::int64_t ld(std::size_t panel) const {
    const Slice& slice = slices_[panel];
    return is_own(slice) ? slice.ld : slice.columns;
  }

 private:
  struct Slot {
    BufferHandle memory;                 ///< of operands
    std::vector<unsigned char> staging;  ///< where those are a device's
    Request receiving = {}, sending = {};
  };
  bool is_own(const Slice& slice) const { return slice.owner == ring_.place; }
  bool is_still(const Slice& slice) const { return ring_.size == 1 || slice.elements() == 0; }
  const void* own(const Slice& slice) const { return at(local_, slice.offset * element_); }
  void* message(Slot& slot) const {
    return copier_ == nullptr ? tessera_buffer_data(slot.memory.get()) : slot.staging.data();
  }

  std::shared_ptr<Comm> comm_;
  Ring ring_;
  std::vector<Slice> slices_;
  std::int64_t element_;
  tessera_context* context_;
  tessera_context* copier_;
  const void* local_ = nullptr;
  std::array<Slot, 2> slots_;
};

}  // namespace tessera::distributed
