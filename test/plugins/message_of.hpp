// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/error.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace tessera::test {

/// The message of the error with that code that `body` must throw.
template <class Body>
std::string message_of(ErrorCode code, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  FAIL_CHECK("nothing was thrown");
  return "";
}

}  // namespace tessera::test
