// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Arrays of NumPy, by its C interface.
#pragma once

#include "arrays.hpp"
#include "filter_frame.hpp"

namespace tessera::python::numpy {

bool is_array(nb::handle object);
/// Whether it is a complex number or array of NumPy.
bool is_complex(nb::handle object);
/// Whether two arrays, anywhere, share an element; true where that is too hard to tell.
bool share_memory(const Array& a, const Array& b);
/// NumPy's array over the memory of an object that has the buffer protocol.
nb::object over_buffer(nb::handle object);
/// Of a NumPy array. Where its elements are not aligned or in the other byte order it is a copy, unless `writes`.
Array array_of(nb::handle object, const char* name, bool writes);
/// The elements of a NumPy array of integers, bool (as u8), f32 or f64 in the machine's byte order, aligned.
Elements elements_of(nb::handle object, const char* name, bool writes);
Array copy_of(const Array& array);
/// The same of an array on the host that is not NumPy's.
Array copy_of_memory(const Array& array);
Array empty(std::span<const std::int64_t> shape, DType dtype);

}  // namespace tessera::python::numpy
