// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "measure.hpp"
#include "system_arguments.hpp"
#include "system_arrays.hpp"
#include "system_description.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace tessera::cli {
namespace {

struct Arguments {
  std::string description;
  std::vector<std::string> fields, injected, recorded, outputs;
  std::int64_t steps = 1, first_step = 0;
  Choice choice;
};

/// What the command line alone determines; mistakes in it are mistakes of usage.
struct Parsed {
  std::vector<NamedFile> inputs, outputs;
};

Parsed parse(const Arguments& arguments) {
  return usage([&] {
    if (arguments.outputs.empty() && arguments.recorded.empty())
      throw std::invalid_argument("nothing is written: give --output NAME=FILE or --recorded FILE");
    return Parsed{parse_inputs(arguments.fields), parse_outputs(arguments.outputs, arguments.recorded)};
  });
}

/// Bytes that an execution moves at least for each point of the grid, where each stage reads what it needs once and
/// writes what it makes.
double bytes_a_point(const tessera_system_desc& d) {
  std::set<std::tuple<int, int, int>> touched;  // stage, field and level
  for (std::int64_t i = 0; i < d.update_count; ++i) {
    const tessera_update& update = d.updates[i];
    const auto read = [&](const tessera_factor& f) { touched.emplace(update.stage, f.field, f.level); };
    constexpr int kWritten = 2;  // no level that is read
    touched.emplace(update.stage, update.field, kWritten);
    for (const tessera_group& group : std::span(update.groups, std::size_t(update.group_count))) {
      std::for_each(group.factors, group.factors + group.factor_count, read);
      for (const tessera_term& term : std::span(group.terms, std::size_t(group.term_count)))
        std::for_each(term.factors, term.factors + term.factor_count, read);
    }
  }
  double bytes = 0.0;
  for (const auto& [stage, place, level] : touched) {
    const tessera_field& field = d.fields[place];
    if (field.kind != TESSERA_FIELD_PROFILE) bytes += double(size_of(field.dtype == 0 ? d.dtype : field.dtype));
  }
  return bytes;
}

/// An array of memory that does not know its type.
SystemArray array_of(DType dtype, std::byte* bytes) {
  return with_types(dtype,
                    [bytes]<class T>(std::type_identity<T>) { return SystemArray(reinterpret_cast<T*>(bytes)); });
}

/// The arrays of an execution, which it changes, beside those that it begins with.
class StepArrays {
 public:
  StepArrays(const SystemDescription& description, const SystemArrays& arrays, const StencilSystem& system) {
    for (std::size_t i = 0; i < arrays.levels.size(); ++i) {
      const DescribedField& field = description.fields()[i];
      std::vector<SystemArray> levels;
      changed_.emplace_back();
      for (const npy::Array& array : arrays.levels[i]) {
        std::byte* bytes = array.bytes.get();
        if (field.is_state()) {
          const std::size_t size = std::size_t(array.size) * size_of(array.dtype);
          changed_.back().push_back({bytes, std::make_unique_for_overwrite<std::byte[]>(size), size});
          bytes = changed_.back().back().bytes.get();
        }
        levels.push_back(array_of(array.dtype, bytes));
      }
      fields_.emplace_back(system.field(field.name), std::move(levels));
    }
  }

  void reset() const {
    for (const std::vector<Changed>& levels : changed_)
      for (const Changed& level : levels) std::memcpy(level.bytes.get(), level.initial, level.size);
  }
  const std::vector<FieldArrays>& fields() const { return fields_; }
  std::span<const std::byte> state(std::size_t place, int level) const {
    const Changed& changed = changed_[place][std::size_t(level)];
    return {changed.bytes.get(), changed.size};
  }

 private:
  struct Changed {
    const std::byte* initial;
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };
  std::vector<std::vector<Changed>> changed_;  ///< for each field its levels, none of what is only read
  std::vector<FieldArrays> fields_;
};

/// The series of an execution.
class Series {
 public:
  Series(const Arguments& arguments, const tessera_system_desc& d) : dtype_(DType(d.dtype)), steps_(arguments.steps) {
    require("injection", "--injected", d.injection_count, arguments.injected, arguments.description);
    require("recording", "--recorded", d.recording_count, arguments.recorded, arguments.description);
    for (std::size_t i = 0; i < arguments.injected.size(); ++i) {
      const std::int64_t width = d.injections[i].series_count, first = arguments.first_step;
      injected_.push_back(
          read_series(arguments.injected[i], dtype_, "injections[" + std::to_string(i) + "]", width, first, steps_));
      std::byte* const bytes = injected_.back().bytes.get();
      series_.injected.push_back(array_of(dtype_, bytes + std::size_t(first * width) * size_of(dtype_)));
    }
    for (std::int64_t i = 0; i < d.recording_count; ++i) widths_.push_back(d.recordings[i].series_count);
  }

