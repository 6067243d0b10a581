// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "comm.hpp"

#include <algorithm>
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
      t.send != nullptr && t.receive != nullptr && t.wait != nullptr && t.destroy != nullptr) {
    if (t.all_reduce == nullptr) gathered_.reserve(std::size_t(t.size) * 4);
    return;
  }
  if (t.destroy != nullptr) t.destroy(t.state);
  throw Error(TESSERA_INVALID_ARGUMENT, "the transport of rank " + std::to_string(t.rank) + " of " +
                                            std::to_string(t.size) +
                                            ": must have all its functions, at least 1 rank, and a rank in [0, size)");
}

Comm::~Comm() { transport_.destroy(transport_.state); }

void Comm::reduce(std::int64_t* values, std::size_t count) {
  if (size() == 1) return;
  if (transport_.all_reduce != nullptr) return call_if_whole(transport_.all_reduce, values, count);
  gathered_.resize(std::size_t(size()) * count);
  all_gather(values, gathered_.data(), count * sizeof *values);
  for (std::size_t i = 0; i < gathered_.size(); ++i) values[i % count] = std::max(values[i % count], gathered_[i]);
}

}  // namespace tessera::distributed
