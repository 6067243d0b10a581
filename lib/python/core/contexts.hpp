// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Where calls run: contexts that are kept by backend and stream.
#pragma once

#include "arrays.hpp"

#include <memory>
#include <optional>
#include <string>

namespace tessera::python {

/// Where a call runs, and where its operands are.
struct Place {
  std::shared_ptr<Context> context;  ///< null: the library chooses the backend for the problem
  Memory memory = Memory::host;

  tessera_context* get() const { return context == nullptr ? nullptr : context->get(); }
};

/// For operands like that array. `backend`: None, or what Context takes; `stream`: None for the framework's stream now,
/// a number, or an object that has one (`cuda_stream`, `ptr`, `__cuda_stream__`). Throws ValueError where the backend
/// cannot reach the array.
Place place_of(const Array& array, nb::handle backend, nb::handle stream);
/// For a plan that has no operands yet.
Place place_named(nb::handle backend, nb::handle stream, bool on_device);

/// For operands in a device's memory, on a stream of that device: "cuda:0".
Place place_on_stream(const std::string& device, void* stream);

/// Throws ValueError where two operands are in different memories.
void require_same_memory(const Array& a, const char* name_a, const Array& b, const char* name_b);

}  // namespace tessera::python
