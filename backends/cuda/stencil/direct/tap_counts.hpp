// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// For how many taps the naive and the restrict algorithm have kernels of their own, for host and device.
#pragma once

#include <cstddef>

namespace tessera::cuda {

inline constexpr std::size_t kUnrolledTapCounts[] = {
    3,   // 1D, radius 1
    5,   // 1D radius 2, 2D star
    7,   // 3D star
    9,   // 1D radius 4, 2D box, 2D star of radius 2
    13,  // 3D star of radius 2
    25,  // 2D box of radius 2, 3D star of radius 4
    27,  // 3D box
};

}  // namespace tessera::cuda
