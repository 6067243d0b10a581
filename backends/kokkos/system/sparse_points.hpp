// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Injections and recordings of a system: an item is a point, or a series that is recorded.
#pragma once

#include "../context.hpp"
#include "../range.hpp"
#include "elements.hpp"
#include "list.hpp"

#include <tessera/plugin/system_levels.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace tessera::kokkos {

using plugin::SystemProblem;

struct PointEntry {
  std::int64_t place;  ///< element of the field
  std::int64_t series;
  double weight;
};

/// field[p] += weight * series[i], entry by entry.
template <class T>
struct InjectItem {
  const PointEntry* entries;
  const std::int64_t* first;
  tessera_dtype dtype;
  const T* series;
  void* field;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t point, std::int64_t, std::int64_t) const {
    for (std::int64_t e = first[point]; e < first[point + 1]; ++e) {
      const PointEntry& entry = entries[e];
      const T value = load_value<T>(field, entry.place, dtype);
      store_value(field, entry.place, dtype, value + T(entry.weight) * series[entry.series]);
    }
  }
};

/// series[i] = the sum of weight * field[p], by fused multiply-adds.
template <class T>
struct RecordItem {
  const PointEntry* entries;
  const std::int64_t* first;
  tessera_dtype dtype;
  T* series;
  const void* field;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t, std::int64_t) const {
    T sum = T(0);
    for (std::int64_t e = first[i]; e < first[i + 1]; ++e)
      sum = std::fma(T(entries[e].weight), load_value<T>(field, entries[e].place, dtype), sum);
    series[i] = sum;
  }
};

/// All injections and recordings.
template <class T>
class SparsePoints {
 public:
  SparsePoints(Context& context, const SystemProblem& problem) {
    for (const SystemProblem::Points& points : problem.injections)
      injections_.emplace_back(context, problem, points, true);
    for (const SystemProblem::Points& points : problem.recordings)
      recordings_.emplace_back(context, problem, points, false);
  }

  /// What follows a stage, in a step of that number.
  void run(const Launcher& launch, int stage, std::int64_t step, const plugin::Execution& execution,
           const plugin::SystemLevels& levels) const {
    for (const Sets& sets : injections_)
      if (sets.stage == stage) start<InjectItem<T>>(launch, sets, step, execution, levels);
    for (const Sets& sets : recordings_)
      if (sets.stage == stage) start<RecordItem<T>>(launch, sets, step, execution, levels);
  }

 private:
  /// Entries of one point (of injections) or of one series (of recordings) come together, in the caller's order.
  struct Sets {
    int field, stage, operand;
    tessera_dtype dtype;
    std::int64_t series_count, count;
    List<PointEntry> entries;
    List<std::int64_t> first;

    Sets(Context& context, const SystemProblem& problem, const SystemProblem::Points& points, bool by_point)
        : field(points.field), stage(points.stage), operand(points.operand), series_count(points.series_count) {
      const SystemProblem::Field& f = problem.fields[std::size_t(field)];
      dtype = f.dtype;
      std::map<std::int64_t, std::vector<PointEntry>> sets;
      if (!by_point)
        for (std::int64_t i = 0; i < series_count; ++i) sets[i];
      for (const auto& [p, weight, series] : points.entries) {
        const std::int64_t place = p[0] * f.strides[0] + p[1] * f.strides[1] + p[2] * f.strides[2];
        sets[by_point ? place : series].push_back({place, series, weight});
      }
      std::vector<PointEntry> all;
      std::vector<std::int64_t> begins{0};
      for (const auto& [key, set] : sets) {
        all.insert(all.end(), set.begin(), set.end());
        begins.push_back(std::int64_t(all.size()));
      }
      count = std::int64_t(sets.size());
      entries = List<PointEntry>(context, all), first = List<std::int64_t>(context, begins);
    }
  };

  template <class Item>
  static void start(const Launcher& launch, const Sets& sets, std::int64_t step, const plugin::Execution& execution,
                    const plugin::SystemLevels& levels) {
    if (sets.count == 0) return;
    launch(range(launch.space(), {0, 0, 0}, {sets.count, 1, 1}),
           Item{sets.entries.data(), sets.first.data(), sets.dtype,
                execution.operand<T>(sets.operand) + step * sets.series_count, levels.at(sets.field, 1, step)});
  }

  std::vector<Sets> injections_, recordings_;
};

}  // namespace tessera::kokkos
