// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The coefficients of costs.hpp, fitted to times on an H100.
///
/// multistage: every tile and up to 128 slices, each weighed by the cube of its nearness to the shape's best and by
/// what the choice then loses, the suite's shapes fourfold: f32 on 245 shapes, 180 of them random and 110 of these
/// narrow, f64 on 171, 141 of them random; large squares were held to the largest tile (14 % mean error). `later_wave`
/// and `overlap` were added later, by perf/baselines/h100-gemm.json. All others: by hand, to the same file.
#pragma once

#include "costs.hpp"

namespace tessera::cuda {

inline constexpr GemmCosts kGemmCostsH100{
    .f32 =
        {
            .multistage =
                {
                    .tiles = {{
                        {0.75442, 0.68616, 6.06e-06},  // 128 x 128
                        {0.74021, 0.56029, 5.12e-06},  // 128 x 64
                        {0.7485, 0.62539, 5.07e-06},   // 64 x 128
                        {0.68537, 0.60685, 3.82e-06},  // 64 x 64
                        {0.63526, 0.58633, 4.33e-06},  // 32 x 64
                        {0.54964, 0.30579, 3.4e-06},   // 128 x 16
                        {0.54214, 0.33815, 4.01e-06},  // 16 x 128
                        {0.52281, 0.17006, 3.66e-06},  // 64 x 16, K-major
                        {0.4581, 0.17756, 3.72e-06},   // 16 x 64, K-major
                    }},
                    .later_wave = 0.5,
                    .overlap = 0.03,
                    .cluster = 1.74e-06,
                    .cluster_slice = 7.99e-08,
                    .second_kernel = 3.63e-06,
                    .second_kernel_slice = 4.14e-08,
                    .partial_rate = 68.488,
                    .memory = 1.0242,
                    .cache_rate = 23.339,
                    .latency = 7.79e-07,
                    .cluster_slowdown = 1.031,
                    .copy = 0.045936,
                    .k_major_copy = 2.88,
                    .few_blocks = 0.08,
                    .transposed = 0.918,
                    .transpose = 4e-06,
                    .transpose_memory = 0.83949,
                },
            .peeled = 1.0526,
            .small = {.launch = 3.3e-06, .step = 5e-07, .memory = 1.0, .rate = 0.23},
            .skinny = {.launch = 3.6e-06,
                       .memory = 1.02,
                       .rate = 0.16,
                       .chunk = 1.4e-06,
                       .row = 4e-07,
                       .second_kernel = 2.6e-06},
            .tiled16 = {.launch = 2.6e-06, .block = 1.5e-07, .step = 5.6e-07, .rate = 0.11, .memory = 0.9},
            .tiled32 = {.launch = 2.6e-06, .block = 1.2e-07, .step = 3e-06, .rate = 0.2685, .memory = 0.9},
            .naive = {.launch = 2.9e-06, .block = 8.5e-07, .product = 1.65e-07, .rate = 0.046, .strided = 0.0141},
        },
    .f64 =
        {
            .multistage =
                {
                    .tiles = {{
                        {0.88305, 0.88305, 6.09e-06},  // 128 x 128
                        {0.8649, 0.8503, 4.97e-06},    // 64 x 128
                        {0.81321, 0.61237, 4.18e-06},  // 64 x 64
                        {0.40996, 0.18032, 3.07e-06},  // 32 x 32
                    }},
                    .later_wave = 1.0,
                    .overlap = 0.076,
                    .cluster = 1.94e-06,
                    .cluster_slice = 1.02e-07,
                    .second_kernel = 4.02e-06,
                    .second_kernel_slice = 4.5e-08,
                    .partial_rate = 29.423,
                    .memory = 1.0141,
                    .cache_rate = 23.339,
                    .latency = 4.26e-07,
                    .cluster_slowdown = 1.051,
                    .copy = 0.010811,
                    .k_major_copy = 1,
                    .few_blocks = 0.083,
                    .transposed = 0.918,
                    .transpose = 4e-06,
                    .transpose_memory = 0.83949,
                },
            .peeled = 1.0526,
            .small = {.launch = 3.6e-06, .step = 6e-07, .memory = 1.02, .rate = 0.13},
            .skinny = {.launch = 3.6e-06,
                       .memory = 1.04,
                       .rate = 0.18,
                       .chunk = 1.4e-06,
                       .row = 3.4e-07,
                       .second_kernel = 2.6e-06},
            .tiled16 = {.launch = 2.6e-06, .block = 1.5e-07, .step = 6.2e-07, .rate = 0.125, .memory = 0.95},
            .tiled32 = {.launch = 2.6e-06, .block = 2e-08, .step = 3.5e-06, .rate = 0.275, .memory = 0.95},
            .naive = {.launch = 2.9e-06, .block = 8.5e-07, .product = 1.65e-07, .rate = 0.09, .strided = 0.0145},
        },
};

}  // namespace tessera::cuda
