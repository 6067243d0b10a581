// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "model.hpp"

#include "../launch_limits.hpp"
#include "program.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <tuple>

namespace tessera::cuda {

using plugin::SystemProblem;

double compulsory_bytes(const SystemProblem& p) {
  std::set<std::tuple<int, int, int>> moved;  // stage, field, level
  for (const SystemProblem::Update& update : p.updates) {
    const auto see = [&](const SystemProblem::Factor& f) {
      if (p.fields[std::size_t(f.field)].kind != TESSERA_FIELD_PROFILE) moved.insert({update.stage, f.field, f.level});
    };
    moved.insert({update.stage, update.field, 2});  // what is written
    for (const SystemProblem::Group& group : update.groups) {
      for (const SystemProblem::Factor& f : group.factors) see(f);
      for (const SystemProblem::Term& term : group.terms)
        for (const SystemProblem::Factor& f : term.factors) see(f);
    }
  }
  double bytes = 0.0;
  for (const auto& [stage, field, level] : moved) bytes += double(plugin::size_of(p.fields[std::size_t(field)].dtype));
  return bytes * p.points();
}

double launches_seconds(const Machine&, double launches) {
  constexpr double kLaunch = 2.5e-6;
  return launches * kLaunch;
}

namespace {

/// The part of the domain whose points may ask for values outside.
double shell_part(const SystemProblem& p) {
  double inner = 1.0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::int64_t reach[2] = {0, 0};
    for (const SystemProblem::Update& update : p.updates)
      for_each_factor(update, [&](const SystemProblem::Factor& f) {
        for (const std::size_t side : {0, 1}) {
          if (!asks_outside(p.fields[std::size_t(f.field)], axis, side) || update.frozen[axis][side] != 0) continue;
          reach[side] = std::max(reach[side], side == 0 ? -f.offset[axis] : f.offset[axis]);
        }
      });
    inner *= std::max(1.0 - double(reach[0] + reach[1]) / double(p.extents[axis]), 0.0);
  }
  return 1.0 - inner;
}

}  // namespace

double direct_seconds(const Machine& machine, const SystemProblem& p) {
  double records = 0.0, batches = 0.0, launches = 0.0;
  for (const SystemProblem::Update& update : p.updates) {
    const double part = double(update.high[0] - update.low[0]) * double(update.high[1] - update.low[1]) *
                        double(update.high[2] - update.low[2]) / p.points();
    for (const SystemProblem::Group& group : update.groups) {
      double values = 0.0;
      for (const SystemProblem::Term& term : group.terms)
        values += double(std::max<std::size_t>(term.factors.size(), 1));
      records += part * (1.0 + double(group.factors.size()) + values);
      batches += part * (double(group.factors.size()) + std::ceil(values / 4.0));
    }
  }
  for (const int stage : p.stages) launches += double(launches_of(p, stage).size());
  // Of a record and a point, as an H100 shows in domains of 384^3; near a side whose values are asked for, many more.
  constexpr double kCycles = 3.0, kCyclesOfByte = 1.75, kShell = 12.0;
  constexpr double kLanes = 128.0;  // of a multiprocessor
  const double cycles = (kCycles + kCyclesOfByte * double(plugin::size_of(p.dtype))) * (1.0 + kShell * shell_part(p));
  const double computing = p.points() * records * cycles / (kLanes * machine.cycles_per_second());
  constexpr double kRate = 0.8;  // of a copy, at best
  const double moving = compulsory_bytes(p) / (kRate * machine.memory_rate);
  // Of values that are read together, in domains of which each multiprocessor has a few blocks; and of a launch that
  // waits for another one's values.
  constexpr double kBatch = 0.4e-6, kNext = 6e-6;
  const double step = std::max({computing, moving, batches * kBatch + (launches - 1.0) * kNext});
  const double points = double(p.injections.size() + p.recordings.size());
  return double(p.steps) * (launches_seconds(machine, launches + points) + step);
}

std::string why_not_in_rows(const SystemProblem& p) {
  constexpr std::int64_t kRows = 8, kMostPoints = std::int64_t{1} << 30;
  if (p.extents[0] > kMaxGridYz || p.extents[1] > kRows * kMaxGridYz || p.extents[1] * p.extents[2] > kMostPoints)
    return "takes up to " + std::to_string(kMaxGridYz) + " planes of up to 2^30 points";
  return {};
}

double rows_at_rate_seconds(const Machine& machine, const SystemProblem& p, double rate) {
  constexpr double kUnaligned = 0.87, kBegin = 3e-6;
  constexpr std::int64_t kVectorBytes = 16;
  const bool aligned = p.extents[2] * std::int64_t(plugin::size_of(p.dtype)) % kVectorBytes == 0;
  const double moving = compulsory_bytes(p) / (machine.memory_rate * rate * (aligned ? 1.0 : kUnaligned));
  const double launches = double(p.stages.size() + p.injections.size() + p.recordings.size());
  return double(p.steps) * (launches_seconds(machine, launches) + kBegin + moving);
}

}  // namespace tessera::cuda
