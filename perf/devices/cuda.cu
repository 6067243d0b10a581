// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A CUDA device: operands made and checked where they lie, time from events on the stream that the work is queued on.

#include "cuda_ceilings.hpp"
#include "cuda_error.hpp"
#include "device.hpp"
#include "random.hpp"

#include <algorithm>
#include <fstream>

namespace tessera::perf {

std::unique_ptr<Competitor> make_cuda_loop(cudaStream_t stream);
std::unique_ptr<Competitor> make_cuda_wave(cudaStream_t stream, bool marches);

namespace {

template <class T>
__global__ void fill_kernel(T* data, std::int64_t count, std::uint64_t seed, Range range) {
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += std::int64_t(gridDim.x) * blockDim.x)
    data[i] = random_between<T>(seed, std::uint64_t(i), range.middle, range.half);
}
template <class T>
__global__ void count_nan_kernel(const T* data, std::int64_t count, unsigned long long* found) {
  unsigned long long own = 0;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += std::int64_t(gridDim.x) * blockDim.x)
    own += isnan(Scalar<T>(data[i]));
  if (own != 0) atomicAdd(found, own);
}
template <class T>
__global__ void gather_kernel(const T* data, const std::int64_t* where, std::int64_t count, double* values) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) values[i] = double(Scalar<T>(data[where[i]]));
}

std::int64_t kernels_of(cudaGraph_t graph) {
  std::size_t count = 0;
  succeed(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  succeed(cudaGraphGetNodes(graph, nodes.data(), &count));
  return std::count_if(nodes.begin(), nodes.end(), [](cudaGraphNode_t node) {
    cudaGraphNodeType type{};
    succeed(cudaGraphNodeGetType(node, &type));
    return type == cudaGraphNodeTypeKernel;
  });
}

/// "580.159.04" out of the kernel module's own line, which the CUDA runtime does not tell.
std::string driver_release() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;)
    if (word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos) return word;
  return "unknown";
}

