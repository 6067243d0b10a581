// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencils' costs on an H100: fitted to perf/baselines/h100-stencil.json and to the further measurements that
/// docs/algorithms.md reports.
#pragma once

#include "costs.hpp"

namespace tessera::cuda {

inline constexpr StencilCosts kStencilCostsH100{
    .sweep = {.launch = 4.369e-06, .l2_rate = 95.12, .l2_kept = 0.3718, .l2_evicted = 0.6456},
    .f32 =
        {
            .direct = {.memory = 0.4629,
                       .point = 0.6017,
                       .line_tap = 0.01394,
                       .unrolled_tap = 0.04279,
                       .loop_taps = 0.004326,
                       .frozen_warp = 21.27,
                       .boundary_tap = 34.81,
                       .boundary_latency = 5.621e-07},
            .constant_tile =
                {.cell = 0.8169, .line = 0.07274, .boundary = 1.305, .latency = 718.2, .point = 0.5022, .tap = 0.05161},
            .ldg_tile =
                {.cell = 0.5107, .line = 0.05868, .boundary = 2.178, .latency = 791.8, .point = 0.5935, .tap = 0.04949},
            .streaming_tile = {.launches = 8.855e-06,
                               .memory = 0.9847,
                               .volume_tap = 0.01307,
                               .unaligned = 0.2203,
                               .shell_point = 7.46},
            .streaming_list =
                {.launch = 1.427e-05, .memory = 0.396, .wide_tap = 0.03821, .narrow_tap = 0.08834, .edge_tap = 0.02911},
            .temporal_line = {.launch = 6.227e-06,
                              .memory = 0.9445,
                              .multiply_add = 1.002,
                              .step = 8.5,
                              .neighbour = 53.94,
                              .overlap = 0.5826},
            .temporal_2d = {.launch = 3.623e-06,
                            .memory = 1.083,
                            .row = 262.9,
                            .unaligned = 522.4,
                            .step = 7.876,
                            .multiply_add = 0.4822,
                            .end = 953.4,
                            .closed = 0.8905,
                            .overlap = 0.1017},
            .temporal_3d = {.launch = 2.136e-06,
                            .memory = 0.9797,
                            .row = 19.83,
                            .unaligned = 145.4,
                            .step = 2.854,
                            .multiply_add = 0.2332,
                            .end = 334.0,
                            .closed = 0.8882,
                            .overlap = 0.362},
            .persistent = {.launch = 8.772e-06,
                           .io_rate = 4.821,
                           .step = 75.32,
                           .row = 1.4,
                           .tap = 1.045,
                           .neighbour = 0.5374,
                           .outer_rows = 0.8083,
                           .idle_few = 1.187,
                           .idle_full = 16.0,
                           .full_rows = 16.0,
                           .exchange = 3347,
                           .exchange_row = 8.642,
                           .exchange_half = 14.9},
        },
    .f64 = {
        .direct = {.memory = 0.3319,
                   .point = 1.019,
                   .line_tap = 0.03224,
                   .unrolled_tap = 0.04319,
                   .loop_taps = 0.005981,
                   .frozen_warp = 17.52,
                   .boundary_tap = 26.33,
                   .boundary_latency = 6.362e-07},
        .constant_tile =
            {.cell = 0.7897, .line = 0.03413, .boundary = 1.583, .latency = 1037, .point = 0.4608, .tap = 0.06398},
        .ldg_tile =
            {.cell = 0.6596, .line = 0.03069, .boundary = 1.758, .latency = 1168, .point = 0.4407, .tap = 0.07265},
        .streaming_tile =
            {.launches = 9.229e-06, .memory = 0.9222, .volume_tap = 0.01218, .unaligned = 0.1895, .shell_point = 13.4},
        .streaming_list =
            {.launch = 1.605e-05, .memory = 0.3763, .wide_tap = 0.05677, .narrow_tap = 0.09411, .edge_tap = 0.03146},
        .temporal_line = {.launch = 5.823e-06,
                          .memory = 0.9726,
                          .multiply_add = 2.038,
                          .step = 16.15,
                          .neighbour = 72.31,
                          .overlap = 0.1957},
        .temporal_2d = {.launch = 3.656e-06,
                        .memory = 1.068,
                        .row = 159.1,
                        .unaligned = 673.1,
                        .step = 7.695,
                        .multiply_add = 0.6661,
                        .end = 1156,
                        .closed = 0.7613,
                        .overlap = 0.3672},
        .temporal_3d = {.launch = 2.948e-06,
                        .memory = 1.021,
                        .row = 27.35,
                        .unaligned = 300.0,
                        .step = 3.995,
                        .multiply_add = 0.4359,
                        .end = 374.0,
                        .closed = 1.564,
                        .overlap = 0.2441},
        .persistent = {.launch = 8.67e-06,
                       .io_rate = 4.087,
                       .step = 40.29,
                       .row = 2.954,
                       .tap = 1.817,
                       .neighbour = 0.4569,
                       .outer_rows = 1.044,
                       .idle_few = 1.228,
                       .idle_full = 17,
                       .full_rows = 8.0,
                       .exchange = 2761,
                       .exchange_row = 36.96,
                       .exchange_half = 90.45},
    }};

}  // namespace tessera::cuda
