// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "streaming.cuh"

namespace tessera::cuda {

template StreamingKernel<float> streaming_kernel_of<float, 2>(StarForm, bool);

}  // namespace tessera::cuda
