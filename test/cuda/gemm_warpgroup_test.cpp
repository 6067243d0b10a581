// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The algorithm warpgroup, forced: every tile, cluster, number of slices, way to copy operands; and the same bits at
/// every address.

#include "gemm_trial.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

/// A product that warpgroup computes: of f32 in tf32.
template <class T>
GemmDesc for_warpgroup(GemmDesc desc) {
  desc.dtype = kDType<T>;
  if (sizeof(T) == sizeof(Scalar<T>)) desc.compute = Compute::tf32;
  return desc;
}

/// Whole tiles; partial ones on all sides; rows that are copied; more tiles than the device has multiprocessors; and a
/// bias and an activation.
const GemmDesc kWarpgroupShapes[] = {
    {.m = 256, .n = 256, .k = 192},
    {.m = 136, .n = 264, .k = 200},
    {.m = 131, .n = 259, .k = 197},
    {.m = 2100, .n = 1032, .k = 72},
    {.m = 136, .n = 264, .k = 200, .bias = Bias::per_column, .activation = Activation::relu},
    {.m = 131, .n = 131, .k = 197, .bias = Bias::per_row, .activation = Activation::relu}};

/// A tile of the product as a parameter, which is about D. Products of 16 bits are turned, and some in tf32: D^T is
/// computed.
std::string tile_of(const GemmDesc& desc, int m, int n) {
  const bool wide_m = desc.trans_a == Transpose::yes && desc.m > desc.n;
  const bool turned = desc.compute != Compute::tf32 || (desc.trans_b == Transpose::no && !wide_m);
  return "tile_m=" + std::to_string(turned ? n : m) + ",tile_n=" + std::to_string(turned ? m : n);
}

}  // namespace

TEMPLATE_TEST_CASE("warpgroup multiplies with every tile, transpose, distance of rows, cluster and number of slices",
                   "", float16, bfloat16, float) {
  using T = TestType;
  Context context = open_cuda();
  require_hopper();
  struct Way {
    std::string parameters;
    bool few_tiles;  ///< for few tiles alone
  };
  // Tiles alone; in clusters that share A, B and both; slices of k in a cluster, and through the workspace.
  const std::vector<Way> ways{{"cluster_m=1,cluster_n=1,split=1", false}, {"cluster_m=2,cluster_n=1,split=1", false},
                              {"cluster_m=1,cluster_n=2,split=1", false}, {"cluster_m=2,cluster_n=2,split=1", false},
                              {"cluster_m=4,cluster_n=1,split=1", false}, {"cluster_m=1,cluster_n=4,split=1", false},
                              {"cluster_m=4,cluster_n=2,split=1", false}, {"cluster_k=3,split=3", true},
                              {"cluster_m=1,cluster_k=1,split=3", true}};
  for (const GemmDesc& shape : kWarpgroupShapes)
    for (const Transpose trans_a : {Transpose::no, Transpose::yes})
      for (const Transpose trans_b : {Transpose::no, Transpose::yes}) {
        GemmDesc desc = for_warpgroup<T>(shape);
        desc.trans_a = trans_a, desc.trans_b = trans_b;
        const auto a = integers<T>(desc.m * desc.k, 1), b = integers<T>(desc.k * desc.n, 2);
        const Place places[] = {Place::in_c, Place::beside_c, Place::without_c};
        std::vector<std::vector<double>> expected;
        for (const Place place : places) expected.push_back(Trial<T>(context, desc, "naive", a, b, 0, place).result());
        for (const auto& [m, n] : Tiles{{128, 256}, {128, 192}, {128, 128}, {64, 128}, {64, 64}})
          for (const Way& way : ways) {
            if (way.few_tiles && desc.m > 1000) continue;
            const std::string algorithm = "warpgroup:" + tile_of(desc, m, n) + "," + way.parameters;
            CAPTURE(algorithm, desc.m, desc.k, trans_a == Transpose::yes, trans_b == Transpose::yes);
            for (std::size_t i = 0; i < expected.size(); ++i) {
              if (desc.bias != Bias::none && places[i] != Place::beside_c) continue;
              CHECK(Trial<T>(context, desc, algorithm, a, b, 0, places[i]).result() == expected[i]);
            }
          }
      }
}

