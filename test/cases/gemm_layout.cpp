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
  // Of no rows only where there is no aux, which says its distances for those of m rows.
  std::int64_t ldaux = d.ldaux, stride_aux = d.stride_aux;
  if (ldaux == kPacked) ldaux = d.order == Order::row_major ? d.n : d.m;
  if (stride_aux == kPacked) stride_aux = ldaux * (d.order == Order::row_major ? d.m : d.n);
  std::int64_t ldd = d.ldd, stride_d = d.stride_d, values = 0;
  if (stride_d == kLikeC && ldd != kLikeC) stride_d = kPacked;
  if (stride_d == kLikeC) stride_d = d.stride_c;
  if (ldd == kLikeC) ldd = d.ldc;
  if (d.bias != Bias::none) values = is_per_row(d.bias) ? d.m : d.n;
  const bool one_for_all = is_gradient(d.bias) && d.bias_stride == 0 && d.batch > 0;
  return {layout(d.order, d.trans_a, d.m, d.k, d.lda, d.batch, d.stride_a),
          layout(d.order, d.trans_b, d.k, d.n, d.ldb, d.batch, d.stride_b),
          layout(d.order, Transpose::no, d.m, d.n, d.ldc, d.batch, d.stride_c),
          layout(d.order, Transpose::no, d.m, d.n, ldd, d.batch, stride_d),
          {values, 1, one_for_all ? 1 : std::int64_t(d.batch), d.bias_increment, 1, d.bias_stride},
          layout(d.order, Transpose::no, d.aux == Aux::none ? 0 : std::int64_t(d.m), d.n, ldaux, d.batch, stride_aux)};
}

}  // namespace tessera::test
