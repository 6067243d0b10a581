// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../caches.hpp"
#include "algorithms.hpp"
#include "grid.hpp"
#include "micro_kernel.hpp"
#include "panels.hpp"

#include <omp.h>

#include <algorithm>
#include <string_view>

namespace tessera::cpu {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;

/// The choices below were measured on AVX-512: squares, and long and flat products, of 6 to 2000.

/// Of rows a leading dimension apart. Not an integer: behind the last row there need not be one.
double bytes_of(std::int64_t rows, std::int64_t ld, std::int64_t element) {
  return double(rows) * double(ld) * double(element);
}

/// Whether A, an element of each row at a time, is as well read where it lies. Rows are neighbours in a transposed one,
/// which then jumps from line to line; else they are long streams, that only a large A has too many pages for. Where B
/// is not transposed, it decides.
bool reads_well_a(const GemmProblem& p, std::int64_t element) {
  const double bytes = bytes_of(p.trans_a ? p.k : p.m, p.lda, element), level2 = double(caches().level2);
  if (p.trans_a) return bytes <= level2 / 8;
  return !p.trans_b || bytes < 2 * level2;
}

/// The same for rows of B. They are read well where they fill whole registers (others split cache lines), are less than
/// a page apart, and a block of them fits beside the rest in the second-level cache; else where packing has few rows of
/// A to repay it, or little to copy. A transposed B is packed by both algorithms.
bool reads_well_b(const GemmProblem& p, std::int64_t element) {
  constexpr std::int64_t kPageBytes = 4096;
  const std::int64_t row = p.ldb * element, k = std::min(p.k, most_block_k(element));
  const double all = bytes_of(p.k, p.ldb, element), level2 = double(caches().level2);
  if (p.trans_b || p.m <= kFewRows) return true;
  if (p.m <= 2 * kFewRows && all <= level2 * 3 / 4) return true;
  return row % kVectorBytes == 0 && row < kPageBytes ? double(k * row) < level2 / 2 : all < level2 / 16;
}

/// Whether A is read once or twice, by one or two panels of columns; a large transposed one meets too many pages even
/// so.
bool has_few_columns(const GemmProblem& p, std::int64_t element) {
  const std::int64_t panels = ceil_div(p.n * element, kMostVectors * kVectorBytes);
  return p.trans_a ? panels <= 1 && bytes_of(p.k, p.lda, element) <= double(caches().level2) : panels <= 2;
}

/// Whether few threads share a large product, for which Eigen's kernels are the faster ones since version 5: of 1024
/// and more, with A not transposed, 1.06 times as fast as `packed` on average with two threads (0.85 to 1.17) and 1.01
/// with one, 0.97 with 16.
bool suits_eigen(const GemmProblem& p) {
  constexpr bool fast = std::string_view(TESSERA_CPU_EIGEN_VERSION) >= "5" && kVectorBytes == 64;
  constexpr std::int64_t kLarge = 1024;
  return fast && p.batch == 1 && !p.trans_a && std::min({p.m, p.n, p.k}) >= kLarge && omp_get_max_threads() <= 2;
}

}  // namespace

/// An operand is read once for every panel of the other one: packing pays where that is often, and where it lies
/// so that rereading it misses the cache.
std::string_view preferred_gemm(const GemmProblem& p) {
  const auto element = std::int64_t(plugin::size_of(p.dtype));
  const bool direct = (reads_well_a(p, element) && reads_well_b(p, element)) || has_few_columns(p, element);
  return direct ? kGemmDirect.name : suits_eigen(p) ? kGemmEigen.name : kGemmPacked.name;
}

}  // namespace tessera::cpu
