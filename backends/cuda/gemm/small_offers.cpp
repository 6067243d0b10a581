// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../launch_limits.hpp"
#include "../vector_access.hpp"
#include "offers.hpp"
#include "small.hpp"
#include "tile_model.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;

/// A block loads and multiplies a tile along k after the other. Where an operand is not aligned to 16 bytes its threads
/// load and write elements one by one: the block goes through the rows that its matrices have, as they lie.
template <class T>
TileLaunch launch_of(const GemmProblem& p, const Machine& machine) {
  const ProductCosts& c = machine.gemm.product;
  const int size = small_size(std::max(p.m, p.n)), matrices = small_matrices(size);
  const double elements = double(matrices) * size * size;
  const double depth = double(std::min<std::int64_t>(p.k, size)),
               rows = (p.trans_a ? depth : double(p.m)) + (p.trans_b ? double(p.n) : depth);
  const double row = small_aligned(p)
                         ? 0.0  // of each matrix
                         : c.single * size * double(std::min<std::int64_t>(p.batch, matrices)) / kSmallThreads;
  return {.blocks = double(ceil_div(p.batch, matrices)),
          .blocks_per_sm = 8,
          .steps = double(ceil_div(p.k, size)),
          .units = element_cycles<T>(elements * size, machine) / rates_of<T>(machine).small,
          .latency = c.small_wait + row * rows,
          .fill = c.element * elements,
          .writing = row * double(p.m),
          .bytes = operand_bytes(p)};
}

}  // namespace

bool small_aligned(const GemmProblem& p) {
  return whole_vectors(p.dtype, {p.lda, p.ldb, p.ldc, p.ldd, p.stride_a, p.stride_b, p.stride_c, p.stride_d,
                                 p.trans_a ? p.m : p.k, p.trans_b ? p.k : p.n, p.n});
}

std::string small_why_unsupported(const GemmProblem& p, const Machine&) {
  const int most = plugin::with_types(p.dtype, []<class T>(std::type_identity<T>) { return kMostSmall<T>; });
  if (std::max(p.m, p.n) > most)
    return "C has more than " + std::to_string(most) + " rows or columns: " + std::to_string(p.m) + " x " +
           std::to_string(p.n);
  if (p.batch <= kMaxGridX) return {};
  return "batch is above " + std::to_string(kMaxGridX) + ": " + std::to_string(p.batch);
}

void small_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
                  plugin::OfferList& offers) {
  plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) {
    offers.add({{}, launch_seconds(launch_of<T>(p, machine), machine) + finishing_seconds(p, machine)});
  });
}

}  // namespace tessera::cuda
