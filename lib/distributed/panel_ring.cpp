// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "panel_ring.hpp"

#include <algorithm>
#include <utility>

namespace tessera::distributed {

PanelRing::PanelRing(std::shared_ptr<Comm> comm, const Ring& ring, std::vector<Slice> slices, std::int64_t element,
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

void* PanelRing::message(Slot& slot) const {
  return copier_ == nullptr ? tessera_buffer_data(slot.memory.get()) : slot.staging.data();
}

void PanelRing::pack(const Slice& slice, void* packed) const {
  tessera_copy copy{};
  copy.struct_size = sizeof copy;
  copy.direction = TESSERA_COPY_TO_HOST, copy.rank = 2;
  copy.element_size = std::uint64_t(element_);
  copy.target = packed, copy.source = own(slice);
  copy.extents[0] = slice.rows, copy.extents[1] = slice.columns;
  copy.target_strides[0] = slice.columns, copy.target_strides[1] = 1;
  copy.source_strides[0] = slice.ld, copy.source_strides[1] = 1;
  call(tessera_context_copy, copier_ == nullptr ? context_ : copier_, &copy);
}

void PanelRing::begin(std::size_t panel, Attempts& attempts) {
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
    attempts.run([&] { pack(slice, message(slot)); });
  }
  slot.sending = comm_->send(packed, bytes, ring_.next, ring_.tag);
}

void PanelRing::finish(std::size_t panel, Attempts& attempts) {
  const Slice& slice = slices_[panel];
  Slot& slot = slots_[panel % 2];
  if (is_still(slice) || is_own(slice)) return;
  slot.receiving.wait();
  const std::int64_t bytes = slice.elements() * element_;
  if ((ring_.place + 1) % ring_.size != slice.owner)
    slot.sending = comm_->send(message(slot), std::size_t(bytes), ring_.next, ring_.tag);
  if (copier_ == nullptr) return;
  attempts.run([&] {
    void* const memory = tessera_buffer_data(slot.memory.get());
    copy_bytes(copier_, memory, slot.staging.data(), bytes, TESSERA_COPY_TO_DEVICE);
  });
}

void PanelRing::end() {
  for (Slot& slot : slots_) slot.sending.wait();
}

const void* PanelRing::data(std::size_t panel) const {
  const Slice& slice = slices_[panel];
  return is_own(slice) ? own(slice) : tessera_buffer_data(slots_[panel % 2].memory.get());
}

std::int64_t PanelRing::ld(std::size_t panel) const {
  const Slice& slice = slices_[panel];
  return is_own(slice) ? slice.ld : slice.columns;
}

}  // namespace tessera::distributed
