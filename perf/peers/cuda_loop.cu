// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencil kernel that a user would write: taps known at compile time, one thread a point, the caches do the rest.

#include "device.hpp"
#include "inner_sum.cuh"
#include "taps.hpp"

#include "../devices/cuda_error.hpp"

#include <climits>
#include <utility>

namespace tessera::perf {

namespace {

struct Domain {
  int nz, ny, nx;
  bool periodic;
};

__device__ inline int wrap(int i, int n) { return ((i % n) + n) % n; }

template <class T, Pattern kPattern, int kRank, int kRadius, std::size_t... kTap>
__device__ T wrapped_sum(const T* in, const Domain& d, int z, int y, int x, std::index_sequence<kTap...>) {
  constexpr auto taps = constant_taps<kPattern, kRank, kRadius>();
  const auto at = [&](int dz, int dy, int dx) {
    return in[(std::size_t(wrap(z + dz, d.nz)) * d.ny + wrap(y + dy, d.ny)) * d.nx + wrap(x + dx, d.nx)];
  };
  T sum = 0;
  ((sum +=
    T(std::get<kTap>(taps).coefficient) * at(std::get<kTap>(taps).z, std::get<kTap>(taps).y, std::get<kTap>(taps).x)),
   ...);
  return sum;
}

template <class T, Pattern kPattern, int kRank, int kRadius>
__global__ void __launch_bounds__(256) step(const T* __restrict__ in, T* __restrict__ out, Domain d) {
  constexpr int r = kRadius;
  using Taps = std::make_index_sequence<std::size_t(tap_count(kPattern, kRank, kRadius))>;
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = int(blockIdx.z);
  if (x >= d.nx || y >= d.ny) return;
  const std::size_t own = (std::size_t(z) * d.ny + y) * d.nx + x;
  const bool inside =
      x >= r && x < d.nx - r && (kRank < 2 || (y >= r && y < d.ny - r)) && (kRank < 3 || (z >= r && z < d.nz - r));
  if (inside)
    out[own] = inner_sum<T, kPattern, kRank, kRadius>(in + own, d.nx, std::ptrdiff_t(d.ny) * d.nx, Taps{});
  else if (d.periodic)
    out[own] = wrapped_sum<T, kPattern, kRank, kRadius>(in, d, z, y, x, Taps{});
  else
    out[own] = in[own];
}

template <class T, Pattern kPattern, int kRank, int kRadius>
void run(const T* in, T* out, T* scratch, const Domain& d, std::int64_t steps, cudaStream_t stream) {
  const dim3 block = kRank == 1 ? dim3(256) : dim3(64, 4);
  const dim3 grid((unsigned(d.nx) + block.x - 1) / block.x, (unsigned(d.ny) + block.y - 1) / block.y, unsigned(d.nz));
  for (std::int64_t s = 0; s < steps; ++s) {
    T* const target = (steps - s) % 2 == 1 ? out : scratch;
    step<T, kPattern, kRank, kRadius><<<grid, block, 0, stream>>>(in, target, d);
    in = target;
  }
  succeed(cudaGetLastError());
}

class CudaLoop : public Competitor {
 public:
  explicit CudaLoop(cudaStream_t stream) : stream_(stream) {}
  std::string name() const override { return "peer:cuda_loop"; }
  std::string unsupported(const Problem& p) const override {
    if (p.op != Op::stencil) return "it is a stencil";
    if (!p.is_plain()) return "it has no types of 16 bits";
    const StencilShape& s = p.stencil;
    if (s.boundary != Boundary::fixed && s.boundary != Boundary::periodic) return "it is fixed or periodic";
    // Grids have 65535 blocks of 4 rows, and as many of a plane; sizes are ints.
    const bool small = s.extents[0] <= 65535 && s.extents[1] <= 4 * 65535 && s.extents[2] <= INT_MAX - 256;
    return !small ? "it has no grid as large" : is_compiled(s) ? "" : "it has no such taps compiled in";
  }
  Execute prepare(const Problem& p) override {
    return with_types<WideTypes>(p.kind.dtype, [&]<class T>(std::type_identity<T>) { return prepare_as<T>(p); });
  }

 private:
  template <class T>
  Execute prepare_as(const Problem& p) {
    const StencilShape& s = p.stencil;
    std::shared_ptr<T> scratch;
    if (s.steps > 1) {
      void* memory = nullptr;
      succeed(cudaMalloc(&memory, std::size_t(s.points()) * sizeof(T)));
      scratch.reset(static_cast<T*>(memory), cudaFree);
    }
    using Run = void (*)(const T*, T*, T*, const Domain&, std::int64_t, cudaStream_t);
    Run function = nullptr;
    with_shape(s, [&]<Pattern kPattern, int kRank, int kRadius>() { function = run<T, kPattern, kRank, kRadius>; });
    const Domain d{int(s.extents[0]), int(s.extents[1]), int(s.extents[2]), s.boundary == Boundary::periodic};
    return [=, steps = s.steps, stream = stream_](const void* const* in, void* out) {
      function(static_cast<const T*>(in[0]), static_cast<T*>(out), scratch.get(), d, steps, stream);
    };
  }
  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<Competitor> make_cuda_loop(cudaStream_t stream) { return std::make_unique<CudaLoop>(stream); }

}  // namespace tessera::perf
