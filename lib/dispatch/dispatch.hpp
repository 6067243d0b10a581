// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// From what was asked for to a backend and a device: the registry lists, the backends answer, selection chooses.
#pragma once

#include "dispatch/candidates.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/selection.hpp"

namespace tessera::core {

struct Dispatched {
  Backend* backend;
  int device;
  double seconds = 0.0;  ///< predicted, of an execution; 0 where nothing was asked
};

/// The backend that selection.hpp's rules choose among those that are there. Throws plugin::Error where there is none.
Dispatched dispatch(const Request& request, const Question& question);
/// All that these rules allow, that one first.
std::vector<Dispatched> dispatch_all(const Request& request, const Question& question);

/// Throws when the forced algorithm names a backend that was not found, a variant that is not the one in use, or an
/// algorithm that the plugins of that name do not have, whether or not they can run here. In use is the variant of
/// `context`, the backend of a context that is there, else of the choice `request.backend`, else the best.
void require_known_algorithm(const Request& request, tessera_op op, const Backend* context);

/// True when the forced algorithm, if any, concerns plans of that backend.
inline bool concerns(const AlgorithmSpec& algorithm, const Backend& backend) {
  return concerns(algorithm, backend.name(), backend.variant());
}

/// Throws unless the backend has algorithms for the problem's operation and the forced one, if any, can run it there.
void require_runnable(const AlgorithmSpec& algorithm, Backend& backend, int device, const tessera_desc* desc);

}  // namespace tessera::core
