// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Products of f32 by parts of their elements (the algorithm warpgroup_f32): exact cases that see every product of
/// parts, numbers that are not finite, small workspaces.

#include "cuda_support.hpp"

#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

struct Operands {
  std::vector<float> a, b;  ///< as the descriptor stores them
};

/// Elements by their places in op(A) and op(B), of the only matrix or of all of a batch.
Operands stored(const GemmDesc& d, const std::function<float(std::int64_t, std::int64_t)>& a,
                const std::function<float(std::int64_t, std::int64_t)>& b) {
  Operands o{std::vector<float>(std::size_t(d.m * d.k * d.batch)),
             std::vector<float>(std::size_t(d.k * d.n * d.batch))};
  for (std::int64_t l = 0; l < d.batch; ++l)
    for (std::int64_t p = 0; p < d.k; ++p) {
      for (std::int64_t i = 0; i < d.m; ++i)
        o.a[std::size_t(l * d.m * d.k + (d.trans_a == Transpose::yes ? p * d.m + i : i * d.k + p))] = a(i, p);
      for (std::int64_t j = 0; j < d.n; ++j)
        o.b[std::size_t(l * d.k * d.n + (d.trans_b == Transpose::yes ? j * d.k + p : p * d.n + j))] = b(p, j);
    }
  return o;
}

/// D <- A B, with a bias and relu where the descriptor has them; C is 3 and goes in with `beta`. Operands begin `shift`
/// elements behind an address of 256 bytes.
std::vector<float> product(Context& context, const GemmDesc& desc, const std::string& algorithm, const Operands& o,
                           float beta = 0.0f, std::uint64_t limit = std::uint64_t(1) << 30, std::int64_t shift = 0) {
  const std::int64_t size = desc.m * desc.n * desc.batch;
  Buffer<float> a(context, std::int64_t(o.a.size()) + shift), b(context, std::int64_t(o.b.size()) + shift);
  Buffer<float> c(context, size), bias_values(context, desc.n);
  const auto shifted = [&](const std::vector<float>& values) {
    std::vector<float> all(std::size_t(shift), NAN);
    all.insert(all.end(), values.begin(), values.end());
    return all;
  };
  a.upload(shifted(o.a)), b.upload(shifted(o.b));
  std::vector<float> result(std::size_t(size), 3.0f);
  c.upload(result);
  bias_values.upload(std::vector<float>(std::size_t(desc.n), 5.0f));
  GemmPlan plan(context, desc, {.operands = Memory::device, .algorithm = algorithm, .workspace_limit = limit});
  for (int run = 0; run < (beta == 0.0f ? 2 : 1); ++run) {
    if (desc.bias == Bias::none)
      plan.execute(1.0f, a.data() + shift, b.data() + shift, beta, c.data());
    else
      plan.execute(1.0f, a.data() + shift, b.data() + shift, beta, c.data(), bias(bias_values.data()));
  }
  c.download(result);
  return result;
}

std::vector<float> strictly(Context& context, GemmDesc desc, const Operands& o, float beta = 0.0f) {
  desc.compute = Compute::strict;
  return product(context, desc, "naive", o, beta);
}

std::string forced(Compute compute, int tile_n, int split) {
  if (compute == Compute::tf32) return "warpgroup:split=" + std::to_string(split);
  return "warpgroup_f32:compute=" + std::to_string(int(compute)) + ",tile_n=" + std::to_string(tile_n) +
         ",split=" + std::to_string(split);
}

std::vector<int> tiles(Compute compute) {
  if (compute == Compute::bf16x6) return {128, 64};
  return {192, 128, 64};
}

/// Tiles of warpgroup_f32 with and without slices, and of bf16x6 all of skinny_parts, of D as it lies and turned.
std::vector<std::string> ways_of(Compute compute, std::int64_t k) {
  std::vector<std::string> ways;
  for (const int tile_n : tiles(compute))
    for (const int split : {1, 3})
      if (split <= (k + 63) / 64) ways.push_back(forced(compute, tile_n, split));
  if (compute != Compute::bf16x6) return ways;
  for (const char* tile : {"tile=16,width=16", "tile=16,width=32", "tile=32,width=32", "tile=64,width=32"})
    for (const char* rest : {",turned=0,split=1", ",turned=1,split=2", ",turned=0,split=8"})
      ways.push_back(std::string("skinny_parts:") + tile + rest);
  return ways;
}

