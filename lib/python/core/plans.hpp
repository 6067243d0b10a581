// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the plans of the package share.
#pragma once

#include "module.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tessera::python {

/// A plan that a program keeps, with the place where it runs.
class KeptPlan : public Plan {
 public:
  KeptPlan(Place place, const void* desc, const PlanOptions& options)
      : Plan(tessera_plan_create, place.context.get(), desc, options), place_(std::move(place)) {}

  const Place& place() const { return place_; }

  /// Runs it without Python's lock.
  void execute(const std::vector<tessera_operand>& operands, const std::vector<tessera_scalar>& scalars,
               std::int64_t first_step = 0) {
    unlocked([&] { run(operands.data(), operands.size(), scalars.data(), scalars.size(), first_step); });
  }

  static tessera_operand operand_of(const Array& array, tessera_role role) {
    return {array.data, tessera_dtype(array.dtype), role};
  }
  void require_memory(const Array& array, const char* name) const {
    if (array.on_device() == (place_.memory == Memory::device)) return;
    throw nb::value_error((std::string(name) + " is in memory of " + (array.on_device() ? "a device" : "the host") +
                           "; the plan takes " +
                           (array.on_device() ? "the host's: must be made with memory='device'"
                                              : "a device's: must be made with memory='host'"))
                              .c_str());
  }
  /// Throws where an array is in another memory, or not of that shape and type in C order.
  void require(const Array& array, const char* name, const std::vector<std::int64_t>& shape, DType dtype) const {
    require_memory(array, name);
    const auto difference = [&](const std::string& has, const std::string& takes) {
      return std::string(name) + " " + has + "; the plan takes " + takes;
    };
    if (!std::ranges::equal(array.extents(), shape))
      throw nb::value_error(difference("has shape " + text_of(array.extents()), text_of(shape)).c_str());
    if (array.dtype != dtype)
      throw nb::type_error(difference(std::string("is of ") + dtype_name(array.dtype), dtype_name(dtype)).c_str());
    if (array.in_c_order()) return;
    Array packed = array;
    packed.pack();
    throw nb::value_error(difference("has the strides " + strides_of(array) + ", in elements",
                                     strides_of(packed) + ", which is C order: pass a contiguous copy")
                              .c_str());
  }

 private:
  static std::string strides_of(const Array& array) { return text_of({array.strides.data(), std::size_t(array.rank)}); }

  Place place_;
};

/// What every plan tells.
template <class Self>
void define_plan(nb::class_<Self>& plan) {
  plan.def_prop_ro(
          "backend", [](const Self& self) { return self.backend(); }, "Name of the backend that runs it.")
      .def_prop_ro(
          "device", [](const Self& self) { return self.device(); }, "Number of the device in that backend.")
      .def_prop_ro(
          "algorithm", [](const Self& self) { return self.algorithm(); }, "Name with all parameters.")
      .def_prop_ro(
          "workspace_bytes", [](const Self& self) { return self.workspace_bytes(); },
          "Memory that it holds beside its operands.")
      .def("__str__", [](const Self& self) { return self.describe(); })
      .def("__repr__", [](const Self& self) { return "<" + self.describe() + ">"; });
}

Memory memory_named(nb::handle object);

}  // namespace tessera::python
