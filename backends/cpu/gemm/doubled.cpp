// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Complex products by the others.

#include "../context.hpp"

#include <tessera/plugin/complex_plan.hpp>

namespace tessera::cpu {
namespace {

using All = plugin::Doubled<Context>;
const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"doubled", All::why_unsupported, All::offers, All::make, All::kFeatures}, 9};

}  // namespace
}  // namespace tessera::cpu
