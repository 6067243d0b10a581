// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the CPU backend offers on the machine that its costs were measured on.
#pragma once

#include "../cheapest_offers.hpp"

#include <tessera/tessera.h>
#include <context.hpp>

namespace tessera::test {

/// The one of perf/baselines/xeon-*.json.
inline cpu::Machine xeon(int threads) {
  return {threads, {48 << 10, 2 << 20, 314572800, 16}, cpu::kAvx512, cpu::kAvx512Costs};
}

template <class Problem>
std::vector<NamedOffer> cheapest_offers(const Problem& problem, const cpu::Machine& machine) {
  return cheapest_offers(plugin::Register<cpu::Context, Problem>::all(), problem, machine,
                         TESSERA_DEFAULT_WORKSPACE_LIMIT);
}

}  // namespace tessera::test
