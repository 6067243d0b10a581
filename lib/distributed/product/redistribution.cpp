// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "block_cyclic.hpp"

#include <cstdint>
#include <utility>

namespace tessera::distributed {
namespace {

/// What one rank has in `from` and another one in `to`.
Message message_between(const Spread& from, int sender, const Spread& to, int receiver, std::int64_t element) {
  Message message{0, 0, element, {std::vector<Run>{{0, 0, 1}}}, {}, {}};
  if (!from.grid.contains(sender) || !to.grid.contains(receiver)) return message;
  const bool flip = from.by_columns;  // lines of contiguous elements are columns
  message.runs[flip ? 2 : 1] = common_runs(from.rows, from.grid.row(sender), to.rows, to.grid.row(receiver));
  message.runs[flip ? 1 : 2] =
      common_runs(from.columns, from.grid.column(sender), to.columns, to.grid.column(receiver));
  message.from_strides[1] = flip ? from.local_rows(sender) : from.local_columns(sender);
  message.to_strides[1] = flip ? to.local_rows(receiver) : to.local_columns(receiver);
  return message;
}

}  // namespace

Redistribution::Redistribution(const std::shared_ptr<Comm>& comm, const Spread& from, tessera_context* from_device,
                               const Spread& to, tessera_context* to_device, std::int64_t element)
    : from_device_(from_device),
      to_device_(to_device),
      from_(1, nullptr),
      to_(1, nullptr),
      transport_(Transport::by_host(comm, nullptr, nullptr, false)) {
  const int own = comm->rank();
  if (from_device_ != nullptr) from_room_.resize(std::size_t(from.elements(own) * element));
  if (to_device_ != nullptr) to_room_.resize(std::size_t(to.elements(own) * element));
  Messages messages;
  for (int peer = 0; peer < comm->size(); ++peer) {
    const auto add = [&](std::vector<Message>& list, int sender, int receiver) {
      Message message = message_between(from, sender, to, receiver, element);
      message.peer = peer;
      if (message.bytes() > 0) list.push_back(std::move(message));
    };
    add(messages.sent, own, peer), add(messages.received, peer, own);
  }
  transport_->expect({std::move(messages)});
}

void Redistribution::take(const void* source) {
  from_[0] = from_device_ == nullptr ? const_cast<void*>(source) : from_room_.data();
  if (!from_room_.empty())
    copy_bytes(from_device_, from_[0], source, std::int64_t(from_room_.size()), TESSERA_COPY_TO_HOST);
}

void Redistribution::give(void* target, Progress& progress) {
  to_[0] = to_device_ == nullptr ? target : to_room_.data();
  transport_->begin(0, from_, to_, progress);
  transport_->finish(0, to_, progress);
  progress.run([&] {
    if (!to_room_.empty())
      copy_bytes(to_device_, target, to_[0], std::int64_t(to_room_.size()), TESSERA_COPY_TO_DEVICE);
  });
}

}  // namespace tessera::distributed
