// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "streaming.cuh"

namespace tessera::cuda {

template StreamingKernel<double> streaming_kernel_of<double, 1>(StarForm, bool);

}  // namespace tessera::cuda
