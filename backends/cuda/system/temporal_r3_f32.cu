// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "temporal_kernels.cuh"

namespace tessera::cuda {

template WaveKernel<float> wave_kernel_of<float, 3>(StarForm, bool, bool);

}  // namespace tessera::cuda
