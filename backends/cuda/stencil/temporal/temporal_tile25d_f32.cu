// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_tile25d.cuh"

namespace tessera::cuda {

TemporalKernels<float> pillar_kernels(std::type_identity<float>, const TemporalTaps& taps) {
  return find_pillar_kernels<float>(taps);
}

}  // namespace tessera::cuda
