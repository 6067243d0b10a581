// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "hints.hpp"
#include "plans.hpp"
#include "values.hpp"

#include <nanobind/operators.h>

#include <algorithm>
#include <optional>
#include <string>

namespace tessera::python {
namespace {

using Offset = std::vector<std::int64_t>;
using Places = Argument<"collections.abc.Iterable[collections.abc.Sequence[int]]">;
using Weights = Argument<"collections.abc.Iterable[float]">;
using Columns = Argument<"collections.abc.Iterable[int]">;
using SeriesArrays = Argument<"collections.abc.Sequence[typing.Any]">;

Integers integers(const Offset& values) { return Integers(values.begin(), values.end()); }

FieldOptions field_options(int levels, nb::handle boundary, nb::handle dtype, int rank) {
  FieldOptions options;
  options.levels = levels;
  options.boundary = boundaries_of(boundary, rank);
  if (!dtype.is_none()) options.dtype = dtype_named(dtype, "dtype");
  return options;
}

/// "'u', 'v'", of many the first few.
std::string quoted(const std::vector<std::string>& names) {
  return names.empty() ? "none"
                       : tessera::detail::few_of(names, [](const std::string& name) { return "'" + name + "'"; });
}

/// Of what updates compute.
DType computed_type(nb::handle dtype) {
  const DType named = dtype_named(dtype, "dtype");
  if (size_of(named) == 2) refuse_value("dtype", dtype, "float32 or float64: fields may store 16 bits, by their own");
  return named;
}

/// A system with what the names of its fields are.
class System {
 public:
  System(const Offset& extents, nb::handle dtype)
      : system_(integers(extents), computed_type(dtype)), extents_(extents) {}

  struct Field {
    std::string name;
    DType dtype;
    int levels;  ///< 0: only read
    int axis;    ///< of a profile; -1: of another field
    std::size_t index;
  };

  SystemField state(Text given, int levels, BoundaryEntries boundary, TypeName dtype) {
    const std::string name = text_argument(given, "name");
    const FieldOptions options = field_options(levels, boundary, dtype, rank());
    return known({name, type(dtype), levels, -1, 0}, [&] { return system_.state(name, options); });
  }
  SystemField array(Text given, BoundaryEntries boundary, TypeName dtype) {
    const std::string name = text_argument(given, "name");
    const FieldOptions options = field_options(1, boundary, dtype, rank());
    return known({name, type(dtype), 0, -1, 0}, [&] { return system_.array(name, options); });
  }
  SystemField profile(Text given, int axis, TypeName dtype) {
    const std::string name = text_argument(given, "name");
    if (axis < 0 || axis >= rank())
      throw nb::value_error(
          ("axis = " + std::to_string(axis) + ": must lie in [0, " + std::to_string(rank()) + ")").c_str());
    const FieldOptions options = field_options(1, nb::str("fixed"), dtype, rank());
    return known({name, type(dtype), 0, axis, 0}, [&] { return system_.profile(name, axis, options); });
  }
  SystemField field(Text given) const {
    const std::string name = text_argument(given, "name");
    if (std::ranges::find(fields_, name, &Field::name) != fields_.end()) return system_.field(name);
    refuse_value("name", given, "a field of the system, which has " + quoted(names()));
  }

  void update(const SystemField& field, const Expression& value, int stage, const Offset& low, const Offset& high) {
    UpdateOptions options;
    require_corner(low, "low"), require_corner(high, "high");
    options.stage = stage, options.low = integers(low), options.high = integers(high);
    blaming_value([&] { system_.update(field, options) = value; });
  }
  void inject(const SystemField& field, Places points, Weights weights, Columns series, int stage) {
    system_.inject(field, entries(points, weights, series), stage);
  }
  void record(const SystemField& field, Places points, Weights weights, Columns series, int stage) {
    system_.record(field, entries(points, weights, series), stage);
  }

  const StencilSystem& get() const { return system_; }
  int rank() const { return int(extents_.size()); }
  const Offset& extents() const { return extents_; }
  const std::vector<Field>& fields() const { return fields_; }

 private:
  void require_corner(const Offset& corner, const char* name) const {
    if (corner.empty() || int(corner.size()) == rank()) return;
    throw nb::value_error((std::string(name) + " = " + text_of(corner) + ": must have " + std::to_string(rank()) +
                           " axes, as the system has, or none")
                              .c_str());
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Field& field : fields_) all.push_back(field.name);
    return all;
  }
  DType type(nb::handle dtype) const { return dtype.is_none() ? system_.dtype() : dtype_named(dtype, "dtype"); }
  /// What throws leaves both lists of fields as they were.
  template <class Make>
  SystemField known(Field field, const Make& make) {
    fields_.reserve(fields_.size() + 1);
    const SystemField made = make();
    field.index = std::size_t(made.index());
    fields_.push_back(std::move(field));
    return made;
  }

