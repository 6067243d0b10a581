// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "exchange.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace tessera::distributed {
namespace {

/// Before the points of a message, and between two arrays: they are aligned as any type wants it.
constexpr std::size_t kHead = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kHead - 1) / kHead * kHead; }

}  // namespace

Exchange::Exchange(std::shared_ptr<Comm> comm, const std::vector<Halos>& arrays) : comm_(std::move(comm)) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    arrays_.push_back(arrays[i].array);
    for (const Decomposition::Halo& halo : arrays[i].sent) add(sent_, i, halo);
    for (const Decomposition::Halo& halo : arrays[i].received) add(received_, i, halo);
  }
}

void Exchange::add(std::vector<Message>& messages, std::size_t array, const Decomposition::Halo& halo) {
  auto message = std::find_if(messages.begin(), messages.end(),
                              [&](const Message& m) { return m.peer == halo.peer && m.tag == halo.tag; });
  if (message == messages.end()) {
    message = messages.insert(messages.end(), Message{halo.peer, halo.tag});
    message->bytes.resize(kHead);
  }
  const std::size_t begin = aligned(message->bytes.size());
  message->parts.push_back({array, halo.box, begin});
  message->bytes.resize(begin + std::size_t(halo.box.points() * arrays_[array].element));
}

void Exchange::begin(tessera_context* context, const std::vector<void*>& arrays, bool failed) {
  for (Message& message : received_)
    message.request = comm_->receive(message.bytes.data(), message.bytes.size(), message.peer, message.tag);
  std::exception_ptr failure;
  for (Message& message : sent_) {
    try {
      for (const Part& part : message.parts)
        if (!failed) pack(context, arrays_[part.array], arrays[part.array], part.box, &message.bytes[part.begin]);
    } catch (...) {  // the rest of the messages goes all the same, and says so
      failed = true, failure = std::current_exception();
    }
    message.bytes[0] = failed;
    message.request = comm_->send(message.bytes.data(), message.bytes.size(), message.peer, message.tag);
  }
  if (failure) std::rethrow_exception(failure);
}

int Exchange::finish(tessera_context* context, const std::vector<void*>& arrays, bool failed) {
  int lost = -1;
  std::exception_ptr failure;
  for (Message& message : received_) {
    message.request.wait();
    if (message.bytes[0] != 0) {
      if (lost < 0) lost = message.peer;
      continue;
    }
    try {
      for (const Part& part : message.parts)
        if (!failed) unpack(context, arrays_[part.array], arrays[part.array], part.box, &message.bytes[part.begin]);
    } catch (...) {  // the rest of the messages is received all the same
      failed = true, failure = std::current_exception();
    }
  }
  for (Message& message : sent_) message.request.wait();
  if (failure) std::rethrow_exception(failure);
  return lost;
}

}  // namespace tessera::distributed
