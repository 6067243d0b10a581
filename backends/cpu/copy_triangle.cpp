// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of triangles of matrices.

#include "context.hpp"
#include "thread_pool.hpp"

#include <tessera/plugin/triangle_copy.hpp>

#include <algorithm>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kRows = 32;  ///< of a matrix, which are a thread's at a time

/// That pass between memory and the processor: what is written is read before.
double bytes_of(const plugin::TriangleCopy& c) { return 3.0 * c.bytes(); }

/// To the other side of the diagonal by squares, through one that lies elsewhere: rows of a matrix may be apart by what
/// puts all of a column into a few lines of the cache.
template <class T>
void mirror_rows(const plugin::TriangleCopy& c, T* d, std::int64_t first, std::int64_t last) {
  T square[kRows][kRows + 1];
  for (std::int64_t column = 0; column <= first; column += kRows) {
    const std::int64_t columns = std::min(kRows, c.extent - column), rows = last - first;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) square[j][i] = d[(first + i) * c.from_ld + column + j];
    for (std::int64_t j = 0; j < columns; ++j) {
      T* const to = d + (column + j) * c.to_ld + first;
      for (std::int64_t i = column == first ? j + 1 : 0; i < rows; ++i) to[i] = square[j][i];
    }
  }
}

template <class T>
void copy_rows(const plugin::TriangleCopy& c, const T* from, T* to, std::int64_t first, std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t begin = c.lower ? 0 : i, end = c.lower ? i + 1 : c.extent;
    std::copy(from + i * c.from_ld + begin, from + i * c.from_ld + end, to + i * c.to_ld + begin);
  }
}

}  // namespace

plugin::CopyTriangle Context::copying_triangle(const plugin::TriangleCopy& c) {
  const int threads = machine_.useful_threads(bytes_of(c) / machine_.bandwidth(1));
  return plugin::with_type_of_size(c.element_size, [&]<class T>(std::type_identity<T>) -> plugin::CopyTriangle {
    return [c, threads](const void* from, void* to) {
      run_team(threads, [&](const Team& team) {
        const std::int64_t each = plugin::ceil_div(c.extent, kRows), all = each * c.count;
        for (std::int64_t number = team.begin(all), end = team.end(all); number < end; ++number) {
          const std::int64_t matrix = number / each, first = number % each * kRows;
          const std::int64_t last = std::min(first + kRows, c.extent);
          T* const target = static_cast<T*>(to) + matrix * c.to_stride;
          if (c.mirrors)
            mirror_rows(c, target, first, last);
          else
            copy_rows(c, static_cast<const T*>(from) + matrix * c.from_stride, target, first, last);
        }
      });
    };
  });
}

double Context::copying_seconds(const Machine& machine, const plugin::TriangleCopy& c) {
  const double bytes = bytes_of(c);
  const int threads = machine.useful_threads(bytes / machine.bandwidth(1));
  return machine.overhead(threads) + bytes / (threads * machine.bandwidth(threads));
}

}  // namespace tessera::cpu