class Cuda : public Device {
 public:
  explicit Cuda(int device) : device_(device) {
    succeed(cudaSetDevice(device));
    succeed(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    succeed(cudaGetDeviceProperties(&properties_, device));
    succeed(cudaEventCreate(&begin_));
    succeed(cudaEventCreate(&end_));
    succeed(cudaMalloc(&sink_, 256));
  }
  ~Cuda() override {
    for (void* memory : {in_, out_, sink_}) cudaFree(memory);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }

  std::string name() const override { return properties_.name; }
  void* native_stream() const override { return stream_; }
  std::size_t cache_bytes() const override { return std::size_t(properties_.l2CacheSize); }
  std::size_t free_bytes() const override {
    std::size_t free = 0, total = 0;
    succeed(cudaMemGetInfo(&free, &total));
    return free;
  }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    int driver = 0, runtime = 0, clock = 0, memory_clock = 0;
    succeed(cudaDriverGetVersion(&driver));
    succeed(cudaRuntimeGetVersion(&runtime));
    succeed(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device_));
    succeed(cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, device_));
    return {{"gpu", properties_.name},
            {"gpu_multiprocessors", std::to_string(properties_.multiProcessorCount)},
            {"gpu_l2_bytes", std::to_string(properties_.l2CacheSize)},
            {"gpu_clock_mhz", std::to_string(clock / 1000)},
            {"gpu_memory_clock_mhz", std::to_string(memory_clock / 1000)},
            {"gpu_driver", driver_release()},
            {"cuda_driver", std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10)},
            {"cuda_runtime", std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10)}};
  }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    succeed(cudaMalloc(&memory, bytes));
    return memory;
  }
  void release(void* memory) override {
    cudaStreamSynchronize(stream_);
    cudaFree(memory);
  }
  void fill(void* data, DType dtype, std::int64_t count, std::uint64_t seed, Range range) override {
    const auto blocks = unsigned(properties_.multiProcessorCount * 16);
    with_types(dtype, [&]<class T>(std::type_identity<T>) {
      fill_kernel<<<blocks, 256, 0, stream_>>>(static_cast<T*>(data), count, seed, range);
    });
    succeed(cudaGetLastError());
    succeed(cudaStreamSynchronize(stream_));
  }
  void poison(void* data, std::size_t bytes) override { succeed(cudaMemsetAsync(data, 0xff, bytes, stream_)); }
  std::int64_t count_nan(const void* data, DType dtype, std::int64_t count) override {
    auto* const found = static_cast<unsigned long long*>(sink_);
    const auto blocks = unsigned(properties_.multiProcessorCount * 16);
    succeed(cudaMemsetAsync(found, 0, sizeof *found, stream_));
    with_types(dtype, [&]<class T>(std::type_identity<T>) {
      count_nan_kernel<<<blocks, 256, 0, stream_>>>(static_cast<const T*>(data), count, found);
    });
    succeed(cudaGetLastError());
    unsigned long long total = 0;
    succeed(cudaMemcpyAsync(&total, found, sizeof total, cudaMemcpyDeviceToHost, stream_));
    succeed(cudaStreamSynchronize(stream_));
    return std::int64_t(total);
  }
  void read(const void* data, DType dtype, std::span<const std::int64_t> where, double* values) override {
    if (where.empty()) return;
    auto* const indices = static_cast<std::int64_t*>(allocate(where.size_bytes()));
    auto* const gathered = static_cast<double*>(allocate(where.size() * sizeof(double)));
    succeed(cudaMemcpyAsync(indices, where.data(), where.size_bytes(), cudaMemcpyHostToDevice, stream_));
    const auto blocks = unsigned((where.size() + 255) / 256);
    with_types(dtype, [&]<class T>(std::type_identity<T>) {
      gather_kernel<<<blocks, 256, 0, stream_>>>(static_cast<const T*>(data), indices, std::int64_t(where.size()),
                                                 gathered);
    });
    succeed(cudaGetLastError());
    succeed(cudaMemcpyAsync(values, gathered, where.size() * sizeof(double), cudaMemcpyDeviceToHost, stream_));
    succeed(cudaStreamSynchronize(stream_));
    release(indices);
    release(gathered);
  }
  double time(const std::function<void()>& work) override {
    succeed(cudaStreamSynchronize(stream_));
    succeed(cudaEventRecord(begin_, stream_));
    work();
    succeed(cudaEventRecord(end_, stream_));
    succeed(cudaEventSynchronize(end_));
    float milliseconds = 0.0f;
    succeed(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return double(milliseconds) * 1e-3;
  }

  std::vector<Ceiling> ceilings(DType dtype) const override {
    std::vector<Ceiling> list = {Ceiling::fma, Ceiling::copy, Ceiling::copy_streaming, Ceiling::read, Ceiling::write};
    if (size_of(dtype) == 2) list.clear();              // computed on in f32 elsewhere
    const int first = dtype == kDType<double> ? 9 : 8;  // the architecture whose warps have a matrix unit for it
    if (properties_.major >= first)
      list.push_back(dtype == kDType<float> ? Ceiling::matrix_unit_tf32 : Ceiling::matrix_unit);
    return list;
  }
  double measure(Ceiling ceiling, DType dtype, std::size_t footprint) override {
    const bool memory = ceiling >= Ceiling::copy;
    const std::size_t half =
        (footprint == 0 ? std::size_t{512} << 20 : std::max<std::size_t>(footprint / 2, 4096)) / 4096 * 4096;
    if (memory && half > half_) grow(half);
    // Small ones in a row, so that launches do not count more than they do for the rows beside them.
    const int batch = memory ? std::clamp(int(3e8 / double(2 * half)), 1, 200) : 2;
    double best = 0.0;
    for (int repeat = 0; repeat < 8; ++repeat) {
      double amount = 0.0;
      const double seconds = time([&] {
        for (int i = 0; i < batch; ++i) {
          if (memory) enqueue_memory_pass(ceiling, in_, out_, half, stream_);
          amount +=
              memory ? 2.0 * double(half) : enqueue_arithmetic(ceiling, dtype, static_cast<float*>(sink_), stream_);
        }
      });
      best = std::max(best, amount / seconds);
    }
    return best;
  }
  bool interleave() const override { return false; }

  std::optional<std::int64_t> kernels(const std::function<void()>& work) override {
    succeed(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
    bool refused = false;
    try {
      work();
    } catch (const std::exception&) {
      refused = true;  // some work cannot be captured
    }
    cudaGraph_t graph{};
    if (cudaStreamEndCapture(stream_, &graph) != cudaSuccess) {
      cudaGetLastError();  // the stream is as before
      return {};
    }
    const std::int64_t count = kernels_of(graph);
    succeed(cudaGraphDestroy(graph));
    if (refused) return {};
    return count;
  }

  double bus_rate(bool to_device, std::size_t bytes) override {
    void *host = nullptr, *memory = allocate(bytes);
    succeed(cudaMallocHost(&host, bytes));
    double best = 1e30;
    for (int repeat = 0; repeat < 4; ++repeat)
      best = std::min(best, time([&] {
                        succeed(cudaMemcpyAsync(to_device ? memory : host, to_device ? host : memory, bytes,
                                                to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream_));
                      }));
    cudaFreeHost(host);
    release(memory);
    return double(bytes) / best;
  }

 private:
  void grow(std::size_t half) {
    for (void** memory : {&in_, &out_}) {
      if (*memory != nullptr) release(*memory);
      *memory = allocate(half);
      fill(*memory, kDType<float>, std::int64_t(half / sizeof(float)), half_ + 1, {});
    }
    half_ = half;
  }
  int device_;
  cudaStream_t stream_{};
  cudaDeviceProp properties_{};
  cudaEvent_t begin_{}, end_{};
  void *sink_ = nullptr, *in_ = nullptr, *out_ = nullptr;
  std::size_t half_ = 0;
};

}  // namespace

}  // namespace tessera::perf

extern "C" __attribute__((visibility("default"))) bool tessera_perf_owns(const void* memory) {
  cudaPointerAttributes attributes{};
  const bool known = cudaPointerGetAttributes(&attributes, memory) == cudaSuccess;
  cudaGetLastError();  // a pointer of another kind is no error that a later call should find
  return known && (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged);
}
extern "C" __attribute__((visibility("default"))) tessera::perf::Device* tessera_perf_device(int device, int) {
  return new tessera::perf::Cuda(device);
}
extern "C" __attribute__((visibility("default"))) void tessera_perf_peers(tessera::perf::Competitors* competitors,
                                                                          void* stream, int, int) {
  competitors->push_back(tessera::perf::make_cuda_loop(static_cast<cudaStream_t>(stream)));
  for (const bool marches : {false, true})
    competitors->push_back(tessera::perf::make_cuda_wave(static_cast<cudaStream_t>(stream), marches));
}
