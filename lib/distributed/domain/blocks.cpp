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

using core::invalid;

/// Collective: throws on all ranks unless the arguments of a move from or to one rank are right, field and root the
/// same, and `prepare` has gone well with the room for a block.
DomainPlan::Move DomainPlan::begin_move(std::int32_t field, int root, const void* global, const void* local,
                                        const std::function<void(Move&)>& prepare) {
  Signature same;
  Move move;
  same.check(*comm_, outcome_of([&] {
    same.add("field", field), same.add("root", root);
    const std::int64_t element = stepper_->fields()[checked(field)].element;
    if (root < 0 || root >= comm_->size())
      invalid("root", root, "must lie in [0, " + std::to_string(comm_->size()) + ")");
    if (comm_->rank() == root && global == nullptr) invalid("global", "null", "must be an array on the root");
    if (local == nullptr) invalid("local", "null", "must be an array");
    const Box whole{{}, stepper_->domain().extents};
    std::int64_t bytes = 0;
    for (int rank = 0; rank < comm_->size(); ++rank) {
      move.parts.push_back(message_of(cut_->block(rank), whole, whole, {}, element));
      if (rank == comm_->rank() || comm_->rank() == root) bytes = std::max(bytes, move.parts.back().bytes());
    }
    move.own = message_of(place_.block, place_.array, place_.array, {}, element);
    move.room.resize(std::size_t(bytes));
    prepare(move);
  }));
  return move;
}

void DomainPlan::scatter(std::int32_t field, int root, const void* global, void* local) {
  Move move = begin_move(field, root, global, local, [](Move&) {});
  const FieldShape& shape = stepper_->fields()[std::size_t(field)];
  if (shape.kind == TESSERA_FIELD_PROFILE) return scatter_profile(shape, root, global, local);
  void* const room = move.room.data();
  const auto bytes = [&](int rank) { return std::size_t(move.parts[std::size_t(rank)].bytes()); };
  if (comm_->rank() != root) {
    comm_->receive(room, bytes(comm_->rank()), root, kBlockTag).wait();
  } else {
    for (int rank = 0; rank < comm_->size(); ++rank) {
      if (rank == root) continue;
      pack(nullptr, move.parts[std::size_t(rank)], global, room);
      comm_->send(room, bytes(rank), rank, kBlockTag).wait();
    }
    pack(nullptr, move.parts[std::size_t(root)], global, room);
  }
  together(*comm_, [&] { unpack(copier(), move.own, room, local); });
  if (shape.kind == TESSERA_FIELD_ARRAY) exchange(field, local);
}

void DomainPlan::gather(std::int32_t field, int root, const void* local, void* global) {
  Move move = begin_move(field, root, global, local, [&](Move& own) {
    if (stepper_->fields()[std::size_t(field)].kind == TESSERA_FIELD_PROFILE)
      invalid("field", field, "must be a state or an array: of a profile each rank has what it was given");
    call(tessera_context_synchronize, context_.get());
    pack(copier(), own.own, local, own.room.data());
  });
  void* const room = move.room.data();
  const auto bytes = [&](int rank) { return std::size_t(move.parts[std::size_t(rank)].bytes()); };
  if (comm_->rank() != root) return comm_->send(room, bytes(comm_->rank()), root, kBlockTag).wait();
  unpack(nullptr, move.parts[std::size_t(root)], room, global);
  for (int rank = 0; rank < comm_->size(); ++rank) {
    if (rank == root) continue;
    comm_->receive(room, bytes(rank), rank, kBlockTag).wait();
    unpack(nullptr, move.parts[std::size_t(rank)], room, global);
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
    once = Transport::by_host(comm_, context_.get(), copier_.get(), true);
    once->expect({std::move(messages)});
  }));
  Progress progress;
  progress.run([&] { once->show(context_.get()); });
  once->begin(0, {local}, {local}, progress);
  once->finish(0, {local}, progress);
  agree(*comm_, progress.outcome());
}

}  // namespace tessera::distributed
