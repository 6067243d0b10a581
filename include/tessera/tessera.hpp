// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Everything: backends, contexts, buffers, GEMM plans, stencil plans, the plan cache.
#pragma once

#include <tessera/cxx20.hpp>
#if __cplusplus >= 202002L  // else nothing drowns what was just said

#include <tessera/version.h>
#include <tessera/backends.hpp>
#include <tessera/buffer.hpp>
#include <tessera/context.hpp>
#include <tessera/dtype.hpp>
#include <tessera/error.hpp>
#include <tessera/expression.hpp>
#include <tessera/gemm.hpp>
#include <tessera/integer.hpp>
#include <tessera/plan_cache.hpp>
#include <tessera/prepare.hpp>
#include <tessera/prepared.hpp>
#include <tessera/stencil.hpp>
#include <tessera/system.hpp>
#include <tessera/system_plan.hpp>
#include <tessera/taps.hpp>
#include <tessera/wisdom.hpp>

#endif