  /// Once the plan has checked that they are not too large.
  void allocate_recorded() {
    for (const std::int64_t width : widths_) {
      recorded_.emplace_back(std::size_t(steps_ * width) * size_of(dtype_));
      series_.recorded.push_back(array_of(dtype_, recorded_.back().data()));
    }
  }
  const SystemSeries& get() const { return series_; }
  void write(npy::OutputFile& output, std::size_t i) const {
    output.write(recorded_[i], npy::stored_of(dtype_), {steps_, widths_[i]});
  }

 private:
  static void require(const std::string& what, const std::string& option, std::int64_t count,
                      const std::vector<std::string>& files, const std::string& description) {
    if (std::int64_t(files.size()) != count)
      throw npy::Error(description, "has " + std::to_string(count) + " " + what + (count == 1 ? "" : "s") + ", but " +
                                        option + " is given " + std::to_string(files.size()) +
                                        " times: give it once for each, in their order");
  }

  DType dtype_;
  std::int64_t steps_;
  std::vector<npy::Array> injected_;
  std::vector<std::vector<std::byte>> recorded_;
  std::vector<std::int64_t> widths_;  ///< of what is recorded
  SystemSeries series_;
};

/// The files that are written, all of them or, if that can be avoided, none.
class Outputs {
 public:
  Outputs(const SystemDescription& description, const Parsed& parsed, const std::vector<std::string>& recorded)
      : description_(description) {
    for (const NamedFile& named : parsed.outputs) {
      const DescribedField& field = description.fields()[description.place_of(named.field)];
      if (!field.is_state())
        throw npy::Error(description.file(), "'" + field.name + "' is only read; --output writes states");
      if (-named.level.value_or(0) >= field.levels())
        throw npy::Error(description.file(), "--output asks for " + named.name() + ", but '" + field.name + "' has " +
                                                 std::to_string(field.levels()) +
                                                 (field.levels() == 1 ? " level" : " levels"));
      states_.push_back(named);
      files_.emplace_back(named.file);
    }
    for (const std::string& file : recorded) files_.emplace_back(file);
  }

  void write(const SystemPlan& plan, const StencilSystem& system, const StepArrays& memory, const Series& series) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const std::size_t place = description_.place_of(states_[i].field);
      const int array = plan.place_after(system.field(states_[i].field), states_[i].level.value_or(0));
      files_[i].write(memory.state(place, array), npy::stored_of(description_.dtype_of(description_.fields()[place])),
                      extents_of(system));
    }
    for (std::size_t i = states_.size(); i < files_.size(); ++i) series.write(files_[i], i - states_.size());
  }
  std::FILE* report_stream() const {
    const auto prints = [](const npy::OutputFile& file) { return file.is_standard_output(); };
    return std::any_of(files_.begin(), files_.end(), prints) ? stderr : stdout;
  }
  void commit() {
    for (npy::OutputFile& file : files_) file.commit();
  }

 private:
  static std::vector<std::int64_t> extents_of(const StencilSystem& system) {
    const StencilSystem::Description d(system, 0);
    return {d.get()->extents, d.get()->extents + d.get()->rank};
  }

  const SystemDescription& description_;
  std::vector<NamedFile> states_;
  std::deque<npy::OutputFile> files_;  ///< of states, then of series
};

void run_system(const Arguments& arguments, const Parsed& parsed) {
  const SystemDescription description(arguments.description);
  Outputs outputs(description, parsed, arguments.recorded);
  const SystemArrays arrays = read_arrays(description, parsed.inputs);
  const StencilSystem system = description.make(arrays.extents);
  const StencilSystem::Description d(system, arguments.steps);
  Series series(arguments, *d.get());
  auto plan = arguments.choice.plan<SystemPlan>(system, arguments.steps);
  series.allocate_recorded();
  const StepArrays memory(description, arrays, system);
  const Timing timing = measure([&] { memory.reset(); }, [&] { plan.execute(memory.fields(), series.get()); });
  outputs.write(plan, system, memory, series);

  double points = double(arguments.steps);
  for (const std::int64_t extent : arrays.extents) points *= double(extent);
  std::FILE* const stream = outputs.report_stream();
  report(stream, plan.describe(), timing, points, "GPoint/s", points * bytes_a_point(*d.get()));
  std::fputs(arrays.said.c_str(), stream);
  check_printed(stream);
  outputs.commit();
}

