// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The gradient before an activation as a product of no terms, for calls of Python and of JAX.
#pragma once

#include "module.hpp"

#include <cstdint>
#include <optional>

namespace tessera::python {

/// Runs a product by a plan of the plan cache. Needs no lock of Python.
void run_product(const Place& place, const tessera_gemm_desc& desc, const tessera_operand* operands,
                 std::uint64_t count, double alpha, double beta);

/// made = gradient * activation'(aux), of one type: so many rows of n in C order; `made` may be `gradient`. `sums`:
/// gets those of the columns.
void run_activation_gradient(const Place& place, tessera_activation activation, std::int64_t rows, std::int64_t n,
                             const tessera_operand& gradient, void* aux, void* made,
                             const std::optional<tessera_operand>& sums);

}  // namespace tessera::python
