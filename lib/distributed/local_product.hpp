// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products that a rank computes alone.
#pragma once

#include "handles.hpp"

#include <tessera/dtype.hpp>

#include <type_traits>

namespace tessera::distributed {

/// The type of scalars, and of sums over panels, for results of a type.
inline tessera_dtype scalar_of(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return tessera_dtype(kDType<Scalar<T>>); });
}

/// C <- alpha A B + beta C, where A and B are of type `factors` and C is of type `result`.
inline void run_product(tessera_plan* plan, tessera_dtype factors, tessera_dtype result, double alpha, const void* a,
                        const void* b, double beta, void* c) {
  const tessera_operand operands[] = {{const_cast<void*>(a), factors, TESSERA_ROLE_A},
                                      {const_cast<void*>(b), factors, TESSERA_ROLE_B},
                                      {c, result, TESSERA_ROLE_C}};
  const tessera_dtype scalar = scalar_of(result);
  const tessera_scalar scalars[] = {{scalar, 0, alpha, 0.0}, {scalar, 0, beta, 0.0}};
  tessera_execution execution{};
  execution.struct_size = sizeof execution;
  execution.operands = operands, execution.operand_size = sizeof *operands, execution.operand_count = 3;
  execution.scalars = scalars, execution.scalar_size = sizeof *scalars, execution.scalar_count = 2;
  call(tessera_plan_execute, plan, &execution);
}

}  // namespace tessera::distributed
