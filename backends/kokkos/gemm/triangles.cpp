// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Triangles of D by the other algorithms.

#include "../context.hpp"

#include <tessera/plugin/triangle_plan.hpp>

namespace tessera::kokkos {
namespace {

using All = plugin::Triangles<Context>;
const plugin::Register<Context, plugin::GemmProblem> kRegistered{
    {"triangles", All::why_unsupported, All::offers, All::make, All::kFeatures}, 3};

}  // namespace
}  // namespace tessera::kokkos
