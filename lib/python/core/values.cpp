// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "values.hpp"

#include <cstring>
#include <limits>

namespace tessera::python {
namespace {

[[noreturn]] void refuse(nb::handle object, const std::string& name, const std::string& must) {
  const std::string type = Py_TYPE(object.ptr())->tp_name;
  const char* const article = std::strchr("aeiou", type[0]) != nullptr ? ": an " : ": a ";
  throw nb::type_error((name + article + type + "; must be " + must).c_str());
}

}  // namespace

std::int64_t whole(nb::handle object, const std::string& name, const std::string& advice) {
  const nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    refuse(object, name, "a whole number" + advice);
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0)
    throw nb::value_error((name + " = " + nb::cast<std::string>(nb::str(index)) + ": must have 64 bits").c_str());
  return value;
}

int small_whole(nb::handle object, const char* name, const std::string& advice) {
  const std::int64_t value = whole(object, name, advice);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    throw nb::value_error((name + (" = " + std::to_string(value)) + ": must have 32 bits").c_str());
  return int(value);
}

double number(nb::handle object, const std::string& name) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value != -1.0 || !PyErr_Occurred()) return value;
  PyErr_Clear();
  refuse(object, name, "a number");
}

std::vector<std::int64_t> wholes(nb::handle object, const std::string& name) {
  const bool sequence = PySequence_Check(object.ptr()) != 0 && PyUnicode_Check(object.ptr()) == 0;
  if (!sequence) refuse(object, name, "a sequence with a whole number for each axis");
  std::vector<std::int64_t> values;
  for (nb::handle entry : object) values.push_back(whole(entry, name + "[" + std::to_string(values.size()) + "]"));
  return values;
}

const Taps& taps_of(nb::handle object) {
  if (!nb::isinstance<Taps>(object))
    refuse(object, "taps",
           "Taps: tessera.taps has named ones and makes others of an array of weights, taps.from_dense(weights); "
           "Taps(rank) has add(offset, coefficient)");
  return nb::cast<const Taps&>(object);
}

}  // namespace tessera::python
