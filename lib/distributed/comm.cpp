// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "comm.hpp"

#include <string>

namespace tessera::distributed {

Request::~Request() {
  try {
    wait();
  } catch (...) {  // what failed is known: this is how requests go after a failure
  }
}

void Request::wait() {
  if (Comm* const comm = std::exchange(comm_, nullptr))
    comm->call(comm->transport_.wait, std::exchange(handle_, nullptr));
}

Comm::Comm(const tessera_transport& transport) : transport_(transport) {
  const tessera_transport& t = transport;
  if (t.size >= 1 && t.rank >= 0 && t.rank < t.size && t.broadcast != nullptr && t.all_gather != nullptr &&
      t.send != nullptr && t.receive != nullptr && t.wait != nullptr && t.destroy != nullptr)
    return;
  if (t.destroy != nullptr) t.destroy(t.state);
  throw Error(TESSERA_INVALID_ARGUMENT, "the transport of rank " + std::to_string(t.rank) + " of " +
                                            std::to_string(t.size) +
                                            ": must have all its functions, at least 1 rank, and a rank in [0, size)");
}

Comm::~Comm() { transport_.destroy(transport_.state); }

}  // namespace tessera::distributed
