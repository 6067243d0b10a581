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
                    .later_wave = 0.5416,
                    .overlap = 0.03,
                    .cluster = 4.505e-07,
                    .cluster_slice = 7.723e-08,
                    .cluster_write = 3.184e-07,
                    .write = 1.538e-08,
                    .write_one = 0.3102,
                    .second_kernel = 2.623e-06,
                    .second_kernel_slice = 3.248e-08,
                    .partial_rate = 14.34,
                    .memory = 1.0242,
                    .cache_rate = 23.339,
                    .latency = 7.581e-07,
                    .cluster_slowdown = 1.031,
                    .copy = 0.045936,
                    .k_major_copy = 3.37,
                    .few_blocks = 0.08,
                    .transposed = 0.918,
                    .transpose = 4e-06,
                    .transpose_memory = 0.83949,
                },
            .peeled = 1.0526,
            .small = {.launch = 3.247e-06,
                      .step = 8.17e-07,
                      .product = 1.418e-09,
                      .single = 9.256e-08,
                      .memory = 1.001,
                      .rate = 0.231},
            .skinny = {.launch = 3.219e-06,
                       .memory = 1,
                       .overlap = 0.3758,
                       .extent_major = {.block = 5.134e-07,
                                        .write = 9.806e-08,
                                        .row = 1.51e-07,
                                        .read = 5.905e-07,
                                        .wide_read = 2.926e-07,
                                        .busy_block = 3.221e-07,
                                        .busy_write = 2.05e-08,
                                        .rate = 0.1908},
                       .k_major = {.block = 4.729e-07,
                                   .write = 4.534e-08,
                                   .row = 2.139e-07,
                                   .read = 2.857e-07,
                                   .wide_read = 6.931e-08,
                                   .busy_block = 2.081e-07,
                                   .busy_write = 8.808e-08,
                                   .rate = 0.1525},
                       .second_kernel = 1.662e-06,
                       .second_kernel_slice = 9.05e-08},
            .tiled16 = {.launch = 3.904e-06, .block = 5.638e-08, .step = 4.226e-07, .rate = 0.08782, .memory = 0.9},
            .tiled32 = {.launch = 3.661e-06, .block = 6.4e-08, .step = 7.655e-07, .rate = 0.2565, .memory = 0.9},
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
                    .later_wave = 0.6809,
                    .overlap = 0.076,
                    .cluster = 5.1e-07,
                    .cluster_slice = 1.061e-07,
                    .cluster_write = 3.072e-07,
                    .write = 3.082e-08,
                    .write_one = 0.3041,
                    .second_kernel = 2.44e-06,
                    .second_kernel_slice = 4.098e-08,
                    .partial_rate = 16.72,
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
            .small = {.launch = 3.551e-06,
                      .step = 7.819e-07,
                      .product = 1.066e-08,
                      .single = 1.228e-07,
                      .memory = 1.004,
                      .rate = 0.13},
            .skinny = {.launch = 3.412e-06,
                       .memory = 1,
                       .overlap = 0.4029,
                       .extent_major = {.block = 1.386e-07,
                                        .write = 1.222e-07,
                                        .row = 2.267e-07,
                                        .read = 5.533e-07,
                                        .wide_read = 2.385e-07,
                                        .busy_block = 1.397e-07,
                                        .busy_write = 9.42e-09,
                                        .rate = 0.2231},
                       .k_major = {.block = 4.801e-07,
                                   .write = 8.138e-08,
                                   .row = 3.24e-07,
                                   .read = 1.78e-07,
                                   .wide_read = 5.69e-08,
                                   .busy_block = 3.378e-08,
                                   .busy_write = 1.508e-07,
                                   .rate = 0.2309},
                       .second_kernel = 2.251e-06,
                       .second_kernel_slice = 1.498e-07},
            .tiled16 = {.launch = 3.544e-06, .block = 3.9e-08, .step = 6.494e-07, .rate = 0.1159, .memory = 0.95},
            .tiled32 = {.launch = 3.646e-06, .block = 1.912e-08, .step = 1.012e-06, .rate = 0.261, .memory = 0.95},
            .naive = {.launch = 1.946e-06, .block = 1.827e-06, .product = 8.254e-08, .rate = 0.09, .strided = 0.0145},
        },
};

}  // namespace tessera::cuda
