// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the algorithm skinny cuts a product.
#pragma once

#include "../vector_access.hpp"
#include "offers.hpp"

#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <cstdint>

namespace tessera::cuda {

inline constexpr int kSkinnyWarps = 8, kSkinnyThreads = 32 * kSkinnyWarps;
/// Rows of a K-major large operand that a warp takes.
inline constexpr int kSkinnyRows = 4;
/// Of k, what a block multiplies at a time: elements of an extent-major large operand, reads of a K-major one.
inline constexpr int kSkinnyChunk = 64, kSkinnyKMajorChunk = 128;
/// The most rows or columns of C.
inline constexpr int kSkinnyMostCount = 16;
/// The most bytes of sums on their way to a bias or an activation: less than a plan's usual limit.
inline constexpr std::uint64_t kSkinnyMostSums = 16 << 20;
/// The most slices of k.
inline constexpr std::int64_t kSkinnyMostSplit = 128;

/// Whether the large operand, B where C has few rows, is contiguous along k.
inline bool skinny_k_major(const plugin::GemmProblem& p) { return p.m <= p.n ? p.trans_b : !p.trans_a; }

/// Elements of a wide read of the large operand: 16 bytes, but no more than 64 sums a thread.
template <class T>
constexpr int skinny_width(int count) {
  return std::min(16 / int(sizeof(T)), 64 / count);
}

/// Of k, what a block multiplies of a K-major large operand at a time, in reads of `width` elements: what is read of
/// the small operand, as sums are, must fit into shared memory.
template <class T>
constexpr int skinny_k_major_chunk(int width) {
  return kSkinnyKMajorChunk * std::min(width, 16 / int(sizeof(plugin::Scalar<T>)));
}

/// Whether the large operand's layout allows 16 bytes at a time; its address must, too.
inline bool skinny_aligned(const plugin::GemmProblem& p) {
  const bool few_rows = p.m <= p.n;
  const std::int64_t contiguous = skinny_k_major(p) ? p.k : std::max(p.m, p.n);
  return whole_vectors(p.dtype, {few_rows ? p.ldb : p.lda, few_rows ? p.stride_b : p.stride_a, contiguous});
}

/// Of the large operand's extent that a block takes, with reads of `width` elements.
inline int skinny_block_length(const plugin::GemmProblem& p, int width) {
  return skinny_k_major(p) ? kSkinnyRows * kSkinnyWarps : 32 * width;
}

/// Of k, what a block multiplies at a time, whether it exists or not.
template <class T>
int skinny_chunk(const plugin::GemmProblem& p, int width) {
  return skinny_k_major(p) ? skinny_k_major_chunk<T>(width) : kSkinnyChunk;
}

/// Whether sums go through the workspace to a second kernel, which adds slices, and which applies bias and activation.
inline bool skinny_uses_workspace(const plugin::GemmProblem& p, std::int64_t split) {
  return split > 1 || p.has_epilogue();
}

/// Bytes of the sums of that many slices.
inline std::uint64_t skinny_workspace(const plugin::GemmProblem& p, std::int64_t split) {
  if (!skinny_uses_workspace(p, split)) return 0;
  return std::uint64_t(split) * std::uint64_t(p.batch) * std::uint64_t(p.m) * std::uint64_t(p.n) * size_of_sums(p);
}

}  // namespace tessera::cuda
