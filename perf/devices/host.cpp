// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The host as a device, compiled once for each instruction set: its ceilings are those of the best one that the
/// processor has.

#include "device.hpp"
#include "host_ceilings.hpp"
#include "random.hpp"

#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <new>
#include <unordered_map>

namespace tessera::perf {

namespace {

template <class T>
void fill_as(T* data, std::int64_t count, std::uint64_t seed, Range range) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i)
    data[i] = random_between<T>(seed, std::uint64_t(i), range.middle, range.half);
}

template <class T>
std::int64_t count_nan_as(const T* data, std::int64_t count) {
  std::int64_t found = 0;
#pragma omp parallel for schedule(static) reduction(+ : found)
  for (std::int64_t i = 0; i < count; ++i) found += std::isnan(Scalar<T>(data[i]));
  return found;
}

std::size_t last_level_cache() {
  for (int index = 3; index >= 2; --index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::size_t size = 0;
    char unit = 'K';
    if (file >> size >> unit) return size << (unit == 'M' ? 20 : 10);
  }
  return std::size_t{32} << 20;
}

class Host : public Device {
 public:
  explicit Host(int threads) : threads_(threads > 0 ? threads : omp_get_max_threads()), cache_(last_level_cache()) {
    omp_set_num_threads(threads_);
  }
  ~Host() override {
    for (const auto& [memory, block] : blocks_) munmap(block.first, block.second);
  }

  std::string name() const override { return "host"; }
  std::size_t cache_bytes() const override { return cache_; }
  std::size_t free_bytes() const override {
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    for (std::size_t kib; file >> key >> kib >> unit;)
      if (key == "MemAvailable:") return kib << 10;
    return std::size_t(sysconf(_SC_AVPHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    return {{"host_kernels", TESSERA_PERF_MARCH},
            {"host_threads", std::to_string(threads_)},
            {"host_last_level_cache_bytes", std::to_string(cache_)}};
  }

  /// Allocations begin at different offsets modulo 4 KiB: stores to one array that alias loads from another there cost
  /// a stencil half its speed, which would be chance otherwise.
  void* allocate(std::size_t bytes) override {
    const std::size_t offset = 64 * (1 + count_++ * 11 % 53);
    const std::size_t total = bytes + 2 * 4096;
    void* block = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    madvise(block, total, MADV_HUGEPAGE);  // fewer page faults and less chance in where pages lie
    void* memory = static_cast<char*>(block) + offset;
    blocks_[memory] = {block, total};
    return memory;
  }
  void release(void* memory) override {
    const auto found = blocks_.find(memory);
    if (found == blocks_.end()) return;
    munmap(found->second.first, found->second.second);
    blocks_.erase(found);
  }
  void fill(void* data, DType dtype, std::int64_t count, std::uint64_t seed, Range range) override {
    with_types(dtype, [=]<class T>(std::type_identity<T>) { fill_as(static_cast<T*>(data), count, seed, range); });
  }
  void poison(void* data, std::size_t bytes) override {
    const std::int64_t block = 1 << 20;
#pragma omp parallel for schedule(static)
    for (std::int64_t at = 0; at < std::int64_t(bytes); at += block)
      std::memset(static_cast<char*>(data) + at, 0xff, std::size_t(std::min(block, std::int64_t(bytes) - at)));
  }
  std::int64_t count_nan(const void* data, DType dtype, std::int64_t count) override {
    return with_types(dtype,
                      [=]<class T>(std::type_identity<T>) { return count_nan_as(static_cast<const T*>(data), count); });
  }
  void read(const void* data, DType dtype, std::span<const std::int64_t> where, double* values) override {
    with_types(dtype, [=]<class T>(std::type_identity<T>) {
      double* value = values;
      for (const std::int64_t i : where) *value++ = double(Scalar<T>(static_cast<const T*>(data)[i]));
    });
  }
  double time(const std::function<void()>& work) override {
    const double begin = steady_seconds();
    work();
    return steady_seconds() - begin;
  }

  std::vector<Ceiling> ceilings(DType dtype) const override {
    if (dtype == kDType<bfloat16> && has_dot_products()) return {Ceiling::matrix_unit};
    if (size_of(dtype) == 2) return {};  // computed on in f32
    return {Ceiling::fma,  Ceiling::fma_one_thread, Ceiling::copy, Ceiling::copy_streaming,
            Ceiling::read, Ceiling::write};
  }
  double measure(Ceiling ceiling, DType dtype, std::size_t footprint) override {
    if (ceiling == Ceiling::fma) return fma_rate(dtype, threads_);
    if (ceiling == Ceiling::fma_one_thread) return fma_rate(dtype, 1);
    if (ceiling == Ceiling::matrix_unit) return dot_rate(threads_);
    if (ceiling == Ceiling::matrix_unit_tf32) return 0.0;
    return memory_rate(ceiling, footprint);
  }
  bool interleave() const override { return true; }

 private:
  double memory_rate(Ceiling ceiling, std::size_t footprint) {
    // Two halves; together beyond the cache by a factor of two where nothing else is asked for.
    const std::size_t far = std::max<std::size_t>(2 * cache_, std::size_t{64} << 20);
    const std::size_t half = (footprint == 0 ? far : std::max<std::size_t>(footprint, 8192)) / 2 / 4096 * 4096;
    if (half > half_) {
      release(in_);
      release(out_);
      in_ = allocate(half);
      out_ = allocate(half);
      half_ = half;
      fill(in_, kDType<float>, std::int64_t(half / sizeof(float)), 1, {});
      fill(out_, kDType<float>, std::int64_t(half / sizeof(float)), 2, {});
    }
    const std::size_t bytes = 2 * half;
    const std::int64_t passes = std::max<std::int64_t>(1, std::int64_t(4e6 / double(bytes)));
    double best = 0.0;
    const double stop = steady_seconds() + (footprint == 0 ? 0.02 : 0.005);
    do {
      const double begin = steady_seconds();
      for (std::int64_t pass = 0; pass < passes; ++pass) memory_pass(ceiling, in_, out_, half, threads_);
      best = std::max(best, double(bytes) * double(passes) / (steady_seconds() - begin));
    } while (steady_seconds() < stop);
    return best;
  }

  int threads_;
  std::size_t cache_;
  std::size_t count_ = 0, half_ = 0;
  void *in_ = nullptr, *out_ = nullptr;
  std::unordered_map<void*, std::pair<void*, std::size_t>> blocks_;
};

}  // namespace

}  // namespace tessera::perf

extern "C" __attribute__((visibility("default"))) tessera::perf::Device* tessera_perf_device(int, int threads) {
  return new tessera::perf::Host(threads);
}
