// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"

#include "numpy_arrays.hpp"

#include <cstring>
#include <string_view>

namespace tessera::python {
namespace {

/// A Python object that a C function returned; null, with the exception dropped, where it failed.
nb::object taken(PyObject* result) {
  if (result == nullptr) PyErr_Clear();
  return nb::steal(result);
}

/// Any text in UTF-8: surrogates are written as \udc80.
std::string utf8_of(nb::handle text) {
  const nb::object bytes = taken(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  return bytes.is_valid() ? std::string(PyBytes_AS_STRING(bytes.ptr()), std::size_t(PyBytes_GET_SIZE(bytes.ptr())))
                          : std::string();
}

}  // namespace

std::string kind_of(nb::handle object) {
  const std::string type = Py_TYPE(object.ptr())->tp_name;
  const bool vowel = !type.empty() && std::string_view("aeiouAEIOU").find(type[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + type;
}

std::string shown(nb::handle object) {
  constexpr std::size_t kMost = 80;
  const nb::object text = taken(PyObject_Repr(object.ptr()));
  std::string words = text.is_valid() ? utf8_of(text) : kind_of(object);
  for (char& c : words)
    if (c == '\0' || c == '\n') c = ' ';
  if (words.size() <= kMost) return words;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xC0U) == 0x80U) --end;  // between characters
  return words.substr(0, end) + "...";
}

void refuse_type(const std::string& name, nb::handle value, const std::string& must) {
  throw nb::type_error((name + " = " + shown(value) + ", " + kind_of(value) + ": must be " + must).c_str());
}

void refuse_value(const std::string& name, nb::handle value, const std::string& must) {
  throw nb::value_error((name + " = " + shown(value) + ": must be " + must).c_str());
}

std::optional<std::int64_t> as_integer(nb::handle object) {
  const nb::object number = taken(PyNumber_Index(object.ptr()));
  if (!number.is_valid()) return std::nullopt;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return value;
}

std::optional<double> as_number(nb::handle object) {
  if (PyFloat_CheckExact(object.ptr())) return PyFloat_AS_DOUBLE(object.ptr());
  if (PyComplex_Check(object.ptr()) || numpy::is_complex(object)) return std::nullopt;
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> as_text(nb::handle object) {
  if (PyUnicode_Check(object.ptr()) == 0) return std::nullopt;
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  if (std::memchr(text, 0, std::size_t(size)) != nullptr) return std::nullopt;
  return std::string(text, std::size_t(size));
}

bool is_integer(nb::handle object) { return taken(PyNumber_Index(object.ptr())).is_valid(); }

void refuse_integer(const std::string& name, nb::handle object) {
  if (is_integer(object)) refuse_value(name, object, "an integer in [-2^63, 2^63)");
  refuse_type(name, object, "an integer");
}

void refuse_number(const std::string& name, nb::handle object) {
  if (PyLong_Check(object.ptr()) != 0) refuse_value(name, object, "a number within the range of float64");
  refuse_type(name, object, "a real number");
}

void refuse_text(const std::string& name, nb::handle object) {
  if (PyUnicode_Check(object.ptr()) != 0) refuse_value(name, object, "text without surrogates and NUL");
  refuse_type(name, object, "text, of the type str");
}

std::string text_argument(nb::handle object, const std::string& name) {
  std::optional<std::string> text = as_text(object);
  if (!text) refuse_text(name, object);
  return *std::move(text);
}

std::vector<nb::object> entries_of(nb::handle object, const std::string& name, const std::string& must) {
  if (PyUnicode_Check(object.ptr()) != 0 || PyBytes_Check(object.ptr()) != 0) refuse_type(name, object, must);
  const nb::object iterator = nb::steal(PyObject_GetIter(object.ptr()));
  if (!iterator.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
    PyErr_Clear();
    refuse_type(name, object, must);
  }
  std::vector<nb::object> entries;
  while (PyObject* const entry = PyIter_Next(iterator.ptr())) entries.push_back(nb::steal(entry));
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return entries;
}

}  // namespace tessera::python