/// Odd numbers of so many bits, of either sign.
float odd(std::mt19937& random, int bits) {
  const std::int64_t top = std::int64_t(1) << (bits - 1);
  const std::int64_t magnitude = top + std::int64_t(random() % std::uint64_t(top)) / 2 * 2 + 1;
  return float(random() % 2 == 0 ? magnitude : -magnitude);
}

float sign(std::mt19937& random) { return random() % 2 == 0 ? 1.0f : -1.0f; }

const Compute kModes[] = {Compute::bf16x6, Compute::f16x3};

}  // namespace

/// Every partial sum is below 2^24. Of bf16x6's products a wide A needs (0, 0), (1, 0) and (2, 0), a wide B (0, 1) and
/// (0, 2), and two operands of 12 bits (1, 1). Of f16x3's, which has 22 bits, a wide A needs (0, 0) and (1, 0), a wide
/// B (0, 1).
TEST_CASE("products of parts are exact, bit for bit, and none of them can be left out") {
  Context context = open_cuda();
  require_hopper();
  const Compute compute = GENERATE(Compute::bf16x6, Compute::f16x3);
  const int most_bits = compute == Compute::bf16x6 ? 24 : 22;
  std::mt19937 random(7);
  for (const GemmDesc& shape : {GemmDesc{.m = 256, .n = 384, .k = 96}, GemmDesc{.m = 131, .n = 259, .k = 35},
                                GemmDesc{.m = 150, .n = 140, .k = 4099}})
    for (int transposes = 0; transposes < 4; ++transposes) {
      GemmDesc desc = shape;
      desc.compute = compute;
      desc.trans_a = transposes % 2 != 0 ? Transpose::yes : Transpose::no;
      desc.trans_b = transposes / 2 != 0 ? Transpose::yes : Transpose::no;
      // One wide element a line, of 17 bits and more, and a few small ones where that leaves room.
      const auto wide = [&](std::int64_t line, std::int64_t p) {
        const int bits = 17 + int(line % (most_bits - 16));
        if (p == line % desc.k) return odd(random, bits);
        return bits < 23 && p % 16 == 0 ? sign(random) : 0.0f;
      };
      const auto small = [&](std::int64_t, std::int64_t) { return sign(random); };
      const auto twelve = [&](std::int64_t line, std::int64_t p) {
        return p == line % desc.k ? odd(random, 12) : 0.0f;
      };
      std::vector<Operands> cases{stored(desc, wide, small),
                                  stored(desc, small, [&](std::int64_t p, std::int64_t j) { return wide(j, p); })};
      if (compute == Compute::bf16x6)
        cases.push_back(stored(desc, twelve, [&](std::int64_t, std::int64_t) { return odd(random, 12); }));
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::vector<float> expected = strictly(context, desc, cases[i]);
        for (const std::string& way : ways_of(compute, desc.k)) {
          CAPTURE(desc.m, desc.k, transposes, i, way);
          CHECK(product(context, desc, way, cases[i]) == expected);
        }
      }
    }
}

namespace {

/// A B of an A of type T and a B of type U, which have these values.
template <class T, class U>
std::vector<float> mixed_product(Context& context, GemmDesc desc, const std::string& algorithm, const Operands& o) {
  desc.dtype = kDType<T>, desc.dtype_b = kDType<U>;
  const std::vector<T> of_a(o.a.begin(), o.a.end());
  const std::vector<U> of_b(o.b.begin(), o.b.end());
  Buffer<T> a(context, std::int64_t(o.a.size()));
  Buffer<U> b(context, std::int64_t(o.b.size()));
  Buffer<float> c(context, desc.m * desc.n);
  a.upload(of_a), b.upload(of_b);
  GemmPlan(context, desc, {.operands = Memory::device, .algorithm = algorithm}).execute(1.0f, a, b, 0.0f, c);
  std::vector<float> result(std::size_t(desc.m * desc.n));
  c.download(result);
  return result;
}

/// f32 beside the type of 16 bits Narrow, either way: each part of f32 is needed, and the second one of f16.
template <class Narrow>
void check_mixed_parts(Context& context, const GemmDesc& desc) {
  std::mt19937 random(11);
  constexpr int kBits = std::is_same_v<Narrow, float16> ? 11 : 8;
  const auto small = [&](std::int64_t, std::int64_t) { return sign(random); };
  const auto one = [&](int bits) {
    return [&, bits](std::int64_t line, std::int64_t p) { return p == line % desc.k ? odd(random, bits) : 0.0f; };
  };
  const auto wide = [&](std::int64_t line, std::int64_t p) { return one(17 + int(line % 8))(line, p); };
  const auto narrow = [&](std::int64_t, std::int64_t) { return odd(random, kBits); };
  const auto turned = [](auto value) { return [value](std::int64_t p, std::int64_t j) { return value(j, p); }; };
  const auto check = [&]<class T, class U>(T, U, const Operands& o) {
    const std::vector<float> expected = strictly(context, desc, o);
    for (const std::string& way : ways_of(Compute::bf16x6, desc.k)) {
      CAPTURE(name_of(kDType<T>), name_of(kDType<U>), desc.m, desc.k, way);
      CHECK(mixed_product<T, U>(context, desc, way, o) == expected);
    }
  };
  check(float{}, Narrow{}, stored(desc, wide, small));
  check(float{}, Narrow{}, stored(desc, one(24 - kBits), turned(narrow)));
  check(Narrow{}, float{}, stored(desc, small, turned(wide)));
  check(Narrow{}, float{}, stored(desc, narrow, turned(one(24 - kBits))));
}

}  // namespace

