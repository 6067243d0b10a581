// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays.hpp"

#include "arguments.hpp"
#include "array_types.hpp"
#include "device_memory.hpp"
#include "module.hpp"
#include "numpy_arrays.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace tessera::python {
namespace {

std::string with_name(const char* name, const std::string& what) { return std::string(name) + ": " + what; }

DType dtype_of(const dlpack::DataType& type, const char* name) {
  if (type.lanes == 1 && type.code == dlpack::kFloat) {
    if (type.bits == 16) return DType::f16;
    if (type.bits == 32) return DType::f32;
    if (type.bits == 64) return DType::f64;
  }
  if (type.lanes == 1 && type.code == dlpack::kBfloat && type.bits == 16) return DType::bf16;
  if (type.lanes == 1 && type.code == dlpack::kComplex && type.bits == 64) return DType::c64;
  if (type.lanes == 1 && type.code == dlpack::kComplex && type.bits == 128) return DType::c128;
  throw nb::type_error(
      with_name(name, "elements of another type; must be float16, bfloat16, float32 or float64").c_str());
}

/// Fills in what a tensor says.
void take(Array& array, const dlpack::Tensor& tensor, const char* name) {
  if (tensor.ndim > kMostAxes)
    throw nb::value_error(with_name(name, std::to_string(tensor.ndim) + " axes; must be 16 at most").c_str());
  array.dtype = dtype_of(tensor.dtype, name);
  array.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  array.rank = tensor.ndim;
  std::copy_n(tensor.shape, tensor.ndim, array.shape.begin());
  if (tensor.strides != nullptr)
    std::copy_n(tensor.strides, tensor.ndim, array.strides.begin());
  else
    array.pack();
  const std::int32_t device = tensor.device.type;
  if (device == dlpack::kCuda || device == dlpack::kCudaManaged)
    array.device = tensor.device.id;
  else if (device != dlpack::kCpu && device != dlpack::kCudaHost)
    throw nb::type_error(
        with_name(name, "memory of DLPack's device type " + std::to_string(device) + "; must be the host's or CUDA's")
            .c_str());
}

/// Whether an object's type belongs to a package.
bool is_from(nb::handle object, std::string_view package) {
  const std::string module = as_text(nb::getattr(object.type(), "__module__", nb::none())).value_or("");
  return module.starts_with(package) && (module.size() == package.size() || module[package.size()] == '.');
}

bool is_jax(nb::handle object) { return is_from(object, "jax") || is_from(object, "jaxlib"); }

/// What __dlpack__ is told of the stream where the array will be used: that it is the framework's own, or which it is.
std::intptr_t stream_argument(nb::handle object, nb::handle stream) {
  constexpr std::intptr_t kOwn = -1, kDefault = 1;
  if (stream.is_valid() && !stream.is_none()) {
    const auto number = reinterpret_cast<std::intptr_t>(stream_of(stream));
    return number == 0 ? kDefault : number;
  }
  return is_from(object, "cupy") ? kOwn : kDefault;
}

/// The capsule of an object's __dlpack__.
nb::object capsule_of(nb::handle object, const char* name, nb::handle stream) {
  const nb::object device = object.attr("__dlpack_device__")();
  const bool pair = PyTuple_Check(device.ptr()) != 0 && PyTuple_GET_SIZE(device.ptr()) == 2;
  const std::optional<std::int64_t> type =
      pair ? as_integer(PyTuple_GET_ITEM(device.ptr(), 0)) : std::optional<std::int64_t>();
  if (!type) refuse_type(with_name(name, "__dlpack_device__()"), device, "a pair of integers");
  nb::dict arguments;
  if (*type == dlpack::kCuda) arguments["stream"] = stream_argument(object, stream);
  nb::dict versioned = nb::borrow<nb::dict>(arguments.attr("copy")());
  versioned["max_version"] = nb::make_tuple(1, 3);
  try {
    return object.attr("__dlpack__")(**versioned);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return object.attr("__dlpack__")(**arguments);
}

Array through_dlpack(nb::handle object, const char* name, nb::handle stream) {
  Array array;
  array.source = Array::Source::dlpack;
  array.object = nb::borrow(object);
  array.keeper = capsule_of(object, name, stream);
  PyObject* const capsule = array.keeper.ptr();
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    const auto* managed =
        static_cast<const dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    array.readonly = (managed->flags & dlpack::kReadOnly) != 0;
    take(array, managed->tensor, name);
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    take(array, static_cast<const dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"))->tensor, name);
  } else {
    refuse_type(with_name(name, "__dlpack__()"), array.keeper, "a capsule of DLPack that nobody took yet");
  }
  return array;
}

Array found(nb::handle object, const char* name, bool writes, nb::handle stream) {
  if (numpy::is_array(object)) return numpy::array_of(object, name, writes);
  const ArrayType type = type_of(object);
  if (type.may_be_lazy && is_lazy(object)) {
    if (writes) refuse_type(name, object, "a tensor of its own, as resolve_neg() makes; this one is lazily negated");
    return found(resolved(object), name, writes, stream);
  }
  if (const dlpack::Exchange* api = type.exchange) {
    Array array;
    dlpack::Tensor tensor{};
    if (api->tensor_of_object(object.ptr(), &tensor) != 0) throw nb::python_error();
    array.source = Array::Source::exchange;
    array.exchange = api;
    array.object = nb::borrow(object);
    take(array, tensor, name);
    return array;
  }
  if (nb::hasattr(object, "__dlpack__")) return through_dlpack(object, name, stream);
  if (PyObject_CheckBuffer(object.ptr())) return numpy::array_of(numpy::over_buffer(object), name, writes);
  refuse_type(name, object, "an array, of NumPy or with __dlpack__ or the buffer protocol");
}

Array acquired(nb::handle object, const char* name, bool writes, nb::handle stream = {},
               Numbers take = Numbers::complex) {
  Array array = found(object, name, writes, stream);
  if (is_complex(array.dtype) && take == Numbers::real)
    throw nb::type_error(with_name(name, std::string("elements of ") + dtype_name(array.dtype) +
                                             "; must be float16, bfloat16, float32 or float64: take the real and the "
                                             "imaginary part")
                             .c_str());
  array.pack_if_empty();
  return array;
}

/// For JAX, whose own arrays nobody may write.
Array empty_memory(const Array& like, std::span<const std::int64_t> shape, DType dtype) {
  const Place place = place_of(like, nb::none(), nb::none());
  Array array;
  array.source = Array::Source::dlpack;
  array.object = nb::cast(DeviceMemory(place.context, shape, dtype, like.device));
  array.data = nb::cast<DeviceMemory&>(array.object).data();
  array.dtype = dtype, array.device = like.device, array.rank = int(shape.size());
  std::copy(shape.begin(), shape.end(), array.shape.begin());
  array.pack();
  return array;
}

/// An array of a package that follows the standard of array APIs, or of CuPy.
nb::object empty_of(const nb::object& space, const nb::object& like, const nb::tuple& extents, DType dtype) {
  const char* const name = dtype_name(dtype);
  const nb::object type = nb::getattr(space, name, nb::str(name));
  const nb::object empty = space.attr("empty");
  if (nb::hasattr(like, "device")) {
    try {
      return empty(extents, nb::arg("dtype") = type, nb::arg("device") = like.attr("device"));
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;  // CuPy's takes no device
    }
  }
  return empty(extents, nb::arg("dtype") = type);
}

/// The number of a CUDA stream.
void* stream_number(nb::handle number, const char* name) {
  const std::optional<std::int64_t> value = as_integer(number);
  if (!value) refuse_integer(name, number);
  if (*value < 0) refuse_value(name, number, "0 or more, the number of a CUDA stream");
  return reinterpret_cast<void*>(std::uintptr_t(*value));
}

}  // namespace

bool Array::in_c_order() const {
  std::int64_t packed = 1;
  for (std::size_t axis = std::size_t(rank); axis-- > 0;) {
    if (shape[axis] > 1 && strides[axis] != packed) return false;
    packed *= std::max<std::int64_t>(shape[axis], 1);
  }
  return true;
}

void Array::pack() {
  std::int64_t packed = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    strides[std::size_t(axis)] = packed;
    packed *= std::max<std::int64_t>(shape[std::size_t(axis)], 1);
  }
}

