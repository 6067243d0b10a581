// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_description.hpp"

#include "expression.hpp"
#include "functions.hpp"
#include "json_entry.hpp"
#include "json_text.hpp"
#include "npy.hpp"
#include "numbers.hpp"
#include "scanner.hpp"
#include "taps_spec.hpp"

#include <algorithm>
#include <limits>

namespace tessera::cli {
namespace {

constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 26;  // bytes; a point takes some 60
constexpr std::size_t kMostTaps = 4096;                     // an expression of many terms is slow to make
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// What an expression may name must not be anything else there.
void require_name(const std::string& name, const JsonEntry& entry) {
  if (!Scanner::is_name(name)) entry.fail("a name is a letter or _, then letters, digits and _");
  if (named(kMaps, name) != nullptr || named(kDerivedTaps, name) != nullptr)
    entry.fail("is a function of expressions; choose another name");
}

/// "MODE[,MODE...]" or a list with a mode for each axis.
Boundaries read_boundary(const JsonEntry& entry) {
  std::string text;
  if (entry.is_list())
    for (const JsonEntry& axis : entry.list()) text += (text.empty() ? "" : ",") + axis.text();
  else
    text = entry.text();
  return entry.checked([&] { return Boundaries(parse_boundaries(text, std::nullopt)); });
}

DescribedField read_field(const std::string& name, const JsonEntry& entry) {
  require_name(name, entry);
  entry.require_keys({"kind", "dtype", "boundary", "levels", "next", "axis"});
  const auto kind = tessera_field_kind(entry.at("kind").one_of({"state", "array", "profile"}));
  DescribedField field{name, kind, 0, {}};
  if (field.is_state())
    entry.require_keys({"kind", "dtype", "boundary", "levels", "next"});
  else if (kind == TESSERA_FIELD_PROFILE)
    entry.require_keys({"kind", "dtype", "boundary", "axis"});
  else
    entry.require_keys({"kind", "dtype", "boundary"});
  if (kind == TESSERA_FIELD_PROFILE) field.axis = int(entry.at("axis").whole(0, TESSERA_MAX_RANK - 1));
  if (const auto dtype = entry.find("dtype"))
    field.options.dtype = dtype->checked([&] { return parse_element_type(dtype->text(), "the type"); });
  if (const auto boundary = entry.find("boundary")) field.options.boundary = read_boundary(*boundary);
  if (const auto levels = entry.find("levels")) field.options.levels = int(levels->whole(1, TESSERA_MAX_LEVELS));
  if (const auto next = entry.find("next"))
    field.options.next = NextLevel(next->one_of({"automatic", "in_place", "apart"}));
  return field;
}

/// Reads what is described in terms of the fields into a system.
class Reader {
 public:
  Reader(StencilSystem& system, const SystemDescription& description, const Integers& extents)
      : system_(system), description_(description), extents_(extents), names_{int(extents.size()), {}, {}} {}

  void add_field(const DescribedField& f) {
    names_.fields.emplace_back(f.name, f.is_state()                      ? system_.state(f.name, f.options)
                                       : f.kind == TESSERA_FIELD_PROFILE ? system_.profile(f.name, f.axis, f.options)
                                                                         : system_.array(f.name, f.options));
  }

  void read_taps(const JsonEntry& entry) {
    for (const auto& [name, list] : entry.members()) {
      require_name(name, list);
      if (named(names_.fields, name) != nullptr) list.fail("is a field as well; choose another name");
      Taps taps{names_.rank};
      for (const JsonEntry& tap : list.list()) {
        const std::vector<JsonEntry> numbers = tap.list();
        if (numbers.size() != rank() + 1)
          tap.fail("has " + std::to_string(numbers.size()) + " numbers; expected " + std::to_string(rank()) +
                   " of an offset, one for each axis, and a coefficient");
        std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
        for (std::size_t axis = 0; axis < rank(); ++axis)
          offset[axis] = numbers[axis].whole(-TESSERA_MAX_RADIUS, TESSERA_MAX_RADIUS);
        taps.add(offset, numbers.back().number());
      }
      if (taps.size() == 0 || taps.size() > kMostTaps)
        list.fail("has " + std::to_string(taps.size()) + " taps; expected 1 to " + std::to_string(kMostTaps) +
                  ", [[offset of each axis, coefficient], ...]");
      names_.taps.emplace_back(name, std::move(taps));
    }
  }

  void read_update(const JsonEntry& entry) {
    entry.require_keys({"field", "stage", "low", "high", "value"});
    const SystemField field = read_target(entry);
    UpdateOptions options;
    options.stage = read_stage(entry);
    if (const auto low = entry.find("low")) options.low = read_corner(*low, 0);
    if (const auto high = entry.find("high")) options.high = read_corner(*high, 1);
    const JsonEntry value = entry.at("value");
    std::string text;
    if (value.is_list())  // lines
      for (const JsonEntry& line : value.list()) text += (text.empty() ? "" : "\n") + line.text();
    else
      text = value.text();
    system_.update(field, options) = value.checked([&] { return parse_expression(text, names_); });
  }

