// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_tile15d.cuh"

namespace tessera::cuda {

TemporalKernels<double> strip_kernels(std::type_identity<double>, const TemporalTaps& taps) {
  return find_strip_kernels<double>(taps);
}

}  // namespace tessera::cuda
