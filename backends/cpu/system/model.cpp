// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "model.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

namespace tessera::cpu {
namespace {

using plugin::SystemProblem;

/// What a step adds up and moves.
struct Work {
  double values = 0.0;     ///< that are read for a point, in all updates
  double bytes = 0.0;      ///< a point, each level of each field once
  double planes = 0.0;     ///< rows of other planes and rows that come again for a point's row, all levels
  std::int64_t reach = 0;  ///< along the middle axis
};

Work work_of(const SystemProblem& p) {
  Work work;
  std::set<std::pair<int, int>> read;
  std::set<std::tuple<int, int, std::int64_t>> planes;
  const auto see = [&](const SystemProblem::Factor& f) {
    work.values += 1.0;
    if (p.fields[std::size_t(f.field)].kind == TESSERA_FIELD_PROFILE) return;
    read.insert({f.field, f.level});
    planes.insert({f.field, f.level, f.offset[0]});
    work.reach = std::max({work.reach, f.offset[1], -f.offset[1]});
  };
  for (const SystemProblem::Update& update : p.updates)
    for (const SystemProblem::Group& group : update.groups) {
      for (const SystemProblem::Factor& f : group.factors) see(f);
      for (const SystemProblem::Term& term : group.terms)
        for (const SystemProblem::Factor& f : term.factors) see(f);
    }
  for (const auto& [field, level] : read) work.bytes += double(plugin::size_of(p.fields[std::size_t(field)].dtype));
  for (const SystemProblem::Field& field : p.fields)
    if (field.state()) work.bytes += double(plugin::size_of(field.dtype)) * (field.apart ? 2.0 : 1.0);
  work.planes = double(planes.size());
  return work;
}

}  // namespace

std::int64_t block_rows(const Machine& machine, const SystemProblem& p) {
  const Work work = work_of(p);
  const double row = double(p.extents[2]) * double(plugin::size_of(p.dtype)) * std::max(work.planes, 1.0);
  const auto fitting = std::int64_t(0.5 * double(machine.caches.level2) / row) - 2 * work.reach;
  constexpr std::int64_t kLeast = 8;  // below it rows that are read again cost more than they save
  return std::max(fitting, kLeast);
}

namespace {

double one_thread_seconds(const Machine& machine, const SystemProblem& p) {
  const StencilCosts& c = machine.costs.stencil;
  const double lines = p.points() * double(plugin::size_of(p.dtype)) / double(kLineBytes);
  const double rows = p.points() / double(p.extents[2]) * double(p.updates.size());
  return double(p.steps) * (lines * work_of(p).values * (c.multiply_add + c.load + c.loop / 4.0) + rows * 4.0 * c.row);
}

}  // namespace

int system_threads(const Machine& machine, const SystemProblem& p) {
  return machine.useful_threads(one_thread_seconds(machine, p) / double(std::max<std::int64_t>(p.steps, 1)));
}

namespace {

double shared_seconds(const Machine& machine, const SystemProblem& p, double one_thread) {
  const int threads = system_threads(machine, p);
  const double computing = one_thread / threads * machine.slowdown(threads);
  const double moving = double(p.steps) * p.points() * work_of(p).bytes / (threads * machine.bandwidth(threads));
  const double meetings =
      double(p.steps) * double(p.stages.size()) * (threads > 1 ? machine.costs.stencil.barrier : 0.0);
  return machine.overhead(threads) + std::max(computing, moving) + meetings;
}

}  // namespace

double rows_seconds(const Machine& machine, const SystemProblem& p) {
  return shared_seconds(machine, p, one_thread_seconds(machine, p));
}

double star_seconds(const Machine& machine, const SystemProblem& p) {
  constexpr double kOnePass = 0.4;  // of the time of rows, which read and write buffers
  return shared_seconds(machine, p, kOnePass * one_thread_seconds(machine, p));
}

}  // namespace tessera::cpu
