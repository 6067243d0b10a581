// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "gemm_cases.hpp"

namespace tessera::test {

namespace {

MatrixLayout layout(Order order, Transpose trans, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                    std::int64_t batch, std::int64_t stride) {
  const bool swapped = trans == Transpose::yes;
  const std::int64_t stored_rows = swapped ? columns : rows, stored_columns = swapped ? rows : columns;
  const bool by_rows = order == Order::row_major;
  if (ld == kPacked) ld = by_rows ? stored_columns : stored_rows;
  if (stride == kPacked) stride = ld * (by_rows ? stored_rows : stored_columns);
  const bool contiguous_columns = by_rows != swapped;  // of op(X)
  return {rows, columns, batch, contiguous_columns ? ld : 1, contiguous_columns ? 1 : ld, stride};
}

}  // namespace

GemmLayout layout_of(const GemmDesc& d) {
  std::int64_t ldd = d.ldd, stride_d = d.stride_d, values = 0;
  if (stride_d == kLikeC && ldd != kLikeC) stride_d = kPacked;
  if (stride_d == kLikeC) stride_d = d.stride_c;
  if (ldd == kLikeC) ldd = d.ldc;
  if (d.bias == Bias::per_row) values = d.m;
  if (d.bias == Bias::per_column) values = d.n;
  return {layout(d.order, d.trans_a, d.m, d.k, d.lda, d.batch, d.stride_a),
          layout(d.order, d.trans_b, d.k, d.n, d.ldb, d.batch, d.stride_b),
          layout(d.order, Transpose::no, d.m, d.n, d.ldc, d.batch, d.stride_c),
          layout(d.order, Transpose::no, d.m, d.n, ldd, d.batch, stride_d),
          {values, 1, d.batch, d.bias_increment, 1, d.bias_stride}};
}

}  // namespace tessera::test
