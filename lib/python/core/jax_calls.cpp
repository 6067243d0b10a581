// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "jax_calls.hpp"

#include "activation_gradient.hpp"
#include "module.hpp"
#include "xla_ffi.hpp"

#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

namespace tessera::python {
namespace {

/// What XLA itself says went wrong, which is its own to free.
struct Reported {
  xla::Error* error;
};

/// A call of XLA, which knows nothing of Python: arrays in C order, and what was chosen when it was traced.
class Frame {
 public:
  explicit Frame(const xla::Call& call) : call_(call) {}

  std::int64_t arguments() const { return call_.arguments.size; }
  std::int64_t results() const { return call_.results.size; }
  const xla::Buffer& argument(std::int64_t i) const { return *call_.arguments.buffers[i]; }
  const xla::Buffer& result(std::int64_t i) const { return *call_.results.buffers[i]; }
  std::int64_t whole(const char* name) const {
    const xla::Scalar& scalar = *static_cast<const xla::Scalar*>(value(name, xla::kScalar));
    std::int64_t number = 0;
    std::memcpy(&number, scalar.value, sizeof number);
    return number;
  }

  /// Where the call's arrays are: a device's memory, with the stream on which XLA works, or the host's.
  Place place(bool on_device) const {
    if (!on_device) return {nullptr, Memory::host};
    const xla::Api& api = *call_.api;
    if (api.struct_size < sizeof api)
      throw Error(ErrorCode::unsupported, "JAX does not tell which device a call is for: update it");
    xla::StreamGet stream{sizeof stream, nullptr, call_.context, nullptr};
    xla::DeviceGet device{sizeof device, nullptr, call_.context, 0};
    if (xla::Error* const error = api.stream_get(&stream)) throw Reported{error};
    if (xla::Error* const error = api.device_get(&device)) throw Reported{error};
    return place_on_stream("cuda:" + std::to_string(device.device), stream.stream);
  }

 private:
  const void* value(const char* name, xla::AttributeType type) const {
    const xla::Attributes& a = call_.attributes;
    for (std::int64_t i = 0; i < a.size; ++i)
      if (std::string_view(a.names[i]->data, a.names[i]->size) == name && a.types[i] == type) return a.values[i];
    throw Error(ErrorCode::invalid_argument, std::string("a call of JAX has no attribute ") + name);
  }

  const xla::Call& call_;
};

tessera_dtype dtype_of(const xla::Buffer& x) {
  switch (x.dtype) {
    case xla::kF16:
      return TESSERA_F16;
    case xla::kBF16:
      return TESSERA_BF16;
    case xla::kF64:
      return TESSERA_F64;
    case xla::kF32:
      return TESSERA_F32;
  }
  throw Error(ErrorCode::invalid_argument, "a call of JAX has an array that is not of f16, bf16, f32 or f64");
}

tessera_operand operand_of(const xla::Buffer& x, tessera_role role) { return {x.data, dtype_of(x), role}; }

/// An extent, counted from the last axis.
std::int64_t extent(const xla::Buffer& x, std::int64_t from_end) { return x.dims[x.rank - from_end]; }

/// a, b and maybe a bias of n values; the result, and maybe what the activation was applied to. Matrices, or a batch.
void product(const Frame& frame, bool on_device) {
  const xla::Buffer &a = frame.argument(0), &b = frame.argument(1), &d = frame.result(0);
  const bool trans_a = frame.whole("trans_a") != 0, trans_b = frame.whole("trans_b") != 0;
  tessera_gemm_desc desc = tessera_packed_gemm(dtype_of(a), extent(d, 2), extent(d, 1), extent(a, trans_a ? 2 : 1));
  desc.dtype_b = dtype_of(b), desc.dtype_d = dtype_of(d);
  desc.trans_a = trans_a ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
  desc.trans_b = trans_b ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
  if (d.rank > 2) desc.batch = d.dims[0];
  desc.activation = tessera_activation(frame.whole("activation"));
  desc.compute = tessera_compute(frame.whole("compute")), desc.sums = tessera_sums(frame.whole("sums"));
  tessera_operand operands[5] = {operand_of(a, TESSERA_ROLE_A), operand_of(b, TESSERA_ROLE_B),
                                 operand_of(d, TESSERA_ROLE_C)};
  std::uint64_t count = 3;
  if (frame.arguments() > 2) {
    operands[count++] = operand_of(frame.argument(2), TESSERA_ROLE_BIAS);
    desc.bias = TESSERA_BIAS_PER_COLUMN, desc.dtype_bias = dtype_of(frame.argument(2));
    desc.bias_stride = 0;
  }
  if (frame.results() > 1)
    operands[count++] = operand_of(frame.result(1), TESSERA_ROLE_AUX), desc.aux = TESSERA_AUX_STORE;
  run_product(frame.place(on_device), desc, operands, count, 1.0, 0.0);
}

/// The gradient of an activation's result and what that was applied to; the gradient of the latter, and maybe its sums
/// over all axes but the last.
void activation_gradient(const Frame& frame, bool on_device) {
  const xla::Buffer& made = frame.result(0);
  std::int64_t rows = 1;
  for (std::int64_t axis = 0; axis + 1 < made.rank; ++axis) rows *= made.dims[axis];
  std::optional<tessera_operand> sums;
  if (frame.results() > 1) sums = operand_of(frame.result(1), TESSERA_ROLE_BIAS);
  run_activation_gradient(frame.place(on_device), tessera_activation(frame.whole("activation")), rows, extent(made, 1),
                          operand_of(frame.argument(0), TESSERA_ROLE_C), frame.argument(1).data, made.data, sums);
}

xla::Error* failure(const xla::Call& call, xla::ErrorCode code, const char* message) {
  xla::ErrorCreate create{sizeof create, nullptr, message, code};
  return call.api->error_create(&create);
}

/// What XLA calls.
template <void (*kBody)(const Frame&, bool), bool kOnDevice>
xla::Error* handle(xla::Call* call) {
  if (call->extensions != nullptr && call->extensions->type == xla::kMetadata) {
    xla::Metadata& metadata = *reinterpret_cast<xla::MetadataExtension*>(call->extensions)->metadata;
    // It wants to hear its own number; that of 0.1 does not say which it is.
    metadata.version.major = 0, metadata.version.minor = call->api != nullptr ? call->api->version.minor : 1;
    return nullptr;
  }
  try {
    kBody(Frame(*call), kOnDevice);
    return nullptr;
  } catch (const Reported& reported) {
    return reported.error;
  } catch (const Error& error) {
    const bool refused = error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::unsupported;
    return failure(*call, refused ? xla::kInvalidArgument : xla::kInternal, error.what());
  } catch (const std::exception& error) {
    return failure(*call, xla::kInternal, error.what());
  }
}

nb::capsule capsule_of(xla::Error* (*handler)(xla::Call*)) {
  return {reinterpret_cast<void*>(handler), "xla._CUSTOM_CALL_TARGET"};
}

}  // namespace

void define_jax_calls(nb::module_& module) {
  module.attr("_jax_calls") = nb::make_tuple(
      nb::make_tuple("tessera_product", capsule_of(handle<product, false>), capsule_of(handle<product, true>)),
      nb::make_tuple("tessera_activation_gradient", capsule_of(handle<activation_gradient, false>),
                     capsule_of(handle<activation_gradient, true>)));
}

}  // namespace tessera::python
