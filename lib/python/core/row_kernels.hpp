// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the passes of a filter do with rows of points. Compiled for several instruction sets. Each sum is taken in a
/// fixed order without contraction, so that all of them give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::python {

/// Types of elements, in the order of the tables below.
enum class Element { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
inline constexpr int kElements = 10;

/// Points of a row that are worked on at once: their sums lie in the first cache.
inline constexpr std::int64_t kRowBlock = 512;
/// The distance of such rows in memory: an odd number of lines of the cache, so that none takes another's place.
inline constexpr std::int64_t kRowPitch = kRowBlock + 8;
/// Lines whose running sums are taken at once.
inline constexpr int kLines = 8;

/// The order in which a weighted sum is taken: that of SciPy's passes.
enum class SumOrder {
  plain,         ///< 0 + w[0] x[0] + w[1] x[1] + ...
  last_first,    ///< w[n-1] x[n-1] + w[0] x[0] + w[1] x[1] + ...
  symmetric,     ///< w[c] x[c] + w[0] (x[0] + x[n-1]) + w[1] (x[1] + x[n-2]) + ...: c is the middle
  antisymmetric  ///< w[c] x[c] + w[0] (x[0] - x[n-1]) + ...
};

/// Rows of arrays, whose strides are bytes, from and to rows of A.
template <class A>
using Load = void (*)(const char* from, std::ptrdiff_t stride, std::int64_t count, A* to);
template <class A>
using Store = void (*)(const A* from, std::int64_t count, char* to, std::ptrdiff_t stride);

/// Means of floating-point numbers in their own type.
template <class A>
struct MeanKernels {
  Load<A> load;
  Store<A> store;
  /// out[i] = (rows[0][first + i] + rows[1][first + i] + ...) / divisor.
  void (*mean)(const A* const* rows, std::int64_t taps, std::int64_t first, std::int64_t count, A divisor, A* out);
};

struct RowKernels {
  /// From and to each type of elements. Stores cast as C does on x86-64, out of range too: to 8, 16 and 32 bits they
  /// are the low ones of a wider conversion.
  Load<double> load[kElements];
  Store<double> store[kElements];
  /// To u64 where a negative number is cast as the negative of a cast, as SciPy does in filters of several axes.
  Store<double> store_negated;
  /// out[i] = sum of weights[t] * rows[t][first + i], for up to kRowBlock points.
  void (*weigh)(const double* const* rows, const double* weights, std::int64_t taps, std::int64_t first,
                std::int64_t count, SumOrder order, double* out);
  /// sums[i] += entering[i] - leaving[i]; out[i] = sums[i] / divisor.
  void (*slide)(double* sums, const double* entering, const double* leaving, std::int64_t count, double divisor,
                double* out);
  /// The same along kLines lines: sums has one of each, and arrays have rows kRowPitch apart.
  void (*slide_lines)(double* sums, const double* entering, const double* leaving, std::int64_t count, double divisor,
                      double* out);
  MeanKernels<float> means_f32;
  MeanKernels<double> means_f64;
};

/// For the instructions that the processor has.
const RowKernels& row_kernels();

}  // namespace tessera::python
