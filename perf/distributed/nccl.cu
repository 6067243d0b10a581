// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Messages by NCCL between the ranks' devices, and the plain Jacobi over them as NVIDIA's multi-GPU examples have it
/// (github.com/NVIDIA/multi-gpu-programming-models, nccl_overlap): edges and messages on a stream that goes first, the
/// inner points beside them; taps known at compile time, a launch a step.

#include "device_peers.hpp"
#include "inner_sum.cuh"
#include "taps.hpp"

#include "../devices/cuda_error.hpp"

#include <dlfcn.h>

#include <cstring>
#include <memory>

namespace tessera::perf {

namespace {

/// As nccl.h has it.
struct UniqueId {
  char bytes[128];
};
constexpr int kBytes = 0;  // ncclInt8

/// What is used of NCCL, by name and as its header declares it.
struct Nccl {
  int (*get_version)(int*);
  int (*get_unique_id)(UniqueId*);
  int (*comm_init_rank)(void**, int, UniqueId, int);
  int (*comm_destroy)(void*);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void*, std::size_t, int, int, void*, cudaStream_t);
  int (*receive)(void*, std::size_t, int, int, void*, cudaStream_t);

  static const Nccl& get() {
    static const Nccl library;
    return library;
  }

 private:
  Nccl() {
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto find = [&]<class Function>(const char* name, Function& function) {
      function = reinterpret_cast<Function>(dlsym(library, name));
      if (function == nullptr) throw std::runtime_error(std::string("libnccl.so.2 has no ") + name);
    };
    find("ncclGetVersion", get_version), find("ncclGetUniqueId", get_unique_id);
    find("ncclCommInitRank", comm_init_rank), find("ncclCommDestroy", comm_destroy);
    find("ncclGroupStart", group_start), find("ncclGroupEnd", group_end);
    find("ncclSend", send), find("ncclRecv", receive);
  }
};

void succeed_nccl(int status) {
  if (status != 0) throw std::runtime_error("NCCL failed with status " + std::to_string(status));
}

/// A block, and the planes of it that a launch computes.
struct Part {
  int planes, rows, columns;  ///< of the block; in 2D a plane is a row
  int begin, end;             ///< planes
  bool first, last;           ///< whether the block has the domain's first plane, and its last
};

/// Planes of blocks begin behind a halo. The sides of the domain are fixed.
template <int kRank>
__global__ void __launch_bounds__(256) step(const float* __restrict__ in, float* __restrict__ out, Part p) {
  using Taps = std::make_index_sequence<std::size_t(tap_count(Pattern::star, kRank, 1))>;
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), at = int(blockIdx.y * blockDim.y + threadIdx.y);
  const int y = kRank == 3 ? at : 0, z = p.begin + (kRank == 3 ? int(blockIdx.z) : at);
  if (x >= p.columns || y >= p.rows || z >= p.end) return;
  const std::ptrdiff_t row = p.columns, plane = row * p.rows, own = (z + 1) * plane + y * row + x;
  const bool inside = x > 0 && x < p.columns - 1 && (kRank < 3 || (y > 0 && y < p.rows - 1)) && !(p.first && z == 0) &&
                      !(p.last && z == p.planes - 1);
  out[own] =
      inside ? inner_sum<float, Pattern::star, kRank, 1>(in + own, kRank == 3 ? row : plane, plane, Taps{}) : in[own];
}

