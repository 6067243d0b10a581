// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "block_cyclic.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace tessera::distributed {
namespace {

/// What one rank has in `from` and another one in `to`.
Message message_between(const Spread& from, int sender, const Spread& to, int receiver, std::int64_t element) {
  Message message{0, 0, element, {}, {}, {}};
  if (!from.grid.contains(sender) || !to.grid.contains(receiver)) return message;
  const auto rows = common_runs(from.rows, from.grid.row(sender), to.rows, to.grid.row(receiver));
  const auto columns = common_runs(from.columns, from.grid.column(sender), to.columns, to.grid.column(receiver));
  const std::int64_t from_ld = from.by_columns ? from.local_rows(sender) : from.local_columns(sender);
  const std::int64_t to_ld = to.by_columns ? to.local_rows(receiver) : to.local_columns(receiver);
  const auto strides = [](const Spread& of, std::int64_t ld) {
    return of.by_columns ? std::array<std::int64_t, 2>{1, ld} : std::array<std::int64_t, 2>{ld, 1};
  };
  if (from.by_columns != to.by_columns) {  // each element is a line of its own
    message.runs = {rows, columns, std::vector<Run>{{0, 0, 1}}};
    message.from_strides = strides(from, from_ld), message.to_strides = strides(to, to_ld);
  } else {
    message.runs = {std::vector<Run>{{0, 0, 1}}, from.by_columns ? columns : rows, from.by_columns ? rows : columns};
    message.from_strides = {0, from_ld}, message.to_strides = {0, to_ld};
  }
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
