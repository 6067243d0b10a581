// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "persistent.cuh"

namespace tessera::cuda {

template PersistentKernel<float16> persistent_kernel<float16>(const TemporalTaps& taps, int rows);

}  // namespace tessera::cuda
