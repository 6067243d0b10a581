// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What ranks do together fails on all of them or on none.
#pragma once

#include "comm.hpp"

#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace tessera::distributed {

/// How a rank's part went, as it travels.
struct Outcome {
  tessera_status status = TESSERA_OK;
  char message[1020] = {};
};

/// Runs `body`; what it throws becomes the outcome.
template <class Body>
Outcome outcome_of(Body&& body) noexcept {
  Outcome outcome;
  tessera_error error{sizeof error, TESSERA_OK, 0, outcome.message, sizeof outcome.message};
  outcome.status = plugin::guard(&error, body);
  return outcome;
}

/// Collective: "" where all went well, else what the first failure says.
inline std::string first_failure(Comm& comm, const Outcome& mine) {
  std::vector<Outcome> all(std::size_t(comm.size()));
  comm.all_gather(&mine, all.data(), sizeof mine);
  for (const Outcome& outcome : all)
    if (outcome.status != TESSERA_OK) return outcome.message;
  return {};
}

/// Collective: throws on all ranks what the first one that failed says, each its own failure.
inline void agree(Comm& comm, const Outcome& mine) {
  std::vector<Outcome> all(std::size_t(comm.size()));
  comm.all_gather(&mine, all.data(), sizeof mine);
  if (mine.status != TESSERA_OK) throw Error(mine.status, mine.message);
  for (int rank = 0; rank < comm.size(); ++rank)
    if (const Outcome& other = all[std::size_t(rank)]; other.status != TESSERA_OK)
      throw Error(other.status, "rank " + std::to_string(rank) + ": " + other.message);
}

/// Collective: every rank runs `body`, and fails where one of them does. Where the body speaks to others it does so on
/// all ranks, however its own part goes.
template <class Body>
void together(Comm& comm, Body&& body) {
  agree(comm, outcome_of(body));
}

}  // namespace tessera::distributed
