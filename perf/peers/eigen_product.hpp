// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Eigen as a user calls it: Map, noalias. Each type is compiled in a file of its own, as that takes long.
#pragma once

#include "problem.hpp"

#include <Eigen/Core>

namespace tessera::perf {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using View = Eigen::Map<const Matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class T>
void eigen_multiply(const GemmShape& g, const T* a, const T* b, T* c) {
  const auto rows = [](bool trans, std::int64_t r, std::int64_t cols) { return trans ? cols : r; };
  for (std::int64_t l = 0; l < g.batch; ++l) {
    const View<T> A(a + l * g.stride_a, rows(g.trans_a, g.m, g.k), rows(g.trans_a, g.k, g.m),
                    Eigen::OuterStride<>(g.lda));
    const View<T> B(b + l * g.stride_b, rows(g.trans_b, g.k, g.n), rows(g.trans_b, g.n, g.k),
                    Eigen::OuterStride<>(g.ldb));
    Eigen::Map<Matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>> C(c + l * g.stride_c, g.m, g.n,
                                                                    Eigen::OuterStride<>(g.ldc));
    if (g.trans_a && g.trans_b)
      C.noalias() = A.transpose() * B.transpose();
    else if (g.trans_a)
      C.noalias() = A.transpose() * B;
    else if (g.trans_b)
      C.noalias() = A * B.transpose();
    else
      C.noalias() = A * B;
  }
}

}  // namespace tessera::perf
