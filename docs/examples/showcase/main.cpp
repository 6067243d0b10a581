// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products and stencils on real data, and systems of fields, with every algorithm of every backend that is
// usable here. Each result is compared with a reference; the exit code is 1 when one disagrees. Writes pictures.

#include "backends.hpp"
#include "cases.hpp"
#include "data.hpp"
#include "pictures.hpp"
#include "report.hpp"
#include "systems.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <string_view>
#include <tuple>

namespace showcase {
namespace {

using tessera::Boundary;
using tessera::Transpose;

struct Options {
  std::filesystem::path output = "showcase";
  std::filesystem::path data = TESSERA_SHOWCASE_DATA;
};

struct Inputs {
  Field terrain;
  Field digits;
  Field directions;
};

/// Results in f32 of the first algorithm that got them right, by operation; for the pictures.
using Gallery = std::map<std::string, std::vector<float>>;

/// Seconds per floating point operation of an algorithm's fastest run for the Gram matrix: by type, backend, algorithm.
using Pace = std::map<std::tuple<std::string, std::string, std::string>, double>;

template <class T>
std::vector<T> as(const std::vector<double>& values) {
  return std::vector<T>(values.begin(), values.end());
}

std::vector<std::int64_t> all_rows(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

template <class T>
GemmCase<T> gemm_case(std::string name, tessera::GemmDesc desc, std::vector<T> a, std::vector<T> b,
                      const std::vector<std::int64_t>& rows) {
  desc.dtype = tessera::kDType<T>;
  Expected expected = expect_gemm<T>(desc, a, b, rows);
  return {std::move(name), desc, std::move(a), std::move(b), std::move(expected)};
}

/// 2048 x 2048 random matrices show the order of magnitude that real sizes reach; every 255th row is compared.
template <class T>
GemmCase<T> square_case() {
  constexpr std::int64_t n = 2048;
  std::mt19937 random(7);
  std::uniform_real_distribution<T> uniform(T(-1), T(1));
  std::vector<T> a(n * n), b(n * n);
  for (std::vector<T>* matrix : {&a, &b})
    for (T& value : *matrix) value = uniform(random);
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < n; row += 255) rows.push_back(row);
  return gemm_case<T>("square", {.m = n, .n = n, .k = n}, std::move(a), std::move(b), rows);
}

template <class T>
StencilCase<T> stencil_case(std::string name, const Field& field, const tessera::Taps& taps, Boundary boundary,
                            std::int64_t steps) {
  const tessera::StencilDesc desc{.extents = {field.rows, field.columns},
                                  .taps = taps,
                                  .boundary = boundary,
                                  .steps = steps,
                                  .dtype = tessera::kDType<T>};
  std::vector<T> in = as<T>(field.values);
  Expected expected = expect_stencil<T>(desc, in);
  return {std::move(name), desc, std::move(in), std::move(expected)};
}

class Showcase {
 public:
  Showcase(std::vector<Backend>& backends, const Inputs& inputs, Report& report)
      : backends_(backends), inputs_(inputs), report_(report) {}

  template <class T>
  void run_all() {
    const std::int64_t images = inputs_.digits.rows, pixels = inputs_.digits.columns,
                       count = inputs_.directions.columns;
    const std::vector<T> x = as<T>(inputs_.digits.values);
    run_case(gemm_case<T>("gram", {.m = images, .n = images, .k = pixels, .trans_b = Transpose::yes}, x, x,
                          all_rows(images)));
    run_case(gemm_case<T>("covariance", {.m = pixels, .n = pixels, .k = images, .trans_a = Transpose::yes}, x, x,
                          all_rows(pixels)));
    run_case(gemm_case<T>("projection", {.m = images, .n = count, .k = pixels}, x, as<T>(inputs_.directions.values),
                          all_rows(images)));
    run_case(square_case<T>());

    const auto heat = tessera::taps::identity(2) + 0.1 * tessera::taps::laplacian(2, 8);
    run_case(stencil_case<T>("heat", inputs_.terrain, heat, Boundary::reflect, 200));
    const auto slope = tessera::taps::derivative(2, 1, 1, 8, kTerrainDx);
    run_case(stencil_case<T>("slope", inputs_.terrain, slope, Boundary::nearest, 1));
  }
  const Gallery& gallery() const { return gallery_; }

 private:
  template <class T>
  void run_case(const GemmCase<T>& c) {
    for (Backend& backend : backends_) run_on(c, backend, backend.gemm_algorithms);
  }
  template <class T>
  void run_case(const StencilCase<T>& c) {
    for (Backend& backend : backends_) run_on(c, backend, backend.stencil_algorithms);
  }

  /// An algorithm need not support every case, but a backend has to have one that does.
  template <template <class> class Case, class T>
  void run_on(const Case<T>& c, Backend& backend, const std::vector<std::string>& algorithms) {
    bool supported = false;
    Subject subject{c.name, sizeof(T) == 4 ? "f32" : "f64", backend.name, ""};
    for (const std::string& algorithm : algorithms) {
      subject.algorithm = algorithm;
      try {
        run_one(c, backend, subject);
        supported = true;
      } catch (const tessera::Error& error) {
        if (error.code() == tessera::ErrorCode::unsupported)
          report_.omitted(subject, error.what());
        else
          report_.failed(subject, error.what());
      }
    }
    subject.algorithm = "";
    if (!supported) report_.failed(subject, "no algorithm of the backend can do this");
  }

