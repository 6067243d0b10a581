// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The parts of the module, and what they share.
#pragma once

#include "contexts.hpp"

#include <utility>

namespace tessera::python {

void define_info(nb::module_& module);
void define_filters(nb::module_& module);
void define_gemm(nb::module_& module);
void define_activation_gradient(nb::module_& module);
void define_gemm_plan(nb::module_& module);
void define_prepared(nb::module_& module);
void define_stencil(nb::module_& module);
void define_system(nb::module_& module);

/// One side, one axis or all axes: a name, ("constant", value), a pair of sides, a sequence with an entry for each
/// axis.
Boundaries boundaries_of(nb::handle object, int rank);
Activation activation_named(nb::handle object);
/// 'any', 'ordered'.
Sums sums_named(nb::handle object);
Triangle triangle_named(nb::handle object);
Compute compute_named(nb::handle object);
Effort effort_named(nb::handle object);
/// For beta where there is no matrix that it multiplies.
[[noreturn]] void refuse_beta(double beta);
/// Refuses a product of a part of `out` where that is None, or where a copy is to be written in its place.
void require_whole(Triangle triangle, const char* problem);
PlanOptions options_of(Memory memory, nb::handle algorithm, nb::handle effort, nb::handle sm_limit);

/// The type of alpha and beta for results of a type.
inline tessera_dtype scalar_dtype(DType dtype) {
  return with_types<AllTypes>(dtype, []<class T>(std::type_identity<T>) { return tessera_dtype(kDType<Scalar<T>>); });
}

/// Runs `work` without the lock of Python.
template <class Work>
void unlocked(Work&& work) {
  const nb::gil_scoped_release released;
  std::forward<Work>(work)();
}

/// A plan that was borrowed from the plan cache.
class BorrowedPlan {
 public:
  BorrowedPlan(const Place& place, const void* desc, const PlanOptions& options);
  BorrowedPlan(const BorrowedPlan&) = delete;
  BorrowedPlan& operator=(const BorrowedPlan&) = delete;
  ~BorrowedPlan() { tessera_plan_destroy(plan_); }
  void execute(const tessera_operand* operands, std::uint64_t count, const tessera_scalar* scalars = nullptr,
               std::uint64_t scalar_count = 0);

 private:
  tessera_plan* plan_ = nullptr;
};

}  // namespace tessera::python
