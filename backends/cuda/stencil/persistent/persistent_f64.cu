// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "persistent.cuh"

namespace tessera::cuda {

ResidentKernel<double> resident_kernel(std::type_identity<double>, const TemporalTaps& taps, int rows) {
  return find_resident_kernel<double>(taps, rows);
}

}  // namespace tessera::cuda
