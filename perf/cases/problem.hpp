// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One problem that competitors compete on: the case, its type, and what follows from both.
#pragma once

#include <tessera/boundary.hpp>
#include <tessera/dtype.hpp>
#include <tessera/gemm.hpp>
#include <tessera/plugin/epilogue.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::perf {

enum class Op { gemm, stencil, system };

/// Types of a problem, and the arithmetic that it accepts.
struct Kind {
  DType dtype = DType::f32;      ///< of A, and of the fields of a stencil
  DType dtype_b = DType::f32;    ///< of B
  DType dtype_out = DType::f32;  ///< of D and the bias
  tessera_compute compute = TESSERA_COMPUTE_STRICT;
  bool is_complex = false;  ///< elements are pairs of these types

  Kind() = default;
  Kind(DType both) : dtype(both), dtype_b(both), dtype_out(both) {}
  Kind(DType in, DType out, tessera_compute c) : dtype(in), dtype_b(in), dtype_out(out), compute(c) {}
  /// Of two types, and D of the wider.
  static Kind mixed(DType a, DType b, tessera_compute c) {
    Kind kind(a, wider(a, b), c);
    kind.dtype_b = b;
    return kind;
  }
  /// Of complex numbers whose parts have the type.
  static Kind complex(DType part, tessera_compute c) {
    Kind kind(part, part, c);
    kind.is_complex = true;
    return kind;
  }
  bool is_mixed() const { return dtype_b != dtype; }
  std::int64_t parts() const { return is_complex ? 2 : 1; }  ///< numbers of an element
  /// That of an element of A.
  DType element() const {
    if (!is_complex) return dtype;
    return with_types<WideTypes>(dtype, []<class T>(std::type_identity<T>) { return kDType<std::complex<T>>; });
  }
  bool has(DType type) const { return dtype == type || dtype_b == type; }
  /// "f32", "bf16", "bf16->f32"; "bf16x6", "f16x3", "tf32" of f32 data with that arithmetic; "f32*bf16",
  /// "f32*bf16+bf16x6"; "c64", "c64+bf16x6".
  std::string name() const {
    const std::string by = compute != TESSERA_COMPUTE_STRICT ? std::string("+") + plugin::name_of_compute(compute) : "";
    if (is_complex) return tessera::name_of(element()) + by;
    if (is_mixed()) return tessera::name_of(dtype) + ("*" + std::string(tessera::name_of(dtype_b))) + by;
    if (compute != TESSERA_COMPUTE_STRICT) return plugin::name_of_compute(compute);
    return tessera::name_of(dtype) + (dtype_out == dtype ? std::string() : "->" + std::string(name_of(dtype_out)));
  }
};

/// What elements of the type are summed in.
inline DType scalar_of(DType dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return kDType<Scalar<T>>; });
}

/// D = activation(alpha op(A) op(B) + beta D + bias), row-major; all sizes resolved, nothing packed by default.
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t batch = 1, stride_a = 0, stride_b = 0, stride_c = 0;
  tessera_bias bias = TESSERA_BIAS_NONE;  ///< none, or one for each column
  tessera_activation activation = TESSERA_ACTIVATION_NONE;
  bool ordered = false;                               ///< tessera_sums
  bool prepared = false;                              ///< there is a row with a prepared B beside the others
  tessera_triangle triangle = TESSERA_TRIANGLE_NONE;  ///< of A by its transpose: lower, mirrored; none: all, of A and B
  float alpha = 1.0f;                                 ///< a power of two times 3, so that it is exact
  float beta = 0.0f;                                  ///< 0, or 1: added to what D holds

  bool is_triangle() const { return triangle != TESSERA_TRIANGLE_NONE; }
  /// Elements of a matrix of D that are written.
  std::int64_t written() const { return triangle == TESSERA_TRIANGLE_LOWER ? m * (m + 1) / 2 : m * n; }
  bool has_epilogue() const { return bias != TESSERA_BIAS_NONE || activation != TESSERA_ACTIVATION_NONE; }
};

enum class Pattern { star, box, derivative, product };

/// Packed domain of `rank` axes, slowest first; leading unused extents are 1 (extents[2] is contiguous).
struct StencilShape {
  Pattern pattern = Pattern::star;
  int rank = 1, radius = 1;
  std::array<std::int64_t, 3> extents{1, 1, 1};
  Boundary boundary = Boundary::fixed;  ///< of all sides; a constant is 0
  std::int64_t steps = 1;

  std::int64_t points() const { return extents[0] * extents[1] * extents[2]; }
};

enum class Model { wave, diffusion, maxwell, elastic, gray_scott, burgers, allen_cahn };

/// Fields that are stepped together on a packed domain, as StencilShape has it; all sides are fixed, but periodic for
/// Allen and Cahn's equation.
struct SystemShape {
  Model model = Model::wave;
  int order = 8;         ///< of the wave's laplacian
  bool varying = false;  ///< the square of the wave's speed is an array, else a constant
  bool sponge = false;   ///< the wave is damped by a profile along each axis, and has a source and receivers
  int rank = 3;
  std::array<std::int64_t, 3> extents{1, 1, 1};
  std::int64_t steps = 1;

  std::int64_t points() const { return extents[0] * extents[1] * extents[2]; }
};

