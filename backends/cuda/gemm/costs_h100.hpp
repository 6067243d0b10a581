// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The constants of products on an H100, fitted to times of random products and of the suite there:
/// perf/fit/measured/README.md says to which, and how.
#pragma once

#include "costs.hpp"

namespace tessera::cuda {

inline constexpr GemmCosts kGemmCostsH100{
    .product =
        {
            .launch = 2.946e-06,
            .fill = 7.58e-07,
            .fill_depth = 9.156e-08,
            .element = 2.374e-11,
            .copy = 0.09466,
            .word = 0.1357,
            .request = 1.132,
            .cache_rate = 37.03,
            .memory = 1.096,
            .overlap = 0.3706,
            .write_one = 0.2094,
            .write_wait = 1.737e-08,
            .sector = 1.627,
            .cluster = 1.272e-06,
            .cluster_read = 4e-08,
            .sharing = 8.499e-07,
            .pass = 2.126e-06,
            .adding = 2.426e-06,
            .adding_slice = 3.366e-08,
            .partial_rate = 1.346,
            .naive_wait = 4.519e-08,
            .naive_strided = 0.6,
            .tiled_wait = 1.278e-08,
            .small_wait = 4.61e-07,
            .single = 4.809e-08,
            .read = 4.294e-07,
            .k_major_read = 1.661e-07,
            .row = 1.313e-07,
        },
    .f32 = {.multistage = {.tiles = {0.94, 0.962, 0.955, 0.9517, 0.9065, 0.9639, 0.93, 0.7095, 0.6831},
                           .warps = 3.685,
                           .element = 2.374e-11,
                           .latency = 4.898e-07},
            .naive = 0.06862,
            .tiled16 = 0.1036,
            .tiled32 = 0.3449,
            .small = 0.4986,
            .skinny = 0.3485,
            .k_major_skinny = 0.3654},
    .f64 = {.multistage =
                {.tiles = {1.34, 1.195, 1.264, 0.6796}, .warps = 4.195, .element = 9.209e-11, .latency = 4.898e-07},
            .naive = 0.05967,
            .tiled16 = 0.1416,
            .tiled32 = 0.3681,
            .small = 0.38,
            .skinny = 0.344,
            .k_major_skinny = 0.4182},
    .narrow =
        {.multistage = {.tiles = {1.369, 1.487, 0.76}, .warps = 13.17, .element = 5.699e-11, .latency = 1.959e-07},
         .naive = 0.04074,
         .tiled16 = 0.09595,
         .tiled32 = 0.317,
         .small = 0.5551,
         .skinny = 0.2551,
         .k_major_skinny = 0.3178},
    .tf32 = {.tiles = {0.6688, 0.5553, 0.3969}, .warps = 9.801, .element = 5.699e-11, .latency = 1.959e-07},
    .warpgroup = {.of_16 = {0.8298, 0.8362, 0.7653, 0.5526, 0.4043},
                  .of_tf32 = {0.7279, 0.6267, 0.5238, 0.3875, 0.2661},
                  .of_f32 = {0.6672, 0.7912, 0.6324, 0.6274, 0.5},
                  .element = 2.291e-11,
                  .write_one = 0.2109},
};

}  // namespace tessera::cuda
