// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The tiles of the algorithm multistage: the one list from which its kernels are instantiated and its choice is made.
#pragma once

#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

namespace tessera::cuda {

struct MultistageTile {
  int m, n;                 ///< a block computes m x n elements of C
  int k_depth;              ///< k goes by in steps of so many
  int stages;               ///< of the pipeline: tiles of A and B that a block keeps in shared memory
  int warp_m, warp_n;       ///< elements of C that a warp computes
  int thread_m, thread_n;   ///< elements of C that a thread computes; the instruction decides where it is 0
  int blocks_per_sm;        ///< blocks that a multiprocessor shall hold at once
  bool k_major = false;     ///< a narrow tile for a long operand that is contiguous along k
  bool folds = false;       ///< a block computes the slices of ordered sums one after another
  std::size_t number = 0;   ///< in the list
  int shared_bytes = 0;     ///< that a block needs
  bool tf32 = false;        ///< A and B are rounded to that
  bool transposes = false;  ///< K-major operands are transposed on their way into shared memory

  constexpr int threads() const { return 32 * (m / warp_m) * (n / warp_n); }
  /// For few rows or columns of C.
  constexpr bool narrow() const { return std::min(m, n) <= 16; }
  constexpr bool long_a() const { return m > n; }
  constexpr tessera_compute compute() const { return tf32 ? TESSERA_COMPUTE_TF32 : TESSERA_COMPUTE_STRICT; }
};

/// All tiles' steps of k go by in so many.
inline constexpr std::int64_t kMultistageMostDepth = 64;

/// Products of f32 whose operands are rounded to tf32: an arithmetic beside those that the element types have.
struct Tf32 {};

/// How tiles lie in shared memory for an arithmetic, of elements of T: with so many elements between rows of an operand
/// and rows of the sums, for the banks. kCopyBytes: of the copies that there are kernels with, by alignment.
template <class A>
struct MultistageLayout {  // of 16 bits
  using T = A;
  static constexpr std::array kCopyBytes{16, 8, 4, 2};
  static constexpr bool kTransposes = false;
  static constexpr int kKMajorPad = 8, kExtentMajorPad = 8, kResultPad = 8;
};
template <>
struct MultistageLayout<float> {
  using T = float;
  static constexpr std::array kCopyBytes{16, 4};
  /// Operands lie extent-major: a K-major one is transposed on its way, word by word. Only the long operand of a
  /// narrow tile that is made for it stays K-major.
  static constexpr bool kTransposes = true;
  static constexpr int kKMajorPad = 4, kExtentMajorPad = 4, kResultPad = 4;
};
template <>
struct MultistageLayout<double> {
  using T = double;
  static constexpr std::array kCopyBytes{16, 8};
  static constexpr bool kTransposes = false;
  static constexpr int kKMajorPad = 4, kExtentMajorPad = 4, kResultPad = 8;
};
template <>
struct MultistageLayout<Tf32> {
  using T = float;
  static constexpr std::array kCopyBytes{16, 4};
  static constexpr bool kTransposes = false;
  static constexpr int kKMajorPad = 4, kExtentMajorPad = 8, kResultPad = 8;
};

/// The number in kCopyBytes of the widest copies that operands of that alignment allow.
template <class A>
constexpr std::size_t multistage_copy(int alignment) {
  constexpr auto& kBytes = MultistageLayout<A>::kCopyBytes;
  std::size_t copy = 0;
  while (kBytes[copy] > alignment) ++copy;
  return copy;
}

/// Bytes of shared memory that the tile's kernels need, whatever lies how.
template <class A>
constexpr int multistage_shared_bytes(const MultistageTile& t) {
  using Layout = MultistageLayout<A>;
  using T = typename Layout::T;
  const auto operand = [&](int extent, bool long_operand) {
    const int extent_major = t.k_depth * (extent + Layout::kExtentMajorPad) - Layout::kExtentMajorPad;
    const int k_major = extent * (t.k_depth + (t.folds ? 0 : Layout::kKMajorPad));
    if (!Layout::kTransposes) return std::max(extent_major, k_major);
    return t.k_major && long_operand ? k_major : extent_major;
  };
  const int operands = t.stages * (operand(t.m, t.long_a()) + operand(t.n, !t.long_a())) * int(sizeof(T));
  const int folded = t.folds ? t.m * t.n * int(sizeof(Scalar<T>)) : 0;  // the sums of the slices before
  return std::max(operands + folded, t.m * (t.n + Layout::kResultPad) * int(sizeof(Scalar<T>)));
}

template <class A, std::size_t kCount>
constexpr std::array<MultistageTile, kCount> completed(std::array<MultistageTile, kCount> tiles) {
  for (std::size_t i = 0; i < kCount; ++i) {
    tiles[i].number = i, tiles[i].shared_bytes = multistage_shared_bytes<A>(tiles[i]);
    tiles[i].tf32 = std::is_same_v<A, Tf32>, tiles[i].transposes = MultistageLayout<A>::kTransposes;
    if (kMultistageMostDepth % tiles[i].k_depth != 0) throw "slices of ordered sums begin within a step";
  }
  return tiles;
}

/// The tiles of an arithmetic. Of 16 bits: warps of 64 x 64, which need the fewest words of shared memory a product,
/// and smaller ones for products that are over before a large tile has begun.
template <class A>
inline constexpr auto kMultistageTiles = completed<A>(std::array{
    MultistageTile{128, 256, 64, 3, 64, 64, 0, 0, 1},
    MultistageTile{128, 128, 64, 3, 64, 64, 0, 0, 2},
    MultistageTile{64, 64, 64, 3, 32, 32, 0, 0, 4},
});
template <>
inline constexpr auto kMultistageTiles<Tf32> = completed<Tf32>(std::array{
    MultistageTile{128, 256, 32, 3, 64, 64, 0, 0, 1},
    MultistageTile{128, 128, 32, 3, 64, 64, 0, 0, 2},
    MultistageTile{64, 64, 32, 3, 32, 32, 0, 0, 4},
});

// Warps of 32 x 64 with threads of 8 x 8: of the shapes tried, those with the fewest words of shared memory a product.
// 64 x 64 and 32 x 64 are for products that are over before a larger tile has begun. The narrow K-major tiles take 64
// of k at a time, since memory gives less of its rate for rows of 64 bytes than for longer ones.
template <>
inline constexpr auto kMultistageTiles<float> = completed<float>(std::array{
    MultistageTile{128, 128, 32, 2, 32, 64, 8, 8, 2},
    MultistageTile{128, 64, 16, 3, 32, 64, 8, 8, 4},
    MultistageTile{64, 128, 16, 3, 32, 64, 8, 8, 4},
    MultistageTile{64, 64, 16, 3, 32, 32, 8, 4, 5},
    MultistageTile{32, 64, 16, 3, 32, 32, 8, 4, 8},
    MultistageTile{128, 16, 16, 3, 64, 16, 8, 4, 7},
    MultistageTile{16, 128, 16, 3, 16, 64, 4, 8, 7},
    MultistageTile{64, 16, 64, 2, 32, 16, 4, 4, 5, true},
    MultistageTile{16, 64, 64, 2, 16, 32, 4, 4, 5, true},
});

template <>
inline constexpr auto kMultistageTiles<double> = completed<double>(std::array{
    MultistageTile{128, 128, 16, 4, 64, 32, 0, 0, 1},
    MultistageTile{64, 128, 16, 3, 32, 32, 0, 0, 2},
    MultistageTile{64, 64, 16, 3, 32, 32, 0, 0, 3},
    MultistageTile{32, 32, 16, 3, 16, 16, 0, 0, 7},
    MultistageTile{128, 128, 16, 3, 64, 32, 0, 0, 1, false, true},
});

}  // namespace tessera::cuda
