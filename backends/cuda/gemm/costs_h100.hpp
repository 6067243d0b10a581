// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The coefficients of costs.hpp, fitted to times on an H100: perf/fit/measured/README.md says to which, and how. Rates
/// of multistage: an earlier fit to 245 shapes in f32 and 171 in f64, in which large squares were held to the largest
/// tile.
#pragma once

#include "costs.hpp"

namespace tessera::cuda {

inline constexpr GemmCosts kGemmCostsH100{
    .f32 =
        {
            .multistage =
                {
                    .tiles = {{
                        {0.75442, 0.68616, 5.782e-06},  // 128 x 128
                        {0.74021, 0.56029, 4.456e-06},  // 128 x 64
                        {0.7485, 0.62539, 4.443e-06},   // 64 x 128
                        {0.68537, 0.60685, 4.021e-06},  // 64 x 64
                        {0.63526, 0.58633, 4.434e-06},  // 32 x 64
                        {0.54964, 0.30579, 3.803e-06},  // 128 x 16
                        {0.54214, 0.33815, 3.87e-06},   // 16 x 128
                        {0.52281, 0.17006, 3.651e-06},  // 64 x 16, K-major
                        {0.4581, 0.17756, 3.864e-06},   // 16 x 64, K-major
                    }},
                    .later_wave = 0.4564,
                    .overlap = 0.03,
                    .cluster = 6.576e-07,
                    .cluster_slice = 5.963e-08,
                    .cluster_write = 2.961e-07,
                    .write = 1.733e-08,
                    .write_one = 0.3393,
                    .second_kernel = 2.552e-06,
                    .second_kernel_slice = 3.128e-08,
                    .partial_rate = 11.32,
                    .memory = 1.0242,
                    .cache_rate = 23.339,
                    .latency = 7.206e-07,
                    .cluster_slowdown = 1.031,
                    .copy = 0.045936,
                    .k_major_copy = 3.212,
                    .few_blocks = 0.08,
                    .transposed = 0.918,
                    .transpose = 4e-06,
                    .transpose_memory = 0.83949,
                },
            .peeled = 1.0526,
            .small = {.launch = 3.28e-06,
                      .step = 6.937e-07,
                      .product = 1.418e-09,
                      .single = 1.078e-07,
                      .memory = 1.001,
                      .rate = 0.2306},
            .skinny = {.launch = 3.231e-06,
                       .memory = 0.9972,
                       .rate = 0.1536,
                       .chunk = 1.164e-06,
                       .row = 4.818e-07,
                       .k_major_rate = 0.1293,
                       .k_major_chunk = 1.96e-06,
                       .k_major_row = 2.759e-07,
                       .blocks = 1.834,
                       .second_kernel = 4.377e-06},
            .tiled16 = {.launch = 3.755e-06, .block = 1.275e-07, .step = 5.5e-07, .rate = 0.0983, .memory = 0.9},
            .tiled32 = {.launch = 2.979e-06, .block = 1.91e-07, .step = 1.289e-06, .rate = 0.268, .memory = 0.9},
            .naive = {.launch = 2.508e-06, .block = 1.577e-06, .product = 5.354e-08, .rate = 0.046, .strided = 0.0141},
        },
    .f64 =
        {
            .multistage =
                {
                    .tiles = {{
                        {0.88305, 0.88305, 5.204e-06},  // 128 x 128
                        {0.8649, 0.8503, 4.204e-06},    // 64 x 128
                        {0.81321, 0.61237, 4.013e-06},  // 64 x 64
                        {0.40996, 0.18032, 3.439e-06},  // 32 x 32
                    }},
                    .later_wave = 0.6547,
                    .overlap = 0.076,
                    .cluster = 6.002e-07,
                    .cluster_slice = 7.578e-08,
                    .cluster_write = 2.854e-07,
                    .write = 3.084e-08,
                    .write_one = 0.3384,
                    .second_kernel = 2.383e-06,
                    .second_kernel_slice = 4.225e-08,
                    .partial_rate = 17.47,
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
            .small = {.launch = 3.563e-06,
                      .step = 6.581e-07,
                      .product = 1.001e-08,
                      .single = 1.089e-07,
                      .memory = 1.004,
                      .rate = 0.13},
            .skinny = {.launch = 3.497e-06,
                       .memory = 1.027,
                       .rate = 0.1664,
                       .chunk = 3.308e-07,
                       .row = 3.15e-07,
                       .k_major_rate = 0.1327,
                       .k_major_chunk = 1.065e-06,
                       .k_major_row = 4.247e-07,
                       .blocks = 4.433,
                       .second_kernel = 1.259e-06},
            .tiled16 = {.launch = 3.326e-06, .block = 6.73e-08, .step = 5.855e-07, .rate = 0.1122, .memory = 0.95},
            .tiled32 = {.launch = 3.439e-06, .block = 2e-08, .step = 1.094e-06, .rate = 0.248, .memory = 0.95},
            .naive = {.launch = 1.946e-06, .block = 1.827e-06, .product = 8.254e-08, .rate = 0.09, .strided = 0.0145},
        },
};

}  // namespace tessera::cuda
