// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Pure functions inside the core: what the environment holds, which processor this is, which backend runs.

#include "dispatch/cpu_level.hpp"
#include "dispatch/environment.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/selection.hpp"

#include "process.hpp"
#include "processor.hpp"

#include <tessera/plugin/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tessera::test {

using namespace tessera::core;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

/// The message of the plugin::Error with that status that `body` must throw.
template <class Body>
std::string refusal(tessera_status status, Body&& body) {
  try {
    body();
  } catch (const plugin::Error& error) {
    INFO(error.what());
    CHECK(error.status() == status);
    return error.what();
  }
  FAIL_CHECK("nothing was thrown");
  return "";
}

}  // namespace

TEST_CASE("backend specifications", "[environment]") {
  CHECK(parse_backend("", "V").name == "");
  CHECK(parse_backend("auto", "V").name == "");
  CHECK(parse_backend("cpu", "V").name == "cpu");
  CHECK(parse_backend("cpu", "V").device == -1);
  CHECK(parse_backend("kokkos-cuda:3", "V").name == "kokkos-cuda");
  CHECK(parse_backend("kokkos-cuda:3", "V").device == 3);
  for (const char* bad : {":", ":0", "cpu:", "cpu:x", "cpu:-1", "cpu:1x", "cpu: 1", " cpu", "cpu ", "c pu", "auto:0",
                          "cpu:0:1", "../cpu", "cpu,cuda", "cpu:99999999999"}) {
    INFO("'" << bad << "'");
    const std::string message = refusal(TESSERA_INVALID_ARGUMENT, [&] { parse_backend(bad, "TESSERA_BACKEND"); });
    CHECK_THAT(message, ContainsSubstring("TESSERA_BACKEND") && ContainsSubstring(bad));
  }
}

TEST_CASE("algorithm specifications", "[environment]") {
  CHECK(parse_algorithm("", "V", false).name == "");
  const AlgorithmSpec full = parse_algorithm("cuda/tiled_shared:tile=32,stages=-3", "V", true);
  CHECK(full.backend == "cuda");
  CHECK(full.name == "tiled_shared");
  CHECK(full.from_code);
  CHECK(full.parameters == std::vector<std::pair<std::string, std::int64_t>>{{"tile", 32}, {"stages", -3}});
  CHECK(parse_algorithm("simple", "V", false).backend == "");
  for (const char* bad : {"/", "a/", "/a", "a:", "a:b", "a:b=", "a:=1", "a:b=1,", "a:b=1,,c=2", "a:b=1.5", "a:b=0x8",
                          "a b", "a:b=1,b=1", "a/b/c", "a:b=9223372036854775808"}) {
    INFO("'" << bad << "'");
    const std::string message =
        refusal(TESSERA_INVALID_ARGUMENT, [&] { parse_algorithm(bad, "TESSERA_GEMM_ALGORITHM", false); });
    CHECK_THAT(message, ContainsSubstring("TESSERA_GEMM_ALGORITHM") && ContainsSubstring(bad));
  }
}

TEST_CASE("arithmetic by its name", "[environment]") {
  CHECK(parse_compute("", "V") == TESSERA_COMPUTE_STRICT);
  CHECK(parse_compute("strict", "V") == TESSERA_COMPUTE_STRICT);
  CHECK(parse_compute("bf16x6", "V") == TESSERA_COMPUTE_BF16X6);
  CHECK(parse_compute("f16x3", "V") == TESSERA_COMPUTE_F16X3);
  CHECK(parse_compute("tf32", "V") == TESSERA_COMPUTE_TF32);
  for (const char* bad : {"default", "TF32", " tf32", "tf32 ", "4", "fast", "strict,tf32"})
    CHECK_THAT(refusal(TESSERA_INVALID_ARGUMENT, [&] { parse_compute(bad, "V"); }),
               ContainsSubstring("V = '" + std::string(bad) + "'") && ContainsSubstring("strict, bf16x6, f16x3, tf32"));
}

TEST_CASE("numbers and paths", "[environment]") {
  CHECK(parse_number("", "V", 1, 9, 4) == 4);
  CHECK(parse_number("1", "V", 1, 9, 4) == 1);
  CHECK(parse_number("9", "V", 1, 9, 4) == 9);
  for (const char* bad : {"0", "10", "-1", "x", "1x", " 1", "1 ", "1e1", "99999999999999999999"}) {
    INFO("'" << bad << "'");
    CHECK_THAT(refusal(TESSERA_INVALID_ARGUMENT, [&] { parse_number(bad, "V", 1, 9, 4); }),
               ContainsSubstring("V") && ContainsSubstring(bad) && ContainsSubstring("[1, 9]"));
  }
  CHECK(parse_path("").empty());
  CHECK(parse_path(":::").empty());
  CHECK(parse_path("/a:/b c::d:") == std::vector<std::string>{"/a", "/b c", "d"});
}

