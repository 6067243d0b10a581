// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The compiled kernels of the persistent algorithm.
#pragma once

#include "../temporal/temporal_axis.hpp"
#include "persistent.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tessera::cuda {

/// All steps of a domain. S: the type of values.
template <class S>
struct PersistentArguments {
  S coefficients[kTemporalSpan][kTemporalSpan];  ///< by offset + radius
  TemporalAxis<S> rows, columns;
  PersistentTiling row_tiling, column_tiling;
  int depth;              ///< steps of a round
  int rounds, shallower;  ///< the last so many rounds have a step less
  std::int64_t in_strides[2], out_strides[2];
};

inline constexpr int kPersistentFlagStride = 32;  ///< 32-bit words from a block's flag to the next one's

template <class T>
struct PersistentKernel {
  using Function = void (*)(PersistentArguments<Scalar<T>>, const T* in, T* out, Scalar<T>* exchange,
                            std::uint32_t* flags);
  Function function;
  int warp_bytes;  ///< dynamic shared memory for each warp of a block
};

/// `rows` of persistent_rows(). Instantiated for each type in a file of its own (instances.cmake).
template <class T>
PersistentKernel<T> persistent_kernel(const TemporalTaps& taps, int rows);

}  // namespace tessera::cuda
