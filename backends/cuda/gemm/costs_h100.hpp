// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The coefficients of costs.hpp, fitted to times on an H100: perf/fit/measured/README.md says to which, and how. Rates
/// of multistage: an earlier fit to 245 shapes in f32 and 171 in f64, in which large squares were held to the largest
/// tile. Those of 16 bits and of tf32 are not fitted: a few measured rates, and else what f32 has.
#pragma once

#include "costs.hpp"

namespace tessera::cuda {

inline constexpr GemmCosts kGemmCostsH100{
    .f32 =
        {
            .multistage =
                {
                    .tiles = {{
                        {0.955, 0.7242, 5.079e-06},   // 128 x 128
                        {0.9566, 0.7092, 4.488e-06},  // 128 x 64
                        {0.9673, 0.7001, 4.421e-06},  // 64 x 128
                        {0.8947, 0.648, 3.848e-06},   // 64 x 64
                        {0.872, 0.3646, 4.064e-06},   // 32 x 64
                        {0.8781, 0.4044, 4.041e-06},  // 128 x 16
                        {0.7993, 0.4031, 3.941e-06},  // 16 x 128
                        {0.6786, 0.2631, 4.205e-06},  // 64 x 16, K-major
                        {0.6739, 0.2609, 4.42e-06},   // 16 x 64, K-major
                    }},
                    .later_wave = 0.5092,
                    .overlap = 0.2534,
                    .cluster = 4.864e-07,
                    .cluster_slice = 9.783e-08,
                    .cluster_write = 3.233e-07,
                    .write = 1.424e-08,
                    .write_one = 0.2886,
                    .second_kernel = 2.738e-06,
                    .second_kernel_slice = 3.396e-08,
                    .partial_rate = 17.44,
                    .memory = 0.9784,
                    .cache_rate = 23.36,
                    .latency = 5.043e-07,
                    .cluster_slowdown = 0.9875,
                    .copy = 0.09118,
                    .transposed_copy = 0.1472,
                    .k_major_copy = 2.034,
                    .narrow_copy = 1,
                    .few_blocks = 0.2686,
                    .transposed = 0.9817,
                    .transpose = 4.543e-06,
                    .transpose_memory = 1.078,
                },
            .peeled = 1.0526,
            .small = {.launch = 3.353e-06,
                      .step = 8.593e-07,
                      .product = 1.418e-09,
                      .single = 5.796e-08,
                      .memory = 0.9999,
                      .rate = 0.2272},
            .skinny = {.launch = 2.831e-06,
                       .memory = 1,
                       .overlap = 0.478,
                       .extent_major = {.block = 3.422e-07,
                                        .write = 6.328e-08,
                                        .row = 3.657e-07,
                                        .read = 4.335e-07,
                                        .wide_read = 4.085e-07,
                                        .busy_block = 2.827e-07,
                                        .busy_sum = 4.859e-08,
                                        .rate = 1.627},
                       .k_major = {.block = 7.788e-07,
                                   .write = 1.896e-08,
                                   .row = 2.032e-07,
                                   .read = 1.399e-07,
                                   .wide_read = 4.223e-08,
                                   .busy_block = 5.44e-07,
                                   .busy_sum = 9.172e-09,
                                   .rate = 0.3376},
                       .second_kernel = 2.589e-06,
                       .second_kernel_slice = 3.19e-08},
            .tiled16 = {.launch = 3.865e-06, .block = 6.09e-08, .step = 4.134e-07, .rate = 0.08766, .memory = 0.9},
            .tiled32 = {.launch = 3.609e-06, .block = 5.211e-08, .step = 8.109e-07, .rate = 0.2447, .memory = 0.7952},
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
                    .later_wave = 0.6823,
                    .overlap = 0.076,
                    .cluster = 4.817e-07,
                    .cluster_slice = 1.195e-07,
                    .cluster_write = 3.142e-07,
                    .write = 3.279e-08,
                    .write_one = 0.2693,
                    .second_kernel = 2.546e-06,
                    .second_kernel_slice = 3.975e-08,
                    .partial_rate = 16.84,
                    .memory = 1.0141,
                    .cache_rate = 23.339,
                    .latency = 4.26e-07,
                    .cluster_slowdown = 1.051,
                    .copy = 0.010811,
                    .transposed_copy = 0.010811,
                    .k_major_copy = 1,
                    .narrow_copy = 1,
                    .few_blocks = 0.083,
                    .transposed = 0.918,
                    .transpose = 4e-06,
                    .transpose_memory = 0.83949,
                },
            .peeled = 1.0526,
            .small = {.launch = 3.349e-06,
                      .step = 1.071e-06,
                      .product = 1.117e-08,
                      .single = 5.461e-08,
                      .memory = 1.014,
                      .rate = 0.1143},
            .skinny = {.launch = 2.554e-06,
                       .memory = 1,
                       .overlap = 0.2637,
                       .extent_major = {.block = 5.24e-07,
                                        .write = 1.524e-07,
                                        .row = 3.759e-07,
                                        .read = 4.912e-07,
                                        .wide_read = 4.594e-07,
                                        .busy_block = 2.961e-07,
                                        .busy_sum = 5.676e-08,
                                        .rate = 0.6736},
                       .k_major = {.block = 7.413e-07,
                                   .write = 1.661e-07,
                                   .row = 8.298e-08,
                                   .read = 1.67e-07,
                                   .wide_read = 2.821e-07,
                                   .busy_block = 3.31e-08,
                                   .busy_sum = 3.156e-08,
                                   .rate = 0.3637},
                       .second_kernel = 2.984e-06,
                       .second_kernel_slice = 3.416e-08},
            .tiled16 = {.launch = 3.565e-06, .block = 3.911e-08, .step = 6.336e-07, .rate = 0.1139, .memory = 0.95},
            .tiled32 = {.launch = 3.449e-06, .block = 1.894e-08, .step = 1.203e-06, .rate = 0.2494, .memory = 0.9586},
            .naive = {.launch = 1.946e-06, .block = 1.827e-06, .product = 8.254e-08, .rate = 0.09, .strided = 0.0145},
        },
    .narrow =
        {
            .multistage =
                {
                    .tiles =
                        {
                            {
                                {0.4708, 0.6675, 6.271e-06},  // 128 x 256
                                {0.4796, 0.5132, 6.266e-06},  // 128 x 128
                                {10.45, 0.1897, 4.946e-06},   // 64 x 64
                            }},
                    .later_wave = 0.8652,
                    .overlap = 0.294,
                    .cluster = 8.57e-07,
                    .cluster_slice = 3.687e-08,
                    .cluster_write = 4.565e-08,
                    .write = 2.817e-09,
                    .write_one = 0.1034,
                    .second_kernel = 1.268e-06,
                    .second_kernel_slice = 3.2e-08,
                    .partial_rate = 15.46,
                    .memory = 0.9724,
                    .cache_rate = 26.9,
                    .latency = 1.827e-07,
                    .cluster_slowdown = 0.9122,
                    .copy = 0.1148,
                    .transposed_copy = 0.12,
                    .k_major_copy = 1,
                    .narrow_copy = 1.735,
                    .few_blocks = 0.05715,
                    .transposed = 1,
                    .transpose = 4e-06,
                    .transpose_memory = 0.84,
                },
            .peeled = 1.07,
            .small = {.launch = 3.958e-06,
                      .step = 7.132e-07,
                      .product = 1.4e-09,
                      .single = 3.43e-08,
                      .memory = 1,
                      .rate = 0.1876},
            .skinny = {.launch = 2.549e-06,
                       .memory = 1.43,
                       .overlap = 1.434,
                       .extent_major = {.block = 4.208e-07,
                                        .write = 2.317e-08,
                                        .row = 3.751e-07,
                                        .read = 3.467e-07,
                                        .wide_read = 1.05e-06,
                                        .busy_block = 2.824e-07,
                                        .busy_sum = 4.12e-08,
                                        .rate = 0.6896},
                       .k_major = {.block = 1.174e-06,
                                   .write = 2.923e-08,
                                   .row = 7.049e-08,
                                   .read = 1.683e-07,
                                   .wide_read = 5.188e-07,
                                   .busy_block = 6.857e-07,
                                   .busy_sum = 5.078e-09,
                                   .rate = 0.3884},
                       .second_kernel = 1.609e-06,
                       .second_kernel_slice = 2.427e-08},
            .tiled16 = {.launch = 3.406e-06, .block = 1.339e-07, .step = 4.35e-07, .rate = 0.1018, .memory = 0.9},
            .tiled32 = {.launch = 3.249e-06, .block = 3.672e-08, .step = 8.285e-07, .rate = 0.2148, .memory = 0.9},
            .naive = {.launch = 1.958e-06, .block = 1.847e-06, .product = 5.313e-08, .rate = 0.046, .strided = 0.0141},
        },
    .tf32 =
        {
            .tiles =
                {
                    {
                        {0.3559, 0.345, 7.262e-06},  // 128 x 256
                        {0.283, 0.2256, 7.284e-06},  // 128 x 128
                        {0.206, 0.1619, 4.654e-06},  // 64 x 64
                    }},
            .later_wave = 0.7669,
            .overlap = 0.08393,
            .cluster = 6.306e-07,
            .cluster_slice = 9.517e-08,
            .cluster_write = 2.505e-07,
            .write = 6.137e-08,
            .write_one = 0.2934,
            .second_kernel = 1.562e-06,
            .second_kernel_slice = 3.659e-08,
            .partial_rate = 15.12,
            .memory = 0.7803,
            .cache_rate = 24.45,
            .latency = 3e-07,
            .cluster_slowdown = 0.9499,
            .copy = 0.1114,
            .transposed_copy = 0.02,
            .k_major_copy = 1,
            .narrow_copy = 1,
            .few_blocks = 0.04806,
            .transposed = 1,
            .transpose = 4e-06,
            .transpose_memory = 0.84,
        },
    .warpgroup =
        {
            .tiles =
                {
                    {
                        {0.785, 1.894e-06, 0.79},     // 128 x 256
                        {0.7712, 1.673e-06, 0.8059},  // 128 x 192
                        {0.6438, 1.151e-06, 0.8619},  // 128 x 128
                        {0.4465, 9.297e-07, 0.8624},  // 64 x 128
                        {0.2989, 7.203e-07, 1.021},   // 64 x 64
                    }},
            .launch = 3.013e-06,
            .slow_clock = 1.085,
            .long_steps = 128,
            .write_one = 2.642,
            .request = 1.556,
            .shared = 5.602e-07,
            .tail = 7.072e-06,
            .cluster = 2.634e-07,
            .cluster_sum = 2.52e-10,
            .second_kernel = 2.519e-06,
            .second_kernel_slice = 2.738e-08,
            .partial_memory = 0.6794,
            .copy = 1.903e-06,
            .copy_memory = 1.032,
        },
    .warpgroup_tf32 =
        {
            .tiles =
                {
                    {
                        {0.6575, 1.874e-06, 0.6364},  // 128 x 256
                        {0.5857, 1.738e-06, 0.6235},  // 128 x 192
                        {0.4749, 1.188e-06, 0.6606},  // 128 x 128
                        {0.3394, 1.514e-06, 0.8117},  // 64 x 128
                        {0.1909, 8.381e-07, 0.856},   // 64 x 64
                    }},
            .launch = 3.235e-06,
            .slow_clock = 0.9888,
            .long_steps = 128,
            .write_one = 1.837,
            .request = 0.1606,
            .shared = 6.814e-07,
            .tail = 6.706e-06,
            .cluster = 8.895e-07,
            .cluster_sum = 2.773e-10,
            .second_kernel = 1.594e-06,
            .second_kernel_slice = 3.977e-08,
            .partial_memory = 0.6462,
            .copy = 1.663e-06,
            .copy_memory = 1.124,
        },
    .warpgroup_f32 =
        {
            .tiles =
                {
                    {
                        {0.82, 3e-06},   // bf16x6, 128 x 128
                        {0.74, 2e-06},   // 128 x 64
                        {0.675, 4e-06},  // f16x3, 128 x 192
                        {0.66, 3e-06},   // 128 x 128
                        {0.5, 2e-06},    // 128 x 64
                    }},
            .launch = 3.5e-06,
            .memory = 0.7,
            .write_one = 2,
            .parts = 1e-06,
            .parts_memory = 0.95,
            .second_kernel = 3e-06,
            .second_kernel_slice = 2.6e-08,
            .partial_memory = 0.9,
        },
};

}  // namespace tessera::cuda
