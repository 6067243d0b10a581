// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "module.hpp"

#include "arguments.hpp"
#include "device_memory.hpp"
#include "failures.hpp"
#include "foreign_boundary.hpp"
#include "jax_calls.hpp"
#include "values.hpp"

#include <cstddef>

namespace tessera::python {
namespace {

template <class Value>
struct Named {
  const char* name;
  Value value;
};

template <class Value, std::size_t kCount>
Value named(nb::handle object, const char* argument, const Named<Value> (&list)[kCount]) {
  const std::string text = as_text(object).value_or("");
  std::string all;
  for (const auto& [name, value] : list) {
    if (text == name) return value;
    all += std::string(all.empty() ? "" : ", ") + name;
  }
  refuse_value(argument, object, "one of " + all);
}

bool is_sequence(nb::handle object) {
  if (PySequence_Check(object.ptr()) == 0 || PyUnicode_Check(object.ptr()) != 0) return false;
  if (PySequence_Size(object.ptr()) >= 0) return true;
  PyErr_Clear();  // NumPy's arrays without axes have no length
  return false;
}

Boundary mode_named(nb::handle object) {
  const std::string text = as_text(object).value_or("");
  std::string all;
  for (const Boundary mode : kBoundaries) {
    if (mode == Boundary::halo) continue;  // needs an array beyond the domain
    if (text == name_of(mode)) return mode;
    all += std::string(all.empty() ? "" : ", ") + name_of(mode);
  }
  const std::string advice = text == name_of(Boundary::halo) ? ": it is for arrays with ghost points, which C++ takes"
                                                             : cli::foreign_boundary(text);
  throw nb::value_error(("boundary = " + shown(object) + advice + (advice.empty() ? ": " : "; ") + "must be one of " +
                         all + ", ('constant', value), a pair of sides, or a sequence with an entry for each axis")
                            .c_str());
}

/// ("constant", 20.0)
bool is_constant(nb::handle object) {
  return is_sequence(object) && nb::len(object) == 2 && PyUnicode_Check(nb::object(object[0]).ptr()) != 0 &&
         PyNumber_Check(nb::object(object[1]).ptr()) != 0;
}

BoundarySide side_of(nb::handle object) {
  if (is_constant(object)) {
    const Boundary mode = mode_named(nb::object(object[0]));
    if (mode != Boundary::constant)
      throw nb::value_error(("boundary = " + shown(object) + ": '" + name_of(mode) + "' takes no value; must be '" +
                             name_of(mode) + "' alone or ('constant', value)")
                                .c_str());
    const std::optional<double> value = as_number(nb::object(object[1]));
    if (!value) refuse_number("boundary = " + shown(object) + ": value", nb::object(object[1]));
    return {mode, *value};
  }
  return mode_named(object);
}

BoundaryAxis axis_of(nb::handle object) {
  if (is_sequence(object) && !is_constant(object) && nb::len(object) == 2)
    return {side_of(nb::object(object[0])), side_of(nb::object(object[1]))};
  return side_of(object);
}

}  // namespace

Boundaries boundaries_of(nb::handle object, int rank) {
  if (!is_sequence(object) || is_constant(object)) return Boundaries(side_of(object));
  if (std::size_t(rank) != nb::len(object))
    throw nb::value_error(("boundary = " + shown(object) + ": " + std::to_string(nb::len(object)) + " entries for " +
                           std::to_string(rank) + (rank == 1 ? " axis" : " axes") +
                           "; must be one for each; the two sides of one axis are a pair within the list")
                              .c_str());
  std::vector<BoundaryAxis> axes;
  for (nb::handle entry : object) axes.push_back(axis_of(entry));
  return Boundaries(std::move(axes));
}

Compute compute_named(nb::handle object) {
  static constexpr Named<Compute> kNames[] = {
      {"strict", Compute::strict}, {"bf16x6", Compute::bf16x6}, {"f16x3", Compute::f16x3}, {"tf32", Compute::tf32}};
  return object.is_none() ? Compute::environment : named(object, "compute", kNames);
}

Activation activation_named(nb::handle object) {
  static constexpr Named<Activation> kNames[] = {{"relu", Activation::relu},           {"gelu", Activation::gelu},
                                                 {"gelu_tanh", Activation::gelu_tanh}, {"silu", Activation::silu},
                                                 {"sigmoid", Activation::sigmoid},     {"tanh", Activation::tanh}};
  return object.is_none() ? Activation::none : named(object, "activation", kNames);
}

Sums sums_named(nb::handle object) {
  static constexpr Named<Sums> kNames[] = {{"any", Sums::any}, {"ordered", Sums::ordered}};
  return object.is_none() ? Sums::any : named(object, "sums", kNames);
}

Triangle triangle_named(nb::handle object) {
  static constexpr Named<Triangle> kNames[] = {
      {"lower", Triangle::lower}, {"upper", Triangle::upper}, {"mirrored", Triangle::mirrored}};
  return object.is_none() ? Triangle::none : named(object, "triangle", kNames);
}

void require_whole(Triangle triangle, const char* problem) {
  if (triangle != Triangle::lower && triangle != Triangle::upper) return;
  throw nb::value_error((std::string("out ") + problem + ": 'lower' and 'upper' leave a part of it as it is").c_str());
}

Effort effort_named(nb::handle object) {
  static constexpr Named<Effort> kNames[] = {{"estimate", Effort::estimate}, {"measure", Effort::measure}};
  return object.is_none() ? Effort::automatic : named(object, "effort", kNames);
}

void refuse_beta(double beta) {
  refuse_value("beta", nb::float_(beta), "0 without `out`, which it is multiplied with");
}

PlanOptions options_of(Memory memory, nb::handle algorithm, nb::handle effort, nb::handle sm_limit) {
  PlanOptions options;
  options.operands = memory;
  options.effort = effort_named(effort);
  if (!algorithm.is_none()) options.algorithm = text_argument(algorithm, "algorithm");
  options.sm_limit = small_whole(sm_limit, "sm_limit");
  return options;
}

BorrowedPlan::BorrowedPlan(const Place& place, const void* desc, const PlanOptions& options) {
  const tessera_plan_options c = tessera::detail::c_options(options);
  tessera::detail::call(tessera_plan_borrow, place.get(), static_cast<const tessera_desc*>(desc), &c, &plan_);
}

void BorrowedPlan::execute(const tessera_operand* operands, std::uint64_t count, const tessera_scalar* scalars,
                           std::uint64_t scalar_count) {
  const tessera_execution execution{sizeof execution,       operands,     sizeof *operands, count, scalars,
                                    sizeof(tessera_scalar), scalar_count, nullptr,          0,     0};
  tessera::detail::call(tessera_plan_execute, plan_, &execution);
}

}  // namespace tessera::python

NB_MODULE(_core, module) {
  using namespace tessera::python;
  import_numpy();
  define_failures();
  define_device_memory(module);
  define_info(module);
  define_filters(module);
  define_gemm(module);
  define_jax_calls(module);
  define_stencil(module);
  define_system(module);
  stand_before_all(module);
}