  template <template <class> class Case, class T>
  void run_one(const Case<T>& c, Backend& backend, Subject& subject) {
    constexpr double kPatience = 2.0;  // seconds
    const auto key = std::tuple(subject.type, subject.backend, subject.algorithm);
    const auto pace = pace_.find(key);
    if (c.name == "square" && pace != pace_.end() && pace->second * c.work() > kPatience) {
      char why[64];
      std::snprintf(why, sizeof why, "too slow here, about %.0f s foreseen from gram", pace->second * c.work());
      report_.omitted(subject, why);
      return;
    }
    Measured<T> done = run(c, backend.context, subject.algorithm);
    if (c.name == "gram") pace_[key] = done.fastest / c.work();
    subject.algorithm = done.algorithm;
    const double ratio = c.expected.largest_ratio(std::span<const T>(done.result));
    report_.compared(subject, done.seconds, c.work() / done.seconds / 1e9, c.kUnit, ratio);
    if constexpr (sizeof(T) == 4)
      if (ratio <= 1.0) gallery_.try_emplace(c.name, std::move(done.result));
  }

  std::vector<Backend>& backends_;
  const Inputs& inputs_;
  Report& report_;
  Gallery gallery_;
  Pace pace_;
};

/// Of the terrain.
Caption on_map(const Inputs& inputs, std::string file, std::string shows, std::string colors) {
  return {std::move(file),
          std::move(shows),
          {"km, from west to east", 0.0, kTerrainDx / 1e3 * double(inputs.terrain.columns)},
          {"km, from north to south", 0.0, kTerrainDy / 1e3 * double(inputs.terrain.rows)},
          std::move(colors),
          true};
}

void draw_pictures(const Inputs& inputs, const Gallery& gallery, Pictures& pictures) {
  const std::int64_t ny = inputs.terrain.rows, nx = inputs.terrain.columns, images = inputs.digits.rows;
  const std::vector<float> terrain = as<float>(inputs.terrain.values);
  const auto [low, high] = std::minmax_element(terrain.begin(), terrain.end());
  pictures.add(on_map(inputs, "terrain.png", "hills in Tennessee, in light from the north-west", "elevation, m"),
               relief(terrain, ny, nx, *low, *high), 2);
  if (const auto heat = gallery.find("heat"); heat != gallery.end())
    pictures.add(
        on_map(inputs, "heat.png", "the same hills, smoothed by 200 steps of the heat equation", "elevation, m"),
        relief(heat->second, ny, nx, *low, *high), 2);
  if (const auto slope = gallery.find("slope"); slope != gallery.end())
    pictures.add(on_map(inputs, "derivative.png", "slope of the hills towards the east, by a difference of order 8",
                        "metres of rise a metre"),
                 diverging(slope->second, ny, nx, -0.6f, 0.6f), 2);
  if (const auto gram = gallery.find("gram"); gram != gallery.end()) {
    const std::vector<std::int64_t> order = order_by_angle(inputs.digits, inputs.directions);
    std::vector<float> sorted;
    for (const std::int64_t i : order)
      for (const std::int64_t j : order) sorted.push_back(gram->second[std::size_t(i * images + j)]);
    const Axis axis{"image of a digit, in an order in which like ones are near", 0.0, double(images)};
    pictures.add({"gram.png",
                  "how much alike each two of " + std::to_string(images) + " hand-written digits are, by one product",
                  axis, axis, "cosine of the angle between two images, less their mean", true},
                 diverging(sorted, images, images, -1.0f, 1.0f), 1);
  }
}

int run_showcase(const Options& options) {
  Pictures pictures(options.output);  // before minutes of work may prove to be in vain
  Report report;
  std::vector<Backend> backends = open_backends(report);
  if (backends.empty()) return report.finish();

  Inputs inputs{load_terrain(options.data), load_digits(options.data), {}};
  inputs.directions = principal_directions(inputs.digits, 8);
  std::printf(
      "\nDigits: X is %lld x %lld; gram X X^T, covariance X^T X, projection X V, square 2048 x 2048 random.\n"
      "Terrain: %lld x %lld; heat 200 steps of order 8, slope d/dx of order 8.\n"
      "Systems of fields: a shot through layers, Gray-Scott's reaction, a cavity. Operands in device memory.\n\n",
      (long long)inputs.digits.rows, (long long)inputs.digits.columns, (long long)inputs.terrain.rows,
      (long long)inputs.terrain.columns);
  report.heading();
  Showcase showcase(backends, inputs, report);
  showcase.run_all<float>();
  showcase.run_all<double>();
  draw_pictures(inputs, showcase.gallery(), pictures);
  run_systems(backends, report, pictures);
  pictures.finish();
  return report.finish();
}

}  // namespace
}  // namespace showcase

int main(int argc, char** argv) {
  constexpr const char* kUsage = "usage: tessera-showcase [--output DIR] [--data DIR]\n";
  showcase::Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--help") return std::printf("%s", kUsage) > 0 ? 0 : 1;
    if (i + 1 == argc || (option != "--output" && option != "--data")) return std::fputs(kUsage, stderr), 2;
    (option == "--output" ? options.output : options.data) = argv[i + 1];
  }
  try {
    return showcase::run_showcase(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera-showcase: %s\n", error.what());
    return 1;
  }
}
