// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The wave that a user would write, in place of the level before, with the laplacian known at compile time: one thread
/// a point, where the caches do the rest, and planes that march along z with a queue in registers and a shared tile.
/// Of each kernel the best block is found by trying.

#include "device.hpp"
#include "wave.hpp"

#include "../devices/cuda_error.hpp"

#include <map>
#include <utility>

namespace tessera::perf {

namespace {

struct Extents {
  int nz, ny, nx;
};

template <int kK, int kRadius>
constexpr double kCoefficient = second_derivative(kK, kRadius);

template <int kRadius>
using Distances = std::make_index_sequence<kRadius>;  // less 1

/// The new value in the place of the one before; all pointers are at the point.
template <bool kVarying, bool kSponge, class T>
__device__ void finish(T now, T* __restrict__ next, const T* __restrict__ speed2, T sum, T scale) {
  T value = 2 * now - *next;
  if constexpr (kVarying)
    value += __ldg(speed2) * sum;
  else
    value += T(kSpeed2) * sum;
  if constexpr (kSponge) value *= scale;
  *next = value;
}

template <class T, int kRadius, std::size_t... kK>
__device__ T laplacian(const T* __restrict__ own, std::ptrdiff_t line, std::ptrdiff_t plane,
                       std::index_sequence<kK...>) {
  T sum = T(3.0 * kCoefficient<0, kRadius>) * own[0];
  ((sum += T(kCoefficient<int(kK) + 1, kRadius>) *
           (own[-std::ptrdiff_t(kK + 1)] + own[kK + 1] + own[-std::ptrdiff_t(kK + 1) * line] + own[(kK + 1) * line] +
            own[-std::ptrdiff_t(kK + 1) * plane] + own[(kK + 1) * plane])),
   ...);
  return sum;
}

template <class T, int kOrder, bool kVarying, bool kSponge>
__global__ void __launch_bounds__(512)
    wave_points(const T* __restrict__ now, T* __restrict__ next, Medium<T> m, Extents e, int) {
  constexpr int r = kOrder / 2;
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = int(blockIdx.z * blockDim.z + threadIdx.z);
  if (x >= e.nx || y >= e.ny || z >= e.nz) return;
  const std::ptrdiff_t line = e.nx, plane = std::ptrdiff_t(e.ny) * e.nx, own = z * plane + y * line + x;
  const bool inside = x >= r && x < e.nx - r && y >= r && y < e.ny - r && z >= r && z < e.nz - r;
  if (!inside) {
    next[own] = now[own];
    return;
  }
  T scale = 1;
  if constexpr (kSponge) scale = __ldg(m.sz + z) * __ldg(m.sy + y) * __ldg(m.sx + x);
  const T sum = laplacian<T, r>(now + own, line, plane, Distances<r>{});
  finish<kVarying, kSponge>(now[own], next + own, m.speed2 + own, sum, scale);
}

/// Along z from the queue, along y and x from the tile around `own`, whose rows are `width` apart.
template <class T, int kRadius, std::size_t... kK>
__device__ T laplacian_of_plane(const T (&queue)[2 * kRadius + 1], const T* own, int width,
                                std::index_sequence<kK...>) {
  T sum = T(3.0 * kCoefficient<0, kRadius>) * queue[kRadius];
  ((sum += T(kCoefficient<int(kK) + 1, kRadius>) *
           (own[-int(kK + 1)] + own[kK + 1] + own[-int(kK + 1) * width] + own[int(kK + 1) * width] +
            queue[kRadius - kK - 1] + queue[kRadius + kK + 1])),
   ...);
  return sum;
}

/// A tile of the plane z and what lies r beside it; 0 stands for what lies outside the domain, which nobody uses.
template <class T, int kRadius, int kX, int kY>
__device__ void load_tile(T (&tile)[kY + 2 * kRadius][kX + 2 * kRadius], const T* __restrict__ plane, T own,
                          const Extents& e, int y, int x) {
  constexpr int r = kRadius;
  const int tx = int(threadIdx.x), ty = int(threadIdx.y);
  const auto at = [&](int row, int column) {
    const bool inside = row >= 0 && row < e.ny && column >= 0 && column < e.nx;
    return inside ? plane[std::ptrdiff_t(row) * e.nx + column] : T(0);
  };
  tile[ty + r][tx + r] = own;
  if (tx < r) {
    tile[ty + r][tx] = at(y, x - r);
    tile[ty + r][tx + r + kX] = at(y, x + kX);
  }
  if (ty < r) {
    tile[ty][tx + r] = at(y - r, x);
    tile[ty + r + kY][tx + r] = at(y + kY, x);
  }
}

template <class T, int kOrder, bool kVarying, bool kSponge, int kX, int kY>
__global__ void __launch_bounds__(kX* kY)
    wave_march(const T* __restrict__ now, T* __restrict__ next, Medium<T> m, Extents e, int chunk) {
  constexpr int r = kOrder / 2;
  __shared__ T tile[kY + 2 * r][kX + 2 * r];
  const int x = int(blockIdx.x) * kX + int(threadIdx.x), y = int(blockIdx.y) * kY + int(threadIdx.y);
  const int first = int(blockIdx.z) * chunk, last = min(first + chunk, e.nz);
  const std::ptrdiff_t plane = std::ptrdiff_t(e.ny) * e.nx, column = std::ptrdiff_t(y) * e.nx + x;
  const bool here = x < e.nx && y < e.ny;
  const bool inner = x >= r && x < e.nx - r && y >= r && y < e.ny - r;
  const auto at = [&](int z) { return here && z >= 0 && z < e.nz ? now[z * plane + column] : T(0); };
  T scale = 1;
  if constexpr (kSponge) scale = here ? __ldg(m.sy + y) * __ldg(m.sx + x) : T(0);
  T queue[2 * r + 1];
#pragma unroll
  for (int k = 0; k < 2 * r; ++k) queue[k + 1] = at(first - r + k);
  for (int z = first; z < last; ++z) {
#pragma unroll
    for (int k = 0; k < 2 * r; ++k) queue[k] = queue[k + 1];
    queue[2 * r] = at(z + r);
    __syncthreads();  // nobody reads the plane before any more
    load_tile<T, r, kX, kY>(tile, now + z * plane, queue[r], e, y, x);
    __syncthreads();
    if (!here) continue;
    const std::ptrdiff_t own = z * plane + column;
    if (!inner || z < r || z >= e.nz - r) {
      next[own] = queue[r];
      continue;
    }
    const T* const center = &tile[threadIdx.y + r][threadIdx.x + r];
    const T sum = laplacian_of_plane<T, r>(queue, center, kX + 2 * r, Distances<r>{});
    finish<kVarying, kSponge>(queue[r], next + own, m.speed2 + own, sum, kSponge ? scale * __ldg(m.sz + z) : scale);
  }
}

template <class T>
__global__ void inject(T* now, std::int64_t source, const T* series) {
  now[source] += *series;
}
template <class T>
__global__ void record(const T* __restrict__ now, const std::int64_t* __restrict__ receivers, T* __restrict__ series) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kReceivers) series[i] = now[receivers[i]];
}