TEST_CASE("variables are read when they are needed", "[environment]") {
  const ScopedVariable backend("TESSERA_BACKEND", "cpu-v3:0"), gemm("TESSERA_GEMM_ALGORITHM", "cpu/eigen");
  const ScopedVariable stencil("TESSERA_STENCIL_ALGORITHM", std::nullopt), threads("TESSERA_NUM_THREADS", "3");
  CHECK(environment_backend().name == "cpu-v3");
  CHECK(environment_backend().source == "TESSERA_BACKEND");
  CHECK(environment_algorithm(TESSERA_OP_GEMM).name == "eigen");
  CHECK(environment_algorithm(TESSERA_OP_STENCIL).name == "");
  CHECK(environment_threads() == 3);
  for (const char* bad : {"0", "-2", "many", "2000000000"}) {
    const ScopedVariable wrong("TESSERA_NUM_THREADS", bad);
    CHECK_THAT(refusal(TESSERA_INVALID_ARGUMENT, [] { environment_threads(); }),
               ContainsSubstring("TESSERA_NUM_THREADS"));
  }
  const ScopedVariable verbose("TESSERA_VERBOSE", "3");
  CHECK_THAT(refusal(TESSERA_INVALID_ARGUMENT, [] { environment_verbose(); }), ContainsSubstring("TESSERA_VERBOSE"));
}

TEST_CASE("instruction set levels from CPUID", "[cpu]") {
  // Bits by the Intel manual's numbers; levels as the x86-64 psABI defines them.
  constexpr std::uint32_t sse3 = 1u << 0, ssse3 = 1u << 9, fma = 1u << 12, cx16 = 1u << 13, sse41 = 1u << 19,
                          sse42 = 1u << 20, movbe = 1u << 22, popcnt = 1u << 23, osxsave = 1u << 27, avx = 1u << 28,
                          f16c = 1u << 29;
  constexpr std::uint32_t bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8, avx512f = 1u << 16, avx512dq = 1u << 17,
                          avx512cd = 1u << 28, avx512bw = 1u << 30, avx512vl = 1u << 31;
  constexpr std::uint32_t lahf = 1u << 0, lzcnt = 1u << 5;
  const CpuidWords v2{sse3 | ssse3 | cx16 | sse41 | sse42 | popcnt, 0, lahf, 0};
  const CpuidWords v3{v2.leaf1_ecx | fma | movbe | osxsave | avx | f16c, bmi1 | avx2 | bmi2, lahf | lzcnt, 0x7};
  const CpuidWords v4{v3.leaf1_ecx, v3.leaf7_ebx | avx512f | avx512dq | avx512cd | avx512bw | avx512vl,
                      v3.extended1_ecx, 0xe7};
  CHECK(x86_level({}) == 1);
  CHECK(x86_level(v2) == 2);
  CHECK(x86_level(v3) == 3);
  CHECK(x86_level(v4) == 4);
  for (const std::uint32_t bit : {sse3, ssse3, cx16, sse41, sse42, popcnt})
    CHECK(x86_level({v4.leaf1_ecx & ~bit, v4.leaf7_ebx, v4.extended1_ecx, v4.xcr0}) == 1);
  for (const std::uint32_t bit : {fma, movbe, osxsave, avx, f16c})
    CHECK(x86_level({v4.leaf1_ecx & ~bit, v4.leaf7_ebx, v4.extended1_ecx, v4.xcr0}) == 2);
  for (const std::uint32_t bit : {bmi1, avx2, bmi2})
    CHECK(x86_level({v4.leaf1_ecx, v4.leaf7_ebx & ~bit, v4.extended1_ecx, v4.xcr0}) == 2);
  for (const std::uint32_t bit : {avx512f, avx512dq, avx512cd, avx512bw, avx512vl})
    CHECK(x86_level({v4.leaf1_ecx, v4.leaf7_ebx & ~bit, v4.extended1_ecx, v4.xcr0}) == 3);
  CHECK(x86_level({v4.leaf1_ecx, v4.leaf7_ebx, lahf, v4.xcr0}) == 2);
  CHECK(x86_level({v4.leaf1_ecx, v4.leaf7_ebx, lzcnt, v4.xcr0}) == 1);
  CHECK(x86_level({v4.leaf1_ecx, v4.leaf7_ebx, v4.extended1_ecx, 0x3}) == 2);  // the system saves no AVX registers
  CHECK(x86_level({v4.leaf1_ecx, v4.leaf7_ebx, v4.extended1_ecx, 0x7}) == 3);  // and here no AVX-512 registers
  CHECK(variant_level("v2") == 2);
  CHECK(variant_level("v4") == 4);
  CHECK(variant_level("") == 0);
}

