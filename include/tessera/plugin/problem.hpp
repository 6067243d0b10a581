// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The canonical descriptors of abi.h as C++ values that a plan may keep.
#pragma once

#include <tessera/dtype.hpp>
#include <tessera/plugin/boundary.hpp>
#include <tessera/plugin/error.hpp>
#include <tessera/plugin/form.hpp>
#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tessera::plugin {

using tessera::is_complex;
using tessera::NarrowTypes;
using tessera::real_type;
using tessera::Scalar;
using tessera::size_of;
using tessera::WideTypes;
using tessera::with_types;

/// Throws for a value of a newer version: one that is not in [0, last].
inline void require_known(const char* what, std::int32_t value, std::int32_t last) {
  if (value < 0 || value > last)
    throw Error(TESSERA_UNSUPPORTED, std::string(what) + " " + std::to_string(value) + " is not known to this backend");
}

/// The same for a type and the arithmetic.
inline void require_known(tessera_dtype dtype, tessera_compute compute) {
  if (!is_known(static_cast<DType>(dtype))) require_known("dtype", dtype, 0);
  require_known("compute mode", compute, TESSERA_COMPUTE_TF32);
}

/// D <- activation(alpha * op(A) * op(B) + beta * C + bias), row-major. See tessera_gemm_desc for the fields. The
/// operands come in the order A, B, C, D, bias, aux, the last two where there are any; D may be C.
struct GemmProblem {
  static constexpr tessera_op kOp = TESSERA_OP_GEMM;
  /// Of A; B; C and D; of the bias, 0 where there is none. Of complex elements that of their parts.
  tessera_dtype dtype, dtype_b, dtype_d, dtype_bias;
  bool complex;
  tessera_compute compute;
  bool trans_a, trans_b;
  bool conjugate_a, conjugate_b;
  tessera_bias bias;
  tessera_bias bias_gradient;  ///< per_row or per_column where the bias is written, and `bias` is none
  tessera_activation activation;
  tessera_aux aux;
  tessera_triangle triangle;
  std::int64_t m, n, k;
  std::int64_t lda, ldb, ldc, ldd, ldaux;
  std::int64_t batch;
  std::int64_t stride_a, stride_b, stride_c, stride_d, stride_aux;
  std::int64_t bias_increment, bias_stride;
  bool ordered;             ///< Features::ordered is asked for,
  bool by_columns;          ///< where D's columns are the rows that it speaks of
  std::int64_t whole_n;     ///< the caller's n of the product of which this is a part; 0: it is the whole
  int multiprocessors = 0;  ///< of the device's, that kernels may occupy; 0: all
  /// Of the operand that was prepared; null: none was. Its pointer is to the matrix, where the form has that, behind
  /// which comes what an algorithm made of it.
  std::shared_ptr<const Form> form = {};

