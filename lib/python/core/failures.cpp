// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "failures.hpp"

#include "arguments.hpp"
#include "signatures.hpp"

#include <array>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace tessera::python {
namespace {

/// The exception of Python for an error of the library.
PyObject* exception_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return PyExc_ValueError;
    case ErrorCode::out_of_memory:
      return PyExc_MemoryError;
    case ErrorCode::unsupported:
    case ErrorCode::backend_unavailable:
    case ErrorCode::device_error:
    case ErrorCode::internal:
      break;
  }
  return PyExc_RuntimeError;
}

/// For every exception of C++ that leaves a function of the module, but those of nanobind that are Python's.
void translate(const std::exception_ptr& failure, void*) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    PyErr_SetString(exception_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "there is no memory left on the host");
  } catch (const std::length_error&) {
    PyErr_SetString(PyExc_MemoryError, "there is no memory of that size on the host");
  } catch (const std::exception& error) {
    const std::string text = std::string("a failure within Tessera, which is a bug: ") + error.what();
    PyErr_SetString(PyExc_RuntimeError, text.c_str());
  }
}

/// Whether nanobind says that no overload takes the arguments.
bool is_misfit(nb::handle exception) {
  const nb::object text = nb::steal(PyObject_Str(exception.ptr()));
  if (!text.is_valid()) return PyErr_Clear(), false;
  return as_text(text).value_or("").find("(): incompatible function arguments.") != std::string::npos;
}

void improve(PyObject* function, PyObject* const* values, std::size_t nargs, PyObject* names) {
  nb::python_error known;  // takes the exception
  if (!is_misfit(known.value())) return known.restore();
  const std::size_t named = names == nullptr ? 0 : std::size_t(PyTuple_GET_SIZE(names));
  try {
    set_misfit(function, {{values, nargs + named}, nargs, names});
  } catch (nb::python_error& error) {  // of an argument's own functions
    error.restore();
  } catch (const std::exception&) {
    known.restore();
  }
}

/// nanobind has a few ways to call a function. One of each stands in front of it here: it does nothing while calls
/// return, so that these cost what they did.
constexpr std::size_t kWays = 16;
constexpr std::size_t kMostArguments = 0xffff;  // in the bits above nanobind tells itself something
std::array<vectorcallfunc, kWays> ways{};

template <std::size_t kWay>
PyObject* call(PyObject* function, PyObject* const* values, std::size_t nargs, PyObject* names) {
  PyObject* const result = ways[kWay](function, values, nargs, names);
  if (result == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0)
    improve(function, values, std::size_t(PyVectorcall_NARGS(nargs)) & kMostArguments, names);
  return result;
}

template <std::size_t... kAll>
constexpr std::array<vectorcallfunc, kWays> fronts(std::index_sequence<kAll...>) {
  return {&call<kAll>...};
}

/// The place in a function where Python finds how to call it.
vectorcallfunc* way_of(nb::handle function) {
  const Py_ssize_t offset = Py_TYPE(function.ptr())->tp_vectorcall_offset;
  if (PyVectorcall_Function(function.ptr()) == nullptr || offset <= 0) return nullptr;
  return reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function.ptr()) + offset);
}

void stand_before(nb::handle function) {
  static constexpr auto kFronts = fronts(std::make_index_sequence<kWays>());
  vectorcallfunc* const way = way_of(function);
  if (way == nullptr) return;
  for (std::size_t i = 0; i < kWays; ++i) {
    if (*way == kFronts[i]) return;
    if (ways[i] != nullptr && ways[i] != *way) continue;
    ways[i] = *way;
    *way = kFronts[i];
    return;
  }
}

bool is_function(nb::handle object) {
  const std::string_view type = Py_TYPE(object.ptr())->tp_name;
  return type == "nanobind.nb_func" || type == "nanobind.nb_method";
}

}  // namespace

void define_failures() {
  nb::register_exception_translator(translate);
  // Objects that a program keeps to its very end are no leak of ours; test_growth.py looks for those.
  nb::set_leak_warnings(false);
}

void stand_before_all(nb::handle scope) {
  const nb::object members = nb::borrow(scope).attr("__dict__").attr("values")();
  for (const nb::handle member : members) {
    if (is_function(member)) stand_before(member);
    if (PyType_Check(member.ptr()) != 0 || PyModule_Check(member.ptr()) != 0) stand_before_all(member);
  }
}

}  // namespace tessera::python
