// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "offers.hpp"
#include "peeled.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace tessera::cuda {
namespace {

using plugin::GemmProblem;

/// Of `extent`, beyond the last whole tile; 0 where that is too much to be computed apart.
std::int64_t beyond_tiles(std::int64_t extent) {
  constexpr std::int64_t kTile = 128;  // of the tiles of large products
  const std::int64_t rest = extent % kTile;
  return extent > kTile && rest <= kMostPeeled ? rest : 0;
}

/// An edge by skinny, where that supports it and has room for the sums that wait for a bias or an activation.
PeeledPart part_of(const GemmProblem& whole, const Machine& machine, std::uint64_t workspace_limit,
                   std::int64_t first_row, std::int64_t first_column, std::int64_t m, std::int64_t n) {
  GemmProblem p = whole;
  p.m = m, p.n = n;
  plugin::OfferList offers(true);
  const bool edge = first_row > 0 || first_column > 0;
  if (edge && skinny_why_unsupported(p, machine).empty()) skinny_offers(p, machine, {}, workspace_limit, offers);
  const bool skinny = !offers.empty();
  if (!skinny) multistage_offers(p, machine, {}, workspace_limit, offers);
  return {first_row, first_column, p, skinny, offers.cheapest()};
}

/// The rows or columns that may be computed apart: the given ones, or what lies beyond whole tiles and none.
std::vector<std::int64_t> to_peel(const plugin::GivenParameters& given, const char* key, std::int64_t extent) {
  const std::array<std::int64_t, 2> candidates{0, beyond_tiles(extent)};
  return given.in_range(key, std::span(candidates).first(candidates[1] > 0 ? 2 : 1), 0,
                        std::clamp(extent - 1, std::int64_t(0), kMostPeeled));
}

}  // namespace

std::vector<PeeledPart> peeled_parts(const GemmProblem& p, const Machine& machine, const Peel& peel,
                                     std::uint64_t workspace_limit) {
  const std::int64_t m = p.m - peel.rows, n = p.n - peel.columns;
  std::vector<PeeledPart> parts{part_of(p, machine, workspace_limit, 0, 0, m, n)};
  if (peel.rows > 0) parts.push_back(part_of(p, machine, workspace_limit, m, 0, peel.rows, p.n));
  if (peel.columns > 0) parts.push_back(part_of(p, machine, workspace_limit, 0, n, m, peel.columns));
  return parts;
}

std::uint64_t peeled_workspace(const std::vector<PeeledPart>& parts) {
  std::uint64_t most = 0;
  for (const PeeledPart& part : parts) most = std::max(most, part.offer.workspace_bytes);
  return most;
}

std::string peeled_why_unsupported(const GemmProblem& p, const Machine& machine) {
  return multistage_why_unsupported(p, machine);
}

// A tile's row of blocks for a single row of C costs as much as any other, and may be what begins one more wave.
void peeled_offers(const GemmProblem& p, const Machine& machine, const plugin::GivenParameters& given,
                   std::uint64_t workspace_limit, plugin::OfferList& offers) {
  const std::vector<std::int64_t> rows = to_peel(given, "rows", p.m), columns = to_peel(given, "columns", p.n);
  const auto limit = std::int64_t(std::min(workspace_limit, std::uint64_t(std::numeric_limits<std::int64_t>::max())));
  const std::int64_t workspace = given.in_range("workspace", limit, 0, limit);
  const auto arithmetic = given.one_of("compute", multistage_arithmetic(p));
  for (const std::int64_t compute : arithmetic)
    for (const std::int64_t r : rows)
      for (const std::int64_t c : columns) {
        if (r == 0 && c == 0 && rows.size() * columns.size() > 1) continue;  // nothing is peeled
        GemmProblem permitted = p;
        permitted.compute = tessera_compute(compute);
        const auto parts = peeled_parts(permitted, machine, {r, c}, std::uint64_t(workspace));
        double seconds = 0.0;
        for (const PeeledPart& part : parts) seconds += part.offer.seconds;
        const std::uint64_t used = peeled_workspace(parts);
        // A limit that was given is printed as it was given; else what is used is enough to make the same plan again.
        const std::int64_t printed = given.has("workspace") ? workspace : std::int64_t(used);
        plugin::Parameters parameters{{"rows", r}, {"columns", c}, {"workspace", printed}};
        if (multistage_arithmetic(p).size() > 1) parameters.add({"compute", compute});
        offers.add({parameters, seconds, used});
      }
}

}  // namespace tessera::cuda
