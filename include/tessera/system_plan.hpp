// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Plans of stencil systems.
#pragma once

#include <tessera/plan.hpp>
#include <tessera/system.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera {

/// An array of an execution of a system: a pointer, a contiguous range on the host, or a Buffer. Refers to memory that
/// the caller owns.
class SystemArray {
 public:
  template <class Array>
  requires detail::Operand<Array> SystemArray(Array&& array)
      : dtype_(kDType<detail::element_of<Array>>), writable_(detail::kWritable<Array>) {
    using Plain = std::remove_cvref_t<Array>;
    if constexpr (std::is_pointer_v<Plain>) {
      data_ = const_cast<void*>(static_cast<const void*>(array));
    } else {
      data_ = const_cast<void*>(static_cast<const void*>(array.data()));
      size_ = std::int64_t(array.size());
      on_device_ = requires { detail::ElementOf<Plain>::kMemory; };
    }
  }

  /// For a plan that takes it with that role.
  tessera_operand operand(tessera_role role) const { return {data_, tessera_dtype(dtype_), role}; }

 private:
  friend class SystemPlan;
  void* data_ = nullptr;
  DType dtype_;
  std::int64_t size_ = -1;  ///< elements; -1: a pointer, whose memory nobody knows
  bool on_device_ = false, writable_;
};

/// A field and its arrays: of a state one a level, the newest first: {u, now, before}.
class FieldArrays {
 public:
  template <class... Arrays>
  requires(detail::Operand<Arrays>&&...) FieldArrays(const SystemField& field, Arrays&&... arrays)
      : field_(field.known()), levels_{SystemArray(std::forward<Arrays>(arrays))...} {}
  FieldArrays(const SystemField& field, std::vector<SystemArray> levels)
      : field_(field.known()), levels_(std::move(levels)) {}

 private:
  friend class DistributedSystemPlan;
  friend class SystemPlan;
  detail::KnownField field_;
  std::vector<SystemArray> levels_;
};

/// The series of an execution, in the order of inject() and of record(): row-major, a row a step, of the system's type.
struct SystemSeries {
  std::vector<SystemArray> injected = {};  ///< one array an inject(), which is only read
  std::vector<SystemArray> recorded = {};  ///< one array a record(), of which the rows of the steps are written
  Integer first_step = 0;                  ///< row that the execution begins with
};

/// Steps of a system, validated once and executed many times, by one thread at a time.
/// An execution leaves the levels of a state in its arrays in another order, since each step overwrites the oldest one:
/// newest() tells which array then holds the newest. Arrays and profiles are only read. No two arrays of which one is
/// written may share an element.
/// Values are computed in the system's type; a step's error is a small multiple of its unit roundoff times the sum of
/// the absolute values of what is added.
class SystemPlan : public Plan {
 public:
  /// Takes the environment's backend, else the best for host operands. The system may go or change afterwards.
  SystemPlan(const StencilSystem& system, Integer steps, const PlanOptions& options = {})
      : SystemPlan(nullptr, system, steps, options) {}
  /// The same on the backend and the device of a context.
  SystemPlan(const Context& context, const StencilSystem& system, Integer steps, const PlanOptions& options = {})
      : SystemPlan(&context, system, steps, options) {}

  /// All ways to run it on that backend, best first.
  static std::vector<Offer> offers(const Context& context, const StencilSystem& system, Integer steps,
                                   const PlanOptions& options = {}) {
    return Plan::offers(context, StencilSystem::Description(system, steps).get(), options);
  }

  /// Another plan of the same, with a workspace of its own, for another thread. It has the system, context, algorithm
  /// and parameters of this one. May be called while this plan is executed.
  SystemPlan clone() const { return SystemPlan(CloneOf{*this}, *this); }

  /// Makes the steps, on each field once, in any order, and on each series. Host operands: complete on return. Device
  /// operands: queued on the context's stream.
  /// Takes no memory, so that a program that keeps its lists takes none either.
  /// Throws invalid_argument where an array is missing, too small, of another type or in memory that the plan does not
  /// take, and where a field is another system's.
  void execute(const std::vector<FieldArrays>& fields, const SystemSeries& series = {}) {
    Operands operands;
    for (const FieldArrays& given : fields) {
      own_.require(given.field_, [] { return std::string("fields: "); });
      const auto index = std::size_t(given.field_.index);
      for (std::size_t level = 0; level < given.levels_.size(); ++level) {
        if (level >= fields_[index].levels)
          refuse(own_.name(index), " has " + std::to_string(fields_[index].levels) + " levels, " +
                                       std::to_string(given.levels_.size()) + " arrays are given");
        const auto name = [&] { return own_.name(index) + (level == 0 ? "" : "[-" + std::to_string(level) + "]"); };
        operands.add(checked(name, TESSERA_ROLE_FIELD + 4 * given.field_.index + std::int32_t(level),
                             given.levels_[level], fields_[index].written, true));
      }
    }
    add(operands, "injections", TESSERA_ROLE_INJECTED, series.injected, false, series.first_step);
    add(operands, "recordings", TESSERA_ROLE_RECORDED, series.recorded, true, series.first_step);
    run(operands.list, operands.count, nullptr, 0, series.first_step);
  }

