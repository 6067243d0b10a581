// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Eigen with its own OpenMP threads.

#include "host_peers.hpp"

namespace tessera::perf {

/// In eigen_product.hpp.
template <class T>
void eigen_multiply(const GemmShape& g, const T* a, const T* b, T* c);

namespace {

class EigenPeer : public Competitor {
 public:
  explicit EigenPeer(int threads) : threads_(threads) {}
  std::string name() const override { return "peer:eigen"; }
  std::string unsupported(const Problem& p) const override {
    if (p.op != Op::gemm) return "it is a matrix library";
    return p.is_plain() && p.gemm.beta == 0.0f ? "" : "it is one of plain f32 and f64";
  }
  Execute prepare(const Problem& p) override {
    return [g = p.gemm, dtype = p.kind.dtype, threads = threads_](const void* const* in, void* out) {
      use_threads(threads);
      with_types<WideTypes>(dtype, [&]<class T>(std::type_identity<T>) {
        eigen_multiply(g, static_cast<const T*>(in[0]), static_cast<const T*>(in[1]), static_cast<T*>(out));
      });
    };
  }

 private:
  int threads_;
};

}  // namespace

std::unique_ptr<Competitor> make_eigen(int threads) { return std::make_unique<EigenPeer>(threads); }

}  // namespace tessera::perf
