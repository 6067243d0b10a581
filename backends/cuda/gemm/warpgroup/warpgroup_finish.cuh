// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the sums of a warpgroup become elements of D: alpha, C, bias, aux and activation in the registers of the sums,
/// then rounded and laid out in shared memory for bulk copies or words, or in pairs from where they are. What runs once
/// a tile is fetched anew each time, so each step is short, and is passed over where there is nothing to do.
#pragma once

#include "../tile_writer.cuh"
#include "warpgroup_boxes.cuh"
#include "warpgroup_kernels.hpp"
#include "warpgroup_layout.cuh"
#include "warpgroup_place.cuh"
#include "warpgroup_product.cuh"
#include "warpgroup_sides.cuh"

#include <cstdint>

namespace tessera::cuda {

/// Calls `with` with the number of the first sum of the columns from `first` on: one of a jump's targets.
template <int kSums, class With>
__device__ __forceinline__ void with_columns(int first, const With& with) {
  const auto at = [&]<int kNumber>() {
    if constexpr (kNumber < kSums) with(kNumber);
  };
  constexpr int kStep = kWarpgroupColumns / 2;
  switch (first / kWarpgroupColumns) {
    case 0:
      return at.template operator()<0>();
    case 1:
      return at.template operator()<kStep>();
    case 2:
      return at.template operator()<2 * kStep>();
    case 3:
      return at.template operator()<3 * kStep>();
    case 4:
      return at.template operator()<4 * kStep>();
    case 5:
      return at.template operator()<5 * kStep>();
    case 6:
      return at.template operator()<6 * kStep>();
    case 7:
      return at.template operator()<7 * kStep>();
  }
}

/// The bias of a warpgroup's part of a tile, kN columns. A thread reads its share before its sums are ready: by columns
/// those from its number on, every 128; by rows those of its two rows. -0 adds nothing.
template <class T, int kN>
class WarpgroupBias {
  using S = Scalar<T>;

 public:
  /// `row`: the thread's first of the tile; its second is kHalf behind it.
  template <int kHalf>
  __device__ __forceinline__ void read(const GemmArguments<T>& g, const GemmTile& tile, int row) {
#pragma unroll
    for (S& value : mine_) value = -S(0);
    if (!g.finish.bias) return;
    const int thread = int(threadIdx.x) % 128;
    const std::int64_t first = tile.row + row;
    const Finish<T> finish = g.finish.at(tile.batch, first, tile.column);
    if (finish.per_row) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        if (first + kHalf * half < g.m) mine_[half] = finish.bias_at(kHalf * half);
    } else {
#pragma unroll
      for (int i = 0; i < kShares; ++i)
        if (thread + 128 * i < kN && tile.column + thread + 128 * i < g.n) mine_[i] = finish.bias_at(thread + 128 * i);
    }
  }
  /// All threads of a warpgroup add to their sums. `memory`: kN values of the warpgroup's.
  template <int kSums>
  __device__ __forceinline__ void add(S* memory, bool per_row, S (&sums)[kSums]) const {
    if (per_row) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) sums[i] = __fadd_rn(sums[i], mine_[i / 2 % 2]);
      return;
    }
    const int thread = int(threadIdx.x) % 128;
    warpgroup_sync();  // what was there is no longer read
#pragma unroll
    for (int i = 0; i < kShares; ++i)
      if (thread + 128 * i < kN) memory[thread + 128 * i] = mine_[i];
    warpgroup_sync();
    const S* const columns = memory + thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < kSums; i += 4) {
      const auto of_columns = *reinterpret_cast<const Vector<S, 2>*>(columns + 2 * i);
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i + e] = __fadd_rn(sums[i + e], of_columns.value[e % 2]);
    }
  }

 private:
  static constexpr int kShares = (kN + 127) / 128;
  S mine_[kShares < 2 ? 2 : kShares];
};

/// Which of a thread's pairs of sums exist in D.
template <class Place>
struct WarpgroupPairs {
  int rows, columns;  ///< from the thread's first on
  bool whole;         ///< both of a pair are neighbours, and of all pairs exist both, or none

  template <class T>
  __device__ WarpgroupPairs(const GemmArguments<T>& g, const WarpgroupPart& part)
      : rows(int(min(g.m - part.thread_row, std::int64_t(64)))),
        columns(part.columns - Place::column()),
        whole(Place::kPairs && (Place::kTurned ? rows : columns) % 2 == 0) {}
  __device__ __forceinline__ bool has_first(int four, int pair) const {
    return Place::kTurned ? rows > 0 && columns > 8 * four + pair : rows > Place::kHalf * pair && columns > 8 * four;
  }
  __device__ __forceinline__ bool has_second(int four, int pair) const {
    return Place::kTurned ? rows > Place::kHalf && columns > 8 * four + pair
                          : rows > Place::kHalf * pair && columns > 8 * four + 1;
  }
  /// The thread's first element, from that of the matrix on.
  static __device__ __forceinline__ std::int64_t offset(const WarpgroupPart& part, std::int64_t ld) {
    const std::int64_t column = part.tile.column + Place::column();
    return Place::kTurned ? column * ld + part.thread_row : part.thread_row * ld + column;
  }
};

