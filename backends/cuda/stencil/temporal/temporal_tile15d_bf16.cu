// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_tile15d.cuh"

namespace tessera::cuda {

template TemporalKernels<bfloat16> tile15d_kernels<bfloat16>(const TemporalTaps& taps);

}  // namespace tessera::cuda
