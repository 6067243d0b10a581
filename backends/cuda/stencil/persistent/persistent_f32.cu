// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "persistent.cuh"

namespace tessera::cuda {

template PersistentKernel<float> persistent_kernel<float>(const TemporalTaps& taps, int rows);

}  // namespace tessera::cuda
