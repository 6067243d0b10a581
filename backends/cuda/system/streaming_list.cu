// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "streaming_kernels.hpp"

namespace tessera::cuda {

/// Instantiated in files of their own.
template <class T, int kRadius>
StreamingKernel<T> streaming_kernel_of(StarForm form, bool aligned);

template <class T>
StreamingKernel<T> streaming_kernel(int radius, StarForm form, bool aligned) {
  switch (radius) {
    case 1:
      return streaming_kernel_of<T, 1>(form, aligned);
    case 2:
      return streaming_kernel_of<T, 2>(form, aligned);
    case 3:
      return streaming_kernel_of<T, 3>(form, aligned);
    default:
      return streaming_kernel_of<T, 4>(form, aligned);
  }
}

template StreamingKernel<float> streaming_kernel<float>(int, StarForm, bool);
template StreamingKernel<double> streaming_kernel<double>(int, StarForm, bool);

}  // namespace tessera::cuda
