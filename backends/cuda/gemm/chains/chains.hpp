// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the algorithm chains cuts a product: pure functions of the problem, without CUDA. Rows of op(A),
/// or columns of op(B), are lines; D has few of the one and many of the other.
#pragma once

#include "../../vector_access.hpp"
#include "../skinny.hpp"

#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace tessera::cuda {

/// The most rows or columns that are few, lines of the many that a warp has, one a lane, and stages of its ring.
inline constexpr std::int64_t kChainsMostFew = 8, kChainsLines = 32;
inline constexpr int kChainsStages = 3;
/// Of k in a step, short or long, and where elements are copied one by one.
template <class T>
inline constexpr std::array<std::int64_t, 2> kChainsSteps{32, 512 / sizeof(T)};
template <class T>
inline constexpr int kChainsStepOfOnes = 128 / sizeof(T);
/// Whether there is a kernel with long steps: others are slower by them.
template <class T>
constexpr bool chains_has_long_steps(int few, bool k_major) {
  return k_major && few * int(sizeof(T)) <= 16;
}

/// Elements of a stage: the few lines, and the many. K-major ones are 16 bytes further apart, for the banks.
template <class T>
constexpr int chains_stage_elements(int few, int step, bool k_major) {
  return few * step + int(kChainsLines) * (step + (k_major ? kVectorWidth<T> : 0));
}

/// One way to run a product.
struct ChainsConfig {
  std::int64_t chains;   ///< slices of k, a warp each: those of ordered sums
  std::int64_t cluster;  ///< blocks of a cluster, which share them out
  std::int64_t step;     ///< of k, where it is copied by vectors
  std::int64_t warps() const { return chains / cluster; }
};

/// Whether D has more rows than columns, so that A has the many lines.
inline bool chains_turned(const plugin::GemmProblem& p) { return p.m > p.n; }
inline std::int64_t chains_many(const plugin::GemmProblem& p) { return std::max(p.m, p.n); }
/// Lines that the kernel has room for: a power of two.
inline int chains_few(const plugin::GemmProblem& p) {
  return int(std::bit_ceil(std::uint64_t(std::max<std::int64_t>(std::min(p.m, p.n), 1))));
}
/// Whether the layout of the many allows 16 bytes at a time; its address must, too.
inline bool chains_vectors(const plugin::GemmProblem& p) {
  return chains_turned(p) ? whole_vectors(p.dtype, {p.lda, p.stride_a}) : whole_vectors(p.dtype, {p.ldb, p.stride_b});
}
/// Bytes of shared memory of a block.
template <class T>
std::int64_t chains_shared_bytes(const plugin::GemmProblem& p, const ChainsConfig& config) {
  const int stage = chains_stage_elements<T>(chains_few(p), int(config.step), skinny_k_major(p));
  return config.warps() * kChainsStages * stage * std::int64_t(sizeof(T));
}

}  // namespace tessera::cuda