TEST_CASE("the instruction set level of this processor", "[cpu]") {
#if defined(__x86_64__)
  CHECK(processor_level() >= 1);
  CHECK(processor_level() <= 4);
  CHECK(processor_level() == test::level_by_compiler());
#else
  CHECK(processor_level() == 0);
#endif
}

TEST_CASE("plugin file names", "[registry]") {
  PluginFile file;
  REQUIRE(parse_plugin_name("libtessera_backend_cpu-v3.so", file));
  CHECK(file.name == "cpu");
  CHECK(file.variant == "v3");
  REQUIRE(parse_plugin_name("libtessera_backend_kokkos-cuda.so", file));
  CHECK(file.name == "kokkos-cuda");
  CHECK(file.variant == "");
  REQUIRE(parse_plugin_name("libtessera_backend_kokkos-openmp-v4.so", file));
  CHECK(file.name == "kokkos-openmp");
  CHECK(file.variant == "v4");
  for (const char* other : {"libtessera.so", "libtessera_backend_.so", "libtessera_backend_cpu.so.1",
                            "tessera_backend_cpu.so", "libtessera_backend_cpu.a", "", "libtessera_backend_cpu"}) {
    INFO(other);
    CHECK_FALSE(parse_plugin_name(other, file));
  }
}

TEST_CASE("names that mean a backend", "[registry]") {
  CHECK(matches("cpu", "cpu", "v3"));
  CHECK(matches("cpu-v3", "cpu", "v3"));
  CHECK_FALSE(matches("cpu-v3", "cpu", "v4"));
  CHECK_FALSE(matches("cpu-v3", "cpu", ""));
  CHECK(matches("kokkos", "kokkos-cuda", ""));
  CHECK_FALSE(matches("kok", "kokkos-cuda", ""));
  CHECK_FALSE(matches("cpu", "cpus", ""));
  CHECK_FALSE(matches("cpu-v", "cpu", "v3"));
}

TEST_CASE("directories are searched in order, and earlier ones hide names", "[registry]") {
  const TemporaryDirectory first, second;
  const auto touch = [](const std::filesystem::path& path) { std::ofstream(path) << "not a library"; };
  touch(first.path() / "libtessera_backend_one-v3.so");
  touch(first.path() / "libtessera_backend_two.so");
  touch(first.path() / "readme.txt");
  touch(second.path() / "libtessera_backend_one-v2.so");
  touch(second.path() / "libtessera_backend_three.so");
  std::vector<SearchedDirectory> directories;
  for (const std::string path : {"/nowhere/at/all", first.path().c_str(), second.path().c_str(), first.path().c_str()})
    directories.push_back({path, "a test", ""});
  const auto found = scan(directories);
  std::vector<std::string> names;
  for (const PluginFile& file : found) names.push_back(file.name + file.variant);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"onev3", "three", "two"});
  for (const PluginFile& file : found) CHECK(std::filesystem::path(file.path).is_absolute());
}

TEST_CASE("the best variant that fits the processor stands for a name", "[registry]") {
  const TemporaryDirectory directory;
  for (const char* variant : {"-v2", "-v3", "-v4"})
    std::ofstream(directory.path() / (std::string("libtessera_backend_many") + variant + ".so")) << "x";
  std::ofstream(directory.path() / "libtessera_backend_alone-v4.so") << "x";
  for (int level = 1; level <= 4; ++level) {
    INFO("level " << level);
    const Registry registry({{directory.path(), "a test", ""}}, level);
    REQUIRE(registry.backends().size() == 2);
    CHECK(registry.backends()[0]->full_name() == "alone-v4");
    CHECK(registry.backends()[1]->full_name() == "many-v" + std::to_string(level < 2 ? 2 : level));
    CHECK(registry.backends()[1]->fits_processor() == (level >= 2));
    REQUIRE(registry.matching("many-v4").size() == 1);
    CHECK(registry.matching("many-v4")[0]->fits_processor() == (level == 4));
    if (level < 4)
      CHECK_THAT(registry.matching("many-v4")[0]->reason(),
                 ContainsSubstring("v4") && ContainsSubstring("v" + std::to_string(level)));
    CHECK(registry.matching("nosuch").empty());
    CHECK(registry.matching("").size() == 2);
  }
}

