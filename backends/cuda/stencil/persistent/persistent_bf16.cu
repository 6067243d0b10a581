// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "persistent.cuh"

namespace tessera::cuda {

template PersistentKernel<bfloat16> persistent_kernel<bfloat16>(const TemporalTaps& taps, int rows);

}  // namespace tessera::cuda