/// A kernel and how it is launched. `chunk`: planes that a block marches through; 0 where it has as many as its block.
template <class T>
struct Launch {
  void (*kernel)(const T*, T*, Medium<T>, Extents, int);
  dim3 block;
  int chunk;

  void operator()(const T* now, T* next, const Medium<T>& m, const Extents& e, cudaStream_t stream) const {
    const auto blocks = [](int n, unsigned of) { return (unsigned(n) + of - 1) / of; };
    const dim3 grid(blocks(e.nx, block.x), blocks(e.ny, block.y), blocks(e.nz, chunk > 0 ? unsigned(chunk) : block.z));
    kernel<<<grid, block, 0, stream>>>(now, next, m, e, chunk);
    succeed(cudaGetLastError());
  }
};

template <class T, int kOrder, bool kVarying, bool kSponge>
std::vector<Launch<T>> launches(bool marches, int nz) {
  std::vector<Launch<T>> all;
  if (!marches) {
    for (const dim3 block : {dim3(256), dim3(128, 2), dim3(64, 4), dim3(32, 8), dim3(32, 16), dim3(64, 8),
                             dim3(32, 4, 2), dim3(64, 2, 2), dim3(32, 4, 4), dim3(32, 2, 8), dim3(512)})
      all.push_back({wave_points<T, kOrder, kVarying, kSponge>, block, 0});
    return all;
  }
  for (const int parts : {1, 2, 4, 8, 16}) {
    const int chunk = (nz + parts - 1) / parts;
    all.push_back({wave_march<T, kOrder, kVarying, kSponge, 32, 8>, dim3(32, 8), chunk});
    all.push_back({wave_march<T, kOrder, kVarying, kSponge, 32, 16>, dim3(32, 16), chunk});
    all.push_back({wave_march<T, kOrder, kVarying, kSponge, 64, 8>, dim3(64, 8), chunk});
  }
  return all;
}

