// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "register_tile.cuh"

template std::unique_ptr<tessera::plugin::Plan> tessera::cuda::make_register_tile<float>(
    Context& context, const plugin::StencilProblem& problem, int rows);
