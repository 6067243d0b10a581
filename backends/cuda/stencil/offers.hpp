// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the stencil algorithms support, and what they offer: pure functions of the problem and the machine, without
/// CUDA. Each algorithm's are in its <name>_offers.cpp.
#pragma once

#include "sweep_model.hpp"

#include <cstdint>
#include <string>

namespace tessera::cuda {

/// Why an algorithm cannot compute a stencil; "" where it can.
using StencilWhyUnsupported = std::string(const plugin::StencilProblem&, const Machine&);
StencilWhyUnsupported why_not_dense, why_not_marching, why_not_persistent, why_not_register_tile, why_not_separable,
    why_not_streaming, why_not_temporal;
/// Of shared_constant and shared_ldg.
StencilWhyUnsupported why_no_tile;

/// What it offers.
using StencilOffers = void(const plugin::StencilProblem&, const Machine&, const plugin::GivenParameters&,
                           std::uint64_t workspace_limit, plugin::OfferList&);
StencilOffers offer_dense, offer_marching, offer_persistent, offer_register_tile, offer_separable,
    offer_shared_constant, offer_shared_ldg, offer_streaming, offer_temporal;
/// Of naive and restrict, which take equally long; so the first in the list wins.
StencilOffers offer_direct;

}  // namespace tessera::cuda