TEMPLATE_TEST_CASE("warpgroup's tiles have any multiple of eight rows of D", "", float16, bfloat16) {
  using T = TestType;
  Context context = open_cuda();
  require_hopper();
  for (const Transpose trans_a : {Transpose::no, Transpose::yes})
    for (const std::int64_t n : {264, 259})
      for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
        const std::int64_t k = bias == Bias::none ? 2056 : 136;
        const GemmDesc desc{.m = 261, .n = n, .k = k, .dtype = kDType<T>, .trans_a = trans_a, .bias = bias};
        const auto a = integers<T>(desc.m * desc.k, 1), b = integers<T>(desc.k * desc.n, 2);
        const auto expected = Trial<T>(context, desc, "naive", a, b, 0, Place::beside_c).result();
        for (int columns = 8; columns <= 256; columns += 8)
          for (const int rows : {64, 128})
            for (const std::string slices : {"split=1", "split=2,cluster_k=2", "split=2,cluster_k=1"}) {
              // Slices are for few tiles.
              if (slices != "split=1" && (264 / columns + 1) * (264 / rows + 1) > 64) continue;
              const std::string algorithm = "warpgroup:" + tile_of(desc, rows, columns) + "," + slices;
              CAPTURE(algorithm, n, trans_a == Transpose::yes);
              CHECK(Trial<T>(context, desc, algorithm, a, b, 0, Place::beside_c).result() == expected);
            }
      }
}

/// Alone, by slices in clusters, by clusters that share operands, with a tail; rests of boxes, and of D in one.
TEMPLATE_TEST_CASE("warpgroup computes D of 16 bits as it lies", "", float16, bfloat16) {
  using T = TestType;
  Context context = open_cuda();
  require_hopper();
  const auto check = [&](GemmDesc desc, const std::vector<std::string>& ways) {
    desc.dtype = kDType<T>, desc.trans_b = Transpose::yes;
    for (const Transpose trans_a : {Transpose::yes, Transpose::no}) {
      if (desc.trans_a = trans_a; trans_a == Transpose::no) desc.m = desc.m - 3;
      const auto a = integers<T>(desc.m * desc.k * desc.batch, 1), b = integers<T>(desc.k * desc.n * desc.batch, 2);
      for (const Place place : {Place::in_c, Place::beside_c, Place::without_c}) {
        if (desc.bias != Bias::none && place != Place::beside_c) continue;
        const auto expected = Trial<T>(context, desc, "naive", a, b, 0, place).result();
        for (const std::string& way : ways) {
          CAPTURE(way, desc.m, desc.n, trans_a == Transpose::yes);
          CHECK(Trial<T>(context, desc, "warpgroup:turned=0," + way, a, b, 0, place).result() == expected);
        }
      }
    }
  };
  std::vector<std::string> ways;
  for (const std::string rows : {"64", "128"})
    for (int n = 8; n <= 256; n += 8)
      for (const std::string slices : {"split=1", "split=2,cluster_k=2"})  // which are for few tiles
        if (n > 32 || slices == "split=1")
          ways.push_back("tile_m=" + rows + ",tile_n=" + std::to_string(n) + "," + slices);
  check({.m = 200, .n = 264, .k = 136}, ways);
  for (const Bias bias : {Bias::per_row, Bias::per_column})
    check({.m = 136, .n = 328, .k = 72, .batch = 3, .bias = bias, .activation = Activation::relu},
          {"tile_m=64,tile_n=80,split=1", "tile_m=128,tile_n=144,cluster_m=2", "tile_m=128,tile_n=256,cluster_n=2"});
  check({.m = 2104, .n = 1032, .k = 520}, {"tail=2,tile_m=128,tile_n=136,cluster_m=1,cluster_n=1",
                                           "tail=2,tile_m=64,tile_n=128,cluster_m=2,cluster_n=1"});
}

