// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "../launch_limits.hpp"
#include "../vector_access.hpp"
#include "model.hpp"
#include "offers.hpp"
#include "small.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::ceil_div;
using plugin::GemmProblem;

constexpr int kBlocksPerSm = 8;

/// A wave of blocks waits for each tile along k, which it loads and multiplies; many waves wait for memory or the
/// units. Where an operand is not aligned to 16 bytes a thread loads and writes elements one by one: the block goes
/// through the rows that its matrices have, as they lie.
template <class T>
double seconds(const GemmProblem& p, const Machine& machine) {
  const SmallCosts& costs = costs_of<T>(machine).small;
  const int size = small_size(std::max(p.m, p.n)), matrices = small_matrices(size);
  const double blocks = double(ceil_div(p.batch, matrices));
  const double products = blocks * matrices * size * size * double(p.k);
  const double depth = double(std::min<std::int64_t>(p.k, size)), steps = double(ceil_div(p.k, size));
  const double single = small_aligned(p) ? 0.0
                                         : costs.single * size * double(std::min<std::int64_t>(p.batch, matrices)) /
                                               kSmallThreads;  // of a row of each matrix
  const double step = costs.step + costs.product * size +
                      single * ((p.trans_a ? depth : double(p.m)) + (p.trans_b ? double(p.n) : depth));
  const double latency = waves(machine, blocks, kBlocksPerSm) * (steps * step + single * double(p.m));
  return costs.launch + finishing_seconds(p, machine) +
         std::max({latency, operand_bytes(p) / (costs.memory * machine.memory_rate),
                   products / (costs.rate * element_rate<T>(machine) * machine.multiprocessors)});
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
  plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) { offers.add({{}, seconds<T>(p, machine)}); });
}

}  // namespace tessera::cuda
