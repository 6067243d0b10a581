// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the products' models of time share: the costs of a type, and what a machine can do at best.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/problem.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// Of an element type.
template <class T>
const auto& costs_of(const Machine& machine) {
  return machine.gemm.*kGemmTypeCosts<T>;
}
/// Of an arithmetic.
template <class A>
const auto& multistage_costs_of(const Machine& machine) {
  if constexpr (std::is_same_v<A, Tf32>)
    return machine.gemm.tf32;
  else
    return costs_of<A>(machine).multistage;
}

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

/// Multiply-adds a second of one multiprocessor's units.
template <class T>
double element_rate(const Machine& machine) {
  return machine.units.*kElementUnits<T> * machine.clock_hz;
}
template <class A>
double matrix_rate(const Machine& machine) {
  return machine.units.*kMatrixUnits<A> * machine.clock_hz;
}

/// Bytes of A, B and D, each once.
inline double operand_bytes(const plugin::GemmProblem& p) {
  const double inputs = double(p.m) * double(p.k) + double(p.k) * double(p.n), result = double(p.m) * double(p.n);
  return double(p.batch) * (double(plugin::size_of(p.dtype)) * inputs + double(plugin::size_of(p.dtype_d)) * result);
}

/// Bias and activation, at about so many instructions an element. Not measured yet.
inline double finishing_seconds(const plugin::GemmProblem& p, const Machine& machine) {
  constexpr double kBias = 8.0, kActivation = 25.0;
  const double instructions =
      (p.bias != TESSERA_BIAS_NONE ? kBias : 0.0) + (p.activation != TESSERA_ACTIVATION_NONE ? kActivation : 0.0);
  const double elements = double(p.batch) * double(p.m) * double(p.n);
  return instructions * elements / (machine.units.fma_f32 * machine.cycles_per_second());
}

/// Blocks in clusters of `cluster` that the machine holds at once where a multiprocessor holds `blocks`.
inline double held_at_once(const Machine& machine, int blocks, std::int64_t cluster) {
  if (cluster == 1 || machine.count_clusters == nullptr) return double(blocks) * machine.multiprocessors;
  return machine.count_clusters(machine.device)[std::size_t(blocks - 1)][std::size_t(cluster - 1)];
}

/// Waves in which blocks run of which a multiprocessor holds so many.
inline double waves(const Machine& machine, double blocks, int blocks_per_sm) {
  return std::ceil(blocks / (double(machine.multiprocessors) * blocks_per_sm));
}

}  // namespace tessera::cuda
