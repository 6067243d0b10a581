// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What the GEMM algorithms choose by themselves, forced: every tile, with and without slices; and the same bits in
/// every run.

#include "gemm_trial.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

/// Those that multistage has.
template <class T>
Tiles tiles(const GemmDesc&) {
  return {{128, 256}, {128, 128}, {64, 64}};
}
template <>
Tiles tiles<double>(const GemmDesc&) {
  return {{128, 128}, {64, 128}, {64, 64}, {32, 32}};
}
/// Narrow tiles are for a K-major long operand, or for an extent-major one.
template <>
Tiles tiles<float>(const GemmDesc& desc) {
  const bool a_k_major = desc.trans_a == Transpose::no, b_k_major = desc.trans_b == Transpose::yes;
  return {{128, 128}, {128, 64}, {64, 128}, {64, 64}, {32, 64}, {a_k_major ? 64 : 128, 16}, {16, b_k_major ? 64 : 128}};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("multistage multiplies with every tile, transpose, alignment and number of slices", "",
                        ElementTypes) {
  using T = TestType;
  Context context = open_cuda();
  // Full tiles and copies of 16 bytes; partial ones on all sides and rows of 8, 4 and 2 bytes, where T has 16 bits.
  for (const GemmDesc& shape : {GemmDesc{.m = 128, .n = 256, .k = 192}, GemmDesc{.m = 132, .n = 260, .k = 196},
                                GemmDesc{.m = 130, .n = 258, .k = 198}, GemmDesc{.m = 131, .n = 259, .k = 197}})
    for (const Transpose trans_a : {Transpose::no, Transpose::yes})
      for (const Transpose trans_b : {Transpose::no, Transpose::yes}) {
        GemmDesc desc = shape;
        desc.dtype = kDType<T>;
        desc.trans_a = trans_a, desc.trans_b = trans_b;
        const auto a = integers<T>(desc.m * desc.k, 1), b = integers<T>(desc.k * desc.n, 2);
        for (const Bias bias : {Bias::none, Bias::per_column}) {
          desc.bias = bias;
          desc.activation = bias == Bias::none ? Activation::none : Activation::relu;
          const auto expected = Trial<T>(context, desc, "naive", a, b).result();
          for (const auto& [m, n] : tiles<T>(desc))
            for (const int split : {1, 3, 8, 12}) {
              const std::string algorithm = "multistage:tile_m=" + std::to_string(m) + ",tile_n=" + std::to_string(n) +
                                            ",split=" + std::to_string(split);
              CAPTURE(algorithm, desc.k, trans_a == Transpose::yes, trans_b == Transpose::yes, int(bias));
              CHECK(Trial<T>(context, desc, algorithm, a, b).result() == expected);
              if (bias == Bias::none)
                CHECK(Trial<T>(context, desc, algorithm, a, b, 0, Place::beside_c).result() == expected);
            }
        }
      }
}

TEMPLATE_LIST_TEST_CASE("D beside C is what D in C is, whatever computes it", "", ElementTypes) {
  using T = TestType;
  Context context = open_cuda();
  const GemmDesc few{.m = 3, .n = 515, .k = 70, .dtype = kDType<T>},
      small{.m = 13, .n = 16, .k = 9, .dtype = kDType<T>};
  const std::vector<std::pair<std::string, GemmDesc>> cases{
      {"skinny:split=1", few},         {"skinny:split=3", few},       {"small", small},
      {"tiled_shared:tile=16", few},   {"tiled_shared:tile=32", few}, {"naive", few},
      {"peeled:rows=1,columns=2", few}};
  for (const auto& [algorithm, desc] : cases) {
    CAPTURE(algorithm);
    const auto a = integers<T>(desc.m * desc.k, 1), b = integers<T>(desc.k * desc.n, 2);
    CHECK(Trial<T>(context, desc, algorithm, a, b, 0, Place::beside_c).result() ==
          Trial<T>(context, desc, "naive", a, b).result());
  }
}

TEST_CASE("multistage in tf32 multiplies with every tile, transpose, alignment and number of slices") {
  Context context = open_cuda();
  for (const GemmDesc& shape : {GemmDesc{.m = 128, .n = 256, .k = 192}, GemmDesc{.m = 131, .n = 259, .k = 197}})
    for (const Transpose trans_a : {Transpose::no, Transpose::yes})
      for (const Transpose trans_b : {Transpose::no, Transpose::yes}) {
        GemmDesc desc = shape;
        desc.trans_a = trans_a, desc.trans_b = trans_b;
        desc.compute = Compute::tf32;
        const auto a = integers<float>(desc.m * desc.k, 1), b = integers<float>(desc.k * desc.n, 2);
        const auto expected = Trial<float>(context, desc, "naive", a, b).result();
        for (const auto& [m, n] : Tiles{{128, 256}, {128, 128}, {64, 64}})
          for (const int split : {1, 3, 8, 12}) {
            const std::string algorithm = "multistage:tile_m=" + std::to_string(m) + ",tile_n=" + std::to_string(n) +
                                          ",split=" + std::to_string(split) + ",compute=4";
            CAPTURE(algorithm, desc.k, trans_a == Transpose::yes, trans_b == Transpose::yes);
            CHECK(Trial<float>(context, desc, algorithm, a, b).result() == expected);
          }
      }
}

TEST_CASE("tf32 is what a plan says, and never what strict gets") {
  Context context = open_cuda();
  GemmDesc desc{.m = 256, .n = 256, .k = 256, .compute = Compute::strict};
  // 13 significant bits, of which tf32 keeps 11: the nearest number is 1.
  const std::vector<float> a(256 * 256, 1.0f + 0x1p-12f), b(256 * 256, 1.0f);
  const double exact = 2 * 256 * (1 + 0x1p-12) - 3, rounded = 2 * 256 - 3;
  CHECK(Trial<float>(context, desc, "multistage", a, b).result().front() == exact);
  CHECK_THROWS_AS(Trial<float>(context, desc, "multistage:compute=4", a, b), Error);
  desc.compute = Compute::tf32;
  CHECK(Trial<float>(context, desc, "multistage:compute=1", a, b).result().front() == exact);
  CHECK(Trial<float>(context, desc, "multistage:compute=4", a, b).result().front() == rounded);
  const GemmPlan plan(context, desc, {.operands = Memory::device, .algorithm = "multistage:compute=4"});
  CHECK(plan.algorithm().find("compute=4") != std::string::npos);
}

TEMPLATE_TEST_CASE("A and B of 16 bits anywhere: copies of 2 bytes where no wider ones are possible", "", float16,
                   bfloat16) {
  using T = TestType;
  Context context = open_cuda();
  const GemmDesc desc{.m = 128, .n = 128, .k = 128, .dtype = kDType<T>};
  const auto a = integers<T>(desc.m * desc.k, 1), b = integers<T>(desc.k * desc.n, 2);
  std::vector<std::vector<T>> results;
  for (const std::int64_t shift : {0, 1, 2, 4}) {
    Buffer<T> da(context, desc.m * desc.k + shift), db(context, desc.k * desc.n + shift), dc(context, desc.m * desc.n);
    const auto before = static_cast<std::size_t>(shift);
    std::vector<T> shifted_a(before), shifted_b(before), c(static_cast<std::size_t>(desc.m * desc.n));
    shifted_a.insert(shifted_a.end(), a.begin(), a.end());
    shifted_b.insert(shifted_b.end(), b.begin(), b.end());
    da.upload(shifted_a), db.upload(shifted_b);
    GemmPlan plan(context, desc, {.operands = Memory::device, .algorithm = "multistage"});
    plan.execute(1.0f, da.data() + shift, db.data() + shift, 0.0f, dc.data());
    dc.download(c);
    results.push_back(c);
  }
  for (const auto& result : results)
    CHECK(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(T)) == 0);
}

