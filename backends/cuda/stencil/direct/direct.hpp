// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How naive and restrict lay out a problem, for kernels and model: without CUDA.
#pragma once

#include "../offers.hpp"

#include <array>
#include <cstddef>

namespace tessera::cuda {

inline constexpr int kDirectThreads = 256;

/// The threads of a block on axes 0 to 2: 64 x 4, or the nearest to that where the domain is narrow.
std::array<unsigned, plugin::kAxes> direct_block(const plugin::StencilProblem& problem);

/// For how many taps there are kernels of their own.
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