  /// What is None is left to SeriesPoints.
  SeriesPoints entries(nb::handle points, nb::handle weights, nb::handle series) const {
    SeriesPoints result;
    const std::vector<nb::object> list = entries_of(points, "points", "an iterable of points");
    const std::size_t count = list.size();
    for (const nb::object& point : list) {
      result.points.push_back(place_of_point(point, result.points.size()));
    }
    if (!weights.is_none()) result.weights = one_each(weights, "weights", count, as_number, refuse_number);
    if (!series.is_none()) result.series = one_each(series, "series", count, as_integer, refuse_integer);
    return result;
  }

  std::array<std::int64_t, TESSERA_MAX_RANK> place_of_point(nb::handle point, std::size_t index) const {
    const auto name = [index] { return "points[" + std::to_string(index) + "]"; };
    const std::vector<nb::object> coordinates = entries_of(point, name(), "a sequence of integers");
    if (int(coordinates.size()) != rank())
      throw nb::value_error((name() + " has " + std::to_string(coordinates.size()) + " axes; the system has " +
                             std::to_string(rank()) + ": must be as many")
                                .c_str());
    std::array<std::int64_t, TESSERA_MAX_RANK> place{};
    for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
      const std::optional<std::int64_t> value = as_integer(coordinates[axis]);
      if (!value) refuse_integer(name() + "[" + std::to_string(axis) + "]", coordinates[axis]);
      place[axis] = *value;
    }
    return place;
  }

  StencilSystem system_;
  Offset extents_;
  std::vector<Field> fields_;
};

/// Steps of a system.
class StepsPlan : public KeptPlan {
 public:
  StepsPlan(Place place, const System& system, const StencilSystem::Description& description, std::int64_t steps,
            const PlanOptions& options)
      : KeptPlan(std::move(place), description.get(), options),
        fields_(system.fields()),
        extents_(system.extents()),
        dtype_(system.get().dtype()),
        steps_(steps) {
    const tessera_system_desc& d = *description.get();
    keep(injected_, d.injections, d.injection_count);
    keep(recorded_, d.recordings, d.recording_count);
  }

  /// Makes the steps, and leaves the arrays of each state in `fields` with the newest first.
  void step(nb::typed<nb::dict, nb::str, Any> fields, SeriesArrays injected, SeriesArrays recorded,
            std::int64_t first_step) {
    check_names(fields);
    std::vector<tessera_operand> operands;
    std::vector<Array> arrays;  // keep what they refer to
    for (const System::Field& field : fields_) add(operands, arrays, fields, field);
    add_series(operands, arrays, injected, false, first_step);
    add_series(operands, arrays, recorded, true, first_step);
    execute(operands, {}, first_step);
    for (const System::Field& field : fields_)
      if (field.levels > 1) turn(fields, field);
  }

