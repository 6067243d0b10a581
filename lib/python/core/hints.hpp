// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Arguments and results of any kind, with what a signature says of them.
#pragma once

#include "arrays.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tessera::python {

/// A literal as an argument of a template.
template <std::size_t kSize>
struct Words {
  char text[kSize];
  constexpr Words(const char (&words)[kSize]) : text{} { std::copy_n(words, kSize, text); }
};

/// An argument that the function itself reads. `kWords`: its type as a type checker of Python takes it.
template <Words kWords>
struct Argument : nb::handle {
  static constexpr bool nb_typed = true;  // its caster is below
  Argument() = default;
  Argument(nb::handle given) : nb::handle(given) {}
};

/// A result whose type is that of an argument.
struct Result : nb::object {
  static constexpr bool nb_typed = true;
  Result() = default;
  Result(nb::object&& array) : nb::object(std::move(array)) {}
};

// Where None is taken nanobind says so.
using Any = Argument<"typing.Any">;
using Text = Argument<"str">;
/// A name, or an object of NumPy or PyTorch that has one.
using TypeName = Argument<"str | typing.Any">;
using BoundaryEntries = Argument<"str | collections.abc.Sequence[typing.Any]">;
/// A number, or an object that has one.
using Stream = Argument<"int | typing.Any">;

}  // namespace tessera::python

namespace nanobind::detail {

template <tessera::python::Words kWords>
struct type_caster<tessera::python::Argument<kWords>> {
  NB_TYPE_CASTER(tessera::python::Argument<kWords>, const_name(kWords.text))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    value = source;
    return true;
  }
};

template <>
struct type_caster<tessera::python::Result> {
  NB_TYPE_CASTER(tessera::python::Result, const_name("typing.Any"))
  static handle from_cpp(const tessera::python::Result& result, rv_policy, cleanup_list*) noexcept {
    return result.inc_ref();
  }
};

}  // namespace nanobind::detail