/// sums = alpha sums, where C is not read.
template <class T, int kSums>
__device__ __forceinline__ void scale(Scalar<T> (&sums)[kSums], const Epilogue<T>& epilogue) {
  if (epilogue.product && epilogue.alpha == Scalar<T>(1)) return;
#pragma unroll
  for (Scalar<T>& sum : sums) sum = epilogue(sum, Scalar<T>(0));
}

/// Calls with(first, values) for those, of a matrix of D's size, under the sums of the columns from `first` on. D is
/// written in pairs.
template <class Place, class T, class With>
__device__ __forceinline__ void for_columns(const Elements<T>& matrices, std::int64_t ld, std::int64_t stride,
                                            const GemmArguments<T>& g, const WarpgroupPart& part, const With& with) {
  using S = Scalar<T>;
  const WarpgroupPairs<Place> exist(g, part);
  const Elements<T> from = matrices + (part.tile.batch * stride + exist.offset(part, ld));
  const bool pairs = from.template at_vector<2>() && ld % 2 == 0 && exist.whole;
#pragma unroll 1
  for (int first = 0; first < part.columns; first += kWarpgroupColumns) {
    S values[kWarpgroupColumns / 2];
#pragma unroll
    for (int i = 0; i < kWarpgroupColumns / 4; ++i) {
      const int four = first / 8 + i / 2, pair = i % 2;
      S &one = values[Place::first(i / 2, pair)], &other = values[Place::second(i / 2, pair)];
      const Elements<T> at = from + (Place::line(four, pair) * ld + Place::along(four));
      one = other = S(0);
      if (pairs && exist.has_first(four, pair)) {
        const auto both = at.template read<2>();
        one = both.value[0], other = both.value[1];
      } else if (!pairs) {
        if (exist.has_first(four, pair)) one = at[0];
        if (exist.has_second(four, pair)) other = at[Place::kApart];
      }
    }
    with(first, values);
  }
}

/// sums = alpha sums + beta C, of D in pairs.
template <class Place, class T, int kSums>
__device__ __forceinline__ void combine(Scalar<T> (&sums)[kSums], const GemmArguments<T>& g,
                                        const Epilogue<T>& epilogue, const WarpgroupPart& part) {
  const auto with = [&](int first, const Scalar<T>(&of_c)[kWarpgroupColumns / 2]) {
    with_columns<kSums>(first, [&](int from) {
#pragma unroll
      for (int e = 0; e < kWarpgroupColumns / 2; ++e) sums[from + e] = epilogue(sums[from + e], of_c[e]);
    });
  };
  for_columns<Place>(g.c, g.ldc, g.stride_c, g, part, with);
}

/// sums = f'(aux) sums. kBoxes: aux comes by boxes, of which none is on its way where C was read.
template <bool kBoxes, class Place, class T, int kSums>
__device__ __forceinline__ void differentiate_sums(unsigned char* memory, Scalar<T> (&sums)[kSums],
                                                   const GemmArguments<T>& g, const WarpgroupPart& part, bool begun) {
  const auto with = [&](int first, Scalar<T>(&z)[kWarpgroupColumns / 2]) {
    differentiate(g.finish.activation, z);
    with_columns<kSums>(first, [&](int from) {
#pragma unroll
      for (int e = 0; e < kWarpgroupColumns / 2; ++e) sums[from + e] = __fmul_rn(sums[from + e], z[e]);
    });
  };
  if constexpr (kBoxes) {
    const auto aux = WarpgroupInput<T, Place::kTurned>::aux(memory, g, part);
    if (!begun) aux.begin(false);
    aux.for_columns(with);
  } else {
    for_columns<Place>(g.finish.aux.data, g.finish.aux.ld, g.finish.aux.stride, g, part, with);
  }
}

/// sums = activation(sums), of so many columns.
template <class T, int kSums>
__device__ __forceinline__ void activate_sums(Scalar<T> (&sums)[kSums], const Finish<T>& finish, int columns) {
  const auto change = [&](const auto& activation) {
#pragma unroll
    for (int first = 0; first < kSums; first += kWarpgroupColumns / 2) {
      if (2 * first >= columns) return;
#pragma unroll
      for (int e = 0; e < kWarpgroupColumns / 2; ++e) sums[first + e] = activation(sums[first + e]);
    }
  };
  if (finish.activation == TESSERA_ACTIVATION_RELU) return change([](Scalar<T> sum) { return larger(sum, 0); });
  if (LogisticFactor::has(finish.activation)) return change(LogisticFactor::of(finish.activation));
#pragma unroll 1
  for (int first = 0; first < columns; first += kWarpgroupColumns) {
    Scalar<T> values[kWarpgroupColumns / 2];
    with_columns<kSums>(first, [&](int from) {
#pragma unroll
      for (int e = 0; e < kWarpgroupColumns / 2; ++e) move(values[e], sums[from + e]);
    });
    finish.activate_all(values);
    with_columns<kSums>(first, [&](int from) {
#pragma unroll
      for (int e = 0; e < kWarpgroupColumns / 2; ++e) move(sums[from + e], values[e]);
    });
  }
}

