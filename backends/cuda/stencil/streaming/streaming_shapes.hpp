// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The lists of taps that the streaming algorithm knows as shapes. Without CUDA.
#pragma once

#include "../tap_shape.hpp"

namespace tessera::cuda {

/// Shapes that a thread computes in registers, in domains of one and two axes.
using FlatShapes =
    TapShapes<TapShape<TapPattern::star, 1, 1>, TapShape<TapPattern::star, 1, 2>, TapShape<TapPattern::star, 1, 3>,
              TapShape<TapPattern::star, 1, 4>, TapShape<TapPattern::hollow_star, 1, 1>,
              TapShape<TapPattern::hollow_star, 1, 2>, TapShape<TapPattern::hollow_star, 1, 3>,
              TapShape<TapPattern::hollow_star, 1, 4>, TapShape<TapPattern::star, 2, 1>,
              TapShape<TapPattern::star, 2, 2>, TapShape<TapPattern::star, 2, 3>, TapShape<TapPattern::star, 2, 4>,
              TapShape<TapPattern::box, 2, 1>, TapShape<TapPattern::box, 2, 2>>;

/// And in volumes.
using VolumeShapes =
    TapShapes<TapShape<TapPattern::star, 3, 1>, TapShape<TapPattern::star, 3, 2>, TapShape<TapPattern::star, 3, 3>,
              TapShape<TapPattern::star, 3, 4>, TapShape<TapPattern::box, 3, 1>>;

}  // namespace tessera::cuda
