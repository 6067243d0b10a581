// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "library_peers.hpp"

namespace tessera::perf {

namespace {

struct Version {
  int major, minor, patch;
};

using Sgemm = int(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                  const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                  std::int64_t ldc);

class OneDNN : public Competitor {
 public:
  explicit OneDNN(Sgemm* sgemm) : sgemm_(sgemm) {}
  std::string name() const override { return "peer:onednn"; }
  std::string unsupported(const Problem& p) const override {
    return p.op != Op::gemm ? "it has no stencils" : p.dtype != kDType<float> ? "it has no dgemm" : "";
  }
  Execute prepare(const Problem& p) override {
    return [g = p.gemm, sgemm = sgemm_](const void* const* in, void* out) {
      for (std::int64_t l = 0; l < g.batch; ++l)
        sgemm(g.trans_a ? 'T' : 'N', g.trans_b ? 'T' : 'N', g.m, g.n, g.k, 1.0f,
              static_cast<const float*>(in[0]) + l * g.stride_a, g.lda,
              static_cast<const float*>(in[1]) + l * g.stride_b, g.ldb, 0.0f, static_cast<float*>(out) + l * g.stride_c,
              g.ldc);
    };
  }

 private:
  Sgemm* sgemm_;
};

}  // namespace

LibraryPeer make_onednn(const std::string& path, int) {
  const Library library(path);
  const Version& v = *library.find<const Version*()>("dnnl_version")();
  return {std::make_unique<OneDNN>(library.find<Sgemm>("dnnl_sgemm")),
          std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch)};
}

}  // namespace tessera::perf
