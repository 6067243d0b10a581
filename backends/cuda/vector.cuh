// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Neighbours in memory that are read and written at once.
#pragma once

namespace tessera::cuda {

template <class T, int kCount>
struct alignas(kCount * sizeof(T)) Vector {
  T value[kCount];
};

}  // namespace tessera::cuda
