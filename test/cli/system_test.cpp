// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Systems that a JSON file describes: the same bits as by the C++ API on the same backend.

#include "npy_file.hpp"
#include "program.hpp"
#include "taps_spec.hpp"

#include <tessera/tessera.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

using namespace tessera::test;
using namespace tessera;
using Catch::Matchers::Matches;

namespace {

/// The backend that both sides run on.
std::string need_cpu() {
  std::string found;
  for (const BackendInfo& backend : tessera::backends())
    if (backend.available && backend.name.starts_with("cpu")) found = backend.name;
  need_backend();
  if (found.empty()) SKIP("there is no backend cpu");
  return found;
}

template <class T>
std::vector<T> numbers(std::int64_t count, double low, double high, int seed) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(T(float(low + (high - low) * double((i * 7919 + seed * 104729) % 1009) / 1009)));
  return values;
}

/// A folder in which the program runs.
class Workplace {
 public:
  std::string path(const std::string& name) const { return folder_.path() / name; }

  /// Arguments with spaces between them, and "@" before a file's name replaced by the folder.
  Outcome run(const std::string& json, const std::string& arguments) const {
    write_file(path("system.json"), json);
    std::vector<std::string> all{"system", path("system.json")};
    for (std::string argument : cli::split(arguments, ' ')) {
      for (std::size_t at; (at = argument.find('@')) != std::string::npos;) argument.replace(at, 1, path(""));
      all.push_back(argument);
    }
    return tessera_run(all);
  }
  std::string check_runs(const std::string& json, const std::string& arguments) const {
    CAPTURE(arguments);
    const Outcome outcome = run(json, arguments);
    CHECK(outcome.errors == "");
    REQUIRE(outcome.exit_code == 0);
    return outcome.output;
  }

 private:
  TemporaryDirectory folder_;
};

/// Two sides of one equation whose numbers are exact in f64 for some steps.
const std::string kExact = R"json({"dtype": "f64",
  "fields": {"u": {"kind": "state", "levels": 2, "boundary": "periodic"}},
  "updates": [{"field": "u", "value": "2 * u - u[-1] + 0.25 * laplacian(u, 2)"}],
  "injections": [{"field": "u", "series": 2, "points": [{"at": [1, 2], "series": 0}, {"at": [3, 3], "series": 1}]}],
  "recordings": [{"field": "u", "points": [{"at": [0, 0]}]},
                 {"field": "u", "points": [{"at": [1, 1], "weight": 2}]}]})json";

/// Pressure and velocity in two stages.
const std::string kStages = R"json({
    "fields": {
      "p": {"kind": "state", "boundary": ["periodic", "constant:0.5/nearest"], "next": "apart"},
      "v": {"kind": "state", "dtype": "f16"},
      "k": {"kind": "array", "dtype": "bf16", "boundary": "mirror"}},
    "taps": {"ahead": [[1, 0, 0.5], [0, 0, -0.5]], "behind": [[0, 0, 0.5], [-1, 0, -0.5]]},
    "updates": [
      {"field": "v", "low": [0, 0], "high": [4, 7], "value": "v - reciprocal(k) * ahead(p)"},
      {"field": "v", "low": [5, 0], "value": ["0.5 * v", "- abs(k) * ahead(p)"]},
      {"field": "p", "stage": 1, "value": "p - 0.25 * (k(0,1) * behind(v[+1])) + derivative(p, 1, 2, 4) / 64"}]})json";

}  // namespace

