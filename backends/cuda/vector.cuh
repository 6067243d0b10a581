// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Neighbours in memory that are read and written at once.
#pragma once

namespace tessera::cuda {

/// One access where they are at most 16 bytes, else several of 16.
template <class T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Vector {
  T value[kCount];
};

}  // namespace tessera::cuda
