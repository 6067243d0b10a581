// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Batches of small matrices: a block takes as many of them as its threads can compute, each thread 4 x 4
/// elements of one. They pass through shared memory, so that every access to memory reads or writes neighbours.
#include "../vector.cuh"
#include "../vector_access.hpp"
#include "gemm.cuh"
#include "offers.hpp"
#include "small.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace tessera::cuda {
namespace {

constexpr int kThreads = kSmallThreads;

/// Matrices of up to kSize rows and columns, kSize of k at a time.
template <class T, int kSizeValue>
struct SmallTile {
  static constexpr int kSize = kSizeValue;
  static constexpr int kAcross = kSize / 4;  ///< threads along a row of C
  static constexpr int kMatrices = small_matrices(kSize);
  /// In shared memory lie values in the type of sums. Rows are padded for words that are transposed on their way in,
  /// and matrices of 4 and 8 for the 8 threads that read 16 bytes each at a time, which belong to several of them.
  static constexpr int kPitch = kSize + (kSize == 4 ? 0 : 16 / int(sizeof(Scalar<T>)));
  static constexpr int kMatrixPad = kSize > 8 ? 0 : sizeof(Scalar<T>) == 4 ? kSize : 2;
  static constexpr int kMatrix = kSize * kPitch + kMatrixPad;
  static constexpr int kElements = kMatrices * kMatrix;
};

/// A matrix's part of a block: `count` matrices, of which rows x columns exist, columns contiguous.
template <class Data>
struct SmallMatrices {
  Data data;
  std::int64_t stride, ld;
  int count, rows, columns;
};

/// One of the accesses of kVector elements with which a block's threads reach all elements of its matrices.
template <class Tile, int kVector>
struct SmallAccess {
  static constexpr int kAcross = Tile::kSize / kVector, kAMatrix = Tile::kSize * kAcross;
  static constexpr int kCount = Tile::kMatrices * kAMatrix / kThreads;  ///< of a thread
  int matrix, row, column;

  __device__ explicit SmallAccess(int access) {
    const int number = access * kThreads + int(threadIdx.x);
    matrix = number / kAMatrix, row = number / kAcross % Tile::kSize, column = number % kAcross * kVector;
  }
  template <class Data>
  __device__ bool exists(const SmallMatrices<Data>& o) const {
    return matrix < o.count && row < o.rows && column < o.columns;
  }
  template <class Data>
  __device__ Data in(const SmallMatrices<Data>& o) const {
    return o.data + (matrix * o.stride + row * o.ld + column);
  }
  __device__ int in_shared() const { return matrix * Tile::kMatrix + row * Tile::kPitch + column; }
};

/// A thread's share of A or B, on its way from memory to shared memory.
template <class Tile, class T, int kVector>
class SmallShare {
  using Access = SmallAccess<Tile, kVector>;

 public:
  /// Zeros for what does not exist.
  __device__ __forceinline__ void read(const SmallMatrices<const T*>& o) {
#pragma unroll
    for (int i = 0; i < Access::kCount; ++i) {
      const Access access(i);
      vectors_[i] =
          access.exists(o) ? *reinterpret_cast<const Vector<T, kVector>*>(access.in(o)) : Vector<T, kVector>{};
    }
  }

  __device__ __forceinline__ void put(Scalar<T>* shared, bool transposed) const {
#pragma unroll
    for (int i = 0; i < Access::kCount; ++i) {
      const Access access(i);
      const auto values = widened(vectors_[i]);
      if (transposed) {
        Scalar<T>* const matrix = shared + access.matrix * Tile::kMatrix;
#pragma unroll
        for (int v = 0; v < kVector; ++v) matrix[(access.column + v) * Tile::kPitch + access.row] = values.value[v];
      } else {
        *reinterpret_cast<Vector<Scalar<T>, kVector>*>(shared + access.in_shared()) = values;
      }
    }
  }

