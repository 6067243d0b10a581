// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a rank does between messages that others wait for, also where it has failed.
#pragma once

#include "together.hpp"

namespace tessera::distributed {

/// Runs a rank's own work until some of it fails. The messages go on; what they carry has no meaning then.
class Attempts {
 public:
  template <class Body>
  void run(Body&& body) noexcept {
    if (outcome_.status == TESSERA_OK) outcome_ = outcome_of(body);
  }
  const Outcome& outcome() const { return outcome_; }

 private:
  Outcome outcome_;
};

}  // namespace tessera::distributed