  explicit GemmProblem(const tessera_desc* source) {
    const auto desc = read_struct<tessera_gemm_desc>(source, "the GEMM descriptor");
    complex = is_complex(desc.dtype);
    require_known(real_type(desc.dtype), desc.compute);
    dtype = real_type(desc.dtype), dtype_b = desc.dtype_b != 0 ? real_type(desc.dtype_b) : dtype;
    dtype_d = desc.dtype_d != 0 ? real_type(desc.dtype_d) : wider(), dtype_bias = desc.dtype_bias;
    require_known(dtype_b, desc.compute), require_known(dtype_d, desc.compute);
    if (desc.bias != TESSERA_BIAS_NONE) require_known(dtype_bias, desc.compute);
    require_known("bias", desc.bias, TESSERA_BIAS_GRADIENT_PER_COLUMN);
    require_known("activation", desc.activation, TESSERA_ACTIVATION_TANH);
    require_known("aux", desc.aux, TESSERA_AUX_DERIVATIVE);
    compute = desc.compute;
    const bool writes_bias = desc.bias >= TESSERA_BIAS_GRADIENT_PER_ROW;
    constexpr tessera_bias kApart = TESSERA_BIAS_GRADIENT_PER_ROW - TESSERA_BIAS_PER_ROW;
    bias = writes_bias ? tessera_bias(TESSERA_BIAS_NONE) : desc.bias;
    bias_gradient = writes_bias ? desc.bias - kApart : tessera_bias(TESSERA_BIAS_NONE);
    activation = desc.activation, aux = desc.aux;
    ldaux = desc.ldaux, stride_aux = desc.stride_aux;
    for (const tessera_transpose trans : {desc.trans_a, desc.trans_b})
      require_known("transpose", trans, TESSERA_CONJUGATE);
    trans_a = desc.trans_a == TESSERA_TRANSPOSE || desc.trans_a == TESSERA_CONJUGATE_TRANSPOSE;
    trans_b = desc.trans_b == TESSERA_TRANSPOSE || desc.trans_b == TESSERA_CONJUGATE_TRANSPOSE;
    conjugate_a = desc.trans_a >= TESSERA_CONJUGATE_TRANSPOSE,
    conjugate_b = desc.trans_b >= TESSERA_CONJUGATE_TRANSPOSE;
    m = desc.m, n = desc.n, k = desc.k;
    lda = desc.lda, ldb = desc.ldb, ldc = desc.ldc, ldd = desc.ldd != 0 ? desc.ldd : ldc;
    batch = desc.batch;
    stride_a = desc.stride_a, stride_b = desc.stride_b, stride_c = desc.stride_c;
    stride_d = desc.stride_d != 0 || desc.ldd != 0 ? desc.stride_d : stride_c;
    bias_increment = desc.bias_increment, bias_stride = desc.bias_stride;
    require_known("sums", desc.sums, TESSERA_SUMS_ORDERED_COLUMNS);
    ordered = desc.sums != TESSERA_SUMS_ANY;
    by_columns = desc.sums == TESSERA_SUMS_ORDERED_COLUMNS;
    whole_n = desc.whole_n;
    require_known("triangle", desc.triangle, TESSERA_TRIANGLE_MIRRORED);
    triangle = desc.triangle;
  }

  /// Whether an element of D is written. Of a mirrored D it may be the copy of another one.
  bool writes(std::int64_t row, std::int64_t column) const {
    return triangle == TESSERA_TRIANGLE_LOWER   ? column <= row
           : triangle == TESSERA_TRIANGLE_UPPER ? column >= row
                                                : true;
  }
  /// Whether A and B are of two types.
  bool mixed() const { return dtype_b != dtype; }
  tessera_dtype wider() const { return size_of(dtype_b) > size_of(dtype) ? dtype_b : dtype; }

  /// The extent of D that the order of ordered sums may follow: it must not follow the other one.
  std::int64_t fixed_extent() const { return whole_n > 0 ? whole_n : by_columns ? m : n; }

  bool has_epilogue() const { return bias != TESSERA_BIAS_NONE || activation != TESSERA_ACTIVATION_NONE; }
  /// The place of aux among the operands.
  int aux_operand() const { return bias == TESSERA_BIAS_NONE && bias_gradient == TESSERA_BIAS_NONE ? 4 : 5; }

  double flops() const { return (complex ? 8.0 : 2.0) * double(m) * double(n) * double(k) * double(batch); }
  /// Each matrix once, C read and D written.
  double bytes() const {
    return (complex ? 2.0 : 1.0) * double(batch) *
           (double(size_of(dtype)) * double(m) * double(k) + double(size_of(dtype_b)) * double(k) * double(n) +
            double(size_of(dtype_d)) * 2.0 * double(m) * double(n));
  }
};

/// Calls body(std::type_identity<T>{}, std::type_identity<D>{}) for the type T of A and B, which must be one of the
/// list, and the type D of C and D.
template <class List = ElementTypes, class Body>
decltype(auto) with_gemm_types(const GemmProblem& p, Body&& body) {
  return with_types<List>(p.dtype, [&]<class T>(std::type_identity<T> type) -> decltype(auto) {
    if constexpr (sizeof(T) == 2)
      if (p.dtype_d != p.dtype) return body(type, std::type_identity<Scalar<T>>{});
    return body(type, type);
  });
}

/// A place, an extent or a stride for each of the three axes.
using Index3 = std::array<std::int64_t, kAxes>;

/// One term of a stencil; leading axes that the caller does not have are 0.
struct Tap {
  Index3 offset;
  double coefficient;
};

