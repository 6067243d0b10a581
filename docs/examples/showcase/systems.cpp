// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "systems.hpp"

#include <map>
#include <string>
#include <utility>

namespace showcase {
namespace {

/// The first results in f32 that were right, by case.
using Runs = std::map<std::string, SystemRun<float>>;

template <class T>
void run_on(const SystemCase<T>& c, Backend& backend, Report& report, Runs& runs) {
  bool supported = false;
  Subject subject{c.name, sizeof(T) == 4 ? "f32" : "f64", backend.name, ""};
  for (const std::string& algorithm : backend.system_algorithms) {
    subject.algorithm = algorithm;
    try {
      double seconds = 0.0;
      SystemRun<T> done = run(c, backend.context, subject.algorithm, seconds);
      supported = true;
      const double ratio = c.error_over_bound(done);
      report.compared(subject, seconds, c.points() * double(c.steps) / seconds / 1e9, "GPoint/s", ratio);
      if constexpr (sizeof(T) == 4)
        if (ratio <= 1.0) runs.try_emplace(c.name, std::move(done));
    } catch (const tessera::Error& error) {
      if (error.code() == tessera::ErrorCode::unsupported)
        report.omitted(subject, error.what());
      else
        report.failed(subject, error.what());
    }
  }
  subject.algorithm = "";
  if (!supported) report.failed(subject, "no algorithm of the backend can do this");
}

template <class T>
void run_all(std::vector<Backend>& backends, Report& report, Runs& runs) {
  for (const SystemCase<T>& c : {shot_case<T>(), reaction_case<T>(), cavity_case<T>()})
    for (Backend& backend : backends)
      if (!backend.system_algorithms.empty()) run_on(c, backend, report, runs);
}

/// Every fifth row of the series.
std::vector<float> thinned(const std::vector<float>& series) {
  std::vector<float> rows;
  for (std::int64_t step = 0; step < kShotSteps; step += 5)
    rows.insert(rows.end(), series.begin() + step * kShotReceivers, series.begin() + (step + 1) * kShotReceivers);
  return rows;
}

void draw_shot(const SystemRun<float>& run, Pictures& pictures) {
  constexpr double km = kShotSpacing / 1e3, seconds = kShotTimeStep * kShotSteps;
  pictures.add({"shot.png",
                "waves in the ground 0.9 s after a source went off: rings, and echoes of two layers below it",
                {"distance, km", 0.0, km * kShotColumns},
                {"depth, km", 0.0, km * kShotRows},
                "pressure, arbitrary units",
                true},
               diverging(run.halfway[0][0], kShotRows, kShotColumns, -0.4f, 0.4f), 2);
  pictures.add({"seismogram.png",
                "what a line of receivers heard of them: the direct wave, then the echoes of the layers",
                {"distance of the receiver from the source, km", 0.0, km * (kShotReceivers - 1)},
                {"time, s", 0.0, seconds},
                "pressure, arbitrary units"},
               diverging(thinned(run.recorded), kShotSteps / 5, kShotReceivers, -0.3f, 0.3f), 2);
}

void draw_reaction(const SystemRun<float>& run, Pictures& pictures) {
  const double side = kReactionSide;
  pictures.add({"reaction.png",
                "Gray and Scott's reaction after 6000 steps: stripes of one substance, grown from four spots",
                {"points", 0.0, side},
                {"points", 0.0, side},
                "concentration of that substance",
                true},
               diverging(run.before[1][0], kReactionSide, kReactionSide, 0.0f, 0.4f), 3);
}

}  // namespace

void run_systems(std::vector<Backend>& backends, Report& report, Pictures& pictures) {
  static_assert(kShotTimeStep * kShotSteps / 2 == 0.9 && kReactionSteps == 6000);  // as the pictures say
  Runs runs;
  run_all<float>(backends, report, runs);
  run_all<double>(backends, report, runs);
  if (const auto shot = runs.find("shot"); shot != runs.end()) draw_shot(shot->second, pictures);
  if (const auto reaction = runs.find("reaction"); reaction != runs.end()) draw_reaction(reaction->second, pictures);
}

}  // namespace showcase