 private:
  struct Series {
    std::string field;
    std::int64_t width;
  };
  void keep(std::vector<Series>& list, const tessera_points* points, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i)
      list.push_back({fields_[std::size_t(points[i].field)].name, points[i].series_count});
  }

  /// That the keys are the names of the fields, each of them.
  void check_names(const nb::dict& fields) const {
    std::vector<std::string> known, unknown, missing;
    for (const System::Field& field : fields_) {
      known.push_back(field.name);
      if (!fields.contains(field.name.c_str())) missing.push_back(field.name);
    }
    for (const auto& [key, value] : fields) {
      if (nb::isinstance<SystemField>(key)) {
        const std::string name = nb::cast<const SystemField&>(key).name();
        throw nb::value_error(("fields: a key is a SystemField; must be the field's name, '" + name + "'").c_str());
      }
      const std::string name = as_text(key).value_or(shown(key));
      if (std::ranges::find(known, name) == known.end()) unknown.push_back(name);
    }
    if (!unknown.empty())
      throw nb::value_error(("fields: the system has no field " + quoted(unknown) + "; its fields are " +
                             quoted(known) + ": must be these")
                                .c_str());
    if (!missing.empty())
      throw nb::value_error(("fields: there are no arrays for " + quoted(missing) + "; the system's fields are " +
                             quoted(known) + ": must be all of them")
                                .c_str());
  }

  void add(std::vector<tessera_operand>& operands, std::vector<Array>& arrays, const nb::dict& fields,
           const System::Field& field) const {
    const nb::object given = fields[field.name.c_str()];
    const bool list = PyList_Check(given.ptr()) || PyTuple_Check(given.ptr());
    const std::size_t levels = std::size_t(std::max(field.levels, 1)), count = list ? nb::len(given) : 1;
    if (count != levels || (levels > 1 && !PyList_Check(given.ptr())))
      throw nb::value_error(
          ("fields: '" + field.name + "' must be " +
           (levels > 1 ? "a list of " + std::to_string(levels) + " arrays, the newest first" : "an array") + ", not " +
           (list ? "a " + std::string(PyList_Check(given.ptr()) ? "list" : "tuple") + " of " + std::to_string(count)
                 : "a " + std::string(Py_TYPE(given.ptr())->tp_name)))
              .c_str());
    for (std::size_t level = 0; level < levels; ++level) {
      const nb::object one = list ? nb::object(given[level]) : given;
      const std::string name = field.name + (level == 0 ? "" : "[-" + std::to_string(level) + "]");
      Array array = field.levels > 0 ? output_of(one, name.c_str()) : array_of(one, name.c_str());
      require(array, name.c_str(), shape_of(field), field.dtype);
      operands.push_back(operand_of(array, TESSERA_ROLE_FIELD + 4 * int(field.index) + int(level)));
      arrays.push_back(std::move(array));
    }
  }

  std::vector<std::int64_t> shape_of(const System::Field& field) const {
    if (field.axis < 0) return extents_;
    return {extents_[std::size_t(field.axis)]};
  }

  void add_series(std::vector<tessera_operand>& operands, std::vector<Array>& arrays, nb::handle given, bool out,
                  std::int64_t first_step) const {
    const std::vector<Series>& known = out ? recorded_ : injected_;
    const std::string list = out ? "recorded" : "injected";
    const std::vector<nb::object> arrays_given =
        given.is_none() ? std::vector<nb::object>() : entries_of(given, list, "a list of arrays");
    const std::size_t count = arrays_given.size();
    if (count != known.size()) {
      const std::string of = tessera::detail::few_of(known, [](const Series& s) { return "'" + s.field + "'"; });
      throw nb::value_error((list + ": " + std::to_string(count) + " arrays; the system has " +
                             std::to_string(known.size()) + (known.empty() ? "" : ", of ") + of + ": must be as many")
                                .c_str());
    }
    for (std::size_t i = 0; i < count; ++i) {
      const nb::object& one = arrays_given[i];
      const std::string name = list + "[" + std::to_string(i) + "]";
      Array array = out ? output_of(one, name.c_str()) : array_of(one, name.c_str());
      const std::int64_t rows = array.rank > 0 ? array.shape[0] : 0, needed = first_step + steps_;
      if (array.rank == 2 && rows < needed)
        throw nb::value_error((name + " has " + std::to_string(rows) + " rows, one a step; must have " +
                               std::to_string(needed) + ": first_step = " + std::to_string(first_step) +
                               " and the plan's " + std::to_string(steps_) + " steps")
                                  .c_str());
      require(array, name.c_str(), {std::max(rows, needed), known[i].width}, dtype_);
      operands.push_back(operand_of(array, (out ? TESSERA_ROLE_RECORDED : TESSERA_ROLE_INJECTED) + int(i)));
      arrays.push_back(std::move(array));
    }
  }

  /// The library leaves levels in other arrays than they were in.
  void turn(nb::dict& fields, const System::Field& field) const {
    nb::list given = nb::borrow<nb::list>(fields[field.name.c_str()]);
    nb::list turned;
    for (int level = 0; level < field.levels; ++level) {
      tessera_role role = 0;
      tessera::detail::call(tessera_plan_level_after, get(), std::int32_t(field.index), std::int32_t(-level), &role);
      turned.append(given[std::size_t(role - TESSERA_ROLE_FIELD) % 4]);
    }
    for (std::size_t level = 0; level < std::size_t(field.levels); ++level) given[level] = turned[level];
  }

  std::vector<System::Field> fields_;
  std::vector<std::int64_t> extents_;
  std::vector<Series> injected_, recorded_;
  DType dtype_;
  std::int64_t steps_;
};

void construct(StepsPlan* self, const System& system, std::int64_t steps, Text backend, Text memory, Text algorithm,
               Text effort, Whole sm_limit, Stream stream) {
  const Place place = place_named(backend, stream, memory_named(memory) == Memory::device);
  const StencilSystem::Description description(system.get(), steps);
  new (self) StepsPlan(place, system, description, steps, options_of(place.memory, algorithm, effort, sm_limit));
}

void define_expressions(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Expression>(module, "Expression", "A sum of products of fields and numbers.")
      .def(nb::init<double>(), "value"_a)
      .def("__init__", [](Expression* self, const SystemField& field) { new (self) Expression(Expression(field)); })
      .def(nb::self + nb::self)
      .def(nb::self - nb::self)
      .def(nb::self * nb::self)
      .def(
          "__radd__", [](const Expression& a, const Expression& b) { return b + a; }, nb::is_operator())
      .def(
          "__rsub__", [](const Expression& a, const Expression& b) { return b - a; }, nb::is_operator())
      .def(
          "__rmul__", [](const Expression& a, const Expression& b) { return b * a; }, nb::is_operator())
      .def(-nb::self);
  nb::implicitly_convertible<double, Expression>();
  nb::implicitly_convertible<SystemField, Expression>();
}

