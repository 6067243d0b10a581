// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Arrays of NumPy, PyTorch, CuPy, JAX and others: what they hold is read and written where it is.
#pragma once

#include "dlpack.hpp"

#include <tessera/tessera.hpp>

// The same casts in every file: those of a type must not differ within a program.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace tessera::python {

namespace nb = nanobind;

/// What elements may be.
enum class Numbers { real, complex };

/// Most axes of an array.
inline constexpr int kMostAxes = 16;
using Axes = std::array<std::int64_t, kMostAxes>;

/// An array that a caller gave, or that is made for him.
struct Array {
  enum class Source {
    numpy,
    exchange,  ///< a type with functions in C: PyTorch
    dlpack     ///< one with __dlpack__
  };

  nb::object object;  ///< what the caller has, or a copy of it
  nb::object keeper;  ///< keeps the memory, where that is not the object
  Source source = Source::numpy;
  const dlpack::Exchange* exchange = nullptr;
  void* data = nullptr;
  DType dtype = DType::f32;
  int rank = 0;
  Axes shape{}, strides{};  ///< elements
  int device = -1;          ///< of CUDA; -1: the host's memory
  bool readonly = false;

  bool on_device() const { return device >= 0; }
  std::int64_t size() const;
  bool in_c_order() const;
  /// Gives it the strides of C order.
  void pack();
  /// Arrays without elements have any strides: those of C order are as good.
  void pack_if_empty() {
    if (size() == 0) pack();
  }
  std::span<const std::int64_t> extents() const { return {shape.data(), std::size_t(rank)}; }
};

struct Place;

/// Finds the types of NumPy. Throws where it is not installed.
void import_numpy();

/// The memory of an object. `name` is the argument's; `stream`: where the array will be used, None (or null) for the
/// framework's stream now. Throws TypeError where it is no array of f16, bf16, f32 or f64 or, where products `take`
/// them, of complex numbers.
Array array_of(nb::handle object, const char* name, nb::handle stream = {}, Numbers take = Numbers::real);
/// One to write to. Throws ValueError where it is read-only, TypeError where it is one of JAX, which never change.
Array output_of(nb::handle object, const char* name, nb::handle stream = {}, Numbers take = Numbers::real);
/// A copy in C order, of the same kind.
Array contiguous(const Array& array, const char* name);
/// A new array of the kind of `like`, on its device, in C order.
Array empty_like(const Array& like, std::span<const std::int64_t> shape, DType dtype);
/// What the caller gets for an array of empty_like that was filled at that place: of JAX it is another object.
nb::object finished(const Array& array, const Array& like, const Place& place);

/// The number of a stream: one itself, or that of an object that has `cuda_stream`, `ptr` or `__cuda_stream__`.
void* stream_of(nb::handle stream);
/// The CUDA stream on which the framework that an array comes from works now; null, the default stream, where that is
/// not known.
void* current_stream(const Array& array);

dlpack::DataType dlpack_type(DType dtype);
/// "float32".
const char* dtype_name(DType dtype);
/// From a name, or an object like numpy.float32 or torch.float32.
DType dtype_named(nb::handle object, const char* name, Numbers take = Numbers::real);
/// Throws TypeError unless factors may be of these types.
void require_factors(DType a, const char* name_a, DType b, const char* name_b);
/// Of a product's result: that of its operands, as None says as well, or float32 where they have 16 bits.
DType result_type_named(nb::handle object, const char* name, DType operands);
/// "(3, 4)".
std::string text_of(std::span<const std::int64_t> shape);

}  // namespace tessera::python
