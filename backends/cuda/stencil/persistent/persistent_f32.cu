// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "persistent.cuh"

namespace tessera::cuda {

ResidentKernel<float> resident_kernel(std::type_identity<float>, const TemporalTaps& taps, int rows) {
  return find_resident_kernel<float>(taps, rows);
}

}  // namespace tessera::cuda
