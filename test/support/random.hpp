// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Random data that can be had again: one seed a process, one stream a name.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera::test {

/// TESSERA_TEST_SEED, else a fresh number, the same for the whole process. Print it with every failure.
std::uint64_t seed();

/// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). A stream depends on the
/// seed and the name alone, so one case can be repeated without those before it.
class Random {
 public:
  explicit Random(std::string_view stream);
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [-1, 1).
  double uniform() { return double(std::int64_t(bits()) >> 10) * 0x1p-53; }
  /// Uniform in [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + std::int64_t(bits() % std::uint64_t(high - low + 1));
  }

 private:
  std::uint64_t state_;
};

}  // namespace tessera::test
