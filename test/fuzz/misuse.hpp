// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a program may do wrong with the C interface, made from a fuzzer's bytes.
#pragma once

#include "bytes.hpp"

#include <tessera/tessera.hpp>

namespace tessera::test {

/// Makes a plan from the descriptor's C struct with a byte or its size changed; whether it is accepted is open.
void create_from_altered_bytes(Bytes& bytes, Context& context, const GemmDesc& desc);
void create_from_altered_bytes(Bytes& bytes, Context& context, const StencilDesc& desc);

/// Executes a plan with a missing, misplaced or mistyped operand or scalar, on memory of the right size where host
/// memory is asked for.
void execute_wrongly(Bytes& bytes, Plan& plan, Memory memory);

/// An input and the output in one array: refused if they share an element, counted here one by one, and executed right
/// where they do not.
void execute_in_one_array(Bytes& bytes, const GemmDesc& desc, GemmPlan& plan, Memory memory);
void execute_in_one_array(Bytes& bytes, const StencilDesc& desc, StencilPlan& plan, Memory memory);

}  // namespace tessera::test