  /// Which of a state's arrays holds the newest level after an execution. They are counted as execute() takes them; an
  /// execution that goes on is given that array first.
  int newest(const SystemField& field) const { return place_after(field, 0); }
  /// Which of a state's arrays holds level 0 (newest), -1 or -2 after an execution.
  int place_after(const SystemField& field, int level) const {
    tessera_role role = 0;
    own_.require(field.known(), [] { return std::string("field: "); });
    detail::call(tessera_plan_level_after, get(), field.index(), std::int32_t(level), &role);
    return int(role - TESSERA_ROLE_FIELD) % 4;
  }

 private:
  struct Known {
    std::size_t levels;
    bool written;
  };
  struct KnownSeries {
    std::string field;
    std::int64_t width;
  };

  /// As many as a system has, and one, which is too many.
  struct Operands {
    static constexpr std::size_t kMost = TESSERA_MAX_FIELDS * TESSERA_MAX_LEVELS + 2 * TESSERA_MAX_POINT_SETS + 1;
    tessera_operand list[kMost];
    std::size_t count = 0;
    void add(const tessera_operand& operand) {
      if (count < kMost) list[count++] = operand;
    }
  };

  SystemPlan(const Context* context, const StencilSystem& system, Integer steps, const PlanOptions& options)
      : SystemPlan(context, StencilSystem::Description(system, steps), options) {}
  SystemPlan(const Context* context, const StencilSystem::Description& description, const PlanOptions& options)
      : Plan(tessera_plan_create, context, description.get(), options),
        steps_(description.get()->steps),
        own_(description.fields()) {
    const tessera_system_desc& d = *description.get();
    for (std::int64_t i = 0; i < d.field_count; ++i) {
      const bool state = d.fields[i].kind == TESSERA_FIELD_STATE;
      fields_.push_back({state ? std::size_t(d.fields[i].levels) : 1, state});
    }
    const auto keep = [this](std::vector<KnownSeries>& list, const tessera_points* points, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i)
        list.push_back({own_.name(std::size_t(points[i].field)), points[i].series_count});
    };
    keep(injected_, d.injections, d.injection_count);
    keep(recorded_, d.recordings, d.recording_count);
  }
  SystemPlan(CloneOf of, const SystemPlan& original)
      : Plan(of),
        steps_(original.steps_),
        own_(original.own_),
        fields_(original.fields_),
        injected_(original.injected_),
        recorded_(original.recorded_) {}

  [[noreturn]] static void refuse(const std::string& name, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, name + what);
  }

  void add(Operands& operands, const char* list, std::int32_t role, const std::vector<SystemArray>& series,
           bool written, std::int64_t first_step) const {
    const std::vector<KnownSeries>& known = written ? recorded_ : injected_;
    if (series.size() != known.size())
      refuse(list, ": " + std::to_string(series.size()) + " arrays are given, the system has " +
                       std::to_string(known.size()) + (known.empty() ? "" : ", of ") +
                       detail::few_of(known, [](const KnownSeries& s) { return s.field; }));
    for (std::size_t i = 0; i < series.size(); ++i) {
      const auto name = [&] { return std::string(list) + "[" + std::to_string(i) + "]"; };
      const std::int64_t size = series[i].size_, width = known[i].width;
      if (size >= 0 && width > 0 && (first_step > 0 ? first_step : 0) > size / width - steps_)
        refuse(name(), " has " + std::to_string(size / width) + " rows of " + std::to_string(width) +
                           ": the plan makes " + std::to_string(steps_) + " steps from row " +
                           std::to_string(first_step) + " on");
      operands.add(checked(name, role + std::int32_t(i), series[i], written, false));
    }
  }

  template <class Name>
  tessera_operand checked(const Name& name, tessera_role role, const SystemArray& array, bool written,
                          bool sized) const {
    if (written && !array.writable_) refuse(name(), " is const: an execution writes it");
    if (array.size_ >= 0 && !array.on_device_ && !takes_host_memory())
      refuse(name(),
             " is a range, which is host memory; this plan takes device operands: pass buffers or their "
             "pointers, or make the plan with PlanOptions::operands = Memory::host");
    if (array.on_device_ && !takes_device_memory())
      refuse(name(),
             " is a buffer, which is device memory; this plan takes host operands: make the plan with "
             "PlanOptions::operands = Memory::device");
    if (array.size_ >= 0 && sized) {
      const std::int64_t wanted = operand_range(Role(role)).second;
      if (wanted > array.size_)
        refuse(name(), " has " + std::to_string(array.size_) + " elements; the plan needs " + std::to_string(wanted));
    }
    return {array.data_, tessera_dtype(array.dtype_), role};
  }

  std::int64_t steps_;
  detail::OwnFields own_;
  std::vector<Known> fields_;
  std::vector<KnownSeries> injected_, recorded_;
};

}  // namespace tessera