class Peers : public DevicePeers {
 public:
  Peers(Group& group, cudaStream_t stream, int device) : stream_(stream), rank_(group.rank()), size_(group.size()) {
    UniqueId id{};
    const Nccl* nccl = nullptr;
    together(group, [&] {
      nccl = &Nccl::get();
      if (rank_ == 0) succeed_nccl(nccl->get_unique_id(&id));
    });
    std::vector<UniqueId> ids(static_cast<std::size_t>(size_));
    group.all_gather(&id, ids.data(), sizeof id);
    together(group, [&] {
      succeed(cudaSetDevice(device));
      succeed_nccl(nccl->comm_init_rank(&comm_, size_, ids.front(), rank_));
      int least = 0, greatest = 0;
      succeed(cudaDeviceGetStreamPriorityRange(&least, &greatest));
      succeed(cudaStreamCreateWithPriority(&edges_, cudaStreamNonBlocking, greatest));
      for (cudaEvent_t* event : {&inner_done_, &edges_done_})
        succeed(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    });
  }
  ~Peers() override {
    Nccl::get().comm_destroy(comm_);
    cudaEventDestroy(inner_done_);
    cudaEventDestroy(edges_done_);
    cudaStreamDestroy(edges_);
  }

  std::string version() const override {
    int number = 0;
    Nccl::get().get_version(&number);
    return "NCCL " + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
  }

  void exchange(const void* sent, void* received, std::size_t bytes, int peer) override {
    const Nccl& nccl = Nccl::get();
    succeed_nccl(nccl.group_start());
    succeed_nccl(nccl.send(sent, bytes, kBytes, peer, comm_, stream_));
    succeed_nccl(nccl.receive(received, bytes, kBytes, peer, comm_, stream_));
    succeed_nccl(nccl.group_end());
  }

  std::function<void()> jacobi(const StencilShape& block, bool alone, void* in, void* out, void* scratch) override {
    if (block.radius != 1 || block.rank < 2) throw std::runtime_error("the plain Jacobi has stars of radius 1");
    const auto& e = block.extents;
    Part whole{int(block.rank == 3 ? e[0] : e[1]), int(block.rank == 3 ? e[1] : 1), int(e[2]), 0, 0, true, true};
    whole.end = whole.planes;
    if (!alone) whole.first = rank_ == 0, whole.last = rank_ == size_ - 1;
    return [=, this, rank = block.rank, steps = block.steps] {
      const float* from = static_cast<const float*>(in);
      if (!alone) begin(static_cast<float*>(in), whole);
      for (std::int64_t s = 0; s < steps; ++s) {
        float* const to = static_cast<float*>((steps - s) % 2 == 1 ? out : scratch);
        if (alone)
          launch(rank, from, to, whole, stream_);
        else
          overlapped(rank, from, to, whole);
        from = to;
      }
      if (!alone) succeed(cudaStreamWaitEvent(stream_, edges_done_));
      succeed(cudaGetLastError());
    };
  }

 private:
  static void launch(int rank, const float* in, float* out, const Part& p, cudaStream_t stream) {
    const dim3 threads(64, 4);
    const unsigned planes = unsigned(p.end - p.begin), rows = rank == 3 ? unsigned(p.rows) : planes;
    const dim3 grid((unsigned(p.columns) + 63) / 64, (rows + 3) / 4, rank == 3 ? planes : 1);
    if (rank == 3)
      step<3><<<grid, threads, 0, stream>>>(in, out, p);
    else
      step<2><<<grid, threads, 0, stream>>>(in, out, p);
  }

  /// The first halos, behind what was queued before.
  void begin(float* array, const Part& whole) {
    succeed(cudaEventRecord(inner_done_, stream_));
    succeed(cudaStreamWaitEvent(edges_, inner_done_));
    exchange_halos(array, whole);
    succeed(cudaEventRecord(edges_done_, edges_));
  }

  void overlapped(int rank, const float* in, float* out, const Part& whole) {
    succeed(cudaStreamWaitEvent(stream_, edges_done_));  // the inner points read the edges of the step before
    succeed(cudaStreamWaitEvent(edges_, inner_done_));   // and the other way round
    Part low = whole, high = whole, inner = whole;
    low.end = inner.begin = 1, high.begin = inner.end = whole.planes - 1;
    launch(rank, in, out, low, edges_);
    launch(rank, in, out, high, edges_);
    launch(rank, in, out, inner, stream_);
    succeed(cudaEventRecord(inner_done_, stream_));
    exchange_halos(out, whole);
    succeed(cudaEventRecord(edges_done_, edges_));
  }

  void exchange_halos(float* array, const Part& p) {
    const Nccl& nccl = Nccl::get();
    const std::size_t plane = std::size_t(p.rows) * std::size_t(p.columns), bytes = plane * sizeof(float);
    const auto at = [&](int z) { return array + std::size_t(z) * plane; };
    succeed_nccl(nccl.group_start());
    if (!p.first) {
      succeed_nccl(nccl.send(at(1), bytes, kBytes, rank_ - 1, comm_, edges_));
      succeed_nccl(nccl.receive(at(0), bytes, kBytes, rank_ - 1, comm_, edges_));
    }
    if (!p.last) {
      succeed_nccl(nccl.send(at(p.planes), bytes, kBytes, rank_ + 1, comm_, edges_));
      succeed_nccl(nccl.receive(at(p.planes + 1), bytes, kBytes, rank_ + 1, comm_, edges_));
    }
    succeed_nccl(nccl.group_end());
  }

  cudaStream_t stream_, edges_{};
  int rank_, size_;
  void* comm_ = nullptr;
  cudaEvent_t inner_done_{}, edges_done_{};
};

}  // namespace

}  // namespace tessera::perf

extern "C" __attribute__((visibility("default"))) tessera::perf::DevicePeers* tessera_perf_device_peers(
    tessera::perf::Group* group, void* stream, int device) {
  return new tessera::perf::Peers(*group, static_cast<cudaStream_t>(stream), device);
}
