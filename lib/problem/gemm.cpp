// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem/problem.hpp"

#include "check.hpp"

#include <tessera/plugin/epilogue.hpp>
#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tessera::core {
namespace {

using plugin::name_of_activation;
using plugin::name_of_aux;
using plugin::name_of_bias;
using plugin::name_of_compute;
using plugin::name_of_triangle;

/// One matrix of the caller's descriptor: its stored shape, in the caller's terms.
struct Matrix {
  const char* name;
  const char* ld_name;
  const char* stride_name;
  std::int64_t rows, columns, ld, stride;
};

/// Batch, lines, elements of a line: lines are rows (row-major) or columns (column-major).
Layout matrix_layout(const Matrix& x, bool row_major, std::int64_t batch, std::int64_t size) {
  const std::int64_t lines = row_major ? x.rows : x.columns;
  const std::int64_t length = row_major ? x.columns : x.rows;
  const std::int64_t tight = std::max<std::int64_t>(length, 1);
  const std::int64_t ld = x.ld == TESSERA_PACKED ? tight : x.ld;
  at_least(x.ld_name, ld, tight,
           row_major ? ", the columns of the stored matrix, or TESSERA_PACKED (kPacked)"
                     : ", the rows of the stored matrix, or TESSERA_PACKED (kPacked)");
  Layout one;
  one.add_axis(lines, ld);
  one.add_axis(length, 1);
  const auto too_large = [&] {
    invalid(std::string("the extent of ") + x.name,
            std::to_string(lines) + " lines, " + x.ld_name + " = " + std::to_string(ld) +
                ", batch = " + std::to_string(batch),
            "must stay below 2^63 bytes");
  };
  if (!addressable(one, size)) too_large();
  const std::int64_t stride = x.stride == TESSERA_PACKED ? std::max<std::int64_t>(lines, 1) * ld : x.stride;
  at_least(x.stride_name, stride, 0);
  Layout all;
  all.add_axis(batch, stride);
  all.add_axis(lines, ld);
  all.add_axis(length, 1);
  if (!addressable(all, size)) too_large();
  return all;
}

bool narrow(tessera_dtype dtype) { return size_of(dtype) == 2; }

/// That of the type of sums: of A and B the wider.
tessera_dtype wider(const tessera_gemm_desc& d) { return size_of(d.dtype_b) > size_of(d.dtype) ? d.dtype_b : d.dtype; }

/// B's: as A's, or one of both is the other's next wider one.
void resolve_dtype_b(tessera_gemm_desc& d) {
  if (d.dtype_b == 0) d.dtype_b = d.dtype;
  validate_product_dtype("dtype_b", d.dtype_b);
  const std::size_t a = size_of(d.dtype), b = size_of(d.dtype_b);
  const bool complex = is_complex(d.dtype) || is_complex(d.dtype_b);
  if (d.dtype_b != d.dtype && (complex || (a != 2 * b && b != 2 * a)))
    invalid("dtype_b", name_of(d.dtype_b),
            std::string("with A of ") + name_of(d.dtype) +
                " it must be that (or 0), or one of both f32 and the other f16 or bf16, or f64 and f32");
}

/// The type of an operand that is `usual`, or f32 where that has 16 bits.
tessera_dtype resolve_dtype(const char* name, tessera_dtype given, tessera_dtype usual, const char* of) {
  if (given == 0) return usual;
  validate_product_dtype(name, given);
  if (given != usual && given != scalar_dtype(usual))
    invalid(name, name_of(given),
            std::string("must be ") + name_of(usual) + ", the type of " + of + (narrow(usual) ? ", or f32" : ""));
  return given;
}

/// That of n itself is none.
void resolve_whole_n(tessera_gemm_desc& d) {
  if (d.whole_n == 0) return;
  if (d.sums != TESSERA_SUMS_ORDERED)
    invalid("whole_n", d.whole_n, "must be 0 where sums may be added in any order: set sums = ordered (1)");
  if (d.whole_n < d.n)
    invalid("whole_n", d.whole_n,
            "must be 0, or no less than n = " + std::to_string(d.n) + ": n counts some of its columns");
  if (d.whole_n == d.n) d.whole_n = 0;
}

/// The arithmetic of a descriptor: what it says, which its type must have, else `usual`, where its type has it.
tessera_compute resolve_compute(const tessera_gemm_desc& d, tessera_compute usual) {
  one_of("compute", d.compute, TESSERA_COMPUTE_DEFAULT, TESSERA_COMPUTE_TF32,
         "default (0), strict (1), bf16x6 (2), f16x3 (3), tf32 (4)");
  const bool has_all = size_of(real_type(wider(d))) == 4;
  if (d.compute == TESSERA_COMPUTE_DEFAULT) return has_all ? usual : TESSERA_COMPUTE_STRICT;
  if (d.compute != TESSERA_COMPUTE_STRICT && !has_all)
    invalid(
        "compute", name_of_compute(d.compute),
        std::string("products of f32 and c64 alone have it; the type is ") + name_of(wider(d)) + ": must be strict");
  return d.compute;
}

/// Complex products have alpha and beta alone.
void check_complex(const tessera_gemm_desc& d) {
  if (!is_complex(d.dtype)) return;
  const std::string of = std::string(" in products of ") + name_of(d.dtype);
  if (d.bias != TESSERA_BIAS_NONE) invalid("bias", d.bias, "must be none (0)" + of);
  if (d.activation != TESSERA_ACTIVATION_NONE) invalid("activation", d.activation, "must be none (0)" + of);
  if (d.triangle == TESSERA_TRIANGLE_MIRRORED)
    invalid("triangle", name_of_triangle(d.triangle),
            "must be none (0), lower (1) or upper (2)" + of + ", whose D may be symmetric or Hermitian");
}

/// Real elements are their own conjugates.
void resolve_transposes(tessera_gemm_desc& d) {
  for (const auto& [name, trans] : {std::pair{"trans_a", &d.trans_a}, {"trans_b", &d.trans_b}}) {
    one_of(name, *trans, TESSERA_NO_TRANSPOSE, TESSERA_CONJUGATE,
           "no (0), yes (1), conjugate transpose (2), conjugate (3)");
    if (!is_complex(d.dtype)) *trans = is_transposed(*trans) ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
  }
}

void resolve_types(tessera_gemm_desc& d, tessera_compute usual) {
  validate_product_dtype("dtype", d.dtype);
  resolve_dtype_b(d);
  d.dtype_d = resolve_dtype("dtype_d", d.dtype_d, wider(d), d.dtype_b == d.dtype ? "A and B" : "A and B, the wider");
  d.compute = resolve_compute(d, usual);
  one_of("bias", d.bias, TESSERA_BIAS_NONE, TESSERA_BIAS_GRADIENT_PER_COLUMN,
         "none (0), per row (1), per column (2), gradient per row (3), gradient per column (4)");
  one_of("activation", d.activation, TESSERA_ACTIVATION_NONE, TESSERA_ACTIVATION_TANH,
         "none (0), relu (1), gelu (2), gelu_tanh (3), silu (4), sigmoid (5), tanh (6)");
  one_of("aux", d.aux, TESSERA_AUX_NONE, TESSERA_AUX_DERIVATIVE, "none (0), store (1), derivative (2)");
  if (d.aux != TESSERA_AUX_NONE && d.activation == TESSERA_ACTIVATION_NONE)
    invalid("aux", d.aux, "must be none (0) where there is no activation: set activation, too");
  if (d.aux == TESSERA_AUX_NONE) d.ldaux = 0, d.stride_aux = 0;
  if (d.aux != TESSERA_AUX_NONE && d.ldaux == 0)
    d.ldaux = TESSERA_PACKED, d.stride_aux = d.stride_aux == 0 ? TESSERA_PACKED : d.stride_aux;
  if (d.bias == TESSERA_BIAS_NONE) {  // what says nothing is not looked at
    d.dtype_bias = 0, d.bias_increment = 0, d.bias_stride = 0;
    return;
  }
  d.dtype_bias = resolve_dtype("dtype_bias", d.dtype_bias, d.dtype_d, "D");
  if (d.bias_increment == 0) d.bias_increment = 1;
}

/// D has to be square, and what is beside it is for all of D.
void check_triangle(const tessera_gemm_desc& d) {
  one_of("triangle", d.triangle, TESSERA_TRIANGLE_NONE, TESSERA_TRIANGLE_MIRRORED,
         "none (0), lower (1), upper (2), mirrored (3)");
  if (d.triangle == TESSERA_TRIANGLE_NONE) return;
  if (d.m != d.n)
    invalid("triangle", name_of_triangle(d.triangle),
            "needs as many rows as columns: m = " + std::to_string(d.m) + ", n = " + std::to_string(d.n));
  if (d.bias >= TESSERA_BIAS_GRADIENT_PER_ROW)
    invalid("bias", d.bias, "must be no gradient beside a triangle: that sums all of D");
  if (d.aux != TESSERA_AUX_NONE) invalid("aux", d.aux, "must be none (0) beside a triangle");
  if (d.triangle == TESSERA_TRIANGLE_MIRRORED && d.bias != TESSERA_BIAS_NONE)
    invalid("bias", d.bias, "must be none (0) beside triangle = mirrored (3), whose sides it would make differ");
}

bool is_per_row(tessera_bias bias) { return bias == TESSERA_BIAS_PER_ROW || bias == TESSERA_BIAS_GRADIENT_PER_ROW; }
bool is_gradient(tessera_bias bias) { return bias >= TESSERA_BIAS_GRADIENT_PER_ROW; }

/// Batch, values.
Layout bias_layout(const tessera_gemm_desc& d) {
  at_least("bias_increment", d.bias_increment, 0);
  at_least("bias_stride", d.bias_stride, 0);
  Layout layout;
  layout.add_axis(d.batch, d.bias_stride);
  layout.add_axis(is_per_row(d.bias) ? d.m : d.n, d.bias_increment);
  if (!addressable(layout, element_size(d.dtype_bias)))
    invalid("the extent of the bias",
            "bias_increment = " + std::to_string(d.bias_increment) + ", bias_stride = " + std::to_string(d.bias_stride),
            "must stay below 2^63 bytes");
  return layout;
}

/// As BLAS has them; J: the conjugate alone.
char letter_of(tessera_transpose trans) { return "NTCJ"[trans]; }

std::string describe(const tessera_gemm_desc& d) {
  std::string text = std::string("gemm ") + name_of(d.dtype);
  if (d.dtype_b != d.dtype) text += std::string("*") + name_of(d.dtype_b);
  if (d.dtype_d != wider(d)) text += std::string("->") + name_of(d.dtype_d);
  text += " m=" + std::to_string(d.m) + " n=" + std::to_string(d.n) + " k=" + std::to_string(d.k) + " " +
          letter_of(d.trans_a) + letter_of(d.trans_b) + (d.order == TESSERA_ROW_MAJOR ? " row-major" : " column-major");
  const std::pair<const char*, std::int64_t> distances[] = {{"lda", d.lda}, {"ldb", d.ldb}, {"ldc", d.ldc}};
  for (const auto& [name, value] : distances)
    if (value != TESSERA_PACKED) text += std::string(" ") + name + "=" + std::to_string(value);
  if (d.ldd != 0 && d.ldd != TESSERA_PACKED) text += " ldd=" + std::to_string(d.ldd);
  if (d.batch != 1) text += " batch=" + std::to_string(d.batch);
  if (d.compute != TESSERA_COMPUTE_STRICT) text += std::string(" compute=") + name_of_compute(d.compute);
  if (d.bias != TESSERA_BIAS_NONE) text += std::string(" bias=") + name_of_bias(d.bias);
  if (d.activation != TESSERA_ACTIVATION_NONE) text += std::string(" activation=") + name_of_activation(d.activation);
  if (d.aux != TESSERA_AUX_NONE) text += std::string(" aux=") + name_of_aux(d.aux);
  if (d.triangle != TESSERA_TRIANGLE_NONE) text += std::string(" triangle=") + name_of_triangle(d.triangle);
  if (d.sums == TESSERA_SUMS_ORDERED) text += " ordered sums";
  if (d.whole_n > 0) text += " of n=" + std::to_string(d.whole_n);
  return text;
}

/// A column-major product is the row-major product of the transposes: C^T = op(B)^T op(A)^T, and a stored
/// column-major matrix is its row-major transpose, so the flags stay with their matrices. Rows of D are columns then.
void make_row_major(Problem& p) {
  tessera_gemm_desc& d = p.gemm;
  if (d.order == TESSERA_ROW_MAJOR) return;
  d.order = TESSERA_ROW_MAJOR;
  std::swap(d.m, d.n);
  std::swap(d.dtype, d.dtype_b);
  std::swap(d.trans_a, d.trans_b);
  std::swap(p.operands[Problem::kA], p.operands[Problem::kB]);
  if (d.bias != TESSERA_BIAS_NONE) d.bias += is_per_row(d.bias) ? 1 : -1;
  if (d.sums == TESSERA_SUMS_ORDERED) d.sums = TESSERA_SUMS_ORDERED_COLUMNS;
  if (d.triangle == TESSERA_TRIANGLE_LOWER || d.triangle == TESSERA_TRIANGLE_UPPER)
    d.triangle = TESSERA_TRIANGLE_LOWER + TESSERA_TRIANGLE_UPPER - d.triangle;
}

std::vector<Operand> gemm_operands(const tessera_gemm_desc& d) {
  const std::int64_t size_a = element_size(d.dtype), size_b = element_size(d.dtype_b), size_d = element_size(d.dtype_d);
  const bool row_major = d.order == TESSERA_ROW_MAJOR;
  Matrix a{"A (m by k)", "lda", "stride_a", d.m, d.k, d.lda, d.stride_a};
  Matrix b{"B (k by n)", "ldb", "stride_b", d.k, d.n, d.ldb, d.stride_b};
  const Matrix c{"C (m by n)", "ldc", "stride_c", d.m, d.n, d.ldc, d.stride_c};
  Matrix to{"D (m by n)", "ldd", "stride_d", d.m, d.n, d.ldd == 0 ? d.ldc : d.ldd, d.stride_d};
  if (d.stride_d == 0) to.stride = d.ldd == 0 ? d.stride_c : TESSERA_PACKED;
  if (is_transposed(d.trans_a)) std::swap(a.rows, a.columns);
  if (is_transposed(d.trans_b)) std::swap(b.rows, b.columns);
  std::vector<Operand> operands = {
      {"a", TESSERA_ROLE_A, d.dtype, false, matrix_layout(a, row_major, d.batch, size_a)},
      {"b", TESSERA_ROLE_B, d.dtype_b, false, matrix_layout(b, row_major, d.batch, size_b)},
      {"c", TESSERA_ROLE_C, d.dtype_d, false, matrix_layout(c, row_major, d.batch, size_d)},
      {"d", TESSERA_ROLE_D, d.dtype_d, true, matrix_layout(to, row_major, d.batch, size_d)}};
  if (d.bias != TESSERA_BIAS_NONE)
    operands.push_back({"bias", TESSERA_ROLE_BIAS, d.dtype_bias, is_gradient(d.bias), bias_layout(d)});
  if (d.aux != TESSERA_AUX_NONE) {
    const Matrix aux{"aux (m by n)", "ldaux", "stride_aux", d.m, d.n, d.ldaux, d.stride_aux};
    operands.push_back({"aux", TESSERA_ROLE_AUX, d.dtype_d, d.aux == TESSERA_AUX_STORE,
                        matrix_layout(aux, row_major, d.batch, size_d)});
  }
  return operands;
}

/// What is written must have an element of its own for each number.
void require_own_elements(const Problem& p, const tessera_gemm_desc& d) {
  if (d.m == 0 || d.n == 0 || d.batch == 0) return;
  const auto require = [](const char* field, const Layout& layout, const std::string& what) {
    if (!nested(layout)) invalid(field, layout.strides[0], what);
  };
  const auto matrices = [](const std::string& where) {
    return "the matrices of the batch overlap in " + where +
           "; give each its own elements, as TESSERA_PACKED (kPacked) does";
  };
  const bool own = d.stride_d != 0;
  require(own ? "stride_d" : "stride_c", p.operands[Problem::kD].layout,
          matrices(own ? "D" : "C, where D is unless stride_d says else"));
  if (d.aux == TESSERA_AUX_STORE) require("stride_aux", p.operands.back().layout, matrices("aux"));
  if (!is_gradient(d.bias)) return;
  Layout values = p.operands[Problem::kBias].layout;
  if (d.bias_stride == 0) values.extents[0] = 1;  // of the whole batch
  require(d.bias_stride == 0 ? "bias_increment" : "bias_stride", values,
          "the values of the bias, which are written, overlap; give each its own element");
}

}  // namespace

