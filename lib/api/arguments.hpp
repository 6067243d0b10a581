// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the C functions ask of their arguments.
#pragma once

#include "check.hpp"

namespace tessera::api {

/// What is pointed to; throws plugin::Error (invalid_argument) that names it where it is nothing.
template <class T>
T& existing(T* object, const char* name) {
  if (object == nullptr) core::invalid(name, "null", "must be an object that was created");
  return *object;
}

}  // namespace tessera::api
