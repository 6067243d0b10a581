// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencils' costs on an H100: fitted to perf/baselines/h100-stencil.json and to the further measurements that
/// docs/algorithms.md reports.
#pragma once

#include "costs.hpp"

namespace tessera::cuda {

inline constexpr StencilCosts kStencilCostsH100{
    .sweep = {.launch = 3.0e-6, .l2_rate = 28.0, .l2_kept = 0.35, .l2_evicted = 0.65},
    .f32 =
        {
            .direct = {.memory = 0.385,
                       .point = 0.631,
                       .line_tap = 0.0174,
                       .unrolled_tap = 0.0455,
                       .loop_taps = 0.00872,
                       .frozen_warp = 58.3,
                       .boundary_tap = 59.2,
                       .boundary_latency = 0.5e-6},
            .constant_tile =
                {.cell = 0.655, .line = 0.129, .boundary = 1.52, .latency = 1290.0, .point = 0.604, .tap = 0.0441},
            .ldg_tile =
                {.cell = 0.554, .line = 0.155, .boundary = 1.78, .latency = 1240.0, .point = 0.685, .tap = 0.0412},
            .streaming_tile =
                {.launches = 5.41e-6, .memory = 0.997, .volume_tap = 0.00656, .unaligned = 0.264, .shell_point = 1.64},
            .streaming_list =
                {.launch = 6.01e-6, .memory = 0.656, .wide_tap = 0.0319, .narrow_tap = 0.112, .edge_tap = 0.0284},
            .temporal_line = {.launch = 4.5e-6,
                              .memory = 1.01,
                              .multiply_add = 1.0,
                              .step = 12.0,
                              .neighbour = 50.0,
                              .overlap = 0.22},
            .temporal_2d = {.launch = 6.27e-6,
                            .memory = 1.13,
                            .row = 32.2,
                            .unaligned = 295.0,
                            .step = 5.53,
                            .multiply_add = 1.0,
                            .end = 387.0,
                            .closed = 1.09,
                            .overlap = 0.149},
            .temporal_3d = {.launch = 3.2e-6,
                            .memory = 1.15,
                            .row = 25.4,
                            .unaligned = 300.0,
                            .step = 3.11,
                            .multiply_add = 0.25,
                            .end = 334.0,
                            .closed = 1.19,
                            .overlap = 0.236},
            .persistent = {.launch = 5.5e-6,
                           .io_rate = 3.95,
                           .step = 119.0,
                           .row = 2.72,
                           .tap = 1.04,
                           .neighbour = 0.396,
                           .outer_rows = 1.3,
                           .idle_few = 1.25,
                           .idle_full = 16.0,
                           .full_rows = 16.0,
                           .exchange = 2475.0,
                           .exchange_row = 8.91,
                           .exchange_half = 10.89},
        },
    .f64 = {
        .direct = {.memory = 0.506,
                   .point = 0.695,
                   .line_tap = 0.0277,
                   .unrolled_tap = 0.0529,
                   .loop_taps = 0.0135,
                   .frozen_warp = 59.2,
                   .boundary_tap = 54.4,
                   .boundary_latency = 0.5e-6},
        .constant_tile =
            {.cell = 0.628, .line = 0.186, .boundary = 1.77, .latency = 1200.0, .point = 0.964, .tap = 0.0479},
        .ldg_tile = {.cell = 0.563, .line = 0.241, .boundary = 1.71, .latency = 1270.0, .point = 0.933, .tap = 0.0564},
        .streaming_tile =
            {.launches = 4.66e-6, .memory = 0.996, .volume_tap = 0.0109, .unaligned = 0.56, .shell_point = 1.15},
        .streaming_list = {.launch = 6.0e-6, .memory = 0.577, .wide_tap = 0.0495, .narrow_tap = 0.15, .edge_tap = 0.03},
        .temporal_line =
            {.launch = 4.5e-6, .memory = 1.01, .multiply_add = 2.0, .step = 12.0, .neighbour = 50.0, .overlap = 0.22},
        .temporal_2d = {.launch = 7.04e-6,
                        .memory = 1.03,
                        .row = 30.6,
                        .unaligned = 748.0,
                        .step = 8.78,
                        .multiply_add = 2.0,
                        .end = 398.0,
                        .closed = 1.11,
                        .overlap = 0.169},
        .temporal_3d = {.launch = 2.96e-6,
                        .memory = 1.05,
                        .row = 28.3,
                        .unaligned = 300.0,
                        .step = 4.17,
                        .multiply_add = 0.5,
                        .end = 374.0,
                        .closed = 1.33,
                        .overlap = 0.235},
        .persistent = {.launch = 5.5e-6,
                       .io_rate = 4.0,
                       .step = 119.0,
                       .row = 4.63,
                       .tap = 1.77,
                       .neighbour = 0.673,
                       .outer_rows = 1.3,
                       .idle_few = 1.25,
                       .idle_full = 16.0,
                       .full_rows = 8.0,
                       .exchange = 2475.0,
                       .exchange_row = 8.91,
                       .exchange_half = 10.89},
    }};

}  // namespace tessera::cuda
