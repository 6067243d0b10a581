// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cublas.hpp"

#include <cublas_v2.h>

#include <type_traits>

namespace tessera::perf {

namespace {

/// The functions for an element type.
template <class T>
struct Functions;
template <>
struct Functions<float> {
  using Complex = cuComplex;
  static constexpr auto gemm = cublasSgemm;
  static constexpr auto gemm_batched = cublasSgemmStridedBatched;
  static constexpr auto syrk = cublasSsyrk;
};
template <>
struct Functions<double> {
  using Complex = cuDoubleComplex;
  static constexpr auto gemm = cublasDgemm;
  static constexpr auto gemm_batched = cublasDgemmStridedBatched;
  static constexpr auto syrk = cublasDsyrk;
};
template <>
struct Functions<cuComplex> {
  static constexpr auto gemm = cublasCgemm;
  static constexpr auto gemm_batched = cublasCgemmStridedBatched;
};
template <>
struct Functions<cuDoubleComplex> {
  static constexpr auto gemm = cublasZgemm;
  static constexpr auto gemm_batched = cublasZgemmStridedBatched;
};

template <class T>
T number(float value) {
  if constexpr (std::is_floating_point_v<T>)
    return T(value);
  else
    return {value, 0};
}

/// Row-major C = A B is column-major C^T = B^T A^T: the operands change platforms.
template <class T>
cublasStatus_t multiply(cublasHandle_t handle, const GemmShape& g, const T* a, const T* b, T* c) {
  const auto op = [](bool trans) { return trans ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const T one = number<T>(1.0f), beta = number<T>(g.beta);
  const int m = int(g.n), n = int(g.m), k = int(g.k), lda = int(g.lda), ldb = int(g.ldb), ldc = int(g.ldc);
  if constexpr (std::is_floating_point_v<T>)
    if (g.is_triangle())  // lower by rows is upper by columns
      return Functions<T>::syrk(handle, CUBLAS_FILL_MODE_UPPER, op(!g.trans_a), n, k, &one, a, lda, &beta, c, ldc);
  if (g.batch == 1)
    return Functions<T>::gemm(handle, op(g.trans_b), op(g.trans_a), m, n, k, &one, b, ldb, a, lda, &beta, c, ldc);
  return Functions<T>::gemm_batched(handle, op(g.trans_b), op(g.trans_a), m, n, k, &one, b, ldb, g.stride_b, a, lda,
                                    g.stride_a, &beta, c, ldc, g.stride_c, int(g.batch));
}

/// cublasGemmEx for types of 16 bits, and f32 by way of tf32; sums of f32.
cublasStatus_t multiply_ex(cublasHandle_t handle, const Problem& p, const void* a, const void* b, void* c) {
  const GemmShape& g = p.gemm;
  const auto op = [](bool trans) { return trans ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const float one = 1.0f;
  const cudaDataType in = data_type(p.kind.dtype), out = data_type(p.kind.dtype_out);
  return cublasGemmStridedBatchedEx(handle, op(g.trans_b), op(g.trans_a), int(g.n), int(g.m), int(g.k), &one, b, in,
                                    int(g.ldb), g.stride_b, a, in, int(g.lda), g.stride_a, &g.beta, c, out, int(g.ldc),
                                    g.stride_c, int(g.batch), compute_type(p.kind), CUBLAS_GEMM_DEFAULT);
}

class Cublas : public Competitor {
 public:
  explicit Cublas(cudaStream_t stream) {
    succeed_blas(cublasCreate(&handle_), "cublasCreate");
    succeed_blas(cublasSetStream(handle_, stream), "cublasSetStream");
    succeed_blas(cublasCreate(&other_), "cublasCreate");
    succeed_blas(cublasSetStream(other_, stream), "cublasSetStream");
    succeed_blas(cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");  // f32 means f32: no tf32
  }
  ~Cublas() override {
    cublasDestroy(handle_);
    cublasDestroy(other_);
  }
  std::string name() const override { return "peer:cublas"; }
  std::string version() const override {
    int v = 0;
    succeed_blas(cublasGetVersion(handle_, &v), "cublasGetVersion");
    return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
  }
  std::string unsupported(const Problem& p) const override {
    if (p.gemm.is_triangle() && (!p.is_plain() || p.gemm.batch > 1 || p.gemm.triangle == TESSERA_TRIANGLE_MIRRORED))
      return "it has ssyrk and dsyrk";
    return p.op != Op::gemm ? "it is a BLAS" : p.gemm.has_epilogue() ? "it has no bias and no activation" : "";
  }
  bool computes_triangles() const override { return true; }
  bool multiplies_complex() const override { return true; }
  /// It may add up parts of sums in 16 bits, and does not say where it does.
  std::vector<Candidate> candidates(const Problem& p) override {
    return {{prepare(p), size_of(p.kind.dtype_out) == 2 ? Rounding::in_parts : Rounding::once}};
  }
  Execute prepare(const Problem& p) override {
    if (!p.is_plain() && !p.kind.is_complex)
      return [p, handle = other_](const void* const* in, void* out) {
        succeed_blas(multiply_ex(handle, p, in[0], in[1], out), "cublasGemmStridedBatchedEx");
      };
    return with_types<WideTypes>(p.kind.dtype, [&]<class T>(std::type_identity<T>) {
      return p.kind.is_complex ? prepare_as<typename Functions<T>::Complex>(p) : prepare_as<T>(p);
    });
  }

 private:
  template <class T>
  Execute prepare_as(const Problem& p) const {
    return [g = p.gemm, handle = handle_](const void* const* in, void* out) {
      succeed_blas(
          multiply(handle, g, static_cast<const T*>(in[0]), static_cast<const T*>(in[1]), static_cast<T*>(out)),
          "cuBLAS");
    };
  }

  cublasHandle_t handle_{}, other_{};  ///< pedantic; with the arithmetic that a problem accepts
};

}  // namespace

std::unique_ptr<Competitor> make_cublas(cudaStream_t stream) { return std::make_unique<Cublas>(stream); }

}  // namespace tessera::perf

extern "C" __attribute__((visibility("default"))) void tessera_perf_peers(tessera::perf::Competitors* competitors,
                                                                          void* stream, int device, int) {
  using namespace tessera::perf;
  cudaSetDevice(device);
  competitors->push_back(make_cublas(static_cast<cudaStream_t>(stream)));
  for (const FromList choice : {FromList::first, FromList::best, FromList::best_in_f32})
    competitors->push_back(make_cublaslt(static_cast<cudaStream_t>(stream), choice));
  competitors->push_back(make_cublaslt_kernel(static_cast<cudaStream_t>(stream)));
}
