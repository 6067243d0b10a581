// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_tile25d.cuh"

namespace tessera::cuda {

template TemporalKernels<float16> tile25d_kernels<float16>(const TemporalTaps& taps);

}  // namespace tessera::cuda
