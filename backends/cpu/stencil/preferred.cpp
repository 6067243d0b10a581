// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../caches.hpp"
#include "algorithms.hpp"

namespace tessera::cpu {

std::string_view preferred_stencil(const plugin::StencilProblem& problem) {
  const double bytes = 2.0 * double(problem.points()) * double(plugin::size_of(problem.dtype));
  const bool stream = bytes > 0.5 * double(caches().level3) && why_not_streaming(problem, 0).empty();
  return stream ? kStencilStreaming.name : kStencilRows.name;
}

}  // namespace tessera::cpu
