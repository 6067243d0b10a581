// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Cases by their names: those that the suite has, and those of the command line.

#include "cases.hpp"
#include "check.hpp"
#include "random_problems.hpp"
#include "taps.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

using namespace tessera;
using namespace tessera::perf;
using Catch::Matchers::ContainsSubstring;

namespace {

Problem resolved(const Case& c) {
  REQUIRE(c.kinds.size() == 1);
  return resolve(c, c.kinds.front());
}
std::string product(const std::string& text) { return resolved(gemm_case(text)).label(); }
std::string stencil(const std::string& text) { return resolved(stencil_case(text)).label(); }

auto tied(const GemmShape& g) {
  return std::tie(g.m, g.n, g.k, g.trans_a, g.trans_b, g.lda, g.ldb, g.ldc, g.batch, g.stride_a, g.stride_b, g.stride_c,
                  g.bias, g.activation, g.alpha, g.beta);
}
auto tied(const StencilShape& s) { return std::tie(s.pattern, s.rank, s.radius, s.extents, s.boundary, s.steps); }
auto tied(const SystemShape& s) { return std::tie(s.model, s.order, s.varying, s.sponge, s.rank, s.extents, s.steps); }

/// What the text is refused with.
std::string refusal(const std::function<std::string(const std::string&)>& read, const std::string& text) {
  try {
    return "accepted as " + read(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

struct Refused {
  const char* text;
  const char* message;
};

}  // namespace

TEST_CASE("the names of all cases are texts of the same cases") {
  const auto check = [](const std::vector<Case>& cases, const auto& read, const auto shape,
                        const std::string& group = "") {
    REQUIRE_FALSE(cases.empty());
    for (const Case& c : cases)
      for (const Kind& kind : c.kinds) {
        const Problem p = resolve(c, kind), again = resolved(read(c.problem.name + "/" + kind.name()));
        CAPTURE(p.label());
        CHECK(group + again.name == p.name);
        CHECK(tied(again.*shape) == tied(p.*shape));
        CHECK(again.footprint() == p.footprint());
        CHECK(uncheckable(again) == "");
      }
  };
  check(gemm_cases(), gemm_case, &Problem::gemm);
  check(stencil_cases(), stencil_case, &Problem::stencil);
  check(system_cases(), system_case, &Problem::system);
  check(layer_cases(), gemm_case, &Problem::gemm, "layers_");
  check(random_cases(true, 1, 100), gemm_case, &Problem::gemm, "random-aligned_");
  check(random_cases(false, 1, 100), gemm_case, &Problem::gemm, "random-odd_");
}

TEST_CASE("layers have all numbers of tokens, weights by rows, and what models add") {
  using Counts = std::array<int, 3>;  // of products, of biases, of gelu by tanh
  std::map<std::int64_t, Counts> counts, wanted;
  for (const std::int64_t tokens : {1, 16, 32, 64, 197, 256, 333, 1024, 4096, 8192}) wanted[tokens] = {43, 12, 3};
  for (const Case& c : layer_cases())
    if (const GemmShape& g = c.problem.gemm; g.batch == 1) {
      CHECK((!g.trans_a && g.trans_b && g.ldb == g.k));
      Counts& own = counts[g.m];
      ++own[0], own[1] += g.bias != TESSERA_BIAS_NONE, own[2] += g.activation == TESSERA_ACTIVATION_GELU_TANH;
    }
  CHECK(counts == wanted);
}

TEST_CASE(
    "random products are those of their seed and type, within their bounds, with the shares that they shall have") {
  constexpr std::int64_t kCount = 400;
  const auto of_type = [](const std::vector<Case>& cases, const char* kind) {
    std::vector<std::string> names;
    for (const Case& c : cases)
      if (c.kinds.front().name() == kind) names.push_back(c.problem.name);
    return names;
  };
  for (const bool aligned : {true, false}) {
    const std::vector<Case> cases = random_cases(aligned, 7, kCount);
    std::map<std::string, int> transposes;
    std::int64_t padded = 0, added = 0, biased = 0;
    for (const Case& c : cases) {
      const GemmShape& g = c.problem.gemm;
      CAPTURE(c.problem.name);
      const auto bytes = std::int64_t(size_of(c.kinds.front().dtype));
      CHECK((g.lda * bytes % 16 == 0 && g.ldb * bytes % 16 == 0 && g.ldc * bytes % 16 == 0) == aligned);
      CHECK((std::min({g.m, g.n, g.k}) >= 16 && std::max({g.m, g.n, g.k}) <= 10000));
      CHECK(2.0 * double(g.m) * double(g.n) * double(g.k) <= 0x1p40);
      ++transposes[{g.trans_a ? 'T' : 'N', g.trans_b ? 'T' : 'N'}];
      padded += g.ldc > g.n, added += g.beta == 1.0f, biased += g.bias != TESSERA_BIAS_NONE;
    }
    // Counts of 1600 draws: off by less than five standard deviations, of 20 at most.
    const auto near = [&](std::int64_t count, double share) { return std::abs(double(count) - 1600 * share) < 100; };
    REQUIRE(cases.size() == 4 * kCount);
    for (const auto& [pair, count] : transposes) CHECK(near(count, 0.25));
    CHECK((transposes.size() == 4 && near(added, 0.5) && near(biased, 0.2)));
    if (aligned) CHECK(near(padded, 0.25));
    // Another seed, another count: other problems, and the same ones to begin with.
    const std::vector<std::string> f16 = of_type(cases, "f16");
    CHECK(of_type(random_cases(aligned, 8, kCount), "f16") != f16);
    const std::vector<std::string> few = of_type(random_cases(aligned, 7, 3), "f16");
    CHECK(few == std::vector(f16.begin(), f16.begin() + 3));
    CHECK(of_type(cases, "bf16") != f16);
  }
}

TEST_CASE("products of the command line") {
  CHECK(product("64") == "gemm/64/f32");
  CHECK(product("512x32000x4096:TN:f32") == "gemm/512x32000x4096_TN/f32");
  CHECK(product("16x16x16x1000:f64") == "gemm/16_batch1000/f64");
  CHECK(product("16:batch1000:f64") == "gemm/16_batch1000/f64");
  CHECK(product("8x4x2:NN:bf16->f32:bias") == "gemm/8x4x2_bias/bf16->f32");
  CHECK(product("8:tf32:gelu_tanh:ld+7:TT") == "gemm/8_ld+7_TT_bias_gelu_tanh/tf32");
  CHECK(product("8:gelu") == "gemm/8_bias_gelu/f32");
  CHECK(product("8:bias:silu:bf16x6") == "gemm/8_bias_silu/bf16x6");
  CHECK(product("random-odd_8_TT_beta1_bias/f64") == "gemm/8_TT_beta1_bias/f64");
  CHECK(product("64:NT:f32*bf16+bf16x6") == "gemm/64_NT/f32*bf16+bf16x6");
  CHECK(product("8:f32*f64") == "gemm/8/f32*f64");
  const GemmShape g = gemm_case("3x5x7x2:TN:ld+2").problem.gemm;
  CHECK(tied(g) == tied({3, 5, 7, true, false, 5, 7, 7, 2, 35, 49, 21}));
}

TEST_CASE("stencils of the command line") {
  CHECK(stencil("3d_star_r4:512x512x4096:nearest:f64") == "stencil/3d_star_r4_512x512x4096_nearest/f64");
  CHECK(stencil("2d_box_r2:100:steps=20") == "stencil/2d_box_r2_100^2_fixed_steps20/f32");
  CHECK(stencil("1d_derivative_r3:1024:bf16:mirror") == "stencil/1d_derivative_r3_2^10_mirror/bf16");
  CHECK(stencil("1d_star_r1:2^20") == "stencil/1d_star_r1_2^20_fixed/f32");
  CHECK(stencil("1d_box_r16:3^2:constant") == "stencil/1d_box_r16_9_constant/f32");
  CHECK(stencil("3d:star:r1:64x64x64:reflect:f16") == "stencil/3d_star_r1_64^3_reflect/f16");
}

TEST_CASE("systems by the names of their rows") {
  const SystemShape wave = system_case("wave_o8_c2_sponge_512^3_steps24").problem.system;
  CHECK(tied(wave) == tied({Model::wave, 8, true, true, 3, {512, 512, 512}, 24}));
  CHECK(tied(system_case("gray_scott_64x32").problem.system) ==
        tied({Model::gray_scott, 8, false, false, 2, {1, 64, 32}, 1}));
  CHECK_THAT(refusal([](const std::string& text) { return resolved(system_case(text)).label(); }, "waves_512^3"),
             ContainsSubstring("'waves': no model of a system"));
}

TEST_CASE("a text that is no product is refused with the piece that is wrong") {
  const Refused rows[] = {
      {"", "'': an empty field"},
      {"64::f32", "'64::f32': an empty field"},
      {"512x0x4096", "'512x0x4096': n must be a whole number from 1 to 2147483647, not '0'"},
      {"-5", "'-5': a size must be a whole number from 1 to 2147483647"},
      {"4x4x4x99999999999999999999", "the batch must be a whole number from 1 to 2147483647"},
      {"64.5", "'64.5': a size must be"},
      {"64x64", "'64x64': no size: N, MxNxK or MxNxKxBATCH"},
      {"1x2x3x4x5", "no size"},
      {"TN:64", "'TN': a size must be"},
      {"64:tn", "'tn': no option of a product"},
      {"64:none", "'none': no option"},
      {"64:bf16-", "'bf16-': no option"},
      {"64:f32:f64", "'f64': a second type"},
      {"64:beta1:beta1", "'beta1': a second beta"},
      {"layers", "'layers': a size must be"},
      {"64:TN:TN", "'TN': a second pair of transposes"},
      {"64:relu:gelu", "'gelu': a second activation"},
      {"4x4x4x2:batch3", "'batch3': a second batch"},
      {"64:ld+", "'ld+': what follows ld+ must be a whole number"},
      {"64:ld+0", "from 1 to"},
      {"2147483000:ld+2000", "'ld+2000': rows must be at most 2147483647 elements apart"},
      {"2147483647x2147483647x1:f64", "'D': 3.69e+19 bytes, and an operand may have 4.61e+18 (2^62)"},
      {"1x2147483647x2147483647:f64", "'B': 3.69e+19 bytes"},
  };
  for (const Refused& row : rows) CHECK_THAT(refusal(product, row.text), ContainsSubstring(row.message));
}

TEST_CASE("a text that is no stencil is refused with the piece that is wrong") {
  const Refused rows[] = {
      {"2d_star_r1", "'2d_star_r1': a stencil has a rank, a pattern, a radius and extents"},
      {"4d_star_r1:8", "'4d': no rank: 1d, 2d, 3d"},
      {"2d_cross_r1:8", "'cross': no pattern: star, box, derivative"},
      {"2d_derivative_r1:8", "'derivative': a pattern of 1d alone"},
      {"2d_star_1:8", "'1': no radius: r1 to r64"},
      {"2d_star_r0:8", "'r0': a radius must be a whole number from 1 to 64"},
      {"2d_star_r65:8", "'r65': a radius must be a whole number from 1 to 64"},
      {"3d_star_r1:8x8", "'8x8': 2 extents, and 3d has one or 3"},
      {"3d_star_r1:8x0x8", "'8x0x8': an extent must be a whole number from 1 to 1099511627776, not '0'"},
      {"3d_star_r1:8^2", "'8^2': 3d has N^3"},
      {"1d_star_r1:2^60", "'2^60': what follows ^"},
      {"1d_star_r1:8^20", "'8^20': an extent is at most 1099511627776"},
      {"2d_star_r1:8:halo", "'halo': the suite's fields have no ghost points"},
      {"2d_star_r1:8:wrap", "'wrap': no option of a stencil"},
      {"2d_star_r1:8:tf32", "'tf32': a type of products alone"},
      {"2d_star_r1:8:fixed:periodic", "'periodic': a second boundary"},
      {"2d_star_r1:8:steps=0", "'steps=0': what follows steps must be a whole number from 1 to 1000000000"},
      {"2d_star_r1:8:steps=2:steps3", "'steps3': a second number of steps"},
      {"3d_star_r1:1099511627776", "'the field':"},
  };
  for (const Refused& row : rows) CHECK_THAT(refusal(stencil, row.text), ContainsSubstring(row.message));
}

TEST_CASE("steps whose result cannot be checked are refused with how many can") {
  const auto reason = [](const char* text) { return uncheckable(resolved(stencil_case(text))); };
  CHECK(reason("3d_star_r4:512:steps=20") == "");
  CHECK(reason("1d_derivative_r4:512") == "");
  CHECK_THAT(reason("1d_derivative_r4:512:steps=2"), ContainsSubstring("it has one"));
  CHECK(reason("2d_star_r1:512:bf16:steps=15") == "");
  CHECK_THAT(reason("2d_star_r1:512:bf16:steps=16"), ContainsSubstring("more than 15 steps in bf16"));
  CHECK_THAT(reason("3d_star_r4:512:steps=40"), ContainsSubstring("or in multiples of 50 up to"));
  CHECK(reason("3d_star_r4:512:steps=50") == "");
  CHECK_THAT(reason("3d_star_r4:512:steps=5000"), ContainsSubstring("or in multiples of 50 up to"));
}

TEST_CASE("taps of any radius") {
  std::size_t compiled = 0;
  for (const Pattern pattern : {Pattern::star, Pattern::box, Pattern::derivative, Pattern::product})
    for (int rank = 1; rank <= (pattern == Pattern::derivative ? 1 : 3); ++rank)
      for (int radius = 1; radius <= 8; ++radius) {
        StencilShape shape;
        shape.pattern = pattern, shape.rank = rank, shape.radius = radius;
        const std::vector<ConstantTap> taps = taps_of(shape);
        double magnitude = 0.0, slope = 0.0;
        for (const ConstantTap& tap : taps) {
          magnitude += std::abs(tap.coefficient);
          slope += tap.coefficient * tap.x;
          CHECK(std::max({std::abs(tap.x), std::abs(tap.y), std::abs(tap.z)}) <= radius);
        }
        CHECK((pattern == Pattern::derivative ? slope : magnitude) == Catch::Approx(1.0).epsilon(1e-12));
        with_shape(shape, [&]<Pattern kPattern, int kRank, int kRadius>() {
          ++compiled;
          const auto same = constant_taps<kPattern, kRank, kRadius>();
          REQUIRE(same.size() == taps.size());
          for (std::size_t t = 0; t < taps.size(); ++t)
            CHECK(std::tie(same[t].z, same[t].y, same[t].x, same[t].coefficient) ==
                  std::tie(taps[t].z, taps[t].y, taps[t].x, taps[t].coefficient));
        });
      }
  CHECK(compiled == 17);
  const double published[] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  for (int k = 1; k <= 4; ++k) CHECK(derivative_coefficient(k, 4) == published[k - 1]);
  CHECK(derivative_coefficient(1, 1) == 0.5);
}
