// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernels of the algorithm "streaming", and how a plan launches one.
#pragma once

#include "../tensor_map.hpp"
#include "meetings.hpp"

#include <cuda_runtime_api.h>
#include <tessera/plugin/system_star.hpp>

#include <cstddef>
#include <cstdint>

namespace tessera::cuda {

using plugin::StarForm;
using plugin::StarSystem;

/// A step in terms that no kernel's template parameters stand in.
template <class T>
struct StreamingArrays {
  int nx, ny, nz;
  int first, last;  ///< planes that are made: [first, last)
  int planes;       ///< of a block
  T* next;
  const T* u;
  const T* streams[3];
  const T* profiles[3];  ///< along x, y, z
  Meetings meetings;
};

/// Whether rows of all arrays begin at multiples of 16 bytes.
template <class T>
bool is_aligned(const StreamingArrays<T>& a, int streams) {
  constexpr std::size_t kBytes = 16;
  const auto odd = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % kBytes != 0; };
  bool any = std::size_t(a.nx) * sizeof(T) % kBytes != 0 || odd(a.u) || odd(a.next);
  for (int s = 0; s < streams; ++s) any |= odd(a.streams[s]);
  return !any;
}

/// Tensors of a plan's arrays, as it last saw them: u, then the streams, each of up to four classes.
using StreamingTensors = TensorMap[4][4];

/// A kernel for a type, a radius, a form and rows that are aligned or not.
template <class T>
struct StreamingKernel {
  void (*prepare)(int shared_limit) = nullptr;
  void (*run)(const StarSystem& star, const StreamingArrays<T>& arrays, StreamingTensors& tensors,
              cudaStream_t stream) = nullptr;
  int tile_x = 0, tile_y = 0, shared_bytes = 0;
};

/// Those of a type and a radius: instantiated in files of their own.
template <class T, int kRadius>
StreamingKernel<T> streaming_kernel_of(StarForm form, bool aligned);

/// None where the plugin has no code for Hopper.
template <class T>
StreamingKernel<T> streaming_kernel([[maybe_unused]] int radius, [[maybe_unused]] StarForm form,
                                    [[maybe_unused]] bool aligned) {
#if defined(TESSERA_CUDA_SM90A)
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
#else
  return {};
#endif
}

}  // namespace tessera::cuda