/// A stencil on a domain of three axes; a lower rank has leading axes of extent 1 and stride 0.
struct StencilProblem {
  static constexpr tessera_op kOp = TESSERA_OP_STENCIL;
  tessera_dtype dtype;
  int rank;  ///< of the caller's domain: axes [3 - rank, 3) are his
  Domain domain;
  Index3 in_strides, out_strides;  ///< elements
  std::vector<Tap> taps;           ///< one an offset, in the order of the offsets on the caller's axes
  std::int64_t steps;
  bool ordered;             ///< Features::ordered is asked for; then the axes are the caller's
  int multiprocessors = 0;  ///< of the device's, that kernels may occupy; 0: all

  explicit StencilProblem(const tessera_desc* source) {
    const auto desc = read_struct<tessera_stencil_desc>(source, "the stencil descriptor");
    require_known(desc.dtype, desc.compute);
    require_known("sums", desc.sums, TESSERA_SUMS_ORDERED);
    dtype = desc.dtype;
    rank = desc.rank;
    steps = desc.steps;
    ordered = desc.sums == TESSERA_SUMS_ORDERED;
    const int lead = kAxes - rank;
    for (int axis = 0; axis < kAxes; ++axis) {
      const bool real = axis >= lead;
      domain.extents[axis] = real ? desc.extents[axis - lead] : 1;
      in_strides[axis] = real ? desc.in_strides[axis - lead] : 0;
      out_strides[axis] = real ? desc.out_strides[axis - lead] : 0;
      for (int side = 0; side < 2; ++side) {
        domain.reach[axis][side] = 0;
        domain.mode[axis][side] = real ? desc.boundary[axis - lead][side] : TESSERA_BOUNDARY_NEAREST;
        domain.value[axis][side] = real ? desc.boundary_value[axis - lead][side] : 0.0;
      }
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(desc.taps);
    for (std::int64_t t = 0; t < desc.tap_count; ++t) {
      tessera_tap given{};
      std::memcpy(&given, bytes + std::size_t(t) * desc.tap_size, std::min<std::size_t>(sizeof given, desc.tap_size));
      Tap tap{{0, 0, 0}, given.coefficient};
      for (int axis = lead; axis < kAxes; ++axis) tap.offset[axis] = given.offset[axis - lead];
      taps.push_back(tap);
      for (int axis = 0; axis < kAxes; ++axis) {
        domain.reach[axis][0] = (std::max)(domain.reach[axis][0], -tap.offset[axis]);
        domain.reach[axis][1] = (std::max)(domain.reach[axis][1], tap.offset[axis]);
      }
    }
  }

  std::int64_t points() const { return domain.extents[0] * domain.extents[1] * domain.extents[2]; }
  /// Strides of a packed array of the domain: what the array between two steps has.
  Index3 packed_strides() const { return {domain.extents[1] * domain.extents[2], domain.extents[2], 1}; }
  /// Bytes of the one array that a plan of several single sweeps needs beside in and out.
  std::uint64_t sweep_workspace() const { return steps > 1 ? std::uint64_t(points()) * size_of(dtype) : 0; }
};

/// What a single sweep reads and writes.
template <class T>
struct SweepArrays {
  const T* source;
  Index3 source_strides;
  T* target;
  Index3 target_strides;
};

/// Those of sweep `step`, 0 to problem.steps - 1: in -> ... -> out, alternating between out and a packed workspace so
/// that the last one lands in out and `in` is only read.
template <class T>
SweepArrays<T> sweep_arrays(const StencilProblem& problem, const T* in, T* out, T* workspace, std::int64_t step) {
  const bool to_out = (problem.steps - step) % 2 == 1;
  const Index3 packed = problem.packed_strides();
  SweepArrays<T> arrays{to_out ? workspace : out, to_out ? packed : problem.out_strides, to_out ? out : workspace,
                        to_out ? problem.out_strides : packed};
  if (step == 0) arrays.source = in, arrays.source_strides = problem.in_strides;
  return arrays;
}

/// Calls sweep(source, source_strides, target, target_strides) for each sweep.
template <class T, class Sweep>
void for_each_sweep(const StencilProblem& problem, const T* in, T* out, T* workspace, Sweep&& sweep) {
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    const SweepArrays<T> arrays = sweep_arrays(problem, in, out, workspace, step);
    sweep(arrays.source, arrays.source_strides, arrays.target, arrays.target_strides);
  }
}

}  // namespace tessera::plugin
