// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A device of the perf suite for tests of its parts: the host's memory and clock, and ceilings of 1 GFLOP/s and 1
/// GB/s.
#pragma once

#include "device.hpp"
#include "random.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace tessera::perf {

class HostMemory : public Device {
 public:
  std::string name() const override { return "host"; }
  std::size_t cache_bytes() const override { return 4096; }
  std::size_t free_bytes() const override { return 1 << 30; }
  void* allocate(std::size_t bytes) override { return std::malloc(bytes); }
  void release(void* memory) override { std::free(memory); }
  /// Of the usual range.
  void fill(void* data, DType dtype, std::int64_t count, std::uint64_t seed, Range) override {
    with_types(dtype, [=]<class T>(std::type_identity<T>) {
      for (std::int64_t i = 0; i < count; ++i) static_cast<T*>(data)[i] = random_element<T>(seed, std::uint64_t(i));
    });
  }
  void poison(void* data, std::size_t bytes) override { std::memset(data, 0xff, bytes); }
  std::int64_t count_nan(const void* data, DType dtype, std::int64_t count) override {
    return with_types(dtype, [=]<class T>(std::type_identity<T>) -> std::int64_t {
      const T* const values = static_cast<const T*>(data);
      return std::count_if(values, values + count, [](T x) { return std::isnan(Scalar<T>(x)); });
    });
  }
  void read(const void* data, DType dtype, std::span<const std::int64_t> where, double* values) override {
    with_types(dtype, [&]<class T>(std::type_identity<T>) {
      for (const std::int64_t i : where) *values++ = double(Scalar<T>(static_cast<const T*>(data)[i]));
    });
  }
  double time(const std::function<void()>& work) override {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::vector<Ceiling> ceilings(DType) const override { return {Ceiling::fma, Ceiling::copy, Ceiling::read}; }
  double measure(Ceiling, DType, std::size_t) override { return 1e9; }
  bool interleave() const override { return false; }
};

}  // namespace tessera::perf