std::int64_t Array::size() const {
  std::int64_t count = 1;
  for (int axis = 0; axis < rank; ++axis) count *= shape[std::size_t(axis)];
  return count;
}

Array array_of(nb::handle object, const char* name, nb::handle stream, Numbers take) {
  return acquired(object, name, false, stream, take);
}

Array output_of(nb::handle object, const char* name, nb::handle stream, Numbers take) {
  if (!numpy::is_array(object) && is_jax(object))
    throw nb::type_error(with_name(name, "arrays of JAX never change; must be left out, and the result taken").c_str());
  Array array = acquired(object, name, true, stream, take);
  if (array.readonly)
    throw nb::value_error(with_name(name, "the array is read-only; must be one that can be written").c_str());
  return array;
}

Array contiguous(const Array& array, const char* name) {
  if (array.source == Array::Source::numpy) return numpy::copy_of(array);
  for (const char* const method : {"contiguous", "copy"})  // PyTorch, CuPy
    if (nb::hasattr(array.object, method)) return acquired(array.object.attr(method)(), name, false);
  if (!array.on_device()) return numpy::copy_of_memory(array);
  throw nb::value_error(with_name(name, "rows and columns with gaps, on a device; must be in C order").c_str());
}

Array empty_like(const Array& like, std::span<const std::int64_t> shape, DType dtype) {
  if (like.source == Array::Source::numpy) return numpy::empty(shape, dtype);
  if (like.exchange != nullptr) {
    Axes extents{};
    std::copy(shape.begin(), shape.end(), extents.begin());
    const dlpack::Device device{like.on_device() ? dlpack::kCuda : dlpack::kCpu, std::max(like.device, 0)};
    dlpack::Tensor prototype{nullptr, device, int(shape.size()), dlpack_type(dtype), extents.data(), nullptr, 0};
    dlpack::ManagedVersioned* managed = nullptr;
    std::string failure;
    const auto set_error = [](void* text, const char*, const char* message) {
      *static_cast<std::string*>(text) = message;
    };
    if (like.exchange->allocate(&prototype, &managed, &failure, set_error) != 0) throw std::bad_alloc();
    void* object = nullptr;
    if (like.exchange->object_of_managed(managed, &object) != 0) throw nb::python_error();
    return acquired(nb::steal(static_cast<PyObject*>(object)), "result", true);
  }
  nb::list axes;
  for (const std::int64_t extent : shape) axes.append(extent);
  const nb::tuple extents(axes);
  if (nb::hasattr(like.object, "new_empty"))  // a PyTorch without functions in C
    return acquired(like.object.attr("new_empty")(
                        extents, nb::arg("dtype") = nb::module_::import_("torch").attr(dtype_name(dtype))),
                    "result", true);
  if (is_jax(like.object)) return like.on_device() ? empty_memory(like, shape, dtype) : numpy::empty(shape, dtype);
  const nb::object space =
      nb::hasattr(like.object, "__array_namespace__")
          ? nb::object(like.object.attr("__array_namespace__")())
          : nb::object(nb::module_::import_(nb::str(like.object.type().attr("__module__")).c_str()));
  if (!nb::hasattr(space, "empty")) {  // an array of a kind of its own
    if (!like.on_device()) return numpy::empty(shape, dtype);
    throw nb::type_error("nobody knows how to make a result of these arrays' kind on a device: give `out`");
  }
  return acquired(empty_of(space, like.object, extents, dtype), "result", true);
}

