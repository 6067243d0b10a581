// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_tile25d.cuh"

namespace tessera::cuda {

TemporalKernels<double> pillar_kernels(std::type_identity<double>, const TemporalTaps& taps) {
  return find_pillar_kernels<double>(taps);
}

}  // namespace tessera::cuda
