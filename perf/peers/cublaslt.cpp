// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cublas.hpp"

#include <tessera/tessera.h>

#include <cublasLt.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::perf {

namespace {

constexpr std::size_t kWorkspace = TESSERA_DEFAULT_WORKSPACE_LIMIT;  // what a plan of the library may take, too
constexpr int kCandidates = 16;

/// Its gelu is the one by tanh. A bias for each row of a column-major matrix, which is ours transposed.
cublasLtEpilogue_t epilogue_of(const GemmShape& g) {
  switch (g.activation) {
    case TESSERA_ACTIVATION_RELU:
      return CUBLASLT_EPILOGUE_RELU_BIAS;
    case TESSERA_ACTIVATION_GELU_TANH:
      return CUBLASLT_EPILOGUE_GELU_BIAS;
    default:
      return g.bias == TESSERA_BIAS_NONE ? CUBLASLT_EPILOGUE_DEFAULT : CUBLASLT_EPILOGUE_BIAS;
  }
}

/// Everything of one problem, freed together. Column-major: the operands change platforms (see cublas.cpp).
struct Matmul {
  cublasLtHandle_t handle{};
  cublasLtMatmulDesc_t desc{};
  cublasLtMatrixLayout_t a{}, b{}, c{};
  void* workspace = nullptr;
  DType scalar = DType::f32;
  float alpha = 1.0f, beta = 0.0f;
  bool has_bias = false;
  std::vector<cublasLtMatmulHeuristicResult_t> candidates;
  std::size_t chosen = 0;
  bool measured = false;
  std::size_t added_bytes = 0;  ///< of D, where it is added to

  Matmul() = default;
  Matmul(const Matmul&) = delete;
  ~Matmul() {
    cudaFree(workspace);
    for (const auto layout : {a, b, c})
      if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
    if (desc != nullptr) cublasLtMatmulDescDestroy(desc);
  }

  void run(std::size_t candidate, const void* const* in, void* out, cudaStream_t stream) const {
    if (has_bias)
      succeed_blas(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &in[2], sizeof in[2]),
                   "a bias");
    with_types<WideTypes>(scalar, [&]<class T>(std::type_identity<T>) {
      const T factor = T(alpha), of_d = T(beta);
      succeed_blas(cublasLtMatmul(handle, desc, &factor, in[1], a, in[0], b, &of_d, out, c, out, c,
                                  &candidates[candidate].algo, workspace, kWorkspace, stream),
                   "cublasLtMatmul");
    });
  }
};

cublasLtMatrixLayout_t layout(cudaDataType type, bool trans, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                              std::int64_t batch, std::int64_t stride) {
  if (trans) std::swap(rows, columns);
  cublasLtMatrixLayout_t made{};
  succeed_blas(cublasLtMatrixLayoutCreate(&made, type, std::uint64_t(rows), std::uint64_t(columns), ld), "a layout");
  if (batch > 1) {
    const auto count = std::int32_t(batch);
    succeed_blas(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                 "a layout");
    succeed_blas(
        cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        "a layout");
  }
  return made;
}

/// Whether the algorithm adds up parts of sums in D's type.
bool sums_in_type_of_d(const cublasLtMatmulAlgo_t& algorithm) {
  std::uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_NONE;
  std::size_t written = 0;
  succeed_blas(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme,
                                                    sizeof scheme, &written),
               "a reduction scheme");
  return (scheme & (CUBLASLT_REDUCTION_SCHEME_INPLACE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE)) != 0;
}