 private:
  Vector<T, kVector> vectors_[Access::kCount]{};
};

/// A thread's share of D, which is C.
template <class Tile, class T, int kVector>
class SmallResults {
  using Access = SmallAccess<Tile, kVector>;
  using Values = Vector<Scalar<T>, kVector>;

 public:
  __device__ __forceinline__ void read(const SmallMatrices<Elements<T>>& d) {
#pragma unroll
    for (int i = 0; i < Access::kCount; ++i) {
      const Access access(i);
      before_[i] = access.exists(d) ? access.in(d).template read<kVector>() : Values{};
    }
  }

  /// `shared` has the sums.
  __device__ __forceinline__ void write(const SmallMatrices<Elements<T>>& d, const Scalar<T>* shared,
                                        const Epilogue<T>& epilogue) {
#pragma unroll
    for (int i = 0; i < Access::kCount; ++i) {
      const Access access(i);
      if (!access.exists(d)) continue;
      const auto sums = *reinterpret_cast<const Values*>(shared + access.in_shared());
      access.in(d).write(epilogue(sums, before_[i]));
    }
  }

 private:
  Values before_[Access::kCount]{};
};

template <class T>
struct SmallArguments {
  GemmArguments<T> g;
  bool trans_a, trans_b;
};

/// Puts a thread's 4 x 4 sums into shared memory.
template <class Tile, class S>
__device__ __forceinline__ void put_sums(const S (&sum)[4][4], S* first) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<Vector<S, 4>*>(first + i * Tile::kPitch) =
        Vector<S, 4>{{sum[i][0], sum[i][1], sum[i][2], sum[i][3]}};
}

/// Writes D of any arguments, element by element: matrices from number `first` on, whose sums are in `shared`.
template <class Tile, class T>
__device__ __forceinline__ void write_elements(const GemmArguments<T>& g, std::int64_t first,
                                               const SmallMatrices<Elements<T>>& d, const Scalar<T>* shared) {
#pragma unroll 1
  for (int i = 0; i < SmallAccess<Tile, 1>::kCount; ++i) {
    const SmallAccess<Tile, 1> access(i);
    if (access.exists(d))
      write_element<false>(g, first + access.matrix, access.row, access.column, shared[access.in_shared()]);
  }
}

/// kVector: elements a copy, what the alignment of all operands allows. kPlain: for plain() arguments alone.
template <class T, int kSize, int kVector, bool kPlain>
__global__ void __launch_bounds__(kThreads) gemm_small_kernel(const __grid_constant__ SmallArguments<T> x) {
  using Tile = SmallTile<T, kSize>;
  using S = Scalar<T>;
  using Four = Vector<S, 4>;
  __shared__ __align__(16) S a_shared[Tile::kElements];  // [k][m]
  __shared__ __align__(16) S b_shared[Tile::kElements];  // [k][n]
  const GemmArguments<T>& g = x.g;
  const std::int64_t first = std::int64_t(blockIdx.x) * Tile::kMatrices;
  const int count = int(g.batch - first < Tile::kMatrices ? g.batch - first : Tile::kMatrices);
  const int matrix = int(threadIdx.x) / (Tile::kAcross * Tile::kAcross);
  const int row = int(threadIdx.x) / Tile::kAcross % Tile::kAcross * 4, column = int(threadIdx.x) % Tile::kAcross * 4;

  S sum[4][4]{};
  for (std::int64_t begin = 0; begin < g.k; begin += kSize) {
    const int ks = int(g.k - begin < kSize ? g.k - begin : kSize);
    SmallShare<Tile, T, kVector> a, b;
    a.read({g.a + first * g.stride_a + begin * (x.trans_a ? g.lda : 1), g.stride_a, g.lda, count,
            x.trans_a ? ks : int(g.m), x.trans_a ? int(g.m) : ks});
    b.read({g.b + first * g.stride_b + begin * (x.trans_b ? 1 : g.ldb), g.stride_b, g.ldb, count,
            x.trans_b ? int(g.n) : ks, x.trans_b ? ks : int(g.n)});
    if (begin > 0) __syncthreads();
    a.put(a_shared, !x.trans_a);
    b.put(b_shared, x.trans_b);
    __syncthreads();
    const S* const from_a = a_shared + matrix * Tile::kMatrix + row;
    const S* const from_b = b_shared + matrix * Tile::kMatrix + column;
#pragma unroll 4
    for (int p = 0; p < ks; ++p) {
      const Four fa = *reinterpret_cast<const Four*>(from_a + p * Tile::kPitch);
      const Four fb = *reinterpret_cast<const Four*>(from_b + p * Tile::kPitch);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fma(fa.value[i], fb.value[j], sum[i][j]);
    }
  }

  const Epilogue<T> epilogue(g);
  const SmallMatrices<Elements<T>> d{g.d + first * g.stride_d, g.stride_d, g.ldd, count, int(g.m), int(g.n)};
  SmallResults<Tile, T, kVector> results;
  if (kPlain && epilogue.reads_c()) results.read(d);
  __syncthreads();
  put_sums<Tile>(sum, a_shared + matrix * Tile::kMatrix + row * Tile::kPitch + column);
  __syncthreads();
  if constexpr (kPlain)
    results.write(d, a_shared, epilogue);
  else
    write_elements<Tile>(g, first, d, a_shared);
}