TEST_CASE("the best score wins among what is allowed", "[selection]") {
  const Candidate cpu{"cpu", "v3", "", 1, 10.0, {"eigen", "plain"}, ""};
  const Candidate gpu{"gpu", "", "", 2, 50.0, {"tiled"}, "", "", {"big one"}};
  const Candidate broken{"broken", "", "no device", 0, 0.0, {}, ""};
  const std::vector<Candidate> all = {cpu, gpu, broken};
  const auto asked = [&](const char* backend, const char* algorithm = "", bool from_code = false) {
    return Request{parse_backend(backend, "TESSERA_BACKEND"),
                   parse_algorithm(algorithm, "TESSERA_GEMM_ALGORITHM", from_code)};
  };
  CHECK(choose(all, asked("")).candidate == 1);
  CHECK(choose(all, asked("")).device == 0);
  CHECK(choose(all, asked("cpu")).candidate == 0);
  CHECK(choose(all, asked("cpu-v3")).candidate == 0);
  CHECK(choose(all, asked("gpu:1")).device == 1);
  CHECK(choose(std::vector{gpu, gpu}, asked("")).candidate == 0);  // the first of equals

  CHECK_THAT(
      refusal(TESSERA_BACKEND_UNAVAILABLE, [&] { choose(all, asked("nosuch")); }),
      ContainsSubstring("nosuch") && ContainsSubstring("cpu-v3 (usable)") && ContainsSubstring("broken (no device)"));
  CHECK(refusal(TESSERA_BACKEND_UNAVAILABLE, [&] {
          choose(all, asked("nosuch"), "looked in /a");
        }).ends_with("; looked in /a"));
  CHECK(refusal(TESSERA_BACKEND_UNAVAILABLE, [&] { choose(all, asked("broken")); }) ==  // the reason once
        "TESSERA_BACKEND = 'broken': not usable here (no device); there is: cpu-v3 (usable), gpu (usable)");
  CHECK_THAT(refusal(TESSERA_BACKEND_UNAVAILABLE, [&] { choose(all, asked("gpu:2")); }),
             ContainsSubstring("gpu:2") && ContainsSubstring("gpu has 2 devices: 0 (big one), 1"));
  CHECK_THAT(refusal(TESSERA_BACKEND_UNAVAILABLE, [&] { choose(all, asked("cpu:9")); }),
             ContainsSubstring("cpu:9") && ContainsSubstring("cpu-v3 has 1 device: 0"));
  CHECK_THAT(refusal(TESSERA_BACKEND_UNAVAILABLE, [&] { choose({}, asked("")); }),
             ContainsSubstring("TESSERA_BACKEND_PATH"));
  CHECK_THAT(refusal(TESSERA_BACKEND_UNAVAILABLE, [&] { choose(std::vector{broken}, asked("")); }),
             ContainsSubstring("no device"));
}

TEST_CASE("a backend of Tessera's that was not built is told from a name that nobody has", "[selection]") {
  const std::vector<Candidate> all = {{"cpu", "v3", "", 1, 10.0, {}, ""}, {"own", "", "", 1, 10.0, {}, ""}};
  const auto said = [&](const char* backend) {
    return refusal(TESSERA_BACKEND_UNAVAILABLE, [&] {
      choose(all, {parse_backend(backend, "TESSERA_BACKEND"), {}}, "looked in /a");
    });
  };
  CHECK(said("cuda") ==
        "TESSERA_BACKEND = 'cuda': Tessera has this backend, but it was not built into this installation: configure "
        "with -DTESSERA_BACKEND_CUDA=ON, and the summary says what that needs; no plugin libtessera_backend_cuda.so or "
        "libtessera_backend_cuda-*.so was found; there is: cpu-v3 (usable), own (usable); looked in /a");
  for (const char* name : {"kokkos", "kokkos-openmp", "kokkos-cuda", "kokkos-openmp-v4"})
    CHECK_THAT(said(name), ContainsSubstring("not built") && ContainsSubstring("-DTESSERA_BACKEND_KOKKOS=ON"));
  CHECK_THAT(said("cuda:1"), ContainsSubstring("-DTESSERA_BACKEND_CUDA=ON"));
  CHECK_THAT(said("cpu-v4"), ContainsSubstring("Tessera has cpu for this instruction set, but it was not built") &&
                                 ContainsSubstring("configure with v4 in -DTESSERA_CPU_VARIANTS"));
  for (const char* name : {"nosuch", "cud", "cuda-x", "kokkos-hip", "own-v4", "cpu-v5", "cudas"})
    CHECK_THAT(said(name), ContainsSubstring("there is no such backend: ") && !ContainsSubstring("not built"));
  CHECK_THAT(said("CUDA"), ContainsSubstring("there is no such backend; did you mean 'cuda'? "));
}

