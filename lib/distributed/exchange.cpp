// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "exchange.hpp"

#include <exception>

namespace tessera::distributed {

Exchange::Exchange(std::shared_ptr<Comm> comm, const std::vector<Decomposition::Halo>& sent,
                   const std::vector<Decomposition::Halo>& received, const Array& array)
    : comm_(std::move(comm)), array_(array), sent_(messages(sent)), received_(messages(received)) {}

std::vector<Exchange::Message> Exchange::messages(const std::vector<Decomposition::Halo>& halos) const {
  std::vector<Message> made;
  for (const Decomposition::Halo& halo : halos) {
    const std::int64_t bytes = kHead + halo.box.points() * array_.element;
    made.push_back({halo, std::vector<unsigned char>(std::size_t(bytes))});
  }
  return made;
}

void Exchange::begin(tessera_context* context, void* array, bool failed) {
  for (Message& message : received_)
    message.request = comm_->receive(message.bytes.data(), message.bytes.size(), message.halo.peer, message.halo.tag);
  std::exception_ptr failure;
  for (Message& message : sent_) {
    try {
      if (!failed) pack(context, array_, array, message.halo.box, message.points());
    } catch (...) {  // the rest of the messages goes all the same, and says so
      failed = true, failure = std::current_exception();
    }
    message.bytes[0] = failed;
    message.request = comm_->send(message.bytes.data(), message.bytes.size(), message.halo.peer, message.halo.tag);
  }
  if (failure) std::rethrow_exception(failure);
}

int Exchange::finish(tessera_context* context, void* array, bool failed) {
  int lost = -1;
  std::exception_ptr failure;
  for (Message& message : received_) {
    message.request.wait();
    if (message.bytes[0] != 0) {
      if (lost < 0) lost = message.halo.peer;
      continue;
    }
    try {
      if (!failed) unpack(context, array_, array, message.halo.box, message.points());
    } catch (...) {  // the rest of the messages is received all the same
      failed = true, failure = std::current_exception();
    }
  }
  for (Message& message : sent_) message.request.wait();
  if (failure) std::rethrow_exception(failure);
  return lost;
}

}  // namespace tessera::distributed