Problem validate_gemm(const tessera_desc* desc, tessera_compute compute) {
  auto d = plugin::read_struct<tessera_gemm_desc>(desc, "the GEMM descriptor");
  resolve_types(d, compute);
  one_of("order", d.order, TESSERA_ROW_MAJOR, TESSERA_COLUMN_MAJOR, "row-major (0), column-major (1)");
  resolve_transposes(d);
  for (const auto& [name, value] : {std::pair{"m", d.m}, {"n", d.n}, {"k", d.k}})
    at_least(name, value, 0, value == -1 ? "; a descriptor begins with -1, so it was not set" : "");
  at_least("batch", d.batch, 0);
  one_of("sums", d.sums, TESSERA_SUMS_ANY, TESSERA_SUMS_ORDERED, "any (0), ordered (1)");
  resolve_whole_n(d);
  check_triangle(d);
  check_complex(d);

  Problem p;
  p.op = TESSERA_OP_GEMM;
  p.scalar_dtype = scalar_dtype(d.dtype_d);
  p.scalar_count = 2;
  p.scalar_names[0] = "alpha", p.scalar_names[1] = "beta";
  p.operands = gemm_operands(d);
  require_own_elements(p, d);
  p.gemm = d;
  p.gemm.struct_size = sizeof p.gemm;
  p.text = describe(d);
  make_row_major(p);
  p.describe_layouts();
  return p;
}

}  // namespace tessera::core
