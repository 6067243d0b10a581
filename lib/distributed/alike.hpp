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
  void add(const std::string& name, const char* text) {
    std::int64_t hash = 0;
    for (; text != nullptr && *text != '\0'; ++text) hash = hash * 1099511628211 + *text;
    add(name, hash);
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
