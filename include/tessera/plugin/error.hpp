// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The exception that backends throw inside, and guard(), which turns it into a status.
#pragma once

#include <tessera/types.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace tessera::plugin {

/// What a plugin throws; guard() turns it into a status and a message.
class Error : public std::exception {
 public:
  Error(tessera_status status, std::string message, std::uint32_t flags = 0)
      : status_(status), flags_(flags), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  tessera_status status() const { return status_; }
  std::uint32_t flags() const { return flags_; }

 private:
  tessera_status status_;
  std::uint32_t flags_;
  std::string message_;
};

/// Writes a failure into the caller's memory; `error` and its message may be null.
inline tessera_status report(tessera_error* error, tessera_status status, const char* message,
                             std::uint32_t flags = 0) noexcept {
  if (error == nullptr) return status;
  error->status = status;
  error->flags = flags;
  if (error->message != nullptr && error->message_capacity > 0) {
    const std::size_t length = std::strlen(message);
    const std::size_t room = error->message_capacity - 1;
    const std::size_t copied = length < room ? length : room;
    std::memcpy(error->message, message, copied);
    error->message[copied] = '\0';
  }
  return status;
}

/// Runs `body` and turns what it throws into a status: no exception leaves a plugin.
template <class Body>
tessera_status guard(tessera_error* error, Body&& body) noexcept {
  try {
    body();
    return TESSERA_OK;
  } catch (const Error& e) {
    return report(error, e.status(), e.what(), e.flags());
  } catch (const std::bad_alloc&) {
    return report(error, TESSERA_OUT_OF_MEMORY, "host memory is exhausted");
  } catch (const std::length_error&) {
    return report(error, TESSERA_OUT_OF_MEMORY, "no host memory is as large");
  } catch (const std::exception& e) {
    return report(error, TESSERA_INTERNAL, e.what());
  } catch (...) {
    return report(error, TESSERA_INTERNAL, "an exception of unknown type");
  }
}

}  // namespace tessera::plugin
