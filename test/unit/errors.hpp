// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Checks of what the library says when it refuses something.
#pragma once

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>
#include <vector>

namespace tessera::test {

/// A context of the emulated device, which every run of the unit tests has through TESSERA_BACKEND_PATH.
inline Context fake() { return Context("fake"); }

/// A tessera_error with room for the message.
class ErrorText {
 public:
  ErrorText() : error_{sizeof error_, TESSERA_OK, 0, text_, sizeof text_} {}
  ErrorText(const ErrorText&) = delete;
  tessera_error* get() { return &error_; }
  tessera_status status() const { return error_.status; }
  std::string message() const { return text_; }

 private:
  char text_[1024] = {};
  tessera_error error_;
};

inline void check_message(const std::string& message, const std::vector<std::string>& parts) {
  CHECK_FALSE(message.empty());
  for (const std::string& part : parts) CHECK_THAT(message, Catch::Matchers::ContainsSubstring(part));
}

inline void check_error(const char* what, tessera_status status, const ErrorText& error, tessera_status expected,
                        const std::vector<std::string>& parts) {
  INFO(what << ": " << error.message());
  CHECK(status == expected);
  CHECK(error.status() == status);
  check_message(error.message(), parts);
}

template <class Body>
void check_throws(const char* what, ErrorCode code, const std::vector<std::string>& parts, Body&& body) {
  INFO(what);
  try {
    body();
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(error.code() == code);
    check_message(error.what(), parts);
    return;
  }
  FAIL_CHECK("nothing was thrown");
}

}  // namespace tessera::test
