// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What each C function does, and what it asks of its arguments.
#pragma once

#include "check.hpp"

#include <tessera/descriptors.h>
#include <tessera/plugin/error.hpp>
#include <tessera/plugin/floating_mode.hpp>

#include <string>
#include <utility>

namespace tessera::api {

/// The body of a C function: all work is done in the default floating-point mode, whatever the caller's is, and what
/// is thrown becomes a status.
template <class Body>
tessera_status guard(tessera_error* error, Body&& body) noexcept {
  const plugin::DefaultMode mode;
  return plugin::guard(error, std::forward<Body>(body));
}

/// What is pointed to; throws plugin::Error (invalid_argument) that names it where it is nothing.
template <class T>
T& existing(T* object, const char* name) {
  if (object == nullptr) core::invalid(name, "null", "must be an object that was created");
  return *object;
}

/// Whether there is something to copy; throws where the copy is none.
inline bool check_copy(const tessera_copy& copy) {
  core::one_of("direction", copy.direction, TESSERA_COPY_TO_DEVICE, TESSERA_COPY_TO_HOST, "to device (0), to host (1)");
  if (copy.rank < 0 || copy.rank > TESSERA_COPY_MAX_RANK)
    core::invalid("rank", copy.rank, "must lie in [0, " + std::to_string(TESSERA_COPY_MAX_RANK) + "]");
  if (copy.element_size < 1 || copy.element_size > 16)
    core::invalid("element_size", std::int64_t(copy.element_size), "must lie in [1, 16]");
  bool empty = false;
  for (int axis = 0; axis < copy.rank; ++axis) {
    core::at_least(core::indexed("extents", axis), copy.extents[axis], 0);
    core::at_least(core::indexed("target_strides", axis), copy.target_strides[axis], 0);
    core::at_least(core::indexed("source_strides", axis), copy.source_strides[axis], 0);
    empty = empty || copy.extents[axis] == 0;
  }
  if (empty) return false;
  if (copy.target == nullptr) core::invalid("target", "null", "must be an array");
  if (copy.source == nullptr) core::invalid("source", "null", "must be an array");
  return true;
}

}  // namespace tessera::api
