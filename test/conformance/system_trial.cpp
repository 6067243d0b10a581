// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_trial.hpp"

#include "runner.hpp"
#include "stop.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

namespace tessera::test {

/// Of any type.
class TrialArray {
 public:
  virtual ~TrialArray() = default;
  virtual void set(std::int64_t place, double value) = 0;
  virtual long double at(std::int64_t place) const = 0;
  /// What it holds now is where reset() goes back to.
  virtual void keep() = 0;
  virtual void reset() = 0;
  virtual bool changed() const = 0;
  /// What it holds is what a later execution must make again.
  virtual void remember() = 0;
  virtual bool same_again() const = 0;
  virtual void to_device(Context& context, std::int64_t shift) = 0;
  virtual void from_device() = 0;
  /// On the device where it was brought there.
  virtual SystemArray array() = 0;
  virtual bool surroundings_intact() const = 0;
};

namespace {

template <class T>
class TypedArray final : public TrialArray {
 public:
  TypedArray(std::int64_t size, GuardedBytes::Against side) : array_(size, side) {}

  void set(std::int64_t place, double value) override { array_[place] = number<T>(value); }
  long double at(std::int64_t place) const override { return wide(array_[place]); }
  void keep() override { kept_ = array_.copy(); }
  void reset() override { array_.restore(kept_); }
  bool changed() const override { return !array_.same_bits(kept_); }
  void remember() override { made_ = array_.copy(); }
  bool same_again() const override { return array_.same_bits(made_); }
  void to_device(Context& context, std::int64_t shift) override { device_.emplace(context, array_, shift); }
  void from_device() override {
    if (!device_->download(array_)) stop("memory around an array was written");
    device_.reset();
  }
  SystemArray array() override { return device_ ? device_->data() : array_.data(); }
  bool surroundings_intact() const override { return array_.surroundings_intact(); }