TEMPLATE_TEST_CASE("warpgroup computes the tiles that are left over in slices", "", bfloat16, float) {
  using T = TestType;
  Context context = open_cuda();
  require_hopper();
  for (const Transpose trans : {Transpose::no, Transpose::yes})
    for (const std::int64_t n : {1032, 1031}) {
      const GemmDesc desc = for_warpgroup<T>({.m = 2100, .n = n, .k = 520, .trans_a = trans, .trans_b = trans});
      const auto a = integers<T>(desc.m * desc.k, 1), b = integers<T>(desc.k * desc.n, 2);
      for (const Place place : {Place::in_c, Place::without_c}) {
        const auto expected = Trial<T>(context, desc, "naive", a, b, 0, place).result();
        for (const auto& [tile_m, tile_n] : Tiles{{128, 128}, {64, 128}, {64, 64}})
          for (const std::string cluster : {"cluster_m=1,cluster_n=1", "cluster_m=2,cluster_n=1"}) {
            const std::string algorithm = "warpgroup:tail=2," + tile_of(desc, tile_m, tile_n) + "," + cluster;
            CAPTURE(algorithm, desc.n, trans == Transpose::yes);
            CHECK(Trial<T>(context, desc, algorithm, a, b, 0, place).result() == expected);
          }
      }
    }
}

TEMPLATE_TEST_CASE("warpgroup copies panels where the workspace has no room for all", "", bfloat16, float) {
  using T = TestType;
  Context context = open_cuda();
  require_hopper();
  for (const Transpose trans_a : {Transpose::no, Transpose::yes})
    for (const Transpose trans_b : {Transpose::no, Transpose::yes})
      for (const std::int64_t m : {1001, 1005}) {
        const GemmDesc desc = for_warpgroup<T>({.m = m, .n = 1003, .k = 101, .trans_a = trans_a, .trans_b = trans_b});
        const auto a = integers<T>(desc.m * desc.k, 1), b = integers<T>(desc.k * desc.n, 2);
        const auto expected = Trial<T>(context, desc, "naive", a, b).result();
        for (const std::uint64_t limit : {std::uint64_t(75000), std::uint64_t(150000), std::uint64_t(0)}) {
          CAPTURE(m, trans_a == Transpose::yes, trans_b == Transpose::yes, limit);
          CHECK(Trial<T>(context, desc, "warpgroup", a, b, limit * sizeof(T)).result() == expected);
        }
      }
}

TEMPLATE_TEST_CASE("warpgroup's bits do not depend on addresses", "", bfloat16, float) {
  using T = TestType;
  Context context = open_cuda();
  require_hopper();
  // One step of k a stage, and two, of which the last stage has one.
  for (const auto& [rows, columns] : Tiles{{128, 256}, {64, 64}, {64, 128}})
    for (const Transpose trans_a : {Transpose::no, Transpose::yes})
      for (const Transpose trans_b : {Transpose::no, Transpose::yes}) {
        const GemmDesc desc = for_warpgroup<T>({.m = 300, .n = 264, .k = 520, .trans_a = trans_a, .trans_b = trans_b});
        std::vector<T> a, b;
        for (const float v : fractions(desc.m * desc.k, 1)) a.push_back(T(v));
        for (const float v : fractions(desc.k * desc.n, 2)) b.push_back(T(v));
        const std::string algorithm = "warpgroup:" + tile_of(desc, rows, columns);
        GemmPlan plan(context, desc, {.operands = Memory::device, .algorithm = algorithm});
        const auto result = [&](std::size_t from_a, std::size_t from_b) {
          Buffer<T> device_a(context, std::int64_t(a.size() + 8)), device_b(context, std::int64_t(b.size() + 8));
          Buffer<T> device_d(context, desc.m * desc.n);
          std::vector<T> all_a(a.size() + 8), all_b(b.size() + 8), d(std::size_t(desc.m * desc.n));
          std::ranges::copy(a, all_a.begin() + std::ptrdiff_t(from_a));
          std::ranges::copy(b, all_b.begin() + std::ptrdiff_t(from_b));
          device_a.upload(all_a), device_b.upload(all_b);
          plan.execute(1.0f, device_a.data() + from_a, device_b.data() + from_b, 0.0f, device_d.data());
          device_d.download(d);
          std::vector<double> values;
          for (const T value : d) values.push_back(double(wide(value)));
          return values;
        };
        const auto expected = result(0, 0);
        CAPTURE(algorithm, trans_a == Transpose::yes, trans_b == Transpose::yes);
        CHECK(result(1, 0) == expected);
        CHECK(result(0, 3) == expected);
        CHECK(result(4, 7) == expected);
        if (sizeof(T) == 4 || trans_a == Transpose::yes || trans_b == Transpose::no) continue;
        plan = GemmPlan(context, desc, {.operands = Memory::device, .algorithm = "warpgroup:turned=0"});
        CHECK(result(1, 3) == result(0, 0));
      }
}

}  // namespace tessera::test