nb::object finished(const Array& array, const Array& like, const Place& place) {
  if (like.source != Array::Source::dlpack || array.object.is(like.object)) return array.object;
  if (nb::isinstance<DeviceMemory>(array.object)) {
    unlocked([&] { place.context->synchronize(); });  // JAX may read it on any stream
    return nb::module_::import_("jax.dlpack").attr("from_dlpack")(array.object);
  }
  if (array.source == Array::Source::numpy && is_jax(like.object))
    return nb::module_::import_("jax.numpy")
        .attr("asarray")(array.object, nb::arg("device") = like.object.attr("device"));
  return array.object;
}

void* stream_of(nb::handle stream) {
  if (PyLong_Check(stream.ptr())) return stream_number(stream, "stream");
  if (nb::hasattr(stream, "cuda_stream")) return stream_number(stream.attr("cuda_stream"), "stream.cuda_stream");
  if (nb::hasattr(stream, "ptr")) return stream_number(stream.attr("ptr"), "stream.ptr");
  if (nb::hasattr(stream, "__cuda_stream__")) {
    const nb::object pair = stream.attr("__cuda_stream__")();
    if (PyTuple_Check(pair.ptr()) == 0 || PyTuple_GET_SIZE(pair.ptr()) != 2)
      refuse_type("stream.__cuda_stream__()", pair, "a pair of integers");
    return stream_number(PyTuple_GET_ITEM(pair.ptr(), 1), "stream.__cuda_stream__()[1]");
  }
  refuse_type("stream", stream, "a number, or a stream of PyTorch, CuPy or cuda.core");
}