TEST_CASE("the wave among the examples is the wave of the C++ API", "[system]") {
  const std::string cpu = need_cpu();
  const Shape shape{60, 80};
  constexpr std::int64_t kSteps = 25, kPoints = 60 * 80;
  const auto c2 = numbers<float>(kPoints, 0.05, 0.2, 1), sz = numbers<float>(60, 0.9, 1, 2),
             sx = numbers<float>(80, 0.9, 1, 3), source = numbers<float>(kSteps, -1, 1, 4);
  auto now = numbers<float>(kPoints, -1, 1, 5), before = numbers<float>(kPoints, -1, 1, 6);
  std::vector<float> recorded(2 * kSteps);
  const Workplace w;
  write_npy(w.path("c2.npy"), c2, shape);
  write_npy(w.path("sz.npy"), sz, {60});
  write_npy(w.path("sx.npy"), sx, {80});
  write_npy(w.path("source.npy"), source, {kSteps, 1});
  write_npy(w.path("now.npy"), now, shape);
  write_npy(w.path("before.npy"), before, shape);

  StencilSystem wave({60, 80});
  const auto u = wave.state("u", {.levels = 2});
  const auto c = wave.array("c2"), z = wave.profile("sz", 0), x = wave.profile("sx", 1);
  wave.update(u) = z * x * (2 * u - u[-1] + c * u.under(taps::laplacian(2, 8)));
  wave.inject(u, {{{30, 40}}, {1}, {0}, 1});
  wave.record(u, {{{10, 20}, {10, 60}, {11, 60}}, {1, 0.5, 0.5}, {0, 1, 1}, 2});
  SystemPlan plan(Context(cpu), wave, kSteps);
  plan.execute({{u, now, before}, {c, c2}, {z, sz}, {x, sx}}, {.injected = {source}, .recorded = {recorded}});

  const std::string output =
      w.check_runs(read_file(std::string(TESSERA_EXAMPLE_DATA) + "/wave.json"),
                   "--field u=@now.npy,@before.npy --field c2=@c2.npy --field sz=@sz.npy --field "
                   "sx=@sx.npy --injected @source.npy --recorded @recorded.npy --steps 25 -o u=@u.npy -o "
                   "u[-1]=@u1.npy --backend " +
                       cpu);
  CHECK_THAT(output, Matches("system f32 60x80 .* ms \\(.*\\), .* GPoint/s, .* GB/s\n"));
  const std::vector<float>* levels[] = {&now, &before};
  CHECK(read_npy<float>(w.path("u.npy"), shape) == *levels[plan.newest(u)]);
  CHECK(read_npy<float>(w.path("u1.npy"), shape) == *levels[plan.place_after(u, -1)]);
  CHECK(read_npy<float>(w.path("recorded.npy"), {kSteps, 2}) == recorded);
  CHECK(std::isfinite(recorded.back()));
}

TEST_CASE("stages, boxes, taps, maps, boundaries and storage of 16 bits", "[system]") {
  const std::string cpu = need_cpu();
  const Shape shape{9, 7};
  auto p = numbers<float>(63, -1, 1, 1);
  auto v = numbers<float16>(63, -1, 1, 2);
  const auto k = numbers<bfloat16>(63, 0.5, 1, 3);
  const Workplace w;
  write_npy(w.path("p.npy"), p, shape);
  write_npy(w.path("v.npy"), v, shape, true);
  write_npy(w.path("k.npy"), k, shape);

  StencilSystem system({9, 7});
  const BoundarySide outside(Boundary::constant, 0.5);
  const auto pf = system.state(
      "p", {.boundary = {Boundary::periodic, BoundaryAxis(outside, Boundary::nearest)}, .next = NextLevel::apart});
  const auto vf = system.state("v", {.dtype = DType::f16});
  const auto kf = system.array("k", {.boundary = Boundary::mirror, .dtype = DType::bf16});
  const Taps ahead(2, {{{1, 0, 0}, 0.5}, {{0, 0, 0}, -0.5}}), behind(2, {{{0, 0, 0}, 0.5}, {{-1, 0, 0}, -0.5}});
  system.update(vf, {.low = {0, 0}, .high = {4, 7}}) = vf - reciprocal(kf) * pf.under(ahead);
  system.update(vf, {.low = {5, 0}}) = 0.5 * vf - abs(kf) * pf.under(ahead);
  system.update(pf, {.stage = 1}) =
      pf - 0.25 * (kf.at({0, 1}) * vf[+1].under(behind)) + pf.under(taps::derivative(2, 1, 2, 4)) * (1.0 / 64);
  SystemPlan plan(Context(cpu), system, 3);
  plan.execute({{pf, p}, {vf, v}, {kf, k}});

  const std::string output =
      w.check_runs(kStages,
                   "--field p=@p.npy --field v=@v.npy --field k=@k.npy --steps 3 --output v=@v.npy -o "
                   "p=@p_out.npy --backend " +
                       cpu);
  CHECK(output.find("k: read as") == std::string::npos);  // its bits are those of the type
  CHECK(read_npy<float>(w.path("p_out.npy"), shape) == p);
  const auto written = read_npy<float16>(w.path("v.npy"), shape);  // over the input
  REQUIRE(written.size() == v.size());
  CHECK(std::memcmp(written.data(), v.data(), v.size() * sizeof(float16)) == 0);
}

