// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A fuzzer's input, read as a list of choices. The same bytes make the same choices; behind their end all are zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

namespace tessera::test {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
  /// In [0, bound) for a bound of at most 256.
  std::int64_t below(std::int64_t bound) { return byte() % bound; }
  /// Rarely true, and never of a zero.
  bool one_in(int n) { return byte() % n == n - 1; }
  std::int64_t number() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return std::int64_t(value);
  }
  template <class Array>
  auto& pick(Array& array) {
    return array[std::size_t(byte()) % std::size(array)];
  }
  /// The rest, up to `most` characters.
  std::string text(std::size_t most) {
    std::string result;
    while (at_ < size_ && result.size() < most) result += char(byte());
    return result;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

/// Ends the process, so that the fuzzer keeps the input, when `right` is false.
inline void require(bool right, const char* what, const std::string& detail = "") {
  if (right) return;
  std::fprintf(stderr, "FOUND: %s %s\n", what, detail.c_str());
  std::abort();
}

}  // namespace tessera::test
