// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's second chapter: a program that steps a temperature and projects it, tuned by itself.
// usage: tessera-tutorial-measuring [WISDOM]

#include <tessera/tessera.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kRows = 300, kColumns = 500, kModes = 16;

tessera::StencilDesc diffusion() {
  return {.extents = {kRows, kColumns},
          .taps = tessera::taps::identity(2) + 0.1 * tessera::taps::laplacian(2, 4),
          .boundary = tessera::Boundary::nearest,
          .steps = 20};
}

const tessera::GemmDesc kProjection{.m = kRows, .n = kModes, .k = kColumns};

/// The projection of what a temperature becomes.
std::vector<float> run() {
  std::vector<float> u(kRows * kColumns, 1.0f), v(u.size()), modes(kColumns * kModes, 0.5f), c(kRows * kModes);
  tessera::StencilPlan step(diffusion());
  step.execute(u, v);
  tessera::GemmPlan project(kProjection);
  project.execute(1.0f, v, modes, 0.0f, c);
  std::puts((step.describe() + "\n" + project.describe()).c_str());
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<float> before = run();  // "| estimated"

  const std::vector<tessera::Tried> tried = tessera::StencilPlan::tune(diffusion());
  for (const tessera::Tried& way : tried)
    std::printf("%s/%s: %.1f us%s\n", way.backend.c_str(), way.algorithm.c_str(), 1e6 * way.seconds,
                way.chosen ? ", taken" : "");
  tessera::GemmPlan measured(kProjection, {.effort = tessera::Effort::measure});
  if (argc > 1) tessera::wisdom::save(argv[1]);  // for the next run, which begins with wisdom::load

  const std::vector<float> after = run(), again = run();  // "| from wisdom"
  const auto near = [](float x, float y) { return std::abs(x - y) <= 1e-4f * std::abs(y); };
  const bool same = std::equal(before.begin(), before.end(), after.begin(), near);
  tessera::StencilPlan known(diffusion());
  return same && after == again && known.describe().ends_with("from wisdom") ? 0 : 1;
}
