// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of complex matrices.

#include "context.hpp"
#include "thread_pool.hpp"

#include <tessera/plugin/complex_copy.hpp>

#include <algorithm>
#include <complex>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kRows = 32;  ///< of a copy, which are a thread's at a time: so many elements of a column

/// Writes an element of a copy.
template <class T>
void store(const plugin::ComplexCopy& c, T* to, std::int64_t row, std::int64_t column, const std::complex<T>& x) {
  if (!c.doubles) {
    T* const place = to + 2 * (row * c.to_ld + column);
    place[0] = x.real(), place[1] = x.imag();
    return;
  }
  T* const place = to + 2 * (row * c.to_ld + column);
  const T sign = c.for_conjugate ? T(-1) : T(1);
  place[0] = x.real(), place[1] = x.imag();
  place[c.to_ld] = -sign * x.imag(), place[c.to_ld + 1] = sign * x.real();
}

/// Rows of a copy. kFactor: there is one.
template <bool kFactor, class T>
void copy_rows(const plugin::ComplexCopy& c, const T* from, T* to, const std::complex<T>& factor, std::int64_t first,
               std::int64_t last) {
  const std::int64_t row_step = c.transposes ? 1 : c.from_ld, column_step = c.transposes ? c.from_ld : 1;
  const T sign = c.conjugates ? T(-1) : T(1);
  const auto copy = [&](std::int64_t i, std::int64_t j) {
    const T* const place = from + 2 * (i * row_step + j * column_step);
    const std::complex<T> x{place[0], sign * place[1]};
    store(c, to, i, j, kFactor ? plugin::times(factor, x) : x);
  };
  if (c.transposes) {
    for (std::int64_t j = 0; j < c.columns; ++j)
      for (std::int64_t i = first; i < last; ++i) copy(i, j);
  } else {
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t j = 0; j < c.columns; ++j) copy(i, j);
  }
}

}  // namespace

plugin::CopyComplex Context::copying_complex(const plugin::ComplexCopy& c) {
  const int threads = machine_.useful_threads(c.bytes() / machine_.bandwidth(1));
  return plugin::with_types<WideTypes>(c.part, [&]<class T>(std::type_identity<T>) -> plugin::CopyComplex {
    return [c, threads](const void* from, void* to, std::complex<double> factor) {
      run_team(threads, [&](const Team& team) {
        const std::int64_t each = plugin::ceil_div(c.rows, kRows), all = each * c.matrices;
        for (std::int64_t number = team.begin(all), end = team.end(all); number < end; ++number) {
          const std::int64_t matrix = number / each, first = number % each * kRows;
          const std::int64_t last = std::min(first + kRows, c.rows);
          const T* const source = static_cast<const T*>(from) + 2 * matrix * c.from_stride;
          T* const target = static_cast<T*>(to) + (c.doubles ? 1 : 2) * matrix * c.to_stride;
          if (factor == 1.0)
            copy_rows<false>(c, source, target, std::complex<T>(), first, last);
          else
            copy_rows<true>(c, source, target, std::complex<T>(factor), first, last);
        }
      });
    };
  });
}

double Context::copying_seconds(const Machine& machine, const plugin::ComplexCopy& c) {
  const int threads = machine.useful_threads(c.bytes() / machine.bandwidth(1));
  return machine.overhead(threads) + c.bytes() / (threads * machine.bandwidth(threads));
}

}  // namespace tessera::cpu