/// Of the type of sums, or the sums of a slice, in pairs where it is aligned to them: four threads write a sector, or
/// where D is turned eight threads two.
template <class Place, class T, int kSums>
__device__ __forceinline__ void write_pairs(const Scalar<T> (&sums)[kSums], const SlicedArguments<T>& x,
                                            const WarpgroupOutput<T>& out, const WarpgroupPart& part) {
  using S = Scalar<T>;
  using Pair = Vector<S, 2>;
  const bool partial = x.partial != nullptr;
  const std::int64_t ld = partial ? x.partial_ld : out.ld, lines = Place::kTurned ? x.g.n : x.g.m;
  const std::int64_t matrix =
      partial ? (part.slice * x.g.batch + part.tile.batch) * lines * ld : part.tile.batch * out.stride;
  const WarpgroupPairs<Place> exist(x.g, part);
  S* const base = partial ? x.partial : reinterpret_cast<S*>(out.matrices.elements());
  S* const to = base + matrix + exist.offset(part, ld);
  const bool pairs = reinterpret_cast<std::uintptr_t>(to) % sizeof(Pair) == 0 && ld % 2 == 0 && exist.whole;
#pragma unroll
  for (int i = 0; i < kSums / 2; ++i) {
    const int four = i / 2, pair = i % 2;
    if (8 * four >= part.columns) return;
    S* const at = to + (Place::line(four, pair) * ld + Place::along(four));
    const S one = sums[Place::first(four, pair)], other = sums[Place::second(four, pair)];
    if (pairs) {
      if (exist.has_first(four, pair)) *reinterpret_cast<Pair*>(at) = {{one, other}};
    } else {
      if (exist.has_first(four, pair)) at[0] = one;
      if (exist.has_second(four, pair)) at[Place::kApart] = other;
    }
  }
}

/// `memory`, `shared_bias`: of the warpgroup. Where aux is stored, it is written first as D is then.
template <WarpgroupWriting kWriting, class Shape, class T, int kSums, int kN>
__device__ __forceinline__ void write_tile(unsigned char* memory, Scalar<T> (&sums)[kSums],
                                           const WarpgroupArguments<T>& w, const WarpgroupPart& part,
                                           const WarpgroupBias<T, kN>& bias, Scalar<T>* shared_bias) {
  using enum WarpgroupWriting;
  using Place = typename Shape::Place;
  const GemmArguments<T>& g = w.x.g;
  if (Shape::kTriangle && part.is_missed(w.order.triangle)) return;
  const bool complete = kWriting != kPairs || w.x.partial == nullptr;
  if (complete) {
    const Epilogue<T> epilogue(g);
    if (!epilogue.reads_c())
      scale<T>(sums, epilogue);
    else if constexpr (kWriting == kPairs)
      combine<Place>(sums, g, epilogue, part);
    else
      WarpgroupInput<T, Place::kTurned>::c(memory, g, part).combine(sums, epilogue);
    if (g.finish.bias) bias.add(shared_bias, g.finish.per_row, sums);
    if (g.finish.aux.is_read())
      differentiate_sums<kWriting != kPairs, Place>(memory, sums, g, part, !epilogue.reads_c());
  }
  const bool activates = complete && g.finish.activation != TESSERA_ACTIVATION_NONE && !g.finish.aux.is_read();
  if (kWriting != kPairs && part.first >= g.m) return;
#pragma unroll 1
  for (bool to_aux = complete && g.finish.aux.is_stored();; to_aux = false) {
    if (activates && !to_aux) activate_sums(sums, g.finish, part.columns);
    const WarpgroupOutput<T> out = to_aux ? WarpgroupOutput<T>::aux(w) : WarpgroupOutput<T>::d(w);
    if constexpr (Shape::kTriangle)
      write_triangle(memory, sums, w, part);
    else if constexpr (kWriting == kPairs)
      write_pairs<Place>(sums, w.x, out, part);
    else if constexpr (kWriting == kBulk)
      write_bulk<Place::kTurned>(memory, sums, w, out, part);
    else
      write_words(memory, sums, out, g.m, part);
    if (!to_aux) return;
  }
}

}  // namespace tessera::cuda
