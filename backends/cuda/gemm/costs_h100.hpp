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
                                {0.455, 0.455, 4e-06},   // 128 x 256
                                {0.355, 0.217, 4e-06},   // 128 x 128
                                {0.19, 0.074, 3.5e-06},  // 64 x 64
                            }},
                    .later_wave = 0.6,
                    .overlap = 0.05,
                    .cluster = 4.5e-07,
                    .cluster_slice = 7.7e-08,
                    .cluster_write = 3.2e-07,
                    .write = 1.5e-08,
                    .write_one = 0.3,
                    .second_kernel = 2.6e-06,
                    .second_kernel_slice = 3.2e-08,
                    .partial_rate = 14.3,
                    .memory = 0.85,
                    .cache_rate = 23.3,
                    .latency = 2.5e-07,
                    .cluster_slowdown = 1,
                    .copy = 0.12,
                    .transposed_copy = 0.12,
                    .k_major_copy = 1,
                    .narrow_copy = 1.7,
                    .few_blocks = 0.08,
                    .transposed = 1,
                    .transpose = 4e-06,
                    .transpose_memory = 0.84,
                },
            .peeled = 1.05,
            .small =
                {.launch = 3.25e-06, .step = 8.2e-07, .product = 1.4e-09, .single = 9.3e-08, .memory = 1, .rate = 0.23},
            .skinny = {.launch = 3.22e-06,
                       .memory = 1,
                       .overlap = 0.376,
                       .extent_major = {.block = 5.1e-07,
                                        .write = 9.8e-08,
                                        .row = 1.5e-07,
                                        .read = 5.9e-07,
                                        .wide_read = 2.9e-07,
                                        .busy_block = 3.2e-07,
                                        .busy_sum = 4.9e-08,
                                        .rate = 0.19},
                       .k_major = {.block = 4.7e-07,
                                   .write = 4.5e-08,
                                   .row = 2.1e-07,
                                   .read = 2.9e-07,
                                   .wide_read = 6.9e-08,
                                   .busy_block = 2.1e-07,
                                   .busy_sum = 9.2e-09,
                                   .rate = 0.15},
                       .second_kernel = 1.66e-06,
                       .second_kernel_slice = 9.1e-08},
            .tiled16 = {.launch = 3.9e-06, .block = 5.6e-08, .step = 4.2e-07, .rate = 0.088, .memory = 0.9},
            .tiled32 = {.launch = 3.66e-06, .block = 6.4e-08, .step = 7.7e-07, .rate = 0.257, .memory = 0.9},
            .naive = {.launch = 2.5e-06, .block = 1.58e-06, .product = 5.35e-08, .rate = 0.046, .strided = 0.0141},
        },
    .tf32 =
        {
            .tiles =
                {
                    {
                        {0.345, 0.345, 4e-06},  // 128 x 256
                        {0.275, 0.18, 4e-06},   // 128 x 128
                        {0.2, 0.09, 3.5e-06},   // 64 x 64
                    }},
            .later_wave = 0.6,
            .overlap = 0.05,
            .cluster = 4.5e-07,
            .cluster_slice = 7.7e-08,
            .cluster_write = 3.2e-07,
            .write = 1.5e-08,
            .write_one = 0.3,
            .second_kernel = 2.6e-06,
            .second_kernel_slice = 3.2e-08,
            .partial_rate = 14.3,
            .memory = 1,
            .cache_rate = 23.3,
            .latency = 3e-07,
            .cluster_slowdown = 1,
            .copy = 0.02,
            .transposed_copy = 0.02,
            .k_major_copy = 1,
            .narrow_copy = 1,
            .few_blocks = 0.08,
            .transposed = 1,
            .transpose = 4e-06,
            .transpose_memory = 0.84,
        },
    .warpgroup =
        {
            .tiles =
                {
                    {
                        {0.86, 2.6e-06, 0.85},  // 128 x 256
                        {0.84, 2.1e-06, 0.85},  // 128 x 192
                        {0.79, 1.64e-06, 0.88},  // 128 x 128
                        {0.52, 1.26e-06, 0.68},  // 64 x 128
                        {0.39, 0.95e-06, 0.65},  // 64 x 64
                    }},
            .launch = 3.19e-06,
            .slow_clock = 1.23,
            .long_steps = 128,
            .write_one = 5.4,
            .request = 2.6,
            .shared = 5e-07,
            .tail = 2e-06,
            .cluster = 1e-06,
            .cluster_slice = 2e-07,
            .second_kernel = 4.3e-06,
            .second_kernel_slice = 2.6e-08,
            .partial_memory = 0.56,
            .copy = 3.1e-06,
            .copy_memory = 0.78,
        },
};

}  // namespace tessera::cuda