class CublasLt : public Competitor {
 public:
  CublasLt(cudaStream_t stream, FromList choice) : stream_(stream), choice_(choice) {
    succeed_blas(cublasLtCreate(&handle_), "cublasLtCreate");
    cudaEventCreate(&begin_);
    cudaEventCreate(&end_);
  }
  ~CublasLt() override {
    cublasLtDestroy(handle_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  std::string name() const override {
    return choice_ == FromList::first  ? "peer:cublaslt"
           : choice_ == FromList::best ? "peer:cublaslt_best"
                                       : "peer:cublaslt_f32_sums";
  }
  std::string unsupported(const Problem& p) const override {
    if (p.op != Op::gemm) return "it is a BLAS";
    const tessera_activation activation = p.gemm.activation;
    const bool known = activation == TESSERA_ACTIVATION_NONE || activation == TESSERA_ACTIVATION_RELU ||
                       activation == TESSERA_ACTIVATION_GELU_TANH;
    if (!known) return "its activations are relu and the gelu by tanh";
    if (choice_ != FromList::best_in_f32) return "";
    if (!p.is_grouped() || size_of(p.kind.dtype_out) != 2) return "it is asked for groups in 16 bits";
    return list_differs(p) ? "" : "nothing in the list adds up sums in 16 bits";
  }

  Execute prepare(const Problem& p) override {
    const auto matmul = prepared(p);
    return [this, matmul](const void* const* in, void* out) {
      if (choice_ != FromList::first && !matmul->measured) choose(*matmul, in, out);
      matmul->run(matmul->chosen, in, out, stream_);
    };
  }
  std::vector<Candidate> candidates(const Problem& p) override {
    const auto matmul = prepared(p);
    const std::size_t count = choice_ == FromList::first ? 1 : matmul->candidates.size();
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < count; ++i) {
      const auto run = [this, matmul, i](const void* const* in, void* out) { matmul->run(i, in, out, stream_); };
      const bool in_parts = size_of(p.kind.dtype_out) == 2 && sums_in_type_of_d(matmul->candidates[i].algo);
      found.push_back({run, in_parts ? Rounding::in_parts : Rounding::once});
    }
    return found;
  }

 private:
  void describe(Matmul& x, const Problem& p) const {
    const GemmShape& g = p.gemm;
    const cudaDataType type = data_type(p.kind.dtype), type_out = data_type(p.kind.dtype_out);
    x.handle = handle_;
    x.scalar = scalar_of(p.kind.dtype);
    x.alpha = g.alpha, x.beta = g.beta;
    x.has_bias = g.bias != TESSERA_BIAS_NONE;
    succeed_blas(cublasLtMatmulDescCreate(&x.desc, compute_type(p.kind), data_type(x.scalar)), "a description");
    const cublasLtEpilogue_t epilogue = epilogue_of(g);
    succeed_blas(cublasLtMatmulDescSetAttribute(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue),
                 "an epilogue");
    const cublasOperation_t first = g.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                            second = g.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    succeed_blas(cublasLtMatmulDescSetAttribute(x.desc, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first),
                 "a description");
    succeed_blas(cublasLtMatmulDescSetAttribute(x.desc, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second),
                 "a description");
    x.a = layout(type, g.trans_b, g.n, g.k, g.ldb, g.batch, g.stride_b);
    x.b = layout(type, g.trans_a, g.k, g.m, g.lda, g.batch, g.stride_a);
    x.c = layout(type_out, false, g.n, g.m, g.ldc, g.batch, g.stride_c);
    x.added_bytes = g.beta != 0.0f ? p.out_bytes() : 0;
  }
  std::shared_ptr<Matmul> prepared(const Problem& p) const {
    const auto matmul = std::make_shared<Matmul>();
    describe(*matmul, p);
    const bool in_f32 = choice_ == FromList::best_in_f32;
    find_candidates(*matmul, in_f32 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_MASK);
    if (cudaMalloc(&matmul->workspace, kWorkspace) != cudaSuccess)
      throw std::runtime_error("no memory for cuBLASLt's workspace");
    return matmul;
  }
  /// Whether the list without a mask holds what the mask forbids. What goes wrong is told when it is prepared.
  bool list_differs(const Problem& p) const {
    try {
      Matmul x;
      describe(x, p);
      find_candidates(x, CUBLASLT_REDUCTION_SCHEME_MASK);
      return std::any_of(x.candidates.begin(), x.candidates.end(),
                         [](const auto& found) { return sums_in_type_of_d(found.algo); });
    } catch (const std::runtime_error&) {
      return true;
    }
  }
  /// `schemes`: a mask of cublasLtReductionScheme_t. Those that reduce nothing are always in the list.
  void find_candidates(Matmul& x, std::uint32_t schemes) const {
    cublasLtMatmulPreference_t preference{};
    succeed_blas(cublasLtMatmulPreferenceCreate(&preference), "a preference");
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                         sizeof kWorkspace);
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                                         sizeof schemes);
    cublasLtMatmulHeuristicResult_t found[kCandidates];
    int count = 0;
    const auto status =
        cublasLtMatmulAlgoGetHeuristic(handle_, x.desc, x.a, x.b, x.c, x.c, preference, kCandidates, found, &count);
    cublasLtMatmulPreferenceDestroy(preference);
    succeed_blas(status, "cublasLtMatmulAlgoGetHeuristic");
    if (count == 0) throw std::runtime_error("cuBLASLt has no algorithm for this problem");
    x.candidates.assign(found, found + count);
  }
  /// Once, in the first execution, where the suite does not choose among the candidates. Into memory of its own where D
  /// is added to.
  void choose(Matmul& x, const void* const* in, void* out) {
    void* own = nullptr;
    if (x.added_bytes != 0 && cudaMalloc(&own, x.added_bytes) != cudaSuccess)
      throw std::runtime_error("no memory to choose an algorithm of cuBLASLt's list in");
    const std::unique_ptr<void, decltype(&cudaFree)> freed(own, &cudaFree);
    if (own != nullptr) out = own;
    float best = 1e30f, spent = 0.0f;
    for (std::size_t i = 0; i < x.candidates.size() && spent < 1000.0f; ++i) {
      float fastest = 1e30f;
      try {
        for (int repeat = 0; repeat < 3; ++repeat) {
          cudaEventRecord(begin_, stream_);
          x.run(i, in, out, stream_);
          cudaEventRecord(end_, stream_);
          cudaEventSynchronize(end_);
          float milliseconds = 1e30f;
          cudaEventElapsedTime(&milliseconds, begin_, end_);
          spent += milliseconds;
          if (repeat > 0) fastest = std::min(fastest, milliseconds);  // the first one loads the kernel
        }
      } catch (const std::runtime_error&) {
        continue;  // the list may hold algorithms that refuse
      }
      if (fastest < best) best = fastest, x.chosen = i;
    }
    x.measured = true;
  }

  cudaStream_t stream_;
  FromList choice_;
  cublasLtHandle_t handle_{};
  cudaEvent_t begin_{}, end_{};
};

}  // namespace

std::unique_ptr<Competitor> make_cublaslt(cudaStream_t stream, FromList choice) {
  return std::make_unique<CublasLt>(stream, choice);
}

}  // namespace tessera::perf