TEST_CASE("products of f32 and 16 bits by parts are exact, bit for bit, and no part can be left out") {
  Context context = open_cuda();
  require_hopper();
  for (const GemmDesc& shape : {GemmDesc{.m = 256, .n = 384, .k = 96}, GemmDesc{.m = 131, .n = 259, .k = 35},
                                GemmDesc{.m = 150, .n = 140, .k = 4099}})
    for (int transposes = 0; transposes < 4; ++transposes) {
      GemmDesc desc = shape;
      desc.compute = Compute::bf16x6;
      desc.trans_a = transposes % 2 != 0 ? Transpose::yes : Transpose::no;
      desc.trans_b = transposes / 2 != 0 ? Transpose::yes : Transpose::no;
      check_mixed_parts<bfloat16>(context, desc);
      check_mixed_parts<float16>(context, desc);
    }
}

TEST_CASE("warpgroup_f32 multiplies with every tile, batch, epilogue and number of slices") {
  Context context = open_cuda();
  require_hopper();
  std::mt19937 random(3);
  const auto few = [&](std::int64_t, std::int64_t) { return float(int(random() % 17) - 8); };
  for (const Compute compute : kModes)
    for (const GemmDesc& shape : {GemmDesc{.m = 256, .n = 256, .k = 192}, GemmDesc{.m = 131, .n = 259, .k = 197},
                                  GemmDesc{.m = 2100, .n = 1032, .k = 72}, GemmDesc{.m = 37, .n = 45, .k = 70}})
      for (int variant = 0; variant < 4; ++variant) {
        GemmDesc desc = shape;
        desc.compute = compute;
        desc.trans_a = variant % 2 != 0 ? Transpose::yes : Transpose::no;
        desc.trans_b = variant / 2 != 0 ? Transpose::yes : Transpose::no;
        if (variant == 1) desc.bias = Bias::per_column, desc.activation = Activation::relu;
        if (variant == 2 && desc.m < 1000) desc.batch = 3;
        const Operands o = stored(desc, few, few);
        const std::vector<float> expected = strictly(context, desc, o, -1.0f);
        for (const int tile_n : tiles(compute))
          for (const int split : {1, 3}) {
            if (split > 1 && (desc.m > 1000 || desc.k < 100)) continue;  // for few tiles and whole steps
            CAPTURE(int(compute), desc.m, desc.k, variant, tile_n, split);
            CHECK(product(context, desc, forced(compute, tile_n, split), o, -1.0f) == expected);
          }
      }
}

TEST_CASE("warpgroup_f32 makes parts of panels where the workspace has no room for all") {
  Context context = open_cuda();
  require_hopper();
  std::mt19937 random(3);
  const auto few = [&](std::int64_t, std::int64_t) { return float(int(random() % 17) - 8); };
  for (const Compute compute : kModes)
    for (const std::int64_t batch : {1, 3}) {
      const GemmDesc desc{.m = 1001, .n = 1003, .k = 101, .batch = batch, .compute = compute};
      const Operands o = stored(desc, few, few);
      const std::vector<float> expected = strictly(context, desc, o);
      for (const std::uint64_t limit :
           {std::uint64_t(500) << 10, std::uint64_t(700) << 10, std::uint64_t(1300) << 10}) {
        CAPTURE(int(compute), batch, limit);
        CHECK(product(context, desc, "warpgroup_f32:compute=" + std::to_string(int(compute)), o, 0.0f, limit) ==
              expected);
      }
    }
}

