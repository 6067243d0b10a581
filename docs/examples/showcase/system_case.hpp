// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A system of fields with what it begins with and how its result is judged, and its execution on a backend.
#pragma once

#include <tessera/tessera.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace showcase {

/// Steps that plain loops make as well, behind those that are timed.
inline constexpr std::int64_t kCheckedSteps = 3;

/// The arrays of a field, the newest level first.
template <tessera::Element T>
using Levels = std::vector<std::vector<T>>;

/// What came out: the fields after half of the timed steps, after all of them, and after kCheckedSteps more; the series
/// of all steps.
template <tessera::Element T>
struct SystemRun {
  std::vector<Levels<T>> halfway, before, after;  ///< by field
  std::vector<T> recorded;
};

template <tessera::Element T>
struct SystemCase {
  struct Field {
    tessera::SystemField field;
    Levels<T> levels;  ///< at the beginning
    bool state = false;
  };
  std::string name;
  tessera::StencilSystem system;
  std::int64_t steps;  ///< an even number; made by two executions
  std::vector<Field> fields;
  std::vector<T> injected;       ///< steps + kCheckedSteps rows, or nothing
  std::int64_t recorded_series;  ///< 0: nothing is recorded
  /// The largest error in units of its bound.
  std::function<double(const SystemRun<T>&)> error_over_bound;

  double points() const { return double(fields.front().levels.front().size()); }
};

/// A case in the memory of a device.
template <tessera::Element T>
class SystemOnDevice {
 public:
  SystemOnDevice(tessera::Context& context, const SystemCase<T>& c)
      : case_(c),
        injected_(uploaded(context, c.injected)),
        recorded_(uploaded(context, std::vector<T>(std::size_t((c.steps + kCheckedSteps) * c.recorded_series),
                                                   std::numeric_limits<T>::quiet_NaN()))) {
    for (const auto& field : c.fields) {
      fields_.emplace_back();
      for (const std::vector<T>& level : field.levels) fields_.back().push_back(uploaded(context, level));
    }
  }

  /// The steps of a plan, from a row of the series on. Buffers change places, so that the newest level comes first.
  void step(tessera::SystemPlan& plan, std::int64_t first_step) {
    std::vector<tessera::FieldArrays> arrays;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      std::vector<tessera::SystemArray> levels;
      for (tessera::Buffer<T>& buffer : fields_[f]) levels.emplace_back(buffer);
      arrays.emplace_back(case_.fields[f].field, std::move(levels));
    }
    tessera::SystemSeries series{.first_step = first_step};
    if (!case_.injected.empty()) series.injected.emplace_back(injected_);
    if (case_.recorded_series > 0) series.recorded.emplace_back(recorded_);
    plan.execute(arrays, series);
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      if (!case_.fields[f].state) continue;
      std::vector<tessera::Buffer<T>> ordered;
      for (int level = 0; level < int(fields_[f].size()); ++level)
        ordered.push_back(std::move(fields_[f][std::size_t(plan.place_after(case_.fields[f].field, -level))]));
      fields_[f] = std::move(ordered);
    }
  }

  std::vector<Levels<T>> fields() const {
    std::vector<Levels<T>> values;
    for (const auto& buffers : fields_) {
      values.emplace_back();
      for (const tessera::Buffer<T>& buffer : buffers) values.back().push_back(downloaded(buffer));
    }
    return values;
  }
  std::vector<T> recorded() const { return downloaded(recorded_); }

 private:
  static tessera::Buffer<T> uploaded(tessera::Context& context, const std::vector<T>& values) {
    tessera::Buffer<T> buffer(context, values.size());
    buffer.upload(values);
    return buffer;
  }
  static std::vector<T> downloaded(const tessera::Buffer<T>& buffer) {
    std::vector<T> values(std::size_t(buffer.size()));
    buffer.download(values);
    return values;
  }

  const SystemCase<T>& case_;
  std::vector<std::vector<tessera::Buffer<T>>> fields_;
  tessera::Buffer<T> injected_, recorded_;
};

/// Runs a case. Sets the seconds of its timed steps and the name of the algorithm with its parameters.
template <tessera::Element T>
SystemRun<T> run(const SystemCase<T>& c, tessera::Context& context, std::string& algorithm, double& seconds) {
  const std::int64_t half = c.steps / 2;
  tessera::SystemPlan plan(context, c.system, half, {.operands = tessera::Memory::device, .algorithm = algorithm});
  algorithm = plan.algorithm();
  tessera::SystemPlan more(context, c.system, kCheckedSteps,
                           {.operands = tessera::Memory::device, .algorithm = algorithm});
  SystemOnDevice<T> system(context, c);
  const auto timed = [&](std::int64_t first_step) {
    const auto start = std::chrono::steady_clock::now();
    system.step(plan, first_step);
    context.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  SystemRun<T> result;
  seconds = timed(0);
  result.halfway = system.fields();
  seconds += timed(half);
  result.before = system.fields();
  system.step(more, c.steps);
  result.after = system.fields();
  result.recorded = system.recorded();
  return result;
}

}  // namespace showcase
