// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "numpy_arrays.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

namespace tessera::python {

void import_numpy() {
  if (_import_array() < 0) throw nb::python_error();
}

namespace numpy {
namespace {

PyArrayObject* raw(nb::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

/// NumPy's number of a type; it has none for bfloat16.
template <class T>
constexpr int kNumber = NPY_NOTYPE;
template <>
constexpr int kNumber<float> = NPY_FLOAT;
template <>
constexpr int kNumber<double> = NPY_DOUBLE;
template <>
constexpr int kNumber<float16> = NPY_HALF;
template <>
constexpr int kNumber<std::complex<float>> = NPY_CFLOAT;
template <>
constexpr int kNumber<std::complex<double>> = NPY_CDOUBLE;

/// NumPy's description of bfloat16, which the package ml_dtypes adds; null where it is not there.
PyArray_Descr* bfloat16() {
  static PyArray_Descr* known = nullptr;
  if (known != nullptr) return known;
  nb::object type;
  try {
    type = nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (nb::python_error&) {
    return nullptr;
  }
  if (PyArray_DescrConverter(type.ptr(), &known) == NPY_FAIL) throw nb::python_error();
  return known;
}

/// Whether the elements are of bfloat16, by the type's name: whoever made them has it. ml_dtypes up to 0.5.0 calls it
/// "bfloat16", later ones "ml_dtypes.bfloat16".
bool holds_bfloat16(const PyArray_Descr* descr) {
  if (!PyTypeNum_ISUSERDEF(descr->type_num) || PyDataType_ELSIZE(descr) != 2) return false;
  const char* const name = descr->typeobj->tp_name;
  const char* const dot = std::strrchr(name, '.');
  return std::strcmp(dot == nullptr ? name : dot + 1, "bfloat16") == 0;
}

bool dtype_of(PyArrayObject* array, DType& dtype) {
  switch (PyArray_TYPE(array)) {
    case NPY_FLOAT:
      dtype = DType::f32;
      return true;
    case NPY_DOUBLE:
      dtype = DType::f64;
      return true;
    case NPY_HALF:
      dtype = DType::f16;
      return true;
    case NPY_CFLOAT:
      dtype = DType::c64;
      return true;
    case NPY_CDOUBLE:
      dtype = DType::c128;
      return true;
    default:
      dtype = DType::bf16;
      return holds_bfloat16(PyArray_DESCR(array));
  }
}

/// Whether a pass of a filter knows the type of NumPy's number.
bool element_of(int number, Element& element) {
  static constexpr std::pair<int, Element> kTypes[] = {
      {NPY_BOOL, Element::u8},      {NPY_INT8, Element::i8},       {NPY_UINT8, Element::u8},
      {NPY_INT16, Element::i16},    {NPY_UINT16, Element::u16},    {NPY_INT32, Element::i32},
      {NPY_UINT32, Element::u32},   {NPY_INT64, Element::i64},     {NPY_UINT64, Element::u64},
      {NPY_LONGLONG, Element::i64}, {NPY_ULONGLONG, Element::u64}, {NPY_FLOAT, Element::f32},
      {NPY_DOUBLE, Element::f64}};
  for (const auto& [known, type] : kTypes)
    if (known == number) {
      element = type;
      return true;
    }
  return false;
}

PyArray_Descr* descr_of(DType dtype) {
  const int number = with_types<AllTypes>(dtype, []<class T>(std::type_identity<T>) { return kNumber<T>; });
  if (number != NPY_NOTYPE) return PyArray_DescrFromType(number);
  PyArray_Descr* const descr = bfloat16();
  if (descr == nullptr) throw nb::type_error("bfloat16 in NumPy needs the package ml_dtypes: pip install ml_dtypes");
  Py_INCREF(descr);
  return descr;
}

/// NumPy's array over the memory of another one. Steals the description.
nb::object view_of(const Array& array, PyArray_Descr* descr) {
  npy_intp dims[kMostAxes], strides[kMostAxes];
  for (std::size_t axis = 0; axis < std::size_t(array.rank); ++axis) {
    dims[axis] = array.shape[axis];
    strides[axis] = array.strides[axis] * npy_intp(size_of(array.dtype));
  }
  PyObject* const view = PyArray_NewFromDescr(&PyArray_Type, descr, array.rank, dims, strides, array.data, 0, nullptr);
  if (view == nullptr) throw nb::python_error();
  return nb::steal(view);
}

}  // namespace

bool is_array(nb::handle object) { return PyArray_Check(object.ptr()); }

bool is_complex(nb::handle object) {
  return PyArray_IsScalar(object.ptr(), ComplexFloating) ||
         (is_array(object) && PyTypeNum_ISCOMPLEX(PyArray_TYPE(raw(object))));
}

nb::object over_buffer(nb::handle object) {
  PyObject* const array = PyArray_FromAny(object.ptr(), nullptr, 0, 0, 0, nullptr);
  if (array == nullptr) throw nb::python_error();
  return nb::steal(array);
}

Array array_of(nb::handle object, const char* name, bool writes) {
  PyArrayObject* const array = raw(object);
  Array result;
  const auto refuse = [&](const std::string& what) { return std::string(name) + ": " + what; };
  if (!dtype_of(array, result.dtype)) {
    const std::string type = nb::str(nb::object(object.attr("dtype"))).c_str();
    throw nb::type_error(
        refuse("elements of " + type + "; must be float16, bfloat16, float32 or float64: convert by astype").c_str());
  }
  if (PyArray_NDIM(array) > kMostAxes)
    throw nb::value_error(refuse(std::to_string(PyArray_NDIM(array)) + " axes; must be 16 at most").c_str());
  const npy_intp item = PyArray_ITEMSIZE(array);
  bool whole = PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array);
  for (int axis = 0; axis < PyArray_NDIM(array); ++axis) whole &= PyArray_STRIDE(array, axis) % item == 0;
  if (!whole && writes)
    throw nb::value_error(
        refuse("elements that are not aligned or in the other byte order; must be aligned and native to be written")
            .c_str());
  if (!whole) {
    PyObject* const copy = PyArray_FromArray(array, descr_of(result.dtype),
                                             NPY_ARRAY_CARRAY | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_ENSURECOPY);
    if (copy == nullptr) throw nb::python_error();
    return array_of(nb::steal(copy), name, writes);
  }
  result.object = nb::borrow(object);
  result.data = PyArray_DATA(array);
  result.rank = PyArray_NDIM(array);
  for (int axis = 0; axis < result.rank; ++axis) {
    result.shape[std::size_t(axis)] = PyArray_DIM(array, axis);
    result.strides[std::size_t(axis)] = PyArray_STRIDE(array, axis) / item;
  }
  result.pack_if_empty();
  result.readonly = !PyArray_ISWRITEABLE(array);
  return result;
}

Elements elements_of(nb::handle object, const char* name, bool writes) {
  const auto refuse = [&](const char* what) { throw nb::type_error((std::string(name) + ": " + what).c_str()); };
  if (!is_array(object)) refuse("must be an array of NumPy");
  PyArrayObject* const array = raw(object);
  Elements result;
  if (!element_of(PyArray_TYPE(array), result.type)) refuse("must be of integers, bool, float32 or float64");
  if (!PyArray_ISBEHAVED_RO(array) || (writes && !PyArray_ISWRITEABLE(array)))
    refuse("must be aligned, in the machine's byte order, and writeable where it is written");
  if (PyArray_NDIM(array) > kMostAxes) refuse("has more than 16 axes");
  result.data = static_cast<char*>(PyArray_DATA(array));
  result.rank = PyArray_NDIM(array);
  std::copy_n(PyArray_DIMS(array), result.rank, result.shape.begin());
  std::copy_n(PyArray_STRIDES(array), result.rank, result.strides.begin());
  return result;
}

Array copy_of(const Array& array) {
  PyObject* const copy = PyArray_NewCopy(raw(array.object), NPY_CORDER);
  if (copy == nullptr) throw nb::python_error();
  return array_of(nb::steal(copy), "copy", false);
}

bool share_memory(const Array& a, const Array& b) {
  constexpr int kWork = 10'000;            // some microseconds
  const auto bytes = [](const Array& x) {  // of a type that NumPy has by itself; nobody reads them
    return view_of(x, PyArray_DescrFromType(size_of(x.dtype) == 2   ? NPY_UINT16
                                            : size_of(x.dtype) == 4 ? NPY_UINT32
                                            : size_of(x.dtype) == 8 ? NPY_UINT64
                                                                    : NPY_CDOUBLE));
  };
  try {
    const nb::object answer =
        nb::module_::import_("numpy").attr("shares_memory")(bytes(a), bytes(b), nb::arg("max_work") = kWork);
    return answer.ptr() == Py_True;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_RuntimeError)) throw;  // TooHardError
    return true;
  }
}

Array copy_of_memory(const Array& array) {
  const nb::object held = view_of(array, descr_of(array.dtype));
  PyObject* const copy = PyArray_NewCopy(raw(held), NPY_CORDER);
  if (copy == nullptr) throw nb::python_error();
  return array_of(nb::steal(copy), "copy", false);
}

Array empty(std::span<const std::int64_t> shape, DType dtype) {
  npy_intp dims[kMostAxes];
  for (std::size_t axis = 0; axis < shape.size(); ++axis) dims[axis] = shape[axis];
  PyObject* const made = PyArray_Empty(int(shape.size()), dims, descr_of(dtype), 0);
  if (made == nullptr) throw nb::python_error();
  return array_of(nb::steal(made), "result", true);
}

}  // namespace numpy
}  // namespace tessera::python