/// Those of a shape's own axes, slowest first.
template <class Shape>
std::vector<std::int64_t> extents_of(const Shape& shape) {
  return {shape.extents.end() - shape.rank, shape.extents.end()};
}

/// Values are uniform in [middle - half, middle + half). `half` is a power of two: the same on every device.
struct Range {
  double middle = 0.0, half = 1.0;
};

/// An array of a system's execution.
struct SystemOperand {
  enum class Use { state, constant, injected, recorded };
  Use use = Use::state;
  int index = 0;  ///< of the field, or of the injection or recording
  int level = 0;  ///< of a state, counted from the newest
  std::int64_t count = 0;
  Range range;
};

/// Groups of products whose accuracy is compared beside their speed. The names of their cases begin with the group's.
inline constexpr const char* kGroups[] = {"layers", "random-aligned", "random-odd"};
/// Cases that are compared like them.
inline constexpr const char* kGroupedSquares[] = {"1000", "1024", "2048", "3000"};

struct Problem {
  Op op = Op::gemm;
  std::string name;  ///< the case's
  Kind kind;
  GemmShape gemm;
  StencilShape stencil;
  SystemShape system;

  std::array<std::int64_t, 3> in_count{};  ///< numbers of each input: A, B, bias, or the field; 0: there is none
  std::int64_t out_count = 0;
  std::int64_t out_gaps = 0;  ///< numbers of the output that must stay as they are (between rows)
  /// Of a system: the arrays of its fields in their order, each state's levels from the newest on; then the series.
  std::vector<SystemOperand> operands;
  double flops = 0.0;  ///< of one execution; an FMA counts 2
  double work = 0.0;   ///< what `rate` counts: flops, or points x steps
  /// Compulsory traffic: each input is read once, the output is written once, and read where beta is 1.
  double read_bytes = 0.0, write_bytes = 0.0;

  std::int64_t steps() const { return op == Op::stencil ? stencil.steps : op == Op::system ? system.steps : 1; }

  /// A problem of many steps has parts, so many of which in a row are the whole: quick to try, and quick to check. Of a
  /// system each step is one.
  static constexpr std::int64_t kParts = 50;
  std::int64_t parts() const { return op == Op::system ? system.steps : kParts; }
  bool has_parts() const { return steps() > 1 && op != Op::gemm && steps() % parts() == 0; }
  Problem part() const {
    Problem p = *this;
    (op == Op::system ? p.system.steps : p.stencil.steps) /= parts();
    p.work /= double(parts()), p.flops /= double(parts());
    for (SystemOperand& operand : p.operands)
      if (operand.use >= SystemOperand::Use::injected) operand.count /= parts();
    return p;
  }

  /// "gemm/1024_NT/f32", "gemm/4096_bias_gelu/bf16": what the names of its rows begin with.
  std::string label() const {
    return (op == Op::gemm ? "gemm/" : op == Op::stencil ? "stencil/" : "system/") + name + "/" + kind.name();
  }
  DType in_dtype(std::size_t input) const { return std::array{kind.dtype, kind.dtype_b, kind.dtype_out}[input]; }
  std::size_t in_bytes(std::size_t input) const { return std::size_t(in_count[input]) * size_of(in_dtype(input)); }
  std::size_t out_bytes() const { return std::size_t(out_count) * size_of(kind.dtype_out); }
  double footprint() const {
    double bytes = double(in_bytes(0) + in_bytes(1) + in_bytes(2) + out_bytes());
    for (const SystemOperand& operand : operands) bytes += double(operand.count) * double(size_of(kind.dtype));
    return bytes;
  }
  bool is_grouped() const {
    const auto begins = [this](const char* group) { return name.starts_with(std::string(group) + "_"); };
    const auto is_square = [this](const char* square) { return name == square; };
    return op == Op::gemm && (std::any_of(std::begin(kGroups), std::end(kGroups), begins) ||
                              std::any_of(std::begin(kGroupedSquares), std::end(kGroupedSquares), is_square));
  }
  /// Of one type that the processor computes in, to its precision, and nothing beside the product or the sum.
  bool is_plain() const {
    return size_of(kind.dtype) > 2 && !kind.is_mixed() && !kind.is_complex && kind.compute == TESSERA_COMPUTE_STRICT &&
           !gemm.has_epilogue();
  }
};

/// Calls body(std::type_identity<A>{}, std::type_identity<B>{}, std::type_identity<D>{}) for the types of a product.
template <class Body>
decltype(auto) with_product_types(const Kind& kind, Body&& body) {
  return with_types(kind.dtype, [&]<class A>(std::type_identity<A> a) -> decltype(auto) {
    if constexpr (kDType<Scalar<A>> != kDType<A>)
      if (!kind.is_mixed() && kind.dtype_out != kind.dtype) return body(a, a, std::type_identity<Scalar<A>>{});
    return with_types(kind.dtype_b, [&]<class B>(std::type_identity<B> b) -> decltype(auto) {
      if constexpr (can_multiply(kDType<A>, kDType<B>))
        return body(a, b, std::type_identity<std::conditional_t<(sizeof(A) < sizeof(B)), B, A>>{});
      else
        return body(a, a, a);  // there is no such kind
    });
  });
}

}  // namespace tessera::perf
