// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The constants of sweep_model.hpp, for all element types: what a kernel says of its work is in elements, lines or
/// bytes. Data alone, which perf/fit varies. Times are in seconds; work is in cycles that a multiprocessor spends on
/// it, or where it says so one of its four schedulers.
#pragma once

namespace tessera::cuda {

/// What every sweep costs.
struct SweepCosts {
  double launch;               ///< seconds of a kernel that waits for the one before it
  double f64;                  ///< how many times as long arithmetic on f64 takes
  double l2_rate;              ///< bytes a cycle between a multiprocessor and the second-level cache
  double l2_kept, l2_evicted;  ///< arrays up to this part of the cache stay in it, from that part on they do not
};

/// naive and restrict.
struct DirectCosts {
  double memory;            ///< of the time that a copy takes
  double point;             ///< of a point beside its taps
  double line_tap;          ///< of a point and a tap in 1D where the kernel knows the number of taps
  double unrolled_tap;      ///< the same in 2D and 3D
  double loop_taps;         ///< of a point and the square of the number of taps where it does not
  double frozen_warp;       ///< of a warp that has points which keep their values
  double boundary_tap;      ///< of a tap of a warp that has points whose taps leave the domain
  double boundary_latency;  ///< seconds of a tap of the last such warp, for which the sweep waits
};

/// register_tile.
struct RegisterTileCosts {
  double sooner;   ///< seconds that its launch takes less than others'
  double memory;   ///< of the time that a copy takes
  double thread;   ///< of a thread beside its loads and taps
  double load;     ///< of a thread's load
  double tap;      ///< of a multiply-add
  double overlap;  ///< the part of the shorter of computing and memory that the longer one does not hide
};

/// Of cells of a tile: shared_constant's, whose taps are in the constant bank, or shared_ldg's.
struct CellCosts {
  double cell;      ///< to load one
  double boundary;  ///< how many times as long that takes in a tile at the boundary
};

/// shared_constant and shared_ldg.
struct TileCosts {
  CellCosts constant, ldg;
  double line;     ///< the part of a cell's load in 1D, where its place is known without a division
  double latency;  ///< of a cell that a thread loads at the boundary, one after another
  double point;    ///< of a point beside its taps
  double tap;      ///< of a point and a tap
  double overlap;  ///< the part of the shorter of computing and memory that the longer one does not hide
};

/// streaming, for shapes of taps.
struct StreamingTileCosts {
  double launch;         ///< seconds of a sweep's launch, more than of others,
  double second;         ///< more where it has two, the shell's and the interior's, which overlap,
  double first;          ///< and more of the first sweep, before which nothing is launched
  double memory;         ///< of the time that a copy takes
  double row_end;        ///< bytes that move beside that for an end of a row in the shell, if the cache evicts the row
  double unaligned;      ///< of a point whose row does not begin on a multiple of 16 bytes
  double line;           ///< of 128 bytes that a warp of the interior reads
  double end_read;       ///< of points beside its own that a warp at the ends of rows reads one by one
  double overlap;        ///< the part of the shorter of reading and memory that the longer one does not hide
  double shell_frozen;   ///< of a thread of the shell whose points keep their values, times the squared reach
  double shell_reach;    ///< of any other, for each point that taps reach along the axes, either way
  double plane_latency;  ///< seconds of the last such thread, for which the sweep waits, times the squared reach,
  double end_latency;    ///< where it resolves planes and rows, and where its points' places in the row as well
};

/// streaming, for other lists.
struct StreamingListCosts {
  double launch;      ///< seconds, more than of others,
  double narrow;      ///< of types of 16 bits
  double memory;      ///< of the time that a copy takes
  double wide_tap;    ///< of a point of the wide blocks and a tap
  double narrow_tap;  ///< the same near the ends of the rows
  double edge_tap;    ///< more for a point near the boundary
};

/// temporal in 1D, of a scheduler.
struct TemporalLineCosts {
  double memory;        ///< of the time that a copy takes
  double multiply_add;  ///< of a warp, of 4 bytes
  double step;          ///< of a tile's step beside its multiply-adds,
  double f64, narrow;   ///< of these types
  double neighbour;     ///< to wait for a neighbour's point
  double unaligned;     ///< seconds that tiles take at the ends of a line of no multiple of 16 bytes,
  double wrapped;       ///< and more of a periodic one
  double overlap;       ///< the part of the shorter of computing and memory that the longer one does not hide
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
  double launch;         ///< seconds, more than of others
  double io_rate;        ///< bytes a cycle of a multiprocessor, to load and to store the domain
  double step;           ///< beside its rows
  double row;            ///< of a warp's row
  double tap;            ///< of a tap of that
  double neighbour;      ///< of a neighbour's column that a lane reads for it
  double outer_rows;     ///< how many rows more a warp takes for each that its neighbours read
  double idle_few;       ///< how many times as long four warps take,
  double idle_full;      ///< and warps with all registers: 1 + idle_full / (their number squared) times as long
  double exchange;       ///< of a round
  double exchange_row;   ///< of a warp's row in a round, 16 bytes at a time
  double exchange_half;  ///< the same 8 bytes at a time
};

/// marching, of single sweeps.
struct MarchingCosts {
  double rate, rate_of_radius;    ///< share of a copy's rate, less for each of the radius
  double begin, begin_of_radius;  ///< seconds until the rings are full, and at the end
};

struct StencilCosts {
  SweepCosts sweep;
  DirectCosts direct;
  RegisterTileCosts register_tile;
  TileCosts tile;
  StreamingTileCosts streaming_tile;
  StreamingListCosts streaming_list;
  TemporalLineCosts temporal_line;
  TemporalTileCosts temporal_2d, temporal_2d_f64, temporal_3d;
  double temporal_2d_narrow;  ///< more of a row's step in types of 16 bits, which are rounded
  PersistentCosts persistent;
  MarchingCosts marching;
};

}  // namespace tessera::cuda
