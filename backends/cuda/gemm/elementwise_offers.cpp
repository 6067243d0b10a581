// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "offers.hpp"
#include "tile_model.hpp"

#include <string>

namespace tessera::cuda {

using plugin::GemmProblem;

std::string elementwise_why_unsupported(const GemmProblem& p, const Machine&) {
  return p.k == 0 ? "" : "it is for k = 0, the product has k = " + std::to_string(p.k);
}

void elementwise_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
                        plugin::OfferList& offers) {
  // As the others' models, which do not count C and aux either.
  offers.add({{}, operand_bytes(p) / machine.memory_rate + finishing_seconds(p, machine)});
}

}  // namespace tessera::cuda
