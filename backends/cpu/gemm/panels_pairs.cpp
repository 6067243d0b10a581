// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "panels.ipp"

#if defined(__x86_64__) && defined(__AVX512BW__)

#include "pack_pairs.hpp"
#include "pair_kernels.hpp"

namespace tessera::cpu {
namespace {

/// Tiles of packed pairs.
template <bool kDot>
struct PairTiles {
  using S = Scalar<bfloat16>;
  using Kernel = TileKernel<S, Pair>;
  /// Null beyond the tile of packed operands.
  template <int kR, int kV, bool kPartial>
  static constexpr Kernel kernel() {
    if constexpr (kR > kRows || kV > kVectors)
      return nullptr;
    else if constexpr (kDot)
      return dot_tile<S, kR, kV, kPartial>;
    else
      return multiply_pairs_tile<S, kR, kV, kPartial>;
  }
};

template <>
struct TilesOf<Pair> {
  static auto find(const BlockA<Pair>& a, const BlockB<Pair>& b) {
    return dot_is_exact(a.least_exponent, b.least_exponent) ? KernelTable<PairTiles<true>>::find
                                                            : KernelTable<PairTiles<false>>::find;
  }
};

}  // namespace

void multiply_pairs(const TileProduct<bfloat16>& product, const Blocks& blocks, Scalar<bfloat16>* workspace) {
  multiply_packed<Pairs>(product, blocks, workspace);
}

int pack_pair_columns(const TileProduct<bfloat16>& product, std::int64_t l, std::int64_t column, std::int64_t columns,
                      std::int64_t k, Scalar<bfloat16>* target) {
  return pack_b<Pairs>(product, l, column, columns, k, reinterpret_cast<Pair*>(target)).least_exponent;
}

}  // namespace tessera::cpu

#endif
