// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The constants of sweep_model.hpp, as an H100 has them, for all element types. Doubles alone, which perf/fit varies:
/// perf/fit/measured/README.md says to what they were fitted. Times are in seconds; work is in cycles that a
/// multiprocessor spends on it, or where it says so one of its four schedulers.
#pragma once

namespace tessera::cuda {

/// What every sweep costs.
struct SweepCosts {
  double launch = 4.087e-06;   ///< seconds of a kernel that waits for the one before it
  double f64 = 1.422;          ///< how many times as long arithmetic on f64 takes
  double l2_rate = 95.09;      ///< bytes a cycle between a multiprocessor and the second-level cache
  double l2_kept = 0.03036;    ///< arrays up to this part of the cache stay in it,
  double l2_evicted = 0.9773;  ///< from this part on they do not
};

/// naive and restrict.
struct DirectCosts {
  double memory = 0.2919;               ///< of the time that a copy takes
  double point = 0.7622;                ///< of a point beside its taps
  double line_tap = 0.01338;            ///< of a point and a tap in 1D where the kernel knows the number of taps
  double unrolled_tap = 0.03461;        ///< the same in 2D and 3D
  double loop_taps = 0.005022;          ///< of a point and the square of the number of taps where it does not
  double frozen_warp = 23.97;           ///< of a warp that has points which keep their values
  double boundary_tap = 30.05;          ///< of a tap of a warp that has points whose taps leave the domain
  double boundary_latency = 6.343e-07;  ///< seconds of a tap of the last such warp, for which the sweep waits
};

/// register_tile.
struct RegisterTileCosts {
  double sooner = 5.014e-07;  ///< seconds that its launch takes less than others'
  double memory = 0.7471;     ///< of the time that a copy takes
  double thread = 0.3693;     ///< of a thread beside its loads and taps
  double load = 0.02204;      ///< of a thread's load
  double tap = 0.01104;       ///< of a multiply-add
  double overlap = 0.7943;    ///< the part of the shorter of computing and memory that the longer one does not hide
};

/// Of cells of a tile: shared_constant's, whose taps are in the constant bank, or shared_ldg's.
struct CellCosts {
  double cell;      ///< to load one
  double boundary;  ///< how many times as long that takes in a tile at the boundary
};

/// shared_constant and shared_ldg.
struct TileCosts {
  CellCosts constant{.cell = 0.6447, .boundary = 1.465}, ldg{.cell = 0.5356, .boundary = 1.964};
  double line = 0.0009336;  ///< the part of a cell's load in 1D, where its place is known without a division
  double latency = 803.3;   ///< of a cell that a thread loads at the boundary, one after another
  double point = 0.6403;    ///< of a point beside its taps
  double tap = 0.04859;     ///< of a point and a tap
  double overlap = 0.03;    ///< the part of the shorter of computing and memory that the longer one does not hide
};

/// streaming, for shapes of taps.
struct StreamingTileCosts {
  double launch = 1.684e-06;  ///< seconds of a sweep's launch, more than of others,
  double second = 5.81e-07;   ///< more where it has two, the shell's and the interior's, which overlap,
  double first = 7.956e-07;   ///< and more of the first sweep, before which nothing is launched
  double memory = 0.8723;     ///< of the time that a copy takes
  double row_end = 331.9;     ///< bytes that move as well for an end of a row in the shell, if the cache evicts the row
  double unaligned = 0.1293;  ///< of a point whose row does not begin on a multiple of 16 bytes
  double line = 1.208;        ///< of 128 bytes that a warp of the interior reads
  double end_read = 12.59;    ///< of points of others that a warp at the ends of rows reads one by one
  double overlap = 0.4631;    ///< the part of the shorter of reading and memory that the longer one does not hide
  double shell_frozen = 0.01913;  ///< of a thread of the shell whose points keep their values, times the squared reach
  double shell_reach = 0.9029;    ///< of any other, for each point that taps reach along the axes, either way
  double plane_latency = 6.143e-09;  ///< seconds of the last such thread, for which the sweep waits, times the same,
  double end_latency = 1.275e-08;    ///< where it resolves planes and rows, and where its places in the row as well
};

/// streaming, for other lists.
struct StreamingListCosts {
  double launch = 9.042e-06;    ///< seconds, more than of others,
  double narrow = 2.439e-06;    ///< of types of 16 bits
  double memory = 0.5894;       ///< of the time that a copy takes
  double wide_tap = 0.03348;    ///< of a point of the wide blocks and a tap
  double narrow_tap = 0.03631;  ///< the same near the ends of the rows
  double edge_tap = 0.13;       ///< more for a point near the boundary
};

/// temporal in 1D, of a scheduler.
struct TemporalLineCosts {
  double memory = 0.9723;              ///< of the time that a copy takes
  double multiply_add = 0.9996;        ///< of a warp, of 4 bytes
  double step = 31.87;                 ///< of a tile's step beside its multiply-adds,
  double f64 = 3.715, narrow = 206.3;  ///< of these types
  double neighbour = 66.5;             ///< to wait for a neighbour's point
  double unaligned = 2.894e-06;        ///< seconds that tiles take at the ends of a line of no multiple of 16 bytes,
  double wrapped = 1.605e-06;          ///< and more of a periodic one
  double overlap = 0.3515;  ///< the part of the shorter of computing and memory that the longer one does not hide
};

/// temporal in 2D, of a scheduler, or in 3D, of a multiprocessor.
struct TemporalTileCosts {
  double memory;        ///< of the time that a copy takes
  double row;           ///< to load and store a row of a warp
  double unaligned;     ///< more for a row that does not begin on a multiple of 16 bytes
  double step;          ///< of a row's step beside its multiply-adds
  double multiply_add;  ///< of a warp
  double end;           ///< more for a step of a row (plane) near an end of the sweep axis, times the taps' radius
  double closed;        ///< how many times as long tiles at the ends of other axes take
  double overlap;       ///< the part of the shorter of computing and memory that the longer one does not hide
};

/// persistent. Of a block's step unless said.
struct PersistentCosts {
  double launch = 4.256e-06;     ///< seconds, more than of others
  double io_rate = 4.493;        ///< bytes a cycle of a multiprocessor, to load and to store the domain
  double step = 2.897;           ///< beside its rows
  double row = 3.584;            ///< of a warp's row
  double tap = 0.9448;           ///< of a tap of that
  double neighbour = 0.01902;    ///< of a neighbour's column that a lane reads for it
  double outer_rows = 1.705;     ///< how many rows more a warp takes for each that its neighbours read
  double idle_few = 1.302;       ///< how many times as long four warps take,
  double idle_full = 27.95;      ///< and warps with all registers: 1 + idle_full / (their number squared) times as long
  double exchange = 3710;        ///< of a round
  double exchange_row = 4.306;   ///< of a warp's row in a round, 16 bytes at a time
  double exchange_half = 10.59;  ///< the same 8 bytes at a time
};

/// marching, of single sweeps.
struct MarchingCosts {
  double rate = 0.8894, rate_of_radius = 0.02443;         ///< share of a copy's rate, less for each of the radius
  double begin = 1.898e-07, begin_of_radius = 1.435e-06;  ///< seconds until the rings are full, and at the end
};

/// dense. Of a multiprocessor whose threads hide what they wait for.
struct DenseCosts {
  double tap = 0.009187, tap_f64 = 0.01569;  ///< of a point and a tap
  double point = 0.01283;                    ///< of a point beside its taps
  double cell = 0.4897, cell_16 = 0.3621;    ///< to load one, of 16 bits
  double stage = 204;                        ///< of a block's stage beside its cells and taps
  double enough_threads = 216.3;             ///< fewer wait for themselves
  double memory = 1.162;                     ///< of the time that a copy takes
  double overlap = 0.007269;  ///< the part of the shorter of computing and memory that the longer one does not hide
};

/// separable. Of a multiprocessor whose threads hide what they wait for.
struct SeparableCosts {
  double tap = 0.008283, tap_f64 = 0.01652;  ///< of a sum and a tap
  double sum = 0.01729;                      ///< of a sum along one axis beside its taps
  double plane = 5.948;                      ///< taps along axis 0 take so many times as long
  double point = 0.01514;                    ///< to write one
  double cell = 0.01519, cell_16 = 0.203;    ///< to load one, of 16 bits
  double stage = 205.7;                      ///< of a block's stage beside these
  double enough_threads = 657;               ///< fewer wait for themselves
  double memory = 0.9704;                    ///< of the time that a copy takes
  double overlap = 0.5785;  ///< the part of the shorter of computing and memory that the longer one does not hide
};

/// In the order of the values above, by which perf/fit finds them.
struct StencilCosts {
  SweepCosts sweep;
  DirectCosts direct;
  RegisterTileCosts register_tile;
  TileCosts tile;
  StreamingTileCosts streaming_tile;
  StreamingListCosts streaming_list;
  TemporalLineCosts temporal_line;
  PersistentCosts persistent;
  MarchingCosts marching;
  DenseCosts dense;
  SeparableCosts separable;
  TemporalTileCosts temporal_2d{.memory = 0.9766,
                                .row = 190,
                                .unaligned = 540.3,
                                .step = 1.66,
                                .multiply_add = 0.7475,
                                .end = 722.2,
                                .closed = 0.7614,
                                .overlap = 0.3798};
  TemporalTileCosts temporal_2d_f64{.memory = 0.7847,
                                    .row = 190.3,
                                    .unaligned = 479.4,
                                    .step = 3.017,
                                    .multiply_add = 0.2028,
                                    .end = 846.8,
                                    .closed = 0.7659,
                                    .overlap = 1.13};
  TemporalTileCosts temporal_3d{.memory = 0.8732,
                                .row = 23.06,
                                .unaligned = 106.9,
                                .step = 2.342,
                                .multiply_add = 0.1074,
                                .end = 1407,
                                .closed = 0.9613,
                                .overlap = 0.9089};
  double temporal_2d_narrow = 6.781;  ///< more of a row's step in types of 16 bits, which are rounded
};

}  // namespace tessera::cuda
