// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "agreement.hpp"

#include "check.hpp"

namespace tessera::distributed {
namespace {

/// Of all ranks' votes the largest is that of the first rank that has failed; 0: none has.
std::int64_t vote(const Comm& comm, const Outcome& mine) {
  if (mine.failed() && comm.is_broken()) throw Error(mine.status, mine.message);  // nobody can hear of it
  return mine.failed() ? comm.size() - comm.rank() : 0;
}

/// Collective, where some rank has failed: which was the first, and what it says.
int hear_of(Comm& comm, std::int64_t largest_vote, Outcome& first) {
  const int rank = comm.size() - int(largest_vote);
  comm.broadcast(&first, sizeof first, rank);
  return rank;
}

void settle(Comm& comm, const Outcome& mine, std::int64_t largest_vote) {
  if (largest_vote == 0) return;
  Outcome first = mine;
  const int rank = hear_of(comm, largest_vote, first);
  if (mine.failed()) throw Error(mine.status, mine.message);
  throw Error(first.status, "rank " + std::to_string(rank) + ": " + first.message);
}

}  // namespace

std::string first_failure(Comm& comm, const Outcome& mine) {
  std::array<std::int64_t, 1> votes{vote(comm, mine)};
  comm.all_reduce(votes);
  Outcome first = mine;
  if (votes[0] != 0) hear_of(comm, votes[0], first);
  return first.message;
}

bool agree(Comm& comm, const Outcome& mine, bool flag) {
  std::array<std::int64_t, 2> values{vote(comm, mine), flag};
  comm.all_reduce(values);
  settle(comm, mine, values[0]);
  return values[1] != 0;
}

bool agree_on(Comm& comm, const Outcome& mine, std::int64_t number) {
  std::array<std::int64_t, 3> values{vote(comm, mine), number, ~number};
  comm.all_reduce(values);
  settle(comm, mine, values[0]);
  return values[1] == ~values[2];  // the largest and the least
}

std::int64_t hash_of(const void* data, std::size_t bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  return std::int64_t(hash);
}

void Signature::add(const std::string& name, double value) { add(name, core::text_of(value, 17).c_str()); }

void Signature::add(const std::string& name, const char* text) {
  text_ += name + (text == nullptr ? " is not given" : std::string(" = ") + text) + '\n';
}

void Signature::add_cut(const tessera_decomposition& wanted, int ranks) {
  for (int axis = 0; axis < TESSERA_MAX_RANK; ++axis) {
    add(core::indexed("ranks", axis), std::int64_t(wanted.ranks[axis]));
    const std::int64_t* const points = wanted.points[axis];
    for (int rank = 0; points != nullptr && rank < ranks && rank < wanted.ranks[axis]; ++rank)
      add(core::indexed(core::indexed("points", axis), rank), points[rank]);
  }
  add("depth", std::int64_t(wanted.depth)), add("halos", std::int64_t(wanted.halos));
}

void Signature::refuse(Comm& comm) const {
  auto bytes = std::int64_t(text_.size());
  comm.broadcast(&bytes, sizeof bytes, 0);
  std::string first;
  together(comm, [&] { first = text_, first.resize(std::size_t(bytes)); });
  comm.broadcast(first.data(), first.size(), 0);
  together(comm, [&] {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = text_.find('\n', at), last = first.find('\n', at);
      const std::string mine = text_.substr(at, end - at);
      const std::string theirs = at >= first.size() ? "no more values" : first.substr(at, last - at);
      if (mine != theirs) {
        const std::size_t value = theirs.rfind(" = ");
        throw Error(TESSERA_INVALID_ARGUMENT, mine + ": rank 0 has " +
                                                  (value == std::string::npos ? theirs : theirs.substr(value + 3)) +
                                                  "; it must be the same on all ranks");
      }
      at = end + 1;
    }
    if (first.size() > text_.size())
      throw Error(TESSERA_INVALID_ARGUMENT, "rank 0 has more: " + first.substr(text_.size(), 100));
  });
}

}  // namespace tessera::distributed
