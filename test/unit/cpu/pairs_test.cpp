// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Pairs of bf16 as dot products read them, and when those lose no subnormal number.

#include <gemm/pack_pairs.hpp>

#include "random.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tessera::cpu {
namespace {

constexpr std::uint16_t kSign = 0x8000, kLeastNormal = 0x80, kLeastSubnormal = 1, kInfinity = 0x7f80, kOne = 0x3f80;
constexpr int kGroup = kLanes<Pair>;

/// Zeros of both signs and numbers from 2^-7 on.
std::vector<bfloat16> some_numbers(test::Random& random, std::int64_t count) {
  std::vector<bfloat16> values(static_cast<std::size_t>(count));
  for (bfloat16& value : values) {
    value = bfloat16(random.integer(0, 3) == 0 ? 0.0f : float(random.integer(1, 255)) / 128.0f);
    if (random.integer(0, 1) == 1) value.bits |= kSign;
  }
  return values;
}

/// What packing n rows of k elements gives, which are neighbours or not, and the least exponent that it saw.
struct PackedRows {
  std::vector<Pair> pairs;  ///< row r of pair l at l * kGroup + r of its group
  int least_exponent;

  PackedRows(const std::vector<bfloat16>& values, bool transposed, std::int64_t n, std::int64_t k)
      : pairs(std::size_t((n + kGroup - 1) / kGroup * kGroup * ((k + 1) / 2))) {
    Pairs source(values.data(), transposed ? k : n, k);
    if (transposed)
      for (std::int64_t first = 0; first < n; first += kGroup)
        pack_transposed<kGroup>(source, first, int(std::min<std::int64_t>(kGroup, n - first)),
                                pairs.data() + first * source.count(), kGroup);
    else
      pack_rows<kGroup>(source, n, pairs.data());
    least_exponent = source.least_exponent();
  }
};

}  // namespace

TEST_CASE("dot products are exact where the least sum of products is a normal number") {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      // (1 + 2^-7)^2 - (1 + 2^-6) = 2^-14: a sum of products of these exponents can be that small, not smaller.
      const double least = std::ldexp(1.0, a - 127 + b - 127 - 14);
      CHECK(dot_is_exact(a, b) == (a > 0 && b > 0 && least >= 0x1p-126));
    }
  CHECK(biased_exponent(kLeastSubnormal) == 0);
  CHECK(biased_exponent(kLeastNormal) == 1);
  CHECK(biased_exponent(kOne) == 127);
}

TEST_CASE("pairs hold two elements along k, and a zero where the second is not there") {
  test::Random random("pairs");
  for (const bool transposed : {false, true})
    for (const std::int64_t n : {1, kGroup - 1, kGroup, 8 * kGroup + 3})
      for (const std::int64_t k : {1, 2, 7, 2 * kGroup, 2 * kGroup + 1, 4 * kGroup - 1}) {
        CAPTURE(transposed, n, k);
        const auto values = some_numbers(random, n * k);
        const PackedRows packed(values, transposed, n, k);
        const auto bits = [&](std::int64_t r, std::int64_t l) -> Pair {
          return l < k ? values[std::size_t(transposed ? r * k + l : l * n + r)].bits : 0;
        };
        const std::int64_t count = (k + 1) / 2;
        std::int64_t wrong = 0;
        for (std::int64_t r = 0; r < n; ++r)
          for (std::int64_t l = 0; l < count; ++l)
            wrong += packed.pairs[std::size_t(r / kGroup * kGroup * count + l * kGroup + r % kGroup)] !=
                     (bits(r, 2 * l) | bits(r, 2 * l + 1) << 16);
        CHECK(wrong == 0);
      }
}

TEST_CASE("packing sees the least exponent, wherever its element lies") {
  test::Random random("exponents");
  for (const bool transposed : {false, true})
    for (const std::int64_t n : {1, kGroup + 3})
      for (const std::int64_t k : {1, 2, 2 * kGroup + 5}) {
        CAPTURE(transposed, n, k);
        for (std::int64_t at = 0; at < n * k; ++at) {
          auto values = some_numbers(random, n * k);
          values[std::size_t(at)].bits = kSign | kLeastNormal;
          CHECK(PackedRows(values, transposed, n, k).least_exponent == 1);
          values[std::size_t(at)].bits = kLeastSubnormal;
          CHECK(PackedRows(values, transposed, n, k).least_exponent == 0);
        }
        std::vector<bfloat16> values(std::size_t(n * k), bfloat16::from_bits(kSign));
        CHECK(PackedRows(values, transposed, n, k).least_exponent > 255);
        values.back().bits = kInfinity;
        CHECK(PackedRows(values, transposed, n, k).least_exponent == 255);
      }
}

}  // namespace tessera::cpu