 private:
  GuardedArray<T> array_;
  std::vector<T> kept_, made_;
  std::optional<DeviceArray<T>> device_;
};

std::unique_ptr<TrialArray> made(tessera_dtype dtype, std::int64_t size, Random& random) {
  const GuardedBytes::Against side = any_side(random);
  return with_types(dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<TrialArray> {
    return std::make_unique<TypedArray<T>>(size, side);
  });
}

/// Calls body(index in C order, place in the array) for each element of a field.
template <class Body>
void for_each(const tessera_system_desc& d, const tessera_field& f, Body&& body) {
  if (f.kind == TESSERA_FIELD_PROFILE) {
    for (std::int64_t i = 0; i < d.extents[f.axis]; ++i)
      body(std::size_t(i), i * (f.strides[0] == TESSERA_PACKED ? 1 : f.strides[0]));
    return;
  }
  std::int64_t extents[3] = {1, 1, 1}, strides[3] = {0, 0, 0}, packed = 1;
  for (int axis = d.rank; axis-- > 0;) {
    extents[axis] = d.extents[axis];
    strides[axis] = f.strides[0] == TESSERA_PACKED ? packed : f.strides[axis];
    packed *= d.extents[axis];
  }
  std::size_t index = 0;
  for (std::int64_t i = 0; i < extents[0]; ++i)
    for (std::int64_t j = 0; j < extents[1]; ++j)
      for (std::int64_t k = 0; k < extents[2]; ++k) body(index++, i * strides[0] + j * strides[1] + k * strides[2]);
}

std::int64_t span_of(const tessera_system_desc& d, const tessera_field& f) {
  std::int64_t last = 0;
  for_each(d, f, [&](std::size_t, std::int64_t place) { last = std::max(last, place); });
  return last + 1;
}

/// What is divided by stays away from 0, and heights of water above it.
double value_for(const tessera_field& f, Random& random) {
  const std::string name = f.name;
  const double x = random.uniform();
  if (name == "h") return 1.5 + 0.5 * x;
  const bool of_both_signs = f.kind == TESSERA_FIELD_STATE || name[0] == 'w' || name[0] == 'f';
  return of_both_signs ? x : 0.75 + 0.25 * x;
}

std::string wrong(const std::string& name, std::size_t index, long double computed, long double expected,
                  long double bound) {
  std::ostringstream text;
  text.precision(20);
  text << name << " at point " << index << ": computed " << computed << ", expected " << expected << " +- " << bound;
  return text.str();
}

}  // namespace

SystemTrial::SystemTrial(const SystemCase& c) : case_(c), description_(case_.system, case_.steps) { fill(); }
SystemTrial::~SystemTrial() = default;

void SystemTrial::fill() {
  Random random(case_.name);
  const tessera_system_desc& d = *description_.get();
  for (std::int64_t i = 0; i < d.field_count; ++i) {
    const tessera_field& f = d.fields[i];
    const bool state = f.kind == TESSERA_FIELD_STATE;
    Field field{case_.system.field(f.name), f.name, state, {}};
    auto& values = expected_.emplace_back();
    for (int level = 0; level < (state ? f.levels : 1); ++level) {
      auto array = made(f.dtype != 0 ? f.dtype : d.dtype, span_of(d, f), random);
      Values& packed = values.emplace_back();
      for_each(d, f, [&](std::size_t, std::int64_t place) {
        array->set(place, value_for(f, random));
        packed.push_back(array->at(place));
      });
      array->keep();
      field.levels.push_back(std::move(array));
    }
    fields_.push_back(std::move(field));
  }
  SeriesValues series;
  for (std::int64_t i = 0; i < d.injection_count; ++i) {
    const std::int64_t width = d.injections[i].series_count;
    auto array = made(d.dtype, width * d.steps, random);
    auto& rows = series.emplace_back(std::size_t(d.steps), Values(std::size_t(width)));
    for (std::int64_t place = 0; place < width * d.steps; ++place) {
      array->set(place, random.uniform());
      rows[std::size_t(place / width)][std::size_t(place % width)] = array->at(place);
    }
    array->keep();
    injected_.push_back(std::move(array));
  }
  for (std::int64_t i = 0; i < d.recording_count; ++i) {
    recorded_.push_back(made(d.dtype, d.recordings[i].series_count * d.steps, random));
    recorded_.back()->keep();
  }
  interpret(d, expected_, series, expected_recorded_, &errors_);
}

std::vector<std::vector<int>> SystemTrial::first_places() const {
  std::vector<std::vector<int>> places;
  for (const Field& field : fields_) {
    places.emplace_back();
    for (std::size_t level = 0; level < field.levels.size(); ++level) places.back().push_back(int(level));
  }
  return places;
}

void SystemTrial::reset() {
  for (const Field& field : fields_)
    for (const auto& level : field.levels) level->reset();
  for (const auto& array : recorded_) array->reset();
}

void SystemTrial::execute(SystemPlan& plan, std::int64_t first_step, const std::vector<std::vector<int>>& places) {
  std::vector<FieldArrays> arrays;
  for (std::size_t f = fields_.size(); f-- > 0;) {  // in any order
    std::vector<SystemArray> levels;
    for (const int place : places[f]) levels.push_back(fields_[f].levels[std::size_t(place)]->array());
    arrays.emplace_back(fields_[f].field, std::move(levels));
  }
  SystemSeries series{{}, {}, first_step};
  for (const auto& array : injected_) series.injected.push_back(array->array());
  for (const auto& array : recorded_) series.recorded.push_back(array->array());
  plan.execute(arrays, series);
}

std::string SystemTrial::run(Context& context, SystemPlan& plan, Memory memory) {
  const Running running(what_runs(case_.name, plan));
  std::vector<TrialArray*> all;
  for (const Field& field : fields_)
    for (const auto& level : field.levels) all.push_back(level.get());
  for (const auto& array : injected_) all.push_back(array.get());
  for (const auto& array : recorded_) all.push_back(array.get());
  for (int execution = 0; execution < 2; ++execution) {
    reset();
    std::int64_t shift = 1;  // at first away from the alignment that fast kernels like; the bits are the same
    if (memory == Memory::device)
      for (TrialArray* array : all) array->to_device(context, execution == 0 ? shift++ % 4 : 0);
    execute(plan, 0, first_places());
    context.synchronize();
    if (memory == Memory::device)
      for (TrialArray* array : all) array->from_device();
    for (const TrialArray* array : all)
      if (!array->surroundings_intact()) stop("memory beside an operand was written");
    if (execution == 0) {
      if (std::string problem = judge(plan); !problem.empty()) return problem;
      for (TrialArray* array : all) array->remember();
    }
    for (const TrialArray* array : all)
      if (!array->same_again()) return "the second execution computed other bits";
  }
  return "";
}

std::string SystemTrial::run_step_by_step(SystemPlan& all, SystemPlan& one) {
  std::vector<TrialArray*> made;
  reset();
  execute(all, 0, first_places());
  std::vector<std::vector<long double>> expected;
  const tessera_system_desc& d = *description_.get();
  const auto collect = [&](const std::vector<std::vector<int>>& places) {
    std::vector<std::vector<long double>> values;
    for (std::size_t f = 0; f < fields_.size(); ++f)
      for (const int place : places[f]) {
        auto& of_level = values.emplace_back();
        for_each(d, d.fields[f], [&](std::size_t, std::int64_t at) {
          of_level.push_back(fields_[f].levels[std::size_t(place)]->at(at));
        });
      }
    for (std::size_t r = 0; r < recorded_.size(); ++r) {
      auto& series = values.emplace_back();
      for (std::int64_t i = 0; i < d.recordings[r].series_count * d.steps; ++i) series.push_back(recorded_[r]->at(i));
    }
    return values;
  };
  const auto after = [&](const SystemPlan& plan, const std::vector<std::vector<int>>& before) {
    std::vector<std::vector<int>> places = before;
    for (std::size_t f = 0; f < fields_.size(); ++f)
      for (std::size_t level = 0; level < places[f].size(); ++level)
        places[f][level] = before[f][std::size_t(plan.place_after(fields_[f].field, -int(level)))];
    return places;
  };
  expected = collect(after(all, first_places()));
  reset();
  std::vector<std::vector<int>> places = first_places();
  for (std::int64_t step = 0; step < d.steps; ++step) {
    execute(one, step, places);
    places = after(one, places);
  }
  return collect(places) == expected ? "" : "steps one by one compute other bits than a plan of all steps";
}

std::string SystemTrial::judge(const SystemPlan& plan) const {
  const tessera_system_desc& d = *description_.get();
  std::string problem;
  const auto compare = [&](const std::string& name, std::size_t index, long double computed, long double expected,
                           long double bound) {
    if (problem.empty() && !(std::abs(computed - expected) <= bound))
      problem = wrong(name, index, computed, expected, bound);
  };
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    for (std::size_t level = 0; level < field.levels.size(); ++level) {
      if (!field.state) {
        if (field.levels[level]->changed()) return field.name + " was written";
        continue;
      }
      const TrialArray& array = *field.levels[std::size_t(plan.place_after(field.field, -int(level)))];
      const std::string name = field.name + (level == 0 ? "" : "[-" + std::to_string(level) + "]");
      for_each(d, d.fields[f], [&](std::size_t index, std::int64_t place) {
        compare(name, index, array.at(place), expected_[f][level][index], errors_.fields[f][level][index]);
      });
    }
  }
  for (const auto& array : injected_)
    if (array->changed()) return "a series of injections was written";
  for (std::size_t r = 0; r < recorded_.size(); ++r) {
    const std::int64_t width = d.recordings[r].series_count;
    for (std::int64_t i = 0; i < width * d.steps; ++i) {
      const auto step = std::size_t(i / width), column = std::size_t(i % width);
      compare("recordings[" + std::to_string(r) + "]", std::size_t(i), recorded_[r]->at(i),
              expected_recorded_[r][step][column], errors_.recorded[r][step][column]);
    }
  }
  return problem;
}

}  // namespace tessera::test