TEST_CASE("an execution goes on where another ended", "[system]") {
  need_backend();
  const Workplace w;
  std::vector<double> source(20);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = double((i * 5) % 7) - 3;
  write_npy(w.path("source.npy"), source, {10, 2});
  const auto run = [&](const std::string& arguments) { w.check_runs(kExact, "--injected @source.npy " + arguments); };
  write_npy(w.path("zero.npy"), std::vector<double>(30, 0.0), {6, 5});
  run("--field u=@zero.npy,zeros --steps 10 --recorded @a.npy --recorded @b.npy -o "
      "u=@all.npy -o u[-1]=@all1.npy");
  run("--field u=@zero.npy,@zero.npy --steps 3 --recorded @a1.npy --recorded @b1.npy -o "
      "u=@now.npy -o u[-1]=@before.npy");
  run("--field u[-1]=@before.npy --field u=@now.npy --steps 7 --first-step 3 --recorded "
      "@a2.npy --recorded @b2.npy -o u[0]=@end.npy -o u[-1]=@end1.npy");
  const auto all = read_npy<double>(w.path("all.npy"), {6, 5});
  CHECK(all.size() == 30);
  CHECK(all == read_npy<double>(w.path("end.npy"), {6, 5}));
  CHECK(read_npy<double>(w.path("all1.npy"), {6, 5}) == read_npy<double>(w.path("end1.npy"), {6, 5}));
  for (const std::string name : {"a", "b"}) {
    auto parts = read_npy<double>(w.path(name + "1.npy"), {3, 1});
    const auto rest = read_npy<double>(w.path(name + "2.npy"), {7, 1});
    parts.insert(parts.end(), rest.begin(), rest.end());
    CHECK(parts == read_npy<double>(w.path(name + ".npy"), {10, 1}));
  }
}

TEST_CASE("what is injected is recorded at the same point", "[system]") {
  need_backend();
  const std::string json = R"({"extents": [5], "fields": {"u": {"kind": "state"}},
    "updates": [{"field": "u", "value": "0 * u"}],
    "injections": [{"field": "u", "points": [{"at": [2], "weight": 0.5}]}],
    "recordings": [{"field": "u", "series": 2, "points": [{"at": [2], "weight": 4, "series": 1}]}]})";
  const Workplace w;
  write_npy<std::int16_t>(w.path("source.npy"), {3, -5, 7, 9}, {4});  // one series, whole numbers
  w.check_runs(json, "--field u=zeros --injected @source.npy --recorded @r.npy --steps 3 -o u=@u.npy");
  CHECK(read_npy<float>(w.path("r.npy"), {3, 2}) == std::vector<float>{0, 6, 0, -10, 0, 14});
  CHECK(read_npy<float>(w.path("u.npy"), {5}) == std::vector<float>{0, 0, 3.5f, 0, 0});
  w.check_runs(json, "--field u=zeros --injected @source.npy --recorded @r.npy --steps 0");
  CHECK(read_file(w.path("r.npy")) == npy_header(npy_dictionary("<f4", false, {0, 2})));
}

TEST_CASE("numbers of another type are rounded, and it is said", "[system]") {
  need_backend();
  const std::string json = R"({"fields": {"u": {"kind": "state"}, "a": {"kind": "array"}},
    "updates": [{"field": "u", "value": "u * a"}]})";
  const Workplace w;
  write_npy<double>(w.path("u.npy"), {0.1, 2, 3, 4, 5, 6}, {2, 3});
  write_npy<std::uint8_t>(w.path("a.npy"), {2, 3, 4, 5, 6, 7}, {2, 3}, true);
  const std::string output = w.check_runs(json, "--field u=@u.npy --field a=@a.npy -o u=@out.npy");
  CHECK_THAT(output, Matches("system .*\nu: read as 2 x 3 <f8, kept as f32\na: read as 2 x 3 \\|u1, kept as f32\n"));
  CHECK(read_npy<float>(w.path("out.npy"), {2, 3}) == std::vector<float>{2 * 0.1f, 6, 12, 20, 30, 42});
}

TEST_CASE("the report makes room for results on the standard output", "[system]") {
  need_backend();
  const std::string json = R"({"extents": [3], "fields": {"u": {"kind": "state"}},
    "updates": [{"field": "u", "value": "u + 1"}]})";
  const Workplace w;
  write_file(w.path("system.json"), json);
  const Outcome outcome = run({"/bin/sh", "-c",
                               std::string(TESSERA_PROGRAM) + " system " + w.path("system.json") +
                                   " --field u=zeros -o u=/dev/stdout --steps 2 | cat >" + w.path("u.npy")});
  CHECK_THAT(outcome.errors, Matches("system f32 3 .* GB/s\n"));
  CHECK(read_npy<float>(w.path("u.npy"), {3}) == std::vector<float>{2, 2, 2});
}
