// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// multiply_blocked for one type: included by a file per type, since Eigen's products take most of
// the backend's build time.

#include "tile.hpp"

#include <Eigen/Core>

namespace tessera::cpu {
namespace {

template <class T, int kOrder>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, kOrder>;
template <class T, int kOrder>
using View = Eigen::Map<const Matrix<T, kOrder>, Eigen::Unaligned, Eigen::OuterStride<>>;

/// D^T += alpha * op(B)^T * op(A)^T: what we store by rows is column-major to Eigen, whose own row-major path
/// transposes in the same way. An operand that we transpose is row-major to it.
template <class T, int kOrderB, int kOrderA>
void multiply_add(const TileProduct<T>& tile) {
  const View<T, kOrderB> b(tile.b, tile.n, tile.k, Eigen::OuterStride<>(tile.ldb));
  const View<T, kOrderA> a(tile.a, tile.k, tile.m, Eigen::OuterStride<>(tile.lda));
  Eigen::Map<Matrix<T, Eigen::ColMajor>, Eigen::Unaligned, Eigen::OuterStride<>> d(tile.d, tile.n, tile.m,
                                                                                   Eigen::OuterStride<>(tile.ldd));
  d.noalias() += tile.alpha * b * a;
}

}  // namespace

template <class T>
void multiply_blocked(const TileProduct<T>& tile) {
  scale_tile(tile.m, tile.n, tile.beta, tile.c, tile.ldc, tile.d, tile.ldd, Finish<T>{});
  constexpr int kPlain = Eigen::ColMajor, kTransposed = Eigen::RowMajor;
  if (tile.trans_b)
    tile.trans_a ? multiply_add<T, kTransposed, kTransposed>(tile) : multiply_add<T, kTransposed, kPlain>(tile);
  else
    tile.trans_a ? multiply_add<T, kPlain, kTransposed>(tile) : multiply_add<T, kPlain, kPlain>(tile);
}

}  // namespace tessera::cpu
