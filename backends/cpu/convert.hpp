// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Vectors of float from and to elements of 16 bits, by the rules of tessera/float16.hpp: subnormals are kept. The one
/// difference is that a signalling NaN may become a quiet one on the way, as it does in any sum.
#pragma once

#include "vector.hpp"

#include <tessera/plugin/problem.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

namespace tessera::cpu {

namespace detail {

// Without an instruction an element takes some thirty: as a function they are there once, and not for each tap.
#if defined(__x86_64__) && !defined(__F16C__)
#define TESSERA_CONVERT [[gnu::noinline]]
#else
#define TESSERA_CONVERT
#endif

/// Lane by lane, where no instruction does it.
template <class T, class V>
TESSERA_CONVERT inline void widen(const T* p, V& v) {
  float lanes[sizeof(V) / sizeof(float)];
  for (std::size_t i = 0; i < std::size(lanes); ++i) lanes[i] = float(p[i]);
  std::memcpy(&v, lanes, sizeof v);
}
template <class T, class V, class Bits>
TESSERA_CONVERT inline void round_bits(T, const V& v, Bits& bits) {
  std::uint16_t lanes[sizeof(V) / sizeof(float)];
  for (std::size_t i = 0; i < std::size(lanes); ++i) lanes[i] = T(v[i]).bits;
  std::memcpy(&bits, lanes, sizeof bits);
}
#undef TESSERA_CONVERT

#if defined(__F16C__)
inline void widen(const float16* p, Vector<float, 4>& v) {
  v = _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline void widen(const float16* p, Vector<float, 8>& v) {
  v = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline void round_bits(float16, const Vector<float, 4>& v, Vector<std::uint16_t, 4>& bits) {
  const __m128i rounded = _mm_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
  std::memcpy(&bits, &rounded, sizeof bits);
}
inline void round_bits(float16, const Vector<float, 8>& v, Vector<std::uint16_t, 8>& bits) {
  const __m128i rounded = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
  std::memcpy(&bits, &rounded, sizeof bits);
}
#endif
// g++ 12 extends a whole register of bfloat16 in five instructions where two do.
#if defined(__AVX2__) && !defined(__AVX512F__)
inline void widen(const bfloat16* p, Vector<float, 8>& v) {
  v = _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16));
}
#endif
#if defined(__AVX512F__)
inline void widen(const bfloat16* p, Vector<float, 16>& v) {
  v = _mm512_castsi512_ps(_mm512_maskz_slli_epi32(
      0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16));
}
// With a mask of all lanes: g++ 12 sees an uninitialised value in the forms without one.
inline void widen(const float16* p, Vector<float, 16>& v) {
  v = _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline void round_bits(float16, const Vector<float, 16>& v, Vector<std::uint16_t, 16>& bits) {
  const __m256i rounded = _mm512_maskz_cvtps_ph(0xffff, v, _MM_FROUND_TO_NEAREST_INT);
  std::memcpy(&bits, &rounded, sizeof bits);
}
#endif

}  // namespace detail

/// kN neighbours in the type that they are computed in.
template <class T, int kN>
[[gnu::always_inline]] inline void load_wide(const T* p, Vector<Scalar<T>, kN>& v) {
  if constexpr (sizeof(T) != 2) {
    std::memcpy(&v, p, sizeof v);
  } else if constexpr (std::is_same_v<T, bfloat16> && kN >= 4 && (kN < kLanes<float> || kVectorBytes == 16)) {
    Vector<std::uint16_t, kN> bits;
    std::memcpy(&bits, p, sizeof bits);
    const Vector<std::uint32_t, kN> wide = __builtin_convertvector(bits, Vector<std::uint32_t, kN>) << 16;
    std::memcpy(&v, &wide, sizeof v);
  } else {
    detail::widen(p, v);
  }
}

/// The bits of kN elements of T, which has 16 bits: rounded to nearest even.
template <class T, int kN>
[[gnu::always_inline]] inline void round_to(const Vector<float, kN>& v, Vector<std::uint16_t, kN>& bits) {
  if constexpr (std::is_same_v<T, bfloat16> && kN >= 4) {
    Vector<std::uint32_t, kN> b;
    std::memcpy(&b, &v, sizeof b);
    const Vector<std::uint32_t, kN> rounded = (b + 0x7fff + (b >> 16 & 1)) >> 16, quiet = b >> 16 | 0x40;
    const Vector<std::uint32_t, kN> upper = (b & 0x7fffffff) > 0x7f800000 ? quiet : rounded;
    bits = __builtin_convertvector(upper, Vector<std::uint16_t, kN>);
  } else {
    detail::round_bits(T{}, v, bits);
  }
}

/// Stores kN neighbours, rounded to nearest even.
template <class T, int kN>
[[gnu::always_inline]] inline void store_rounded(T* p, const Vector<Scalar<T>, kN>& v) {
  if constexpr (sizeof(T) != 2) {
    std::memcpy(p, &v, sizeof v);
  } else {
    Vector<std::uint16_t, kN> bits;
    round_to<T, kN>(v, bits);
    std::memcpy(p, &bits, sizeof bits);
  }
}

/// Two halves of a register one behind the other.
template <class V>
[[gnu::always_inline]] inline Vector<std::uint16_t> joined(const V& low, const V& high) {
  static_assert(2 * sizeof low == kVectorBytes);
#if defined(__AVX2__) && !defined(__AVX512F__)  // g++ 12 makes four instructions of a shuffle
  __m128i halves[2];
  std::memcpy(&halves[0], &low, sizeof low);
  std::memcpy(&halves[1], &high, sizeof high);
  return reinterpret_cast<Vector<std::uint16_t>>(_mm256_set_m128i(halves[1], halves[0]));
#else
  return [&]<std::size_t... kLane>(std::index_sequence<kLane...>) {
    return __builtin_shufflevector(low, high, int(kLane)...);
  }
  (std::make_index_sequence<kLanes<std::uint16_t>>());
#endif
}

/// Neighbours in two registers, those at even places in the first: they are the lower halves of 32-bit numbers.
template <class V>
[[gnu::always_inline]] inline void split_pairs(const bfloat16* p, V& even, V& odd) {
  static_assert(std::endian::native == std::endian::little);
  Vector<std::uint32_t> pairs;
  std::memcpy(&pairs, p, sizeof pairs);
  keep_in_register(pairs);
  even = reinterpret_cast<V>(pairs << 16);
  odd = reinterpret_cast<V>(pairs & 0xffff0000u);
}

/// Of a register of neighbours those at odd places: the second result of split_pairs(), in one instruction.
[[gnu::always_inline]] inline Vector<float> odd_places(const bfloat16* p) {
  Vector<std::uint32_t> pairs;
  std::memcpy(&pairs, p, sizeof pairs);
  return reinterpret_cast<Vector<float>>(pairs & 0xffff0000u);
}

/// split_pairs() as the caller has it fastest: with kStart the element before p may not be read.
template <bool kStart, class V>
[[gnu::always_inline]] inline void load_pairs(const bfloat16* p, V& even, V& odd) {
  if constexpr (kStart || kVectorBytes != 32)
    split_pairs(p, even, odd);
  else  // the second load costs less than what a shift takes from the multiply-adds
    even = odd_places(p - 1), odd = odd_places(p);
}

namespace detail {

using Words = Vector<std::uint16_t>;

/// Lanes at even places of one register, at odd places of another.
template <std::size_t... kLane>
[[gnu::always_inline]] inline Words interleaved(const Words& even, const Words& odd, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(even, odd, int(kLane % 2 == 0 ? kLane : kLane + sizeof...(kLane))...);
}

/// a - b, or 0 where b is larger.
[[gnu::always_inline]] inline Words saturated_difference(const Words& a, const Words& b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Words>(_mm512_subs_epu16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Words>(_mm256_subs_epu16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return a > b ? a - b : a - a;
#endif
}

}  // namespace detail

/// Two registers in the order of split_pairs(), rounded to nearest even, as one of bfloat16. NaN must have zeros where
/// bfloat16 has no bits, as those of processors and of bfloat16 itself, and sums with them: then it rounds to itself.
template <class V>
[[gnu::always_inline]] inline detail::Words rounded_pairs(const V& even, const V& odd) {
  using Pairs = Vector<std::uint32_t>;
  const auto interleaved = [](const Pairs& a, const Pairs& b) {
    return detail::interleaved(reinterpret_cast<detail::Words>(a), reinterpret_cast<detail::Words>(b),
                               std::make_index_sequence<kLanes<std::uint16_t>>());
  };
  const auto e = reinterpret_cast<Pairs>(even), o = reinterpret_cast<Pairs>(odd);
  const detail::Words kept = interleaved(e >> 16, o), lost = interleaved(e, o << 16);
  // Rounded up where more than half is lost, or just half from an odd number.
  const detail::Words excess = detail::saturated_difference(lost, ~kept & 1);
  return kept + (excess >> 15);
}

/// target[i] = source[i] for i < count: in vectors of kN, then of half as many.
template <class T, int kN = kLanes<Scalar<T>>>
inline void copy_wide(const T* source, std::int64_t count, Scalar<T>* target) {
  std::int64_t i = 0;
  for (; i + kN <= count; i += kN) {
    Vector<Scalar<T>, kN> v;
    load_wide<T, kN>(source + i, v);
    std::memcpy(target + i, &v, sizeof v);
  }
  if constexpr (kN > 4)
    copy_wide<T, kN / 2>(source + i, count - i, target + i);
  else
    for (; i < count; ++i) target[i] = Scalar<T>(source[i]);
}

/// The same the other way, rounded to nearest even.
template <class T, int kN = kLanes<Scalar<T>>>
inline void copy_rounded(const Scalar<T>* source, std::int64_t count, T* target) {
  std::int64_t i = 0;
  for (; i + kN <= count; i += kN) {
    Vector<Scalar<T>, kN> v;
    std::memcpy(&v, source + i, sizeof v);
    store_rounded<T, kN>(target + i, v);
  }
  if constexpr (kN > 4)
    copy_rounded<T, kN / 2>(source + i, count - i, target + i);
  else
    for (; i < count; ++i) target[i] = T(source[i]);
}

}  // namespace tessera::cpu
