// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_tile15d.cuh"

namespace tessera::cuda {

TemporalKernels<float> strip_kernels(std::type_identity<float>, const TemporalTaps& taps) {
  return find_strip_kernels<float>(taps);
}

}  // namespace tessera::cuda
