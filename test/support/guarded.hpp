// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Arrays that notice what is done around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace tessera::test {

/// Bytes between two pages that cannot be touched: an access beyond the array's end (or, when aligned low, before its
/// beginning) ends the process with SIGSEGV. What is left of the pages on the other side holds a pattern.
class GuardedBytes {
 public:
  enum class Against { end, begin };
  GuardedBytes(std::size_t bytes, Against side);
  ~GuardedBytes();
  GuardedBytes(GuardedBytes&& other) noexcept
      : mapping_(std::exchange(other.mapping_, nullptr)),
        mapped_(other.mapped_),
        data_(other.data_),
        bytes_(other.bytes_) {}
  GuardedBytes& operator=(GuardedBytes&&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  /// False when a byte of the pattern beside the array has changed.
  bool surroundings_intact() const;

 private:
  std::byte* mapping_;
  std::size_t mapped_;
  std::byte* data_;
  std::size_t bytes_;
};

/// `size` elements of T, at first all bits one (a NaN): what a test does not set must not be used.
template <class T>
class GuardedArray {
 public:
  explicit GuardedArray(std::int64_t size, GuardedBytes::Against side = GuardedBytes::Against::end)
      : bytes_(std::size_t(size) * sizeof(T), side), size_(size) {
    poison();
  }
  T* data() const { return reinterpret_cast<T*>(bytes_.data()); }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) const { return data()[i]; }
  void poison() { std::memset(bytes_.data(), 0xff, bytes_.size()); }
  bool surroundings_intact() const { return bytes_.surroundings_intact(); }
  std::vector<T> copy() const { return std::vector<T>(data(), data() + size_); }
  void restore(const std::vector<T>& values) {
    if (!values.empty()) std::memcpy(bytes_.data(), values.data(), bytes_.size());
  }
  bool same_bits(const std::vector<T>& values) const {
    return values.empty() || std::memcmp(bytes_.data(), values.data(), bytes_.size()) == 0;
  }

 private:
  GuardedBytes bytes_;
  std::int64_t size_;
};

}  // namespace tessera::test
