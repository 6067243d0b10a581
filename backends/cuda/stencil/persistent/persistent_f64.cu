// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "persistent.cuh"

namespace tessera::cuda {

template PersistentKernel<double> persistent_kernel<double>(const TemporalTaps& taps, int rows);

}  // namespace tessera::cuda
