// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How long a system takes, from the values that its points read and the bytes that it must move.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/system_problem.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>

namespace tessera::kokkos {

/// Of a step.
struct SystemWork {
  double values = 0.0;    ///< that points read, all together
  double bytes = 0.0;     ///< each level of each field once a stage
  double launches = 0.0;  ///< of kernels

  explicit SystemWork(const plugin::SystemProblem& p) {
    constexpr int kWritten = 2;                 // in place of a level
    std::set<std::tuple<int, int, int>> moved;  // stage, field, level
    for (const plugin::SystemProblem::Update& update : p.updates) {
      const double points = double(update.high[0] - update.low[0]) * double(update.high[1] - update.low[1]) *
                            double(update.high[2] - update.low[2]);
      const auto see = [&](const plugin::SystemProblem::Factor& f) {
        values += points;
        if (p.fields[std::size_t(f.field)].kind != TESSERA_FIELD_PROFILE)
          moved.insert({update.stage, f.field, f.level});
      };
      moved.insert({update.stage, update.field, kWritten});
      for (const plugin::SystemProblem::Group& group : update.groups) {
        for (const plugin::SystemProblem::Factor& f : group.factors) see(f);
        for (const plugin::SystemProblem::Term& term : group.terms)
          for (const plugin::SystemProblem::Factor& f : term.factors) see(f);
      }
    }
    for (const auto& [stage, field, level] : moved) {
      const plugin::SystemProblem::Field& f = p.fields[std::size_t(field)];
      const bool twice = kOnHost && level == kWritten && f.apart;  // a host's write is a read, too
      bytes += p.points() * double(plugin::size_of(f.dtype)) * (twice ? 2.0 : 1.0);
    }
    launches = double(p.stages.size() + p.injections.size() + p.recordings.size());
  }
};

/// All steps.
inline double system_seconds(const Machine& machine, const plugin::SystemProblem& p) {
  const SystemWork work(p);
  return double(p.steps) * machine.system_step_seconds(work.values, work.bytes, work.launches, p.dtype);
}

}  // namespace tessera::kokkos