template <class T>
std::shared_ptr<T> device_memory(std::int64_t count) {
  void* memory = nullptr;
  succeed(cudaMalloc(&memory, std::size_t(count) * sizeof(T)));
  return {static_cast<T*>(memory), cudaFree};
}

class CudaWave : public Competitor {
 public:
  CudaWave(cudaStream_t stream, bool marches) : stream_(stream), marches_(marches) {
    succeed(cudaEventCreate(&begin_));
    succeed(cudaEventCreate(&end_));
  }
  ~CudaWave() override {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  std::string name() const override { return marches_ ? "peer:cuda_march" : "peer:cuda_loop"; }
  std::string unsupported(const Problem& p) const override {
    if (p.op != Op::system) return "it is a system";
    return is_compiled(p.system) ? "" : "it has no such system compiled in";
  }
  Execute prepare(const Problem& p) override {
    return with_types<WideTypes>(p.kind.dtype, [&]<class T>(std::type_identity<T>) { return prepare_as<T>(p); });
  }

 private:
  /// Milliseconds of the last of three launches.
  template <class T>
  float time_of(const Launch<T>& launch, T* now, T* next, const Medium<T>& m, const Extents& e) {
    float milliseconds = 0.0f;
    for (int i = 0; i < 3; ++i) {
      succeed(cudaEventRecord(begin_, stream_));
      launch(now, next, m, e, stream_);
      succeed(cudaEventRecord(end_, stream_));
      succeed(cudaEventSynchronize(end_));
      succeed(cudaEventElapsedTime(&milliseconds, begin_, end_));
    }
    return milliseconds;
  }

  /// The fastest, on arrays of its own: executions cannot be repeated.
  template <class T>
  Launch<T> best_of(const std::vector<Launch<T>>& all, const Problem& problem, const Extents& e) {
    const std::string key = problem.kind.name() + problem.name.substr(0, problem.name.find("_steps"));
    if (const auto known = best_.find(key); known != best_.end()) return all[known->second];
    const std::int64_t count = problem.system.points();
    const auto now = device_memory<T>(count), next = device_memory<T>(count);
    const auto speed2 = device_memory<T>(problem.system.varying ? count : 1);
    for (T* const array : {now.get(), next.get()})
      succeed(cudaMemsetAsync(array, 0, std::size_t(count) * sizeof(T), stream_));
    const Medium<T> m{speed2.get(), now.get(), now.get(), now.get()};
    std::size_t best = 0;
    float least = 1e30f;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const float took = time_of(all[i], now.get(), next.get(), m, e); took < least) least = took, best = i;
    best_[key] = best;
    return all[best];
  }

  template <class T>
  Execute prepare_as(const Problem& p) {
    const SystemShape& s = p.system;
    const Extents e{int(s.extents[0]), int(s.extents[1]), int(s.extents[2])};
    std::vector<Launch<T>> all;
    with_wave(s, [&]<int kOrder, bool kVarying, bool kSponge>() {
      all = launches<T, kOrder, kVarying, kSponge>(marches_, e.nz);
    });
    const std::vector<std::int64_t> places = receivers_of(s);
    const auto receivers = device_memory<std::int64_t>(kReceivers);
    succeed(cudaMemcpy(receivers.get(), places.data(), places.size() * sizeof places[0], cudaMemcpyHostToDevice));
    const Launch<T> launch = best_of(all, p, e);
    return [=, source = index_of(s, source_place(s)), stream = stream_](const void* const*, void* list) {
      void** const arrays = static_cast<void**>(list);
      const WaveArrays<T> w(s, arrays);
      for (std::int64_t i = 0; i < s.steps; ++i) {
        launch(static_cast<T*>(arrays[0]), static_cast<T*>(arrays[1]), w.medium, e, stream);
        std::swap(arrays[0], arrays[1]);
        if (!s.sponge) continue;
        T* const now = static_cast<T*>(arrays[0]);
        inject<<<1, 1, 0, stream>>>(now, source, w.injected + i);
        record<<<(kReceivers + 255) / 256, 256, 0, stream>>>(now, receivers.get(), w.recorded + i * kReceivers);
        succeed(cudaGetLastError());
      }
    };
  }

  cudaStream_t stream_;
  bool marches_;
  cudaEvent_t begin_{}, end_{};
  std::map<std::string, std::size_t> best_;
};

}  // namespace

std::unique_ptr<Competitor> make_cuda_wave(cudaStream_t stream, bool marches) {
  return std::make_unique<CudaWave>(stream, marches);
}

}  // namespace tessera::perf
