// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How a field comes from and to one rank, and how what lies around the blocks of an array comes from its neighbours.

#include "check.hpp"
#include "plan.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace tessera::distributed {
namespace {

using core::invalid;

/// Copies a box between the packed array of another one and packed bytes, both on the host. The root's array may be
/// const.
void copy_rows(const Box& array, std::int64_t element, const void* data, const Box& box, void* packed,
               bool out_of_array) {
  const std::size_t row = std::size_t((box.high[2] - box.low[2]) * element);
  auto* dense = static_cast<unsigned char*>(packed);
  for (std::int64_t i = box.low[0]; i < box.high[0]; ++i)
    for (std::int64_t j = box.low[1]; j < box.high[1]; ++j, dense += row) {
      void* const here = at(data, array.offset({i, j, box.low[2]}) * element);
      std::memcpy(out_of_array ? dense : here, out_of_array ? here : dense, row);
    }
}

}  // namespace

/// Collective: throws on all ranks unless the arguments of a move from or to one rank are right, field and root the
/// same, and `prepare` has gone well with the room for a block that is returned.
std::vector<unsigned char> DomainPlan::begin_move(std::int32_t field, int root, const void* global, const void* local,
                                                  const std::function<void(void*)>& prepare) {
  Signature same;
  std::vector<unsigned char> moved;
  same.check(*comm_, outcome_of([&] {
    same.add("field", field), same.add("root", root);
    const FieldShape& shape = stepper_->fields()[checked(field)];
    if (root < 0 || root >= comm_->size())
      invalid("root", root, "must lie in [0, " + std::to_string(comm_->size()) + ")");
    if (comm_->rank() == root && global == nullptr) invalid("global", "null", "must be an array on the root");
    if (local == nullptr) invalid("local", "null", "must be an array");
    std::int64_t points = 0;
    for (int rank = 0; rank < comm_->size(); ++rank)
      if (rank == comm_->rank() || comm_->rank() == root) points = std::max(points, cut_->block(rank).points());
    moved.resize(std::size_t(points * shape.element));
    if (prepare) prepare(moved.data());
  }));
  return moved;
}

void DomainPlan::scatter(std::int32_t field, int root, const void* global, void* local) {
  std::vector<unsigned char> moved = begin_move(field, root, global, local, {});
  const FieldShape& shape = stepper_->fields()[std::size_t(field)];
  if (shape.kind == TESSERA_FIELD_PROFILE) return scatter_profile(shape, root, global, local);
  const Box whole{{}, stepper_->domain().extents};
  const auto bytes = [&](const Box& box) { return std::size_t(box.points() * shape.element); };
  if (comm_->rank() != root) {
    comm_->receive(moved.data(), bytes(place_.block), root, kBlockTag).wait();
  } else {
    for (int rank = 0; rank < comm_->size(); ++rank) {
      const Box box = cut_->block(rank);
      if (rank == root) continue;
      copy_rows(whole, shape.element, global, box, moved.data(), true);
      comm_->send(moved.data(), bytes(box), rank, kBlockTag).wait();
    }
    copy_rows(whole, shape.element, global, place_.block, moved.data(), true);
  }
  together(*comm_, [&] { unpack(copier(), piece_of(place_.block, place_.array), shape.element, moved.data(), local); });
  if (shape.kind == TESSERA_FIELD_ARRAY) exchange(field, local);
}

void DomainPlan::gather(std::int32_t field, int root, const void* local, void* global) {
  std::vector<unsigned char> moved = begin_move(field, root, global, local, [&](void* room) {
    if (stepper_->fields()[std::size_t(field)].kind == TESSERA_FIELD_PROFILE)
      invalid("field", field, "must be a state or an array: of a profile each rank has what it was given");
    call(tessera_context_synchronize, context_.get());
    pack(copier(), piece_of(place_.block, place_.array), stepper_->fields()[std::size_t(field)].element, local, room);
  });
  const std::int64_t element = stepper_->fields()[std::size_t(field)].element;
  const Box whole{{}, stepper_->domain().extents};
  const auto bytes = [&](const Box& box) { return std::size_t(box.points() * element); };
  if (comm_->rank() != root) return comm_->send(moved.data(), bytes(place_.block), root, kBlockTag).wait();
  copy_rows(whole, element, global, place_.block, moved.data(), false);
  for (int rank = 0; rank < comm_->size(); ++rank) {
    const Box box = cut_->block(rank);
    if (rank == root) continue;
    comm_->receive(moved.data(), bytes(box), rank, kBlockTag).wait();
    copy_rows(whole, element, global, box, moved.data(), false);
  }
}

/// The places along the profile's axis that the rank's array has; of a ring they go round.
void DomainPlan::scatter_profile(const FieldShape& field, int root, const void* global, void* local) {
  const auto axis = std::size_t(field.axis);
  const std::int64_t element = field.element, extent = stepper_->domain().extents[axis];
  std::vector<unsigned char> whole;
  together(*comm_, [&] { whole.resize(std::size_t(extent * element)); });
  if (comm_->rank() == root) std::memcpy(whole.data(), global, whole.size());
  comm_->broadcast(whole.data(), whole.size(), root);
  together(*comm_, [&] {
    std::vector<unsigned char> part;
    for (std::int64_t x = place_.array.low[axis]; x < place_.array.high[axis]; ++x) {
      const std::int64_t at = (x % extent + extent) % extent * element;
      part.insert(part.end(), whole.begin() + at, whole.begin() + at + element);
    }
    copy_bytes(copier(), local, part.data(), std::int64_t(part.size()), TESSERA_COPY_TO_DEVICE);
  });
}

/// Through host memory.
void DomainPlan::exchange(std::int32_t field, void* local) {
  std::unique_ptr<Transport> once;
  Signature same;
  same.check(*comm_, outcome_of([&] {
    same.add("field", field);
    const std::size_t f = checked(field);
    if (local == nullptr) invalid("local", "null", "must be an array");
    Messages messages;
    add_messages(messages, *cut_, comm_->rank(), 0, stepper_->fields()[f].element,
                 stepper_->reach(f, 0, cut_->depth()));
    once = Transport::by_host(comm_, context_.get(), copier_.get());
    once->expect({std::move(messages)});
  }));
  Progress progress;
  once->begin(0, {local}, {local}, progress);
  once->finish({local}, progress);
  agree(*comm_, progress.outcome());
}

}  // namespace tessera::distributed
