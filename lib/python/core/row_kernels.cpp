// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled once for each instruction set, so nothing here may be shared with another file: no inline function of a
// header either, since the linker keeps one of them for all.

#include "row_kernels.hpp"

#ifdef __FMA__
#include <immintrin.h>
#endif

#ifndef TESSERA_ROWS
#define TESSERA_ROWS rows_base
#endif

namespace tessera::python {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
constexpr int kVectors = 4;
#elif defined(__AVX__)
constexpr int kBytes = 32;
constexpr int kVectors = 8;
#else
constexpr int kBytes = 16;
constexpr int kVectors = 6;
#endif

template <class A>
struct Vector {
  typedef A Type __attribute__((vector_size(kBytes), aligned(sizeof(A)), may_alias));
};

/// A vector in memory, aligned as its elements are.
template <class V, class A>
V& at(A* place) {
  return *reinterpret_cast<V*>(place);
}
template <class V, class A>
const V& at(const A* place) {
  return *reinterpret_cast<const V*>(place);
}

// --- Casts ---

template <class T>
inline constexpr double kPower = 0.0;
template <>
inline constexpr double kPower<std::int32_t> = 2147483648.0;
template <>
inline constexpr double kPower<std::int64_t> = 9223372036854775808.0;

/// What x86-64's conversion gives: the least number where the value does not fit, or is NaN.
template <class I>
I converted(double value) {
  constexpr double least = sizeof(I) == 4 ? -kPower<std::int32_t> - 1.0 : -kPower<std::int64_t> * 1.0000000000000003;
  const bool fits = value > least && value < kPower<I>;
  return I(fits ? value : -kPower<I>);
}

/// From which conversion the low bits are taken.
template <class T>
struct Through {
  using Type = std::int32_t;
};
template <>
struct Through<std::uint32_t> {
  using Type = std::int64_t;
};
template <>
struct Through<std::int64_t> {
  using Type = std::int64_t;
};

template <class T>
T cast(double value) {
  return T(converted<typename Through<T>::Type>(value));
}
template <>
std::uint64_t cast<std::uint64_t>(double value) {
  constexpr double half = kPower<std::int64_t>;
  if (!(value >= half)) return std::uint64_t(converted<std::int64_t>(value));
  return std::uint64_t(converted<std::int64_t>(value - half)) ^ (std::uint64_t(1) << 63);
}
template <>
float cast<float>(double value) {
  return float(value);
}

struct Negated {
  static std::uint64_t of(double value) {
    return value > -1.0 ? cast<std::uint64_t>(value) : 0 - cast<std::uint64_t>(-value);
  }
};
struct Same {
  template <class A>
  static A of(A value) {
    return value;
  }
};
template <class T>
struct Plain {
  static T of(double value) { return cast<T>(value); }
};

// --- Rows from and to arrays ---

template <class T, class A>
void load(const char* from, std::ptrdiff_t stride, std::int64_t count, A* to) {
  if (stride == std::ptrdiff_t(sizeof(T))) {
    const T* const values = reinterpret_cast<const T*>(from);
    for (std::int64_t i = 0; i < count; ++i) to[i] = A(values[i]);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i] = A(*reinterpret_cast<const T*>(from + i * stride));
}

template <class T, class A, class Cast>
void store(const A* from, std::int64_t count, char* to, std::ptrdiff_t stride) {
  if (stride == std::ptrdiff_t(sizeof(T))) {
    T* const values = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < count; ++i) values[i] = Cast::of(from[i]);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(to + i * stride) = Cast::of(from[i]);
}

// --- Sums ---

/// `kCount` vectors of sums, which lie in registers; numbers at the end of a row.
template <SumOrder kOrder, int kCount, class V>
void weigh_block(const double* const* rows, const double* weights, std::int64_t taps, std::int64_t first, double* out) {
  constexpr int width = int(sizeof(V) / sizeof(double));
  V sums[kCount];
  const std::int64_t start = kOrder == SumOrder::last_first ? taps - 1 : taps / 2;
  for (int v = 0; v < kCount; ++v)
    if constexpr (kOrder == SumOrder::plain)
      sums[v] = V{};
    else
      sums[v] = at<V>(rows[start] + first + v * width) * weights[start];
  const std::int64_t end = kOrder == SumOrder::plain ? taps : start;
  for (std::int64_t t = 0; t < end; ++t) {
    const double* const row = rows[t] + first;
    const double* const mirrored = rows[taps - 1 - t] + first;
    for (int v = 0; v < kCount; ++v)
      if constexpr (kOrder == SumOrder::symmetric)
        sums[v] += (at<V>(row + v * width) + at<V>(mirrored + v * width)) * weights[t];
      else if constexpr (kOrder == SumOrder::antisymmetric)
        sums[v] += (at<V>(row + v * width) - at<V>(mirrored + v * width)) * weights[t];
      else
        sums[v] += at<V>(row + v * width) * weights[t];
  }
  for (int v = 0; v < kCount; ++v) at<V>(out + v * width) = sums[v];
}

template <SumOrder kOrder>
void weigh_row(const double* const* rows, const double* weights, std::int64_t taps, std::int64_t first,
               std::int64_t count, double* out) {
  using V = Vector<double>::Type;
  constexpr std::int64_t width = kBytes / std::int64_t(sizeof(double));
  std::int64_t i = 0;
  for (; i + kVectors * width <= count; i += kVectors * width)
    weigh_block<kOrder, kVectors, V>(rows, weights, taps, first + i, out + i);
  for (; i + width <= count; i += width) weigh_block<kOrder, 1, V>(rows, weights, taps, first + i, out + i);
  for (; i < count; ++i) weigh_block<kOrder, 1, double>(rows, weights, taps, first + i, out + i);
}

void weigh(const double* const* rows, const double* weights, std::int64_t taps, std::int64_t first, std::int64_t count,
           SumOrder order, double* out) {
  switch (order) {
    case SumOrder::plain:
      return weigh_row<SumOrder::plain>(rows, weights, taps, first, count, out);
    case SumOrder::last_first:
      return weigh_row<SumOrder::last_first>(rows, weights, taps, first, count, out);
    case SumOrder::symmetric:
      return weigh_row<SumOrder::symmetric>(rows, weights, taps, first, count, out);
    case SumOrder::antisymmetric:
      return weigh_row<SumOrder::antisymmetric>(rows, weights, taps, first, count, out);
  }
}

// --- Means ---

#ifdef __FMA__
/// a b - c and c - a b, rounded once.
inline float product_less(float a, float b, float c) { return __builtin_fmaf(a, b, -c); }
inline float less_product(float a, float b, float c) { return __builtin_fmaf(-a, b, c); }
inline double product_less(double a, double b, double c) { return __builtin_fma(a, b, -c); }
inline double less_product(double a, double b, double c) { return __builtin_fma(-a, b, c); }
#ifdef __AVX512F__
inline __m512 product_less(__m512 a, __m512 b, __m512 c) { return _mm512_fmsub_ps(a, b, c); }
inline __m512 less_product(__m512 a, __m512 b, __m512 c) { return _mm512_fnmadd_ps(a, b, c); }
inline __m512d product_less(__m512d a, __m512d b, __m512d c) { return _mm512_fmsub_pd(a, b, c); }
inline __m512d less_product(__m512d a, __m512d b, __m512d c) { return _mm512_fnmadd_pd(a, b, c); }
#else
inline __m256 product_less(__m256 a, __m256 b, __m256 c) { return _mm256_fmsub_ps(a, b, c); }
inline __m256 less_product(__m256 a, __m256 b, __m256 c) { return _mm256_fnmadd_ps(a, b, c); }
inline __m256d product_less(__m256d a, __m256d b, __m256d c) { return _mm256_fmsub_pd(a, b, c); }
inline __m256d less_product(__m256d a, __m256d b, __m256d c) { return _mm256_fnmadd_pd(a, b, c); }
#endif
#endif

/// Quotients by one whole number, each as division rounds it. With fused products they take less time than it: the
/// product with the reciprocal is some units off, by an error that is known exactly, and what is left of the error once
/// it is taken off is 2^-52 of it (P. Markstein, IBM Journal of Research and Development 34, 1990). A quotient by n is
/// 2^-54 / n or more from where rounding changes, in float32 2^-25 / n: below 2^50, or 2^22, nothing is rounded
/// otherwise. Exceptions are quotients that are no normal numbers, which may be off in their last bit.
template <class A>
struct Divisor {
  A value, inverse;

