// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/problem_json.hpp"

#include <tessera/boundary.hpp>
#include <tessera/dtype.hpp>
#include <tessera/plugin/epilogue.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace tessera::core {
namespace {

/// The shortest text that is read as the same number; what JSON has no number for is a string.
std::string json_of(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0.0 ? "\"inf\"" : "\"-inf\"";
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}
std::string json_of(std::int64_t value) { return std::to_string(value); }
std::string json_of(bool value) { return value ? "true" : "false"; }
std::string json_of(const char* value) { return std::string("\"") + value + "\""; }

/// A list of what `element` makes of 0 to count - 1.
template <class Element>
std::string list(std::int64_t count, Element&& element) {
  std::string text = "[";
  for (std::int64_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + element(i);
  return text + "]";
}

/// An object whose members come one after the other.
class Object {
 public:
  void raw(const char* key, const std::string& value) {
    text_ += (text_.size() == 1 ? "" : ", ") + json_of_key(key) + value;
  }
  template <class Value>
  void add(const char* key, Value value) {
    raw(key, json_of(value));
  }
  std::string text() const { return text_ + "}"; }

 private:
  static std::string json_of_key(const char* key) { return json_of(key) + ": "; }
  std::string text_ = "{";
};

void add(Object& object, const tessera_gemm_desc& d) {
  object.add("op", "gemm");
  object.add("dtype", name_of(d.dtype));
  if (d.dtype_b != d.dtype) object.add("dtype_b", name_of(d.dtype_b));
  object.add("dtype_d", name_of(d.dtype_d));
  object.add("compute", plugin::name_of_compute(d.compute));
  object.add("m", d.m), object.add("n", d.n), object.add("k", d.k);
  object.add("trans_a", d.trans_a == TESSERA_TRANSPOSE);
  object.add("trans_b", d.trans_b == TESSERA_TRANSPOSE);
  object.add("lda", d.lda), object.add("ldb", d.ldb), object.add("ldc", d.ldc), object.add("ldd", d.ldd);
  if (d.batch != 1) {
    object.add("batch", d.batch);
    object.add("stride_a", d.stride_a), object.add("stride_b", d.stride_b);
    object.add("stride_c", d.stride_c), object.add("stride_d", d.stride_d);
  }
  if (d.bias != TESSERA_BIAS_NONE) {
    object.add("bias", plugin::name_of_bias(d.bias));
    object.add("dtype_bias", name_of(d.dtype_bias));
    object.add("bias_increment", d.bias_increment);
    object.add("bias_stride", d.bias_stride);
  }
  if (d.activation != TESSERA_ACTIVATION_NONE) object.add("activation", plugin::name_of_activation(d.activation));
  if (d.aux != TESSERA_AUX_NONE) {
    object.add("aux", plugin::name_of_aux(d.aux));
    object.add("ldaux", d.ldaux), object.add("stride_aux", d.stride_aux);
  }
  if (d.triangle != TESSERA_TRIANGLE_NONE) object.add("triangle", plugin::name_of_triangle(d.triangle));
  if (d.sums != TESSERA_SUMS_ANY) object.add("sums", d.sums == TESSERA_SUMS_ORDERED ? "ordered" : "ordered_columns");
  if (d.whole_n > 0) object.add("whole_n", d.whole_n);
}

void add(Object& object, const tessera_stencil_desc& d) {
  const auto axes = [&](const std::int64_t* values) {
    return list(d.rank, [&](std::int64_t axis) { return json_of(values[axis]); });
  };
  const auto sides = [&](auto&& side) {
    return list(d.rank, [&](std::int64_t axis) { return list(2, [&](std::int64_t i) { return side(axis, i); }); });
  };
  object.add("op", "stencil");
  object.add("dtype", name_of(d.dtype));
  object.raw("extents", axes(d.extents));
  object.raw("in_strides", axes(d.in_strides));
  object.raw("out_strides", axes(d.out_strides));
  object.raw("boundary",
             sides([&](std::int64_t axis, std::int64_t i) { return json_of(name_of(Boundary(d.boundary[axis][i]))); }));
  object.raw("boundary_value",
             sides([&](std::int64_t axis, std::int64_t i) { return json_of(d.boundary_value[axis][i]); }));
  object.add("steps", d.steps);
  if (d.sums == TESSERA_SUMS_ORDERED) object.add("sums", "ordered");
  object.raw("taps", list(d.tap_count, [&](std::int64_t t) {  // offsets, coefficient
               const tessera_tap& tap = d.taps[t];
               const auto part = [&](std::int64_t i) {
                 return i < d.rank ? json_of(tap.offset[i]) : json_of(tap.coefficient);
               };
               return list(d.rank + 1, part);
             }));
}

}  // namespace

std::string json_of(const Problem& problem, const std::string& backend, int threads, const AlgorithmSpec& forced,
                    const PlanOptions& options) {
  Object object;
  if (problem.op == TESSERA_OP_GEMM)
    add(object, problem.gemm);
  else
    add(object, problem.stencil);
  object.add("operands", options.operands == TESSERA_MEMORY_HOST ? "host" : "device");
  const std::uint64_t limit = options.workspace != nullptr ? options.workspace_bytes : options.workspace_limit;
  if (limit != 0) object.add("workspace_limit", std::int64_t(std::min(limit, std::uint64_t(INT64_MAX))));
  if (const int most = limits(options).multiprocessors; most != 0) object.add("sm_limit", std::int64_t(most));
  if (!backend.empty()) object.add("backend", backend.c_str());
  if (threads != 0) object.add("threads", std::int64_t(threads));
  if (!forced.name.empty())
    object.add("algorithm", ((forced.backend.empty() ? "" : forced.backend + "/") + forced.name).c_str());
  return object.text();
}

}  // namespace tessera::core
