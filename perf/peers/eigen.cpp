// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Eigen as a user calls it: Map, noalias, its own OpenMP threads.

#include "host_peers.hpp"

#include <Eigen/Core>

namespace tessera::perf {

namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using View = Eigen::Map<const Matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class T>
void multiply(const GemmShape& g, const T* a, const T* b, T* c) {
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

class EigenPeer : public Competitor {
 public:
  explicit EigenPeer(int threads) : threads_(threads) {}
  std::string name() const override { return "peer:eigen"; }
  std::string unsupported(const Problem& p) const override {
    return p.op != Op::gemm ? "it is a matrix library" : p.is_plain() ? "" : "it is one of plain f32 and f64";
  }
  Execute prepare(const Problem& p) override {
    return [g = p.gemm, dtype = p.kind.dtype, threads = threads_](const void* const* in, void* out) {
      use_threads(threads);
      with_types<WideTypes>(dtype, [&]<class T>(std::type_identity<T>) {
        multiply(g, static_cast<const T*>(in[0]), static_cast<const T*>(in[1]), static_cast<T*>(out));
      });
    };
  }

 private:
  int threads_;
};

}  // namespace

std::unique_ptr<Competitor> make_eigen(int threads) { return std::make_unique<EigenPeer>(threads); }

}  // namespace tessera::perf