  explicit Divisor(A whole) : value(whole), inverse(A(1) / whole) {}

  /// v: a vector, or a number.
  template <class V>
  V divide(V v) const {
#ifdef __FMA__
    const V divisor = V{} + value, factor = V{} + inverse, quotient = v * factor;
    const V error = product_less(quotient, divisor, v);
    return error == error ? less_product(error, factor, quotient) : quotient;  // not a number where v is infinite
#else
    return v / value;
#endif
  }
};

template <int kCount, class V, class A>
void mean_block(const A* const* rows, std::int64_t taps, std::int64_t first, Divisor<A> divisor, A* out) {
  constexpr int width = int(sizeof(V) / sizeof(A));
  V sums[kCount];
  for (int v = 0; v < kCount; ++v) sums[v] = at<V>(rows[0] + first + v * width);
  for (std::int64_t t = 1; t < taps; ++t) {
    const A* const row = rows[t] + first;
    for (int v = 0; v < kCount; ++v) sums[v] += at<V>(row + v * width);
  }
  for (int v = 0; v < kCount; ++v) at<V>(out + v * width) = divisor.value == A(1) ? sums[v] : divisor.divide(sums[v]);
}

template <class A>
void mean(const A* const* rows, std::int64_t taps, std::int64_t first, std::int64_t count, A whole, A* out) {
  using V = typename Vector<A>::Type;
  constexpr std::int64_t width = kBytes / std::int64_t(sizeof(A));
  const Divisor<A> divisor(whole);
  std::int64_t i = 0;
  for (; i + kVectors * width <= count; i += kVectors * width)
    mean_block<kVectors, V>(rows, taps, first + i, divisor, out + i);
  for (; i + width <= count; i += width) mean_block<1, V>(rows, taps, first + i, divisor, out + i);
  for (; i < count; ++i) mean_block<1, A>(rows, taps, first + i, divisor, out + i);
}

void slide(double* sums, const double* entering, const double* leaving, std::int64_t count, double whole, double* out) {
  const Divisor<double> divisor(whole);
  for (std::int64_t i = 0; i < count; ++i) sums[i] += entering[i] - leaving[i];
  for (std::int64_t i = 0; i < count; ++i) out[i] = divisor.divide(sums[i]);
}

void slide_lines(double* sums, const double* entering, const double* leaving, std::int64_t count, double whole,
                 double* out) {
  const Divisor<double> divisor(whole);
  double held[kLines];
  for (int line = 0; line < kLines; ++line) held[line] = sums[line];
  for (std::int64_t i = 0; i < count; ++i)
    for (int line = 0; line < kLines; ++line) {
      const std::int64_t place = line * kRowPitch + i;
      held[line] += entering[place] - leaving[place];
      out[place] = held[line];
    }
  for (int line = 0; line < kLines; ++line) {
    sums[line] = held[line];
    for (std::int64_t i = 0; i < count; ++i) {
      double& value = out[line * kRowPitch + i];
      value = divisor.divide(value);
    }
  }
}

}  // namespace

extern const RowKernels TESSERA_ROWS;
constinit const RowKernels TESSERA_ROWS = {
    {load<std::int8_t>, load<std::uint8_t>, load<std::int16_t>, load<std::uint16_t>, load<std::int32_t>,
     load<std::uint32_t>, load<std::int64_t>, load<std::uint64_t>, load<float>, load<double>},
    {store<std::int8_t, double, Plain<std::int8_t>>, store<std::uint8_t, double, Plain<std::uint8_t>>,
     store<std::int16_t, double, Plain<std::int16_t>>, store<std::uint16_t, double, Plain<std::uint16_t>>,
     store<std::int32_t, double, Plain<std::int32_t>>, store<std::uint32_t, double, Plain<std::uint32_t>>,
     store<std::int64_t, double, Plain<std::int64_t>>, store<std::uint64_t, double, Plain<std::uint64_t>>,
     store<float, double, Plain<float>>, store<double, double, Same>},
    store<std::uint64_t, double, Negated>,
    weigh,
    slide,
    slide_lines,
    {load<float>, store<float, float, Same>, mean<float>},
    {load<double>, store<double, double, Same>, mean<double>},
};

}  // namespace tessera::python