  void read_injection(const JsonEntry& entry) {
    entry.require_keys({"field", "stage", "series", "points"});
    const SystemField field = read_target(entry);
    system_.inject(field, read_points(entry), read_stage(entry));
  }
  void read_recording(const JsonEntry& entry) {
    entry.require_keys({"field", "stage", "series", "points"});
    const SystemField field = read_target(entry);
    system_.record(field, read_points(entry), read_stage(entry));
  }

 private:
  std::size_t rank() const { return extents_.size(); }

  /// The state that an update sets, or whose points are meant.
  SystemField read_target(const JsonEntry& entry) const {
    const JsonEntry target = entry.at("field");
    const std::string name = target.text();
    std::string states;
    for (const DescribedField& field : description_.fields()) {
      if (field.is_state() && field.name == name) return *named(names_.fields, name);
      if (field.is_state()) states += (states.empty() ? "" : ", ") + field.name;
    }
    target.fail("there is no state " + in_quotes(name) + "; there are " + (states.empty() ? "none" : states));
  }
  int read_stage(const JsonEntry& entry) const {
    const auto stage = entry.find("stage");
    return stage ? int(stage->whole(0, TESSERA_MAX_STAGES - 1)) : 0;
  }
  /// Where `beyond` is 1 a corner is behind the last point.
  Integers read_corner(const JsonEntry& entry, std::int64_t beyond) const {
    const std::vector<JsonEntry> numbers = entry.list();
    if (numbers.size() != rank())
      entry.fail("has " + std::to_string(numbers.size()) + " numbers; expected " + std::to_string(rank()) +
                 ", one for each axis");
    Integers corner;
    for (std::size_t axis = 0; axis < rank(); ++axis)
      corner.push_back(numbers[axis].whole(beyond, extents_[axis] - 1 + beyond));
    return corner;
  }
  SeriesPoints read_points(const JsonEntry& entry) const {
    SeriesPoints points;
    const auto count = entry.find("series");
    points.series_count = count ? count->whole(1, kMost) : 1;
    for (const JsonEntry& point : entry.at("points").list()) {
      point.require_keys({"at", "weight", "series"});
      const Integers place = read_corner(point.at("at"), 0);
      const auto weight = point.find("weight"), series = point.find("series");
      std::copy(place.begin(), place.end(), points.points.emplace_back().begin());
      points.weights.push_back(weight ? weight->number() : 1.0);
      if (!series && points.series_count > 1)
        point.fail("the key \"series\" is missing; there are " + std::to_string(points.series_count) + " series");
      points.series.push_back(series ? series->whole(0, points.series_count - 1) : 0);
    }
    return points;
  }

  StencilSystem& system_;
  const SystemDescription& description_;
  const Integers& extents_;
  ExpressionNames names_;
};

}  // namespace

SystemDescription::SystemDescription(const std::filesystem::path& file) : file_(file) {
  try {
    json_ = std::make_shared<const JsonValue>(parse_json(read_text(file, "descriptions", kMaxFile)));
    const JsonEntry root(*json_, "");
    root.require_keys({"dtype", "extents", "fields", "taps", "updates", "injections", "recordings"});
    if (const auto dtype = root.find("dtype"))
      dtype_ = std::vector{DType::f32, DType::f64}[dtype->one_of({"f32", "f64"})];
    if (const auto extents = root.find("extents")) {
      for (const JsonEntry& extent : extents->list()) extents_.push_back(extent.whole(1, kMost));
      if (extents_.empty() || extents_.size() > TESSERA_MAX_RANK)
        extents->fail("has " + std::to_string(extents_.size()) + " numbers; expected 1, 2 or 3");
    }
    for (const auto& [name, entry] : root.at("fields").members()) fields_.push_back(read_field(name, entry));
    if (fields_.empty()) root.at("fields").fail("there are none");
  } catch (const std::invalid_argument& error) {
    throw npy::Error(file, error.what());
  }
}

std::size_t SystemDescription::place_of(std::string_view name) const {
  std::string names;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].name == name) return i;
    names += (i == 0 ? "" : ", ") + fields_[i].name;
  }
  throw npy::Error(file_, "has no field " + in_quotes(name) + "; there are " + names);
}

StencilSystem SystemDescription::make(const Integers& extents) const {
  try {
    StencilSystem system(extents, dtype_);
    Reader reader(system, *this, extents);
    for (const DescribedField& field : fields_) reader.add_field(field);
    const JsonEntry root(*json_, "");
    if (const auto taps = root.find("taps")) reader.read_taps(*taps);
    for (const JsonEntry& update : root.at("updates").list()) reader.read_update(update);
    if (const auto list = root.find("injections"))
      for (const JsonEntry& injection : list->list()) reader.read_injection(injection);
    if (const auto list = root.find("recordings"))
      for (const JsonEntry& recording : list->list()) reader.read_recording(recording);
    return system;
  } catch (const std::invalid_argument& error) {
    throw npy::Error(file_, error.what());
  } catch (const Error& error) {
    throw npy::Error(file_, error.what());
  }
}

}  // namespace tessera::cli