void define_fields(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<SystemField> field(module, "SystemField",
                                "A field as expressions read it: at a level of time and an offset.");
  field.attr("__iter__") = nb::none();  // else Python would take it for a sequence of all levels, which has no end
  field
      .def("__getitem__", &SystemField::operator[], "level"_a,
           "u[1] is made by an earlier stage, u[-1] is the one before u.")
      .def(
          "at", [](const SystemField& self, const Offset& offset) { return self.at(integers(offset)); }, "offset"_a,
          "The value at a neighbour, an offset for each axis.")
      .def(
          "under", [](const SystemField& self, SomeTaps taps) { return self.under(taps_of(taps)); }, "taps"_a,
          "sum of coefficient * field at offset.")
      .def(
          "__add__", [](const SystemField& a, const Expression& b) { return Expression(a) + b; }, nb::is_operator())
      .def(
          "__sub__", [](const SystemField& a, const Expression& b) { return Expression(a) - b; }, nb::is_operator())
      .def(
          "__mul__", [](const SystemField& a, const Expression& b) { return Expression(a) * b; }, nb::is_operator())
      .def(
          "__radd__", [](const SystemField& a, const Expression& b) { return b + Expression(a); }, nb::is_operator())
      .def(
          "__rsub__", [](const SystemField& a, const Expression& b) { return b - Expression(a); }, nb::is_operator())
      .def(
          "__rmul__", [](const SystemField& a, const Expression& b) { return b * Expression(a); }, nb::is_operator())
      .def("__neg__", [](const SystemField& a) { return -Expression(a); })
      .def("__abs__", [](const SystemField& a) { return a.through(TESSERA_MAP_ABS); });
  module.def("positive_part", &positive_part, "field"_a, "max(field, 0).");
  module.def("negative_part", &negative_part, "field"_a, "min(field, 0).");
  module.def("reciprocal", &reciprocal, "field"_a, "1 / field.");
}

void define_systems(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<System>(module, "StencilSystem", "Fields on one grid that are stepped together, by expressions.")
      .def(
          "__init__", [](System* self, const Offset& extents, TypeName dtype) { new (self) System(extents, dtype); },
          "extents"_a, "dtype"_a = "float32")
      .def("state", &System::state, "name"_a, nb::kw_only(), "levels"_a = 1, "boundary"_a = "fixed",
           "dtype"_a = nb::none(), "Values that each step makes anew; 1 to 3 levels of time.")
      .def("array", &System::array, "name"_a, nb::kw_only(), "boundary"_a = "fixed", "dtype"_a = nb::none(),
           "A value for each point, which is only read.")
      .def("profile", &System::profile, "name"_a, "axis"_a, nb::kw_only(), "dtype"_a = nb::none(),
           "A value for each place along an axis, which is only read.")
      .def("field", &System::field, "name"_a)
      .def("update", &System::update, "field"_a, "value"_a, nb::kw_only(), "stage"_a = 0, "low"_a = Offset(),
           "high"_a = Offset(),
           "What the next level of a state is, in the box from low to before high; all where empty.")
      .def("inject", &System::inject, "field"_a, "points"_a, nb::kw_only(), "weights"_a = nb::none(),
           "series"_a = nb::none(), "stage"_a = 0,
           "Adds weight * injected[step, i] at points after a stage. weights: None for 1 each. series: the column i of "
           "each point; None for one each.")
      .def("record", &System::record, "field"_a, "points"_a, nb::kw_only(), "weights"_a = nb::none(),
           "series"_a = nb::none(), "stage"_a = 0,
           "Sums weight * value at points into recorded[step, i]. weights, series: as for inject.");
  nb::class_<StepsPlan> plan(module, "SystemPlan", "Steps of a system, made once and executed many times.");
  plan.def("__init__", construct, "system"_a, "steps"_a, nb::kw_only(), "backend"_a = nb::none(), "memory"_a = "host",
           "algorithm"_a = nb::none(), "effort"_a = nb::none(), "sm_limit"_a = 0, "stream"_a = nb::none());
  plan.def("execute", &StepsPlan::step, "fields"_a, nb::kw_only(), "injected"_a = nb::none(), "recorded"_a = nb::none(),
           "first_step"_a = 0,
           "fields: a dict with the array of each field, in C order; of a state of several levels a list of them, the "
           "newest first, which is put in that order again afterwards. injected, recorded: a list of arrays of shape "
           "(steps, series), in the order of inject() and record().");
  define_plan(plan);
}

}  // namespace

void define_system(nb::module_& module) {
  define_expressions(module);
  define_fields(module);
  define_systems(module);
}

}  // namespace tessera::python
