// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What must be the same on all ranks.
#pragma once

#include "comm.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tessera::distributed {

/// Named values of a rank, to be compared with those of rank 0.
class Alike {
 public:
  void add(const std::string& name, std::int64_t value) { names_.push_back(name), values_.push_back(value); }
  void add(const std::string& name, double value) { add(name, std::bit_cast<std::int64_t>(value)); }
  void add(const std::string& name, const char* text) { add_all(name, text, text == nullptr ? 0 : std::strlen(text)); }
  /// A hash (FNV-1a) of all bytes.
  void add_all(const std::string& name, const void* data, std::size_t bytes) {
    std::uint64_t hash = 14695981039346656037u;
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
    add(name, std::int64_t(hash));
  }

  /// Collective over `comm`; throws where this rank differs, and names what and both values.
  void check(Comm& comm) const {
    std::int64_t count = std::int64_t(values_.size());
    comm.broadcast(&count, sizeof count, 0);
    std::vector<std::int64_t> first(std::size_t(count), 0);
    if (comm.rank() == 0) first = values_;
    comm.broadcast(first.data(), first.size() * sizeof(std::int64_t), 0);
    for (std::size_t i = 0; i < values_.size() && i < first.size(); ++i)
      if (values_[i] != first[i]) refuse(names_[i], values_[i], first[i]);
    if (values_.size() != first.size()) refuse("the number of values", std::int64_t(values_.size()), count);
  }

 private:
  [[noreturn]] static void refuse(const std::string& name, std::int64_t mine, std::int64_t first) {
    throw Error(TESSERA_INVALID_ARGUMENT, name + " = " + std::to_string(mine) + ": rank 0 has " +
                                              std::to_string(first) +
                                              "; the descriptor and how it is cut must be the same on all ranks");
  }

  std::vector<std::string> names_;
  std::vector<std::int64_t> values_;
};

/// How a domain is to be cut among so many ranks.
inline void add_cut(Alike& alike, const tessera_decomposition& wishes, int ranks) {
  for (int axis = 0; axis < TESSERA_MAX_RANK; ++axis) {
    const std::string place = "[" + std::to_string(axis) + "]";
    alike.add("ranks" + place, std::int64_t(wishes.ranks[axis]));
    const std::int64_t* const points = wishes.points[axis];
    for (int rank = 0; rank < ranks; ++rank)
      alike.add("points" + place, points == nullptr || rank >= wishes.ranks[axis] ? std::int64_t(0) : points[rank]);
  }
  alike.add("depth", std::int64_t(wishes.depth));
}

/// Collective: throws unless all ranks' contexts are of one backend with one instruction set.
inline void check_backends(Comm& comm, const tessera_context* context) {
  char mine[64] = {}, first[64] = {};
  std::strncpy(mine, tessera_context_backend(context), sizeof mine - 1);
  std::memcpy(first, mine, sizeof first);
  comm.broadcast(first, sizeof first, 0);
  if (std::strcmp(mine, first) != 0)
    throw Error(TESSERA_INVALID_ARGUMENT, std::string("backend = ") + mine + ": rank 0 has " + first +
                                              "; all ranks must have one backend with one instruction set");
}

}  // namespace tessera::distributed
