// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "values.hpp"

#include "arguments.hpp"

#include <limits>

namespace tessera::python {

std::int64_t whole(nb::handle object, const std::string& name, const std::string& advice) {
  if (const std::optional<std::int64_t> value = as_integer(object)) return *value;
  if (is_integer(object)) refuse_integer(name, object);
  refuse_type(name, object, "an integer" + advice);
}

int small_whole(nb::handle object, const char* name, const std::string& advice) {
  const std::int64_t value = whole(object, name, advice);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    refuse_value(name, object, "an integer in [-2147483648, 2147483647]");
  return int(value);
}

double number(nb::handle object, const std::string& name) {
  const std::optional<double> value = as_number(object);
  if (!value) refuse_number(name, object);
  return *value;
}

std::complex<double> number_for(DType dtype, nb::handle object, const std::string& name) {
  if (!is_complex(dtype)) return number(object, name);
  const Py_complex value = PyComplex_AsCComplex(object.ptr());  // of real numbers, too
  if (value.real == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_type(name, object, "a number");
  }
  return {value.real, value.imag};
}

std::vector<std::int64_t> wholes(nb::handle object, const std::string& name) {
  const char* const must = "a sequence with an integer for each axis";
  if (PySequence_Check(object.ptr()) == 0) refuse_type(name, object, must);
  std::vector<std::int64_t> values;
  for (const nb::object& entry : entries_of(object, name, must))
    values.push_back(whole(entry, name + "[" + std::to_string(values.size()) + "]"));
  return values;
}

const Taps& taps_of(nb::handle object) {
  const Taps* taps = nullptr;
  if (!nb::try_cast(object, taps) || taps == nullptr)
    refuse_type("taps", object,
                "Taps: tessera.taps has named ones and makes others of an array of weights, taps.from_dense(weights); "
                "Taps(rank) has add(offset, coefficient)");
  return *taps;
}

}  // namespace tessera::python