TEST_CASE("multistage transposes columns of op(B) before their product") {
  Context context = open_cuda();
  // All at once; in chunks of 128, the last of which is partial; in chunks that are no multiple of 16 bytes. The second
  // matrix of a batch, too.
  for (const std::int64_t batch : {1, 2})
    for (const std::int64_t columns : {384, 128, 37})
      for (const GemmDesc& shape : {GemmDesc{.m = 128, .n = 384, .k = 192}, GemmDesc{.m = 131, .n = 323, .k = 197}}) {
        GemmDesc desc = shape;
        desc.trans_b = Transpose::yes;
        desc.batch = batch;
        const auto a = integers<float>(desc.m * desc.k * batch, 1), b = integers<float>(desc.k * desc.n * batch, 2);
        const auto expected = Trial<float>(context, desc, "naive", a, b).result();
        for (const auto& [m, n] : tiles<float>(desc)) {
          if (std::min(m, n) == 16) continue;  // transposes one operand at most
          const std::string algorithm = "multistage:tile_m=" + std::to_string(m) + ",tile_n=" + std::to_string(n) +
                                        ",split=1,transpose=" + std::to_string(columns);
          CAPTURE(algorithm, desc.k, batch);
          CHECK(Trial<float>(context, desc, algorithm, a, b, 1 << 20).result() == expected);
        }
      }
}

TEMPLATE_LIST_TEST_CASE("peeled computes rows and columns apart", "", ElementTypes) {
  using T = TestType;
  Context context = open_cuda();
  for (const Transpose trans_a : {Transpose::no, Transpose::yes})
    for (const Transpose trans_b : {Transpose::no, Transpose::yes}) {
      const GemmDesc desc{
          .m = 145, .n = 273, .k = 97, .dtype = kDType<T>, .trans_a = trans_a, .trans_b = trans_b, .batch = 2};
      const auto a = integers<T>(desc.m * desc.k * desc.batch, 1), b = integers<T>(desc.k * desc.n * desc.batch, 2);
      const auto expected = Trial<T>(context, desc, "naive", a, b).result();
      for (const auto& [rows, columns] : {std::pair(0, 1), std::pair(2, 0), std::pair(1, 16), std::pair(16, 5)}) {
        const std::string algorithm = "peeled:rows=" + std::to_string(rows) + ",columns=" + std::to_string(columns);
        CAPTURE(algorithm, trans_a == Transpose::yes, trans_b == Transpose::yes);
        CHECK(Trial<T>(context, desc, algorithm, a, b).result() == expected);
      }
    }
}

TEST_CASE("a hundred runs give the same bits") {
  struct Case {
    GemmDesc desc;
    const char* algorithm;
  };
  const Case c = GENERATE(
      Case{{.m = 256, .n = 256, .k = 4096}, "multistage:split=8"},
      Case{{.m = 256, .n = 256, .k = 4096}, "multistage:split=24"}, Case{{.m = 1000, .n = 1000, .k = 1000}, ""},
      Case{{.m = 4, .n = 3000, .k = 5000}, "skinny:split=5"}, Case{{.m = 30, .n = 31, .k = 500}, "small"});
  Context context = open_cuda();
  Trial<float> trial(context, c.desc, c.algorithm, fractions(c.desc.m * c.desc.k, 1),
                     fractions(c.desc.k * c.desc.n, 2));
  const auto first = trial.result();
  for (int run = 1; run < 100; ++run) REQUIRE(trial.result() == first);
}

}  // namespace tessera::test
