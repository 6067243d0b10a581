// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "streaming_tile_plan.cuh"

namespace tessera::cuda {

template std::unique_ptr<plugin::Plan> make_streaming_volume<float16>(Context&, const plugin::StencilProblem&);

}  // namespace tessera::cuda