TEST_CASE("warpgroup_f32's bits depend neither on addresses nor on other rows, and are the same in every run") {
  Context context = open_cuda();
  require_hopper();
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  const auto value = [&](std::int64_t, std::int64_t) { return normal(random); };
  for (const Compute compute : kModes)
    for (const int split : {1, 3}) {
      const GemmDesc desc{.m = 300, .n = 264, .k = 520, .compute = compute};
      const Operands o = stored(desc, value, value);
      const auto algorithm = forced(compute, 128, split);
      const std::vector<float> expected = product(context, desc, algorithm, o);
      for (const std::int64_t shift : {0, 1, 2})
        CHECK(product(context, desc, algorithm, o, 0.0f, std::uint64_t(1) << 30, shift) == expected);
    }
}

namespace {

/// The same infinity, NaN for NaN, and numbers to some ten bits.
bool is_near(float x, float y) {
  return std::isnan(y) ? std::isnan(x) : std::isinf(y) ? x == y : std::abs(x - y) <= 0x1p-10f * std::abs(y);
}

}  // namespace

TEST_CASE("numbers that are not finite are what they are in f32") {
  Context context = open_cuda();
  require_hopper();
  std::mt19937 random(9);
  constexpr float kMost = 3.40282347e38f;
  for (const Compute compute : {Compute::bf16x6, Compute::f16x3, Compute::tf32})
    for (int transposes = 0; transposes < 4; ++transposes)
      for (const int split : {1, 2}) {
        GemmDesc desc{.m = 200, .n = 150, .k = 70, .compute = compute};
        desc.trans_a = transposes % 2 != 0 ? Transpose::yes : Transpose::no;
        desc.trans_b = transposes / 2 != 0 ? Transpose::yes : Transpose::no;
        const auto a = [&](std::int64_t i, std::int64_t p) -> float {
          if (i == 3 && p == 5) return INFINITY;
          if (i == 5 && p == 9) return NAN;
          if (i == 7) return 0.0f;  // times infinity
          if (i == 8) return p == 3 ? 0x1.bp100f : 0.0f;
          if (i == 9) return p == 60 ? kMost : 0.0f;
          return float(int(random() % 17) - 8);
        };
        const auto b = [&](std::int64_t p, std::int64_t j) -> float {
          if (p == 7 && j == 11) return -INFINITY;
          if (j == 20) return p == 3 ? -0x1.4p100f : 0.0f;  // overflows against row 8
          if (j == 24) return p == 60 ? 0.5f : 0.0f;        // half of the largest number
          return float(int(random() % 17) - 8);
        };
        const Operands o = stored(desc, a, b);
        const std::vector<float> expected = strictly(context, desc, o);
        std::vector<std::string> ways{forced(compute, 128, split)};
        if (compute == Compute::bf16x6) ways.push_back("skinny_parts:split=" + std::to_string(split));
        for (const std::string& way : ways) {
          const std::vector<float> result = product(context, desc, way, o);
          CAPTURE(way, transposes);
          CHECK(std::ranges::equal(result, expected, is_near));
          CHECK(std::isinf(result[8 * 150 + 20]));
          CHECK(std::isnan(result[7 * 150 + 11]));
        }
      }
}

TEST_CASE("what a product permits is what warpgroup_f32 can be told") {
  Context context = open_cuda();
  require_hopper();
  GemmDesc desc{.m = 256, .n = 256, .k = 256, .compute = Compute::strict};
  const auto plan = [&](const std::string& algorithm) {
    return GemmPlan(context, desc, {.operands = Memory::device, .algorithm = algorithm}).algorithm();
  };
  CHECK_THROWS_AS(plan("warpgroup_f32"), Error);
  CHECK_THROWS_AS(plan("warpgroup"), Error);
  desc.compute = Compute::bf16x6;
  CHECK(plan("warpgroup_f32").find("compute=2") != std::string::npos);
  CHECK_THROWS_AS(plan("warpgroup_f32:compute=3"), Error);
  CHECK_THROWS_AS(plan("warpgroup_f32:compute=4"), Error);
  desc.compute = Compute::f16x3;
  CHECK(plan("warpgroup_f32:compute=2").find("compute=2") != std::string::npos);
  CHECK(plan("warpgroup_f32:compute=3").find("compute=3") != std::string::npos);
  CHECK_THROWS_AS(plan("warpgroup_f32:compute=4"), Error);
  desc.compute = Compute::tf32;
  CHECK(plan("warpgroup_f32:compute=2").find("compute=2") != std::string::npos);
  CHECK_THROWS_AS(plan("warpgroup_f32:compute=4"), Error);
  CHECK(plan("warpgroup").find("compute=4") != std::string::npos);
}

}  // namespace tessera::test
