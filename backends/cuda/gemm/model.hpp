// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the products' models of time share: the costs of a type, and what a machine can do at best.
#pragma once

#include "../machine.hpp"

#include <tessera/plugin/problem.hpp>

#include <cmath>

namespace tessera::cuda {

template <class T>
const GemmTypeCosts<T>& costs_of(const Machine& machine) {
  return machine.gemm.*kGemmTypeCosts<T>;
}

/// The units that multiply elements of a type one by one, and those that multiply tiles of them.
template <class T>
inline constexpr int Units::*kElementUnits = nullptr;
template <>
inline constexpr int Units::*kElementUnits<float> = &Units::fma_f32;
template <>
inline constexpr int Units::*kElementUnits<double> = &Units::fma_f64;
template <class T>
inline constexpr int Units::*kMatrixUnits = kElementUnits<T>;
template <>
inline constexpr int Units::*kMatrixUnits<double> = &Units::mma_f64;

/// Multiply-adds a second of one multiprocessor's units.
template <class T>
double element_rate(const Machine& machine) {
  return machine.units.*kElementUnits<T> * machine.clock_hz;
}
template <class T>
double matrix_rate(const Machine& machine) {
  return machine.units.*kMatrixUnits<T> * machine.clock_hz;
}

/// Bytes of A, B and C, each once.
inline double operand_bytes(const plugin::GemmProblem& p) {
  return double(p.batch) * double(plugin::size_of(p.dtype)) *
         (double(p.m) * double(p.k) + double(p.k) * double(p.n) + double(p.m) * double(p.n));
}

/// Waves in which blocks run of which a multiprocessor holds so many.
inline double waves(const Machine& machine, double blocks, int blocks_per_sm) {
  return std::ceil(blocks / (double(machine.multiprocessors) * blocks_per_sm));
}

}  // namespace tessera::cuda
