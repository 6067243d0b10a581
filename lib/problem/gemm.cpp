// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem/problem.hpp"

#include "check.hpp"

#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <utility>

namespace tessera::core {
namespace {

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

std::string describe(const tessera_gemm_desc& d) {
  std::string text = std::string("gemm ") + name_of(d.dtype) + " m=" + std::to_string(d.m) +
                     " n=" + std::to_string(d.n) + " k=" + std::to_string(d.k) + " " +
                     (d.trans_a == TESSERA_TRANSPOSE ? "T" : "N") + (d.trans_b == TESSERA_TRANSPOSE ? "T" : "N") +
                     (d.order == TESSERA_ROW_MAJOR ? " row-major" : " column-major");
  const std::pair<const char*, std::int64_t> distances[] = {{"lda", d.lda}, {"ldb", d.ldb}, {"ldc", d.ldc}};
  for (const auto& [name, value] : distances)
    if (value != TESSERA_PACKED) text += std::string(" ") + name + "=" + std::to_string(value);
  if (d.batch != 1) text += " batch=" + std::to_string(d.batch);
  return text;
}

/// A column-major product is the row-major product of the transposes: C^T = op(B)^T op(A)^T, and a stored
/// column-major matrix is its row-major transpose, so the flags stay with their matrices.
void make_row_major(Problem& p) {
  tessera_gemm_desc& d = p.gemm;
  if (d.order == TESSERA_ROW_MAJOR) return;
  d.order = TESSERA_ROW_MAJOR;
  std::swap(d.m, d.n);
  std::swap(d.trans_a, d.trans_b);
  std::swap(p.operands[0], p.operands[1]);
}

}  // namespace

Problem validate_gemm(const tessera_desc* desc) {
  const auto d = plugin::read_struct<tessera_gemm_desc>(desc, "the GEMM descriptor");
  validate_types(d.dtype, d.compute);
  one_of("order", d.order, TESSERA_ROW_MAJOR, TESSERA_COLUMN_MAJOR, "row-major (0), column-major (1)");
  one_of("trans_a", d.trans_a, TESSERA_NO_TRANSPOSE, TESSERA_TRANSPOSE, "no (0), yes (1)");
  one_of("trans_b", d.trans_b, TESSERA_NO_TRANSPOSE, TESSERA_TRANSPOSE, "no (0), yes (1)");
  for (const auto& [name, value] : {std::pair{"m", d.m}, {"n", d.n}, {"k", d.k}})
    at_least(name, value, 0, value == -1 ? "; a descriptor begins with -1, so it was not set" : "");
  at_least("batch", d.batch, 0);

  const std::int64_t size = element_size(d.dtype);
  const bool row_major = d.order == TESSERA_ROW_MAJOR;
  Matrix a{"A", "lda", "stride_a", d.m, d.k, d.lda, d.stride_a};
  Matrix b{"B", "ldb", "stride_b", d.k, d.n, d.ldb, d.stride_b};
  const Matrix c{"C", "ldc", "stride_c", d.m, d.n, d.ldc, d.stride_c};
  if (d.trans_a == TESSERA_TRANSPOSE) std::swap(a.rows, a.columns);
  if (d.trans_b == TESSERA_TRANSPOSE) std::swap(b.rows, b.columns);

  Problem p;
  p.op = TESSERA_OP_GEMM;
  p.dtype = d.dtype;
  p.scalar_count = 2;
  p.scalar_names[0] = "alpha", p.scalar_names[1] = "beta";
  p.operands = {{"a", 0, false, matrix_layout(a, row_major, d.batch, size)},
                {"b", 1, false, matrix_layout(b, row_major, d.batch, size)},
                {"c", 2, true, matrix_layout(c, row_major, d.batch, size)}};
  if (!p.output_empty() && !nested(p.operands[2].layout))
    invalid("stride_c", p.operands[2].layout.strides[0],
            "the matrices of the batch overlap in C; give each its own elements, as TESSERA_PACKED (kPacked) does");
  p.gemm = d;
  p.gemm.struct_size = sizeof p.gemm;
  p.text = describe(d);
  make_row_major(p);
  p.describe_layouts();
  return p;
}

}  // namespace tessera::core
