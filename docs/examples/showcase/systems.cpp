// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "systems.hpp"

#include "image.hpp"

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

}  // namespace

void run_systems(std::vector<Backend>& backends, Report& report, const std::filesystem::path& pictures) {
  Runs runs;
  run_all<float>(backends, report, runs);
  run_all<double>(backends, report, runs);
  if (const auto shot = runs.find("shot"); shot != runs.end()) {
    write_png(pictures / "shot.png", diverging(shot->second.halfway[0][0], kShotRows, kShotColumns, 0.4f), 2);
    const std::vector<float> rows = thinned(shot->second.recorded);
    write_png(pictures / "seismogram.png", diverging(rows, kShotSteps / 5, kShotReceivers, 0.3f), 2);
  }
  if (const auto reaction = runs.find("reaction"); reaction != runs.end()) {
    std::vector<float> share = reaction->second.before[1][0];
    for (float& value : share) value = value - 0.2f;  // between the spots and what is around them
    write_png(pictures / "reaction.png", diverging(share, kReactionSide, kReactionSide, 0.2f), 3);
  }
}

}  // namespace showcase