TEST_CASE("a forced algorithm narrows the choice and never falls back", "[selection]") {
  Candidate cpu{"cpu", "v3", "", 1, 10.0, {"eigen", "plain"}, ""};
  Candidate gpu{"gpu", "", "", 1, 50.0, {"tiled"}, ""};
  const auto asked = [](const char* backend, const char* algorithm, bool from_code) {
    return Request{parse_backend(backend, "TESSERA_BACKEND"),
                   parse_algorithm(algorithm, "TESSERA_GEMM_ALGORITHM", from_code)};
  };
  gpu.algorithm_reason = "no algorithm 'plain'";  // as the registry says of an unqualified "plain"
  CHECK(choose(std::vector{cpu, gpu}, asked("", "plain", false)).candidate == 0);
  CHECK_THAT(
      refusal(TESSERA_UNSUPPORTED,
              [&] {
                choose(std::vector{cpu, gpu}, asked("gpu", "plain", false));
              }),
      Equals("TESSERA_GEMM_ALGORITHM = 'plain': gpu has no such algorithm; cpu-v3 has eigen, plain; gpu has tiled"));
  gpu.algorithm_reason = "";
  // The environment's words to one backend leave the others alone; code means that backend and no other.
  CHECK(choose(std::vector{cpu, gpu}, asked("", "cpu/plain", false)).candidate == 1);
  CHECK(choose(std::vector{cpu, gpu}, asked("", "cpu/plain", true)).candidate == 0);
  cpu.algorithm_reason = "k is too large";
  CHECK(choose(std::vector{cpu, gpu}, asked("", "cpu/plain", false)).candidate == 1);  // it has not won
  gpu.score = 1.0;
  CHECK_THAT(refusal(TESSERA_UNSUPPORTED,
                     [&] {
                       choose(std::vector{cpu, gpu}, asked("", "cpu/plain", false));
                     }),
             ContainsSubstring("cpu/plain") && ContainsSubstring("k is too large"));
  gpu.score = 50.0;
  CHECK_THAT(refusal(TESSERA_UNSUPPORTED,
                     [&] {
                       choose(std::vector{cpu, gpu}, asked("", "cpu/plain", true));
                     }),
             Equals("TESSERA_GEMM_ALGORITHM = 'cpu/plain': cpu-v3 refuses it: k is too large; cpu-v3 also has eigen; "
                    "gpu has tiled"));
  gpu.score = cpu.score = 0.0;
  cpu.algorithm_reason = "";
  refusal(TESSERA_UNSUPPORTED, [&] { choose(std::vector{cpu, gpu}, asked("", "", false)); });
}

TEST_CASE("a forced algorithm that is out says why", "[selection]") {
  Candidate cpu{"cpu", "v3", "", 1, 10.0, {"eigen", "plain"}, ""};
  Candidate gpu{"gpu", "", "", 1, 50.0, {"tiled"}, ""};
  const auto asked = [](const char* backend, const char* algorithm) {
    return Request{parse_backend(backend, "TESSERA_BACKEND"), parse_algorithm(algorithm, "algorithm", true)};
  };
  CHECK_THAT(refusal(TESSERA_UNSUPPORTED,
                     [&] {
                       choose(std::vector{cpu, gpu}, asked("gpu", "cpu/plain"));
                     }),
             ContainsSubstring("cpu/plain") && ContainsSubstring("to run on gpu, not on cpu"));
  // Where its backend cannot be used, the reason comes first.
  const Candidate lost{"lost", "", "no driver", 0, 0.0, {}, ""};
  CHECK_THAT(refusal(TESSERA_BACKEND_UNAVAILABLE,
                     [&] {
                       choose(std::vector{cpu, gpu, lost}, asked("", "lost/fast"));
                     }),
             ContainsSubstring("'lost/fast': lost is not usable here (no driver)") && ContainsSubstring("cpu-v3"));
  cpu.algorithm_reason = gpu.algorithm_reason = "no algorithm 'fast'";
  CHECK_THAT(
      refusal(TESSERA_UNSUPPORTED,
              [&] {
                choose(std::vector{cpu, gpu, lost}, asked("", "fast"));
              }),
      Equals("algorithm = 'fast': cpu-v3 has no such algorithm; gpu has no such algorithm; cpu-v3 has eigen, plain; "
             "gpu has tiled; lost is not usable here (no driver)"));
}

}  // namespace tessera::test
