// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's third chapter, its small programs: a staggered pair, a layer, levels in place.

#include <tessera/tessera.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

using tessera::Boundary;

/// A pulse of pressure on a ring, with velocities between the points: what is lost on the left comes on the right.
bool staggered_pair() {
  constexpr std::int64_t n = 400;
  std::vector<float> pressure(n), velocity(n, 0.0f);
  for (std::int64_t i = 0; i < n; ++i)
    pressure[std::size_t(i)] = float(std::exp(-0.01 * double((i - 200) * (i - 200))));
  const double total = std::accumulate(pressure.begin(), pressure.end(), 0.0);

  tessera::StencilSystem system({n});
  const tessera::FieldOptions ring{.boundary = Boundary::periodic};
  const tessera::SystemField p = system.state("p", ring), v = system.state("v", ring);
  system.update(v) = v - 0.5 * (p.at({1}) - p);                         // v[i] is between p[i] and p[i + 1]
  system.update(p, {.stage = 1}) = p - 0.5 * (v[+1] - v[+1].at({-1}));  // by the new velocities
  tessera::SystemPlan plan(system, 200);
  plan.execute({{p, pressure}, {v, velocity}});

  const double after = std::accumulate(pressure.begin(), pressure.end(), 0.0);
  std::printf("pressure in all: %.4f before, %.4f after\n", total, after);
  // What flows out of a point flows into the next, but for up to four roundings in each. Half of the pulse has gone 100
  // points to the right: half a point a step.
  const auto largest = std::max_element(pressure.begin() + 200, pressure.end()) - pressure.begin();
  return std::abs(after - total) <= 200 * n * 4 * 0x1p-24 && std::abs(largest - 300) <= 2;
}

/// The pair again between two walls, one of which is covered by a layer with an equation of its own.
bool layer() {
  constexpr std::int64_t n = 400, kLayer = 60;
  std::vector<float> pressure(n, 0.0f), velocity(n, 0.0f);
  for (std::int64_t i = 0; i < n; ++i)
    pressure[std::size_t(i)] = float(std::exp(-0.01 * double((i - 200) * (i - 200))));

  tessera::StencilSystem system({n});
  const tessera::FieldOptions walls{.boundary = Boundary::reflect};
  const tessera::SystemField p = system.state("p", walls), v = system.state("v", {.boundary = Boundary::constant});
  const tessera::SystemField loss = system.profile("loss", 0);
  const tessera::Expression next_v = v - 0.5 * (p.at({1}) - p), next_p = p - 0.5 * (v[+1] - v[+1].at({-1}));
  system.update(v, {.high = {n - kLayer}}) = next_v;
  system.update(v, {.low = {n - kLayer}}) = next_v - loss * v;
  system.update(p, {.stage = 1, .high = {n - kLayer}}) = next_p;
  system.update(p, {.stage = 1, .low = {n - kLayer}}) = next_p - loss * p;

  std::vector<float> losses(n, 0.0f);
  for (std::int64_t i = 0; i < kLayer; ++i)
    losses[std::size_t(n - kLayer + i)] = 0.15f * float(i * i) / float(kLayer * kLayer);
  tessera::SystemPlan plan(system, 500);
  plan.execute({{p, pressure}, {v, velocity}, {loss, losses}});
  const float there = *std::max_element(pressure.begin() + 200, pressure.begin() + 300);
  const float other = *std::max_element(pressure.begin(), pressure.begin() + 200);
  std::printf("back from the layer %.4f, from the bare wall %.4f\n", there, other);
  return there < 0.01f && other > 0.4f;
}

/// Diffusion reads neighbours, which a step in place would have overwritten.
bool levels_in_place() {
  const auto heat = [](tessera::NextLevel next) {
    tessera::StencilSystem system({100, 100});
    const tessera::SystemField u = system.state("u", {.next = next});
    system.update(u) = u + 0.2 * u.under(tessera::taps::laplacian(2));
    return system;
  };
  const tessera::SystemPlan apart(heat(tessera::NextLevel::automatic), 10);  // takes an array of its own
  bool refused = false;
  try {
    tessera::SystemPlan(heat(tessera::NextLevel::in_place), 10);
  } catch (const tessera::Error& error) {
    std::puts(error.what());
    refused = error.code() == tessera::ErrorCode::invalid_argument;
  }
  return refused && apart.workspace_bytes() >= 100 * 100 * sizeof(float);
}

/// The arrays stay in the device's memory, on whichever backend the plan of host arrays has found best.
bool on_a_device() {
  tessera::StencilSystem system({100, 100}, tessera::DType::f64);
  const tessera::SystemField u = system.state("u", {.levels = 2, .boundary = Boundary::periodic});
  system.update(u) = 2 * u - u[-1] + 0.25 * u.under(tessera::taps::laplacian(2));
  const std::string best = tessera::SystemPlan(system, 10).backend();

  tessera::Context context(best);
  tessera::SystemPlan plan(context, system, 10, {.operands = tessera::Memory::device});
  tessera::Buffer<double> now(context, 100 * 100), before(context, 100 * 100);
  const std::vector<double> ones(100 * 100, 1.0);
  now.upload(ones);
  before.upload(ones);
  for (int i = 0; i < 5; ++i) plan.execute({{u, now, before}});  // an even number of steps: each begins in `now`
  std::vector<double> result(100 * 100);
  now.download(result);
  return result == ones;
}

}  // namespace

int main() { return staggered_pair() && layer() && levels_in_place() && on_a_device() ? 0 : 1; }
