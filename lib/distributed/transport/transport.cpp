// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "transport.hpp"

#include "driver.hpp"

namespace tessera::distributed {
namespace {

/// The copy of a piece between packed memory of the host and an array, whose elements have these strides.
tessera_copy copy_of(const Piece& piece, std::int64_t element, const std::array<std::int64_t, 2>& strides,
                     bool to_device) {
  const auto dense = piece.dense_strides();
  tessera_copy copy{};
  copy.struct_size = sizeof copy;
  copy.direction = to_device ? TESSERA_COPY_TO_DEVICE : TESSERA_COPY_TO_HOST, copy.rank = 3;
  copy.element_size = std::uint64_t(element);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    copy.extents[axis] = piece.extents[axis];
    copy.target_strides[axis] = axis == 2 ? 1 : (to_device ? strides : dense)[axis];
    copy.source_strides[axis] = axis == 2 ? 1 : (to_device ? dense : strides)[axis];
  }
  return copy;
}

}  // namespace

void pack(tessera_context* context, const Piece& piece, std::int64_t element, const void* array, void* packed) {
  tessera_copy copy = copy_of(piece, element, piece.from_strides, false);
  copy.target = packed, copy.source = at(array, piece.from * element);
  call(tessera_context_copy, context, &copy);
}

void unpack(tessera_context* context, const Piece& piece, std::int64_t element, const void* packed, void* array) {
  tessera_copy copy = copy_of(piece, element, piece.to_strides, true);
  copy.target = at(array, piece.to * element), copy.source = packed;
  call(tessera_context_copy, context, &copy);
}

void queue_copy(void* device, void* stream, const Piece& piece, std::int64_t element, const void* from, void* to) {
  const auto bytes = [element](std::int64_t elements) { return std::size_t(elements * element); };
  const std::size_t all = bytes(piece.elements());
  const void* const source = at(from, piece.from * element);
  void* const target = at(to, piece.to * element);
  if (piece.is_dense_from() && piece.is_dense_to())
    return driver::copy(device, stream, {source, target, all, all, 1, all});
  for (std::int64_t plane = 0; plane < piece.extents[0]; ++plane)
    driver::copy(device, stream,
                 {at(source, plane * piece.from_strides[0] * element),
                  at(target, plane * piece.to_strides[0] * element), bytes(piece.from_strides[1]),
                  bytes(piece.to_strides[1]), std::size_t(piece.extents[1]), bytes(piece.extents[2])});
}

std::unique_ptr<Transport> Transport::by_devices(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                                 tessera_context* copier, bool nccl_alone, std::string& why_not) {
  std::unique_ptr<Transport> made;
  std::string why_no_copies;
  if (!nccl_alone) made = by_copies(comm, context, copier, why_no_copies);
  if (made != nullptr) return made;
  made = by_nccl(comm, context, copier, why_not);
  if (made == nullptr && !nccl_alone) why_not = why_no_copies + "; " + why_not;
  return made;
}

}  // namespace tessera::distributed
