// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a rank does between messages that others wait for, also where it has failed.
#pragma once

#include "together.hpp"

namespace tessera::distributed {

/// A rank's own work until some of it fails. The messages go on; what they carry has no meaning then.
class Attempts {
 public:
  /// Runs `body` unless something has failed before.
  template <class Body>
  void run(Body&& body) noexcept {
    if (!failed()) always(body);
  }
  /// Runs what others wait for, whatever has failed before. The first failure is kept.
  template <class Body>
  void always(Body&& body) noexcept {
    const Outcome outcome = outcome_of(body);
    if (!failed()) outcome_ = outcome;
  }
  bool failed() const { return outcome_.status != TESSERA_OK; }
  const Outcome& outcome() const { return outcome_; }
  /// Throws what has failed first.
  void finish() const {
    if (failed()) throw Error(outcome_.status, outcome_.message);
  }

 private:
  Outcome outcome_;
};

}  // namespace tessera::distributed