constexpr char kFooter[] =
    R"text(Keys of the description:
  dtype           "f32" (default) or "f64", in which everything is computed
  extents         [nz, ny, nx], where no file of a state or an array gives them
  fields          {"u": {"kind": "state", "levels": 2}, "c2": {"kind": "array"}, "s": {"kind": "profile", "axis": 0}}
                  a state has 1 (default) to 3 levels; the others are only read, a profile along its axis;
                  each may have "dtype", for storage, and "boundary", as tessera stencil --boundary or a list of them;
                  a state may have "next": "in_place" or "apart", where its next level goes
  taps            {"name": [[dz, dy, dx, coefficient], ...], ...}, for expressions
  updates         [{"field": "u", "value": EXPRESSION, "stage": 0, "low": [z, y, x], "high": [z, y, x]}, ...]
                  set a state's next level, from low to before high (default: everywhere)
  injections      [{"field": "u", "stage": 0, "series": 2, "points": [{"at": [z, y, x], "weight": 1, "series": 0}]}]
                  u[p] += weight * series[step][i] behind the stage; "series" are so many (default: 1), and which one
  recordings      the same for series[step][i] = sum of weight * u[p]
Expressions:
  + - * / ( )     of numbers and fields; only a number divides, and two sums are not multiplied
  u u[-1] u[+1]   a field now, before, and as an earlier stage of this step made it
  u(1,0,-2)       at a neighbour, an offset for each axis; u[-1](0,1,0) with both
  abs(u)          and positive_part(u), negative_part(u), reciprocal(u)
  laplacian(u, accuracy)
                  and derivative(u, axis, order, accuracy), with a spacing behind them where that is not 1
  name(u)         taps of the description applied to a field
As in "value": "s * (2 * u - u[-1] + c2 * laplacian(u, 8))". A long expression may be a list of texts, its lines.
)text";

void add_files(CLI::App& command, Arguments& arguments) {
  const auto add = [&](const char* name, std::vector<std::string>& files, const char* type, const std::string& text) {
    return command.add_option(name, files, text)->allow_extra_args(false)->type_name(type);
  };
  command.add_option("DESCRIPTION", arguments.description, "JSON: fields, updates, sources and receivers, see below")
      ->required()
      ->type_name("FILE");
  add("--field", arguments.fields, "NAME=FILE[,FILE...]",
      std::string(
          "a field's values at the start, once for each field: .npy files of its levels, the newest first, C or "
          "Fortran order, rounded to the field's type; or NAME[-1]=FILE for one level; ") +
          kZeros + " for a file means 0 everywhere");
  CLI::Option* const injected =
      add("--injected", arguments.injected, "FILE",
          "series of an injection, a row a step: a .npy file for each, in the description's order");
  add("--recorded", arguments.recorded, "FILE",
      "series of a recording, a row a step, written as a .npy file for each, in the description's order");
  add("-o,--output", arguments.outputs, "NAME=FILE",
      "a state's newest level after the steps, or NAME[-1]=FILE the one before, written as a .npy file in C order; may "
      "be an input");
  add_count(command, "--steps", arguments.steps, "0 and more (default: 1)");
  add_count(command, "--first-step", arguments.first_step, "row of the injected series to begin with (default: 0)")
      ->needs(injected);
}

}  // namespace

void add_system(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("system", "Steps fields together: waves, diffusion, flow, with sources and receivers.");
  const auto arguments = std::make_shared<Arguments>();
  add_files(*command, *arguments);
  arguments->choice.add_to(*command);
  command->footer(std::string(kFooter) +
                  "Prints the plan, the time, GPoint/s (points times steps) and GB/s (each stage reads what it needs "
                  "once and writes what it makes). " +
                  kMeasured);
  command->callback(
      [arguments, &run] { run = [arguments, parsed = parse(*arguments)] { run_system(*arguments, parsed); }; });
}

}  // namespace tessera::cli
