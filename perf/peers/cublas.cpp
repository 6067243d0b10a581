// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cublas.hpp"

#include <cublas_v2.h>

namespace tessera::perf {

namespace {

class Cublas : public Subject {
 public:
  explicit Cublas(cudaStream_t stream) {
    succeed_blas(cublasCreate(&handle_), "cublasCreate");
    succeed_blas(cublasSetStream(handle_, stream), "cublasSetStream");
    succeed_blas(cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");  // f32 means f32: no tf32
  }
  ~Cublas() override { cublasDestroy(handle_); }
  std::string name() const override { return "peer:cublas"; }
  std::string version() const override {
    int v = 0;
    succeed_blas(cublasGetVersion(handle_, &v), "cublasGetVersion");
    return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
  }
  std::string unsupported(const Problem& p) const override { return p.op == Op::gemm ? "" : "it is a BLAS"; }
  /// Row-major C = A B is column-major C^T = B^T A^T: the operands change places.
  Execute prepare(const Problem& p) override {
    return [g = p.gemm, f64 = p.f64, handle = handle_](const void* const* in, void* out) {
      const auto op = [](bool trans) { return trans ? CUBLAS_OP_T : CUBLAS_OP_N; };
      const float one_f = 1.0f, zero_f = 0.0f;
      const double one_d = 1.0, zero_d = 0.0;
      const int m = int(g.n), n = int(g.m), k = int(g.k), lda = int(g.ldb), ldb = int(g.lda), ldc = int(g.ldc);
      const auto call = [&](auto plain, auto batched, auto one, auto zero, auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const T *a = static_cast<const T*>(in[1]), *b = static_cast<const T*>(in[0]);
        T* const c = static_cast<T*>(out);
        return g.batch == 1 ? plain(handle, op(g.trans_b), op(g.trans_a), m, n, k, &one, a, lda, b, ldb, &zero, c, ldc)
                            : batched(handle, op(g.trans_b), op(g.trans_a), m, n, k, &one, a, lda, g.stride_b, b, ldb,
                                      g.stride_a, &zero, c, ldc, g.stride_c, int(g.batch));
      };
      succeed_blas(f64 ? call(cublasDgemm, cublasDgemmStridedBatched, one_d, zero_d, static_cast<double*>(nullptr))
                       : call(cublasSgemm, cublasSgemmStridedBatched, one_f, zero_f, static_cast<float*>(nullptr)),
                   "cuBLAS");
    };
  }

 private:
  cublasHandle_t handle_{};
};

}  // namespace

std::unique_ptr<Subject> make_cublas(cudaStream_t stream) { return std::make_unique<Cublas>(stream); }

}  // namespace tessera::perf

extern "C" __attribute__((visibility("default"))) void tessera_perf_peers(tessera::perf::Subjects* subjects,
                                                                          void* stream, int device, int) {
  using namespace tessera::perf;
  cudaSetDevice(device);
  subjects->push_back(make_cublas(static_cast<cudaStream_t>(stream)));
  subjects->push_back(make_cublaslt(static_cast<cudaStream_t>(stream), false));
  subjects->push_back(make_cublaslt(static_cast<cudaStream_t>(stream), true));
}
