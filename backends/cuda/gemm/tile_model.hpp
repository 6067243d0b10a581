// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The one model of a product's time. A kernel says what its blocks do, and a launch takes
///
///     launch + waves of blocks x (fill + steps x the slowest of units, copies, cache and latency + writing)
///
/// or what memory takes where that is more. Pure functions, without CUDA.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/problem.hpp>

#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// What a kernel's blocks do.
struct TileLaunch {
  double blocks;
  int blocks_per_sm = 1;        ///< that a multiprocessor holds at once
  std::int64_t cluster = 1;     ///< blocks that add their sums, or share operands
  double steps;                 ///< of a block
  double units;                 ///< cycles of a step's products at the rate of the units that the kernel reaches
  double warps_wanted = 0.0;    ///< that give 63 % of that rate; 0: a block has enough
  int warps = 1;                ///< of a block
  double copies = 0.0;          ///< cycles in which its threads issue a step's copies
  double requests = 0.0;        ///< cycles of a step's bulk copies, which the products hide
  double lines = 0.0;           ///< bytes that a step's copies move from the second-level cache
  double latency = 0.0;         ///< seconds that a step takes, in a pipeline at least, else beside its products
  bool pipeline = false;        ///< whether steps are copied while others are multiplied,
  int ahead = 0;                ///< and how many before the first one is
  double fill = 0.0;            ///< seconds of a wave beside its steps, more than of every kernel
  double writing_cycles = 0.0;  ///< of a multiprocessor, for a block
  double writing = 0.0;         ///< seconds of a wave
  double bytes;                 ///< that the launch reads and writes in memory
  double memory_share = 1.0;    ///< of the device's rate that the multiprocessors in use have
};

/// Seconds of a launch.
double launch_seconds(const TileLaunch& launch, const Machine& machine);

/// Seconds of a kernel that copies or transposes so many bytes of an operand.
double pass_seconds(double bytes, const Machine& machine);

/// Seconds of a kernel that adds the sums of slices, which take so many bytes.
double adding_seconds(double slices, double bytes, const Machine& machine);

/// Bias and activation, at about so many instructions an element. Not measured.
double finishing_seconds(const plugin::GemmProblem& problem, const Machine& machine);

/// Bytes of A, B and D, each once.
double operand_bytes(const plugin::GemmProblem& problem);

/// Bytes of D.
inline double result_bytes(const plugin::GemmProblem& p) {
  return double(p.batch) * double(p.m) * double(p.n) * double(plugin::size_of(p.dtype_d));
}

/// Blocks in clusters of `cluster` that the machine holds at once where a multiprocessor holds `blocks`.
double held_at_once(const Machine& machine, int blocks, std::int64_t cluster);

/// The units that multiply elements of a type one by one, as f32 where it has 16 bits, and those that multiply tiles of
/// them.
template <class T>
inline constexpr int Units::*kElementUnits = &Units::fma_f32;
template <>
inline constexpr int Units::*kElementUnits<double> = &Units::fma_f64;
template <class A>
inline constexpr int Units::*kMatrixUnits = &Units::mma_16;
template <>
inline constexpr int Units::*kMatrixUnits<float> = &Units::fma_f32;
template <>
inline constexpr int Units::*kMatrixUnits<double> = &Units::mma_f64;
template <>
inline constexpr int Units::*kMatrixUnits<Tf32> = &Units::mma_tf32;

/// The rates of an element type's kernels, and of an arithmetic's.
template <class T>
const auto& rates_of(const Machine& machine) {
  return machine.gemm.*kGemmTypeRates<T>;
}
template <class A>
const auto& multistage_rates(const Machine& machine) {
  if constexpr (std::is_same_v<A, Tf32>)
    return machine.gemm.tf32;
  else
    return rates_of<A>(machine).multistage;
}

/// Cycles that a multiprocessor's units need for multiply-adds of elements of a type, one by one.
template <class T>
double element_cycles(double products, const Machine& machine) {
  return products / machine.units.*kElementUnits<T>;
}

}  // namespace tessera::cuda
