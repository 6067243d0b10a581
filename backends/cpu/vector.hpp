// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One register of the instruction set that the backend is built for, as a GCC vector. Parts of a
/// register are the only place that needs intrinsics: masked access never touches what it leaves out.
#pragma once

#include "instruction_set.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace tessera::cpu {

inline constexpr int kVectorBytes = kInstructionSet.vector_bytes;

template <class T>
inline constexpr int kLanes = kVectorBytes / int(sizeof(T));

template <class T, int kCount>
struct VectorOf {
  using Type [[gnu::vector_size(kCount * sizeof(T))]] = T;
};
/// kCount elements, a register's where nothing else is said.
template <class T, int kCount = kLanes<T>>
using Vector = typename VectorOf<T, kCount>::Type;

template <class T, int kCount = kLanes<T>>
inline Vector<T, kCount> load(const T* p) {
  Vector<T, kCount> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T, int kCount = kLanes<T>>
inline void store(T* p, std::type_identity_t<Vector<T, kCount>> v) {
  std::memcpy(p, &v, sizeof v);
}

/// a * b + c, rounded once where the instruction set can. Where a compiler decides what it fuses, copies of the same
/// code may have other bits.
template <class T>
[[gnu::always_inline]] inline Vector<T> multiply_add(Vector<T> a, Vector<T> b, Vector<T> c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<Vector<T>>(_mm512_fmadd_ps(a, b, c));
  else
    return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
  if constexpr (sizeof(T) == 4)
    return _mm256_fmadd_ps(a, b, c);
  else
    return _mm256_fmadd_pd(a, b, c);
#elif defined(__ARM_NEON) && defined(__aarch64__)
  if constexpr (sizeof(T) == 4)
    return vfmaq_f32(c, a, b);
  else
    return vfmaq_f64(c, a, b);
#else
  return a * b + c;
#endif
}

/// What comparisons of vectors of T are made with.
template <class T>
using LaneNumber = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
/// first, first + 1 and so on.
template <class T, int kCount = kLanes<T>>
[[gnu::always_inline]] inline Vector<LaneNumber<T>, kCount> lane_numbers(int first) {
  Vector<LaneNumber<T>, kCount> numbers;
  for (int lane = 0; lane < kCount; ++lane) numbers[lane] = LaneNumber<T>(first + lane);
  return numbers;
}

/// Has a vector that is used several times loaded once: compilers may load it again for each use, and loads bind.
template <class V>
[[gnu::always_inline]] inline void keep_in_register(V& v) {
#if defined(__x86_64__)
  asm("" : "+v"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#endif
}

/// The first `count` lanes of a register, 1 to kLanes.
template <class T>
class Part {
 public:
#if defined(__AVX512F__)
  explicit Part(int count) : mask_(static_cast<Mask>((1u << count) - 1u)) {}

  /// Zeros in the other lanes.
  Vector<T> load(const T* p) const {
    if constexpr (sizeof(T) == 4)
      return reinterpret_cast<Vector<T>>(_mm512_maskz_loadu_ps(mask_, p));
    else
      return _mm512_maskz_loadu_pd(mask_, p);
  }
  void store(T* p, Vector<T> v) const {
    if constexpr (sizeof(T) == 4)
      _mm512_mask_storeu_ps(p, mask_, v);
    else
      _mm512_mask_storeu_pd(p, mask_, v);
  }

 private:
  using Mask = std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>;
  Mask mask_;
#elif defined(__AVX2__)
  explicit Part(int count) {
    static constexpr std::int32_t kOnes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    std::memcpy(&mask_, kOnes + 8 - count * int(sizeof(T) / 4), sizeof mask_);
  }

  /// Zeros in the other lanes.
  Vector<T> load(const T* p) const {
    if constexpr (sizeof(T) == 4)
      return _mm256_maskload_ps(p, mask_);
    else
      return _mm256_maskload_pd(p, mask_);
  }
  void store(T* p, Vector<T> v) const {
    if constexpr (sizeof(T) == 4)
      _mm256_maskstore_ps(p, mask_, v);
    else
      _mm256_maskstore_pd(p, mask_, v);
  }

 private:
  __m256i mask_;
#else
  explicit Part(int count) : count_(count) {}

  /// Zeros in the other lanes.
  Vector<T> load(const T* p) const {
    Vector<T> v{};
    for (int i = 0; i < kLanes<T>; ++i)
      if (i < count_) v[i] = p[i];
    return v;
  }
  void store(T* p, Vector<T> v) const {
    for (int i = 0; i < kLanes<T>; ++i)
      if (i < count_) p[i] = v[i];
  }

 private:
  int count_;
#endif
};

}  // namespace tessera::cpu