void* current_stream(const Array& array) {
  if (array.exchange != nullptr) {
    void* stream = nullptr;
    if (array.exchange->current_stream(dlpack::kCuda, array.device, &stream) != 0) throw nb::python_error();
    return stream;
  }
  if (is_from(array.object, "cupy"))
    return stream_number(nb::module_::import_("cupy").attr("cuda").attr("get_current_stream")().attr("ptr"), "stream");
  if (is_from(array.object, "torch"))
    return stream_number(
        nb::module_::import_("torch").attr("cuda").attr("current_stream")(array.device).attr("cuda_stream"), "stream");
  return nullptr;
}

dlpack::DataType dlpack_type(DType dtype) {
  const dlpack::TypeCode code = dtype == DType::bf16 ? dlpack::kBfloat
                                : is_complex(dtype)  ? dlpack::kComplex
                                                     : dlpack::kFloat;
  return {code, std::uint8_t(8 * size_of(dtype)), 1};
}

const char* dtype_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::c64:
      return "complex64";
    case DType::c128:
      return "complex128";
  }
  return "?";
}

DType dtype_named(nb::handle object, const char* name, Numbers take) {
  std::optional<std::string> known = as_text(object);
  for (const char* const attribute : {"name", "__name__"})  // numpy.dtype, numpy.float32
    if (!known) known = as_text(nb::getattr(object, attribute, nb::none()));
  std::string text = known ? *known : shown(object);  // torch.float32
  if (text.starts_with("torch.")) text.erase(0, 6);
  for (const DType dtype : kAllDTypes)
    if (text == dtype_name(dtype) && (take == Numbers::complex || !is_complex(dtype))) return dtype;
  refuse_value(name, object,
               take == Numbers::complex ? "float16, bfloat16, float32, float64, complex64 or complex128"
                                        : "float16, bfloat16, float32 or float64");
}

void require_factors(DType a, const char* name_a, DType b, const char* name_b) {
  if (can_multiply(a, b)) return;
  throw nb::type_error((std::string(name_a) + " is " + dtype_name(a) + ", " + name_b + " is " + dtype_name(b) +
                        ": must be of one type, or float32 and 16 bits, or float64 and float32; convert one of them")
                           .c_str());
}

DType result_type_named(nb::handle object, const char* name, DType operands) {
  if (object.is_none()) return operands;
  const DType dtype = dtype_named(object, name, is_complex(operands) ? Numbers::complex : Numbers::real);
  const bool narrow = size_of(operands) == 2;
  if (dtype != operands && !(narrow && dtype == kDType<float>))
    refuse_value(name, object,
                 std::string(dtype_name(operands)) + ", the type of a and b" + (narrow ? ", or float32" : ""));
  return dtype;
}

std::string text_of(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace tessera::python
