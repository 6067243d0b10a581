// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How tiles of op(A) and op(B) come into shared memory.
///
/// Seen from the product, both operands have an extent (m or n) and k. An operand lies in memory with one
/// of the two contiguous: k (K-major) or the extent (extent-major). A layout says where element (i, p) of a
/// tile (extent, k) goes in shared memory. The loader copies with all threads of a block, as wide as the
/// alignment allows, and writes zeros beyond the edges, so the loops that follow need no bounds.
#pragma once

#include "../../cp_async.cuh"

#include <cstdint>

namespace tessera::cuda {

/// The tile as rows along the extent: offset(i, p) = p * pitch + i.
template <int kExtentValue, int kTileKValue, int kPad>
struct ExtentMajor {
  static constexpr int kExtent = kExtentValue, kTileK = kTileKValue;
  static constexpr int kPitch = kExtent + kPad;
  static constexpr int kElements = kTileK * kPitch - kPad;
  static __device__ constexpr int offset(int i, int p) { return p * kPitch + i; }
};

/// The tile as rows along k: offset(i, p) = i * pitch + p.
template <int kExtentValue, int kTileKValue, int kPad>
struct KMajor {
  static constexpr int kExtent = kExtentValue, kTileK = kTileKValue;
  static constexpr int kPitch = kTileK + kPad;
  static constexpr int kElements = kExtent * kPitch;
  static __device__ constexpr int offset(int i, int p) { return i * kPitch + p; }
};

/// The same without a pad: blocks of four of k change places within a row, by its number, for the banks. It is for
/// tiles whose memory is needed for something else.
template <int kExtentValue, int kTileKValue>
struct KMajorSwizzled {
  static constexpr int kExtent = kExtentValue, kTileK = kTileKValue;
  static constexpr int kElements = kExtent * kTileK;
  static __device__ constexpr int offset(int i, int p) { return i * kTileK + (p ^ i % 4 * 4); }
};

/// Copies tiles of one operand, along k tile after tile, each in kCopies parts so that they can be spread
/// over other work. kKMajor: k is contiguous in memory. kVector: elements a copy, along the contiguous axis,
/// whose length is a multiple of it.
template <class T, class Layout, bool kKMajor, int kVector, int kThreads>
class TileLoader {
  static constexpr int kContiguous = kKMajor ? Layout::kTileK : Layout::kExtent;
  static constexpr int kRows = kKMajor ? Layout::kExtent : Layout::kTileK;
  // Threads along the contiguous axis. For words that are transposed a warp takes 8 along k and 4 along the
  // extent, so that with a pad of 4 words it meets every bank once.
  static constexpr bool kTransposed = kKMajor && Layout::offset(0, 1) != 1;
  static constexpr int kMost = kTransposed ? 8 : kThreads;
  static constexpr int kAcross = kContiguous / kVector < kMost ? kContiguous / kVector : kMost;
  static constexpr int kRowsAPass = kThreads / kAcross < kRows ? kThreads / kAcross : kRows;
  static constexpr int kActive = kAcross * kRowsAPass;  ///< threads; the others have nothing to do
  static constexpr int kPasses = kRows / kRowsAPass;
  static constexpr int kSegments = kContiguous / (kAcross * kVector);  ///< of a row, one a copy
  static constexpr int kAlongStep = kAcross * kVector;
  static constexpr int kBytes = kVector * int(sizeof(T));
  static_assert(kThreads % kAcross == 0 && kRows % kRowsAPass == 0 && kContiguous % kAlongStep == 0);
  static_assert(!kTransposed || kVector == 1);

 public:
  static constexpr int kCopies = kPasses * kSegments;

  /// `origin`: element (0, 0) of the first tile; `extent_left`: how many of the tile's extent exist.
  __device__ TileLoader(const T* origin, std::int64_t ld, int extent_left)
      : row_(int(threadIdx.x) / kAcross), along_(int(threadIdx.x) % kAcross * kVector), extent_left_(extent_left) {
    source_ = origin + row_ * ld + along_;
    pass_step_ = kRowsAPass * ld;
    last_step_ = (kKMajor ? Layout::kTileK : Layout::kTileK * ld) - (kPasses - 1) * pass_step_;
    offset_ = (kKMajor ? Layout::offset(row_, along_) : Layout::offset(along_, row_)) * int(sizeof(T));
  }

  /// Part `index` of the copies of a tile, of whose k `k_left` exist. Parts come in order.
  __device__ __forceinline__ void copy(T* tile, int k_left, int index) {
    const int pass = index / kSegments, segment = index % kSegments;
    const bool exists = row_ < (kKMajor ? extent_left_ : k_left) - pass * kRowsAPass &&
                        along_ < (kKMajor ? k_left : extent_left_) - segment * kAlongStep;
    const int delta = kKMajor ? Layout::offset(pass * kRowsAPass, segment * kAlongStep)
                              : Layout::offset(segment * kAlongStep, pass * kRowsAPass);
    if (kActive == kThreads || int(threadIdx.x) < kActive)
      cp_async<kBytes>(shared_address(tile) + offset_ + delta * int(sizeof(T)), source_ + segment * kAlongStep, exists);
    if (segment == kSegments - 1) source_ += pass == kPasses - 1 ? last_step_ : pass_step_;
    // The compiler would keep the distance of each pass in registers, more than there are.
    if constexpr (sizeof(T) == 2 && kBytes < 16) asm volatile("" : "+l"(source_));
  }

  /// Keeps the steps between copies in registers, where the compiler would make them anew for each tile.
  __device__ __forceinline__ void keep_steps() { asm("" : "+l"(pass_step_), "+l"(last_step_)); }

 private:
  const T* source_;
  std::int64_t pass_step_, last_step_;  ///< to the next pass, from the last pass to the next tile
  int row_, along_, extent_left_, offset_;
};

}  // namespace tessera::cuda
