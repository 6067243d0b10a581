// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Arrays that share memory.
#pragma once

#include "arrays.hpp"

namespace tessera::python {

/// Throws ValueError where elements of an array that is written may be in the same place. The library sees single
/// matrices of a batch, and would write one over the other.
void require_distinct(const Array& out, const char* name);

/// Throws ValueError where two arrays that are written share elements.
void require_apart(const Array& a, const char* name_a, const Array& b, const char* name_b);

/// Puts a copy in the place of an operand that shares elements with the output, so that the result is that of arrays
/// which are apart. Throws ValueError where no copy can be made in the order of the work: on a device for a stream that
/// is not the framework's own, or without the framework's help. `stream`: of the call, null for a plan's own.
void keep_apart(const Array& out, Array& operand, const char* name, nb::handle stream);

}  // namespace tessera::python
