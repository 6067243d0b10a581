// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The inner loop of the rows algorithm.
#pragma once

#include <cstdint>

namespace tessera::cpu {

/// The terms of a row: coefficient[t] * in[offset[t]], in elements from a common base.
template <class T>
struct RowTaps {
  const std::int64_t* offset;
  const T* coefficient;
  std::int64_t count;
};

/// out[i * out_stride] = init + sum over taps of coefficient[t] * in[offset[t] + i * in_stride] for
/// i in [0, n), added in the order of the taps. Fast where both strides are 1.
template <class T>
void apply_row(const T* in, std::int64_t in_stride, const RowTaps<T>& taps, T init, T* out, std::int64_t out_stride,
               std::int64_t n);

}  // namespace tessera::cpu
