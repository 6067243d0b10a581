// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What ranks do together fails on all of them or on none. They find out by one reduction of a few integers; the text
/// of an error travels where there is one.
#pragma once

#include "comm.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>

namespace tessera::distributed {

/// How a rank's part went.
struct Outcome {
  tessera_status status = TESSERA_OK;
  char message[1020] = {};

  bool failed() const { return status != TESSERA_OK; }
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
std::string first_failure(Comm& comm, const Outcome& mine);
/// Collective: throws on all ranks what the first one that failed says, each its own failure. Returns whether `flag` is
/// set on some rank.
bool agree(Comm& comm, const Outcome& mine, bool flag = false);
/// The same; returns whether all ranks have this number.
bool agree_on(Comm& comm, const Outcome& mine, std::int64_t number);

/// Collective: every rank runs `body`, and fails where one of them does. Where the body speaks to others it does so on
/// all ranks, however its own part goes.
template <class Body>
void together(Comm& comm, Body&& body) {
  agree(comm, outcome_of(body));
}

/// A rank's own work between messages that others wait for, until some of it fails. The messages go on; what they carry
/// has no meaning then.
class Progress {
 public:
  /// Runs `body` unless something has failed before.
  template <class Body>
  void run(Body&& body) noexcept {
    if (!failed()) always(body);
  }
  /// Runs what others wait for, whatever has failed before. The first failure is kept.
  template <class Body>
  void always(Body&& body) noexcept {
    std::array<char, sizeof outcome_.message> message;
    tessera_error error{sizeof error, TESSERA_OK, 0, message.data(), message.size()};
    const tessera_status status = plugin::guard(&error, body);
    if (status == TESSERA_OK || failed()) return;
    outcome_.status = status;
    std::memcpy(outcome_.message, message.data(), message.size());
  }
  bool failed() const { return outcome_.failed(); }
  const Outcome& outcome() const { return outcome_; }
  /// Throws what has failed first.
  void finish() const {
    if (failed()) throw Error(outcome_.status, outcome_.message);
  }

 private:
  Outcome outcome_;
};

/// A hash (FNV-1a) of all bytes.
std::int64_t hash_of(const void* data, std::size_t bytes);

/// Named values of a rank, which are compared with those of rank 0.
class Signature {
 public:
  template <std::integral T>
  void add(const std::string& name, T value) {
    add(name, std::to_string(value).c_str());
  }
  void add(const std::string& name, double value);
  /// Null is a text of its own.
  void add(const std::string& name, const char* text);
  /// How a domain is to be cut among so many ranks.
  void add_cut(const tessera_decomposition& wanted, int ranks);

  /// Collective: throws on all ranks where one has failed or its values differ, and names which and both values.
  void check(Comm& comm, const Outcome& mine = {}) const {
    if (!agree_on(comm, mine, hash_of(text_.data(), text_.size()))) refuse(comm);
  }
  /// Collective: throws on all ranks where values differ.
  void refuse(Comm& comm) const;

 private:
  std::string text_;  ///< lines of "name = value"
};

}  // namespace tessera::distributed
