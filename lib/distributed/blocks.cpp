// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "blocks.hpp"

#include "alike.hpp"
#include "check.hpp"
#include "tags.hpp"
#include "together.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace tessera::distributed {
namespace {

/// Copies a box between an array and packed bytes, both on the host. The root's array may be const.
void copy_rows(const Array& array, const void* data, const Box& box, void* packed, bool out_of_array) {
  const Array part{box, array.element};
  const std::size_t row = std::size_t((box.high[2] - box.low[2]) * array.element);
  auto* const whole = static_cast<unsigned char*>(const_cast<void*>(data));
  auto* const dense = static_cast<unsigned char*>(packed);
  for (std::int64_t i = box.low[0]; i < box.high[0]; ++i)
    for (std::int64_t j = box.low[1]; j < box.high[1]; ++j) {
      unsigned char* const here = whole + array.offset({i, j, box.low[2]}) * array.element;
      unsigned char* const there = dense + part.offset({i, j, box.low[2]}) * array.element;
      std::memcpy(out_of_array ? there : here, out_of_array ? here : there, row);
    }
}

}  // namespace

Array array_of(const Decomposition& cut, int rank, std::int64_t element) {
  Box box = cut.block(rank);
  const Index below = cut.low(rank), above = cut.high(rank);
  for (int axis = 0; axis < kAxes; ++axis) box.low[axis] -= below[axis], box.high[axis] += above[axis];
  return {box, element};
}

Halos halos_of(const Decomposition& cut, int rank, std::int64_t element, const Reach& reach) {
  Halos halos{array_of(cut, rank, element), cut.sent(rank, reach), cut.received(rank, reach), {}};
  for (const Decomposition::Halo& halo : halos.received)
    for (const Decomposition::Halo& sent : cut.sent(halo.peer, reach))
      if (sent.peer == rank && sent.tag == halo.tag)
        halos.sources.push_back(array_of(cut, halo.peer, element).offset(sent.box.low) * element);
  return halos;
}

tessera_block block_of(const Decomposition& cut, int rank) {
  if (rank < 0 || rank >= cut.size())
    core::invalid("rank", rank, "must lie in [0, " + std::to_string(cut.size()) + ")");
  const Array array = array_of(cut, rank, 1);
  const Box box = cut.block(rank);
  const Index extents = box.extents(), low = cut.low(rank), high = cut.high(rank), strides = array.strides();
  tessera_block b{};
  b.struct_size = sizeof b;
  for (int axis = 0; axis < kAxes; ++axis) {
    b.first[axis] = box.low[axis], b.extents[axis] = extents[axis], b.strides[axis] = strides[axis];
    b.low[axis] = low[axis], b.high[axis] = high[axis];
  }
  b.offset = array.offset(box.low), b.elements = array.box.points();
  return b;
}

void check_move(Comm& comm, int root, const void* global, const void* local) {
  together(comm, [&] {
    if (root < 0 || root >= comm.size())
      core::invalid("root", root, "must lie in [0, " + std::to_string(comm.size()) + ")");
    if (comm.rank() == root && global == nullptr) core::invalid("global", "null", "must be an array on the root");
    if (local == nullptr) core::invalid("local", "null", "must be an array");
  });
  together(comm, [&] {
    Alike arguments;
    arguments.add("root", std::int64_t(root));
    arguments.check(comm);
  });
}

BlockMove::BlockMove(Comm& comm, const Decomposition& cut, const Index& extents, std::int64_t element)
    : comm_(comm), cut_(cut), whole_{{{}, extents}, element}, own_(array_of(cut, comm.rank(), element)) {}

/// Collective: checks the arguments and makes room for a block.
void BlockMove::begin(int root, const void* global, const void* local) {
  check_move(comm_, root, global, local);
  std::int64_t bytes = 0;
  for (int rank = 0; rank < comm_.size(); ++rank)
    if (rank == comm_.rank() || comm_.rank() == root) bytes = std::max(bytes, cut_.block(rank).points() * own_.element);
  together(comm_, [&] { moved_.resize(std::size_t(bytes)); });
}

void BlockMove::scatter(int root, const void* global, void* local, tessera_context* copier) {
  begin(root, global, local);
  const Box own = cut_.block(comm_.rank());
  if (comm_.rank() != root) {
    comm_.receive(moved_.data(), std::size_t(own.points() * own_.element), root, kBlockTag).wait();
  } else {
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const Box box = cut_.block(rank);
      if (rank == root) continue;
      copy_rows(whole_, global, box, moved_.data(), true);
      comm_.send(moved_.data(), std::size_t(box.points() * own_.element), rank, kBlockTag).wait();
    }
    copy_rows(whole_, global, own, moved_.data(), true);
  }
  together(comm_, [&] { unpack(copier, own_, local, own, moved_.data()); });
}

void BlockMove::gather(int root, const void* local, void* global, tessera_context* context, tessera_context* copier) {
  begin(root, global, local);
  const Box own = cut_.block(comm_.rank());
  together(comm_, [&] {
    call(tessera_context_synchronize, context);
    pack(copier, own_, const_cast<void*>(local), own, moved_.data());
  });
  if (comm_.rank() != root)
    return comm_.send(moved_.data(), std::size_t(own.points() * own_.element), root, kBlockTag).wait();
  copy_rows(whole_, global, own, moved_.data(), false);
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const Box box = cut_.block(rank);
    if (rank == root) continue;
    comm_.receive(moved_.data(), std::size_t(box.points() * own_.element), rank, kBlockTag).wait();
    copy_rows(whole_, global, box, moved_.data(), false);
  }
}

}  // namespace tessera::distributed
