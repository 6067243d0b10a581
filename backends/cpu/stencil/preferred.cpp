// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../caches.hpp"
#include "algorithms.hpp"
#include "temporal_shape.hpp"

namespace tessera::cpu {

std::string_view preferred_stencil(const plugin::StencilProblem& problem) {
  if (why_not_temporal(problem, 0).empty() && temporal_pays(problem)) return kStencilTemporal.name;
  const double bytes = 2.0 * double(problem.points()) * double(plugin::size_of(problem.dtype));
  const bool stream = bytes > 0.5 * double(caches().level3) && why_not_streaming(problem, 0).empty();
  return stream ? kStencilStreaming.name : kStencilRows.name;
}

}  // namespace tessera::cpu