template <class T>
struct SmallKernels {
  using Kernel = void (*)(SmallArguments<T>);
  Kernel scalar[2], vectorized[2];  ///< for any arguments, for plain ones
  int matrices;
};

template <class T, int kSize>
SmallKernels<T> small_kernels_of() {
  constexpr int kWide = std::min(16 / int(sizeof(T)), kSize);
  return {{gemm_small_kernel<T, kSize, 1, false>, gemm_small_kernel<T, kSize, 1, true>},
          {gemm_small_kernel<T, kSize, kWide, false>, gemm_small_kernel<T, kSize, kWide, true>},
          SmallTile<T, kSize>::kMatrices};
}

template <class T>
SmallKernels<T> small_kernels(std::int64_t extent) {
  if (extent <= 4) return small_kernels_of<T, 4>();
  if (extent <= 8) return small_kernels_of<T, 8>();
  if constexpr (kMostSmall < T >> 16)
    if (extent > 16) return small_kernels_of<T, kMostSmall<T>>();
  return small_kernels_of<T, 16>();
}

template <class T>
class SmallPlan final : public plugin::Plan {
 public:
  SmallPlan(Context& context, const plugin::GemmProblem& p)
      : context_(context), problem_(p), kernels_(small_kernels<T>(std::max(p.m, p.n))), aligned_(small_aligned(p)) {
    const DeviceGuard guard(context.device());
    for (const auto kernel : kernels_.scalar) prepare(kernel);
    for (const auto kernel : kernels_.vectorized) prepare(kernel);
  }

  void execute(const plugin::Execution& e) override {
    const SmallArguments<T> x{arguments_of<T>(problem_, e), problem_.trans_a, problem_.trans_b};
    const bool vectors =
        aligned_ && at_vector(x.g.a) && at_vector(x.g.b) && at_vector(x.g.c.data()) && at_vector(x.g.d.data());
    const DeviceGuard guard(context_.device());
    launch((vectors ? kernels_.vectorized : kernels_.scalar)[x.g.plain()],
           dim3(unsigned(ceil_div(problem_.batch, kernels_.matrices))), dim3(kThreads), 0, context_.stream(), x);
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
  SmallKernels<T> kernels_;
  bool aligned_;  ///< copies of 16 bytes, where the addresses allow them
};

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& p, const plugin::Parameters&) {
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<SmallPlan<T>>(context, p);
  });
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"small", small_why_unsupported, small_offers, make, {.narrow = true, .epilogue = true, .aux = true}}, 2};

}  // namespace

}  // namespace tessera::cuda
