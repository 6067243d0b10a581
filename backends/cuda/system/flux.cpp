// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "flux.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace tessera::cuda {
namespace {

using plugin::Index3;
using plugin::SystemProblem;

constexpr Index3 kHere{0, 0, 0};

/// Coefficients by where k and u are read; u alone stands for itself.
struct Products {
  std::map<std::pair<Index3, Index3>, double> by_places;
  double own = 0.0;

  double at(const Index3& k, const Index3& u) const {
    const auto found = by_places.find({k, u});
    return found == by_places.end() ? 0.0 : found->second;
  }
};

/// Sums of a few coefficients that are the same but for roundings.
bool same(double a, double b) {
  constexpr double kRoundings = 1e-14;
  return std::abs(a - b) <= kRoundings * std::max(std::abs(a), std::abs(b));
}

/// "" where every term is k u or u.
std::string take_terms(const SystemProblem& p, FluxSystem& flux, Products& products) {
  for (const auto& group : p.updates.front().groups)
    for (const auto& term : group.terms) {
      std::optional<Index3> k, u;
      for (const auto* list : {&group.factors, &term.factors})
        for (const auto& f : *list) {
          const bool is_u = f.field == flux.u && f.level == 0 && !u;
          const bool is_k =
              p.fields[std::size_t(f.field)].kind == TESSERA_FIELD_ARRAY && !k && (flux.k < 0 || flux.k == f.field);
          if (f.map != TESSERA_MAP_IDENTITY || (!is_u && !is_k)) return "takes products of one array and the state";
          (is_u ? u : k) = f.offset;
          if (is_k) flux.k = f.field;
        }
      if (!u) return "takes products of one array and the state";
      if (k)
        products.by_places[{*k, *u}] += term.coefficient;
      else if (*u == kHere)
        products.own += term.coefficient;
      else
        return "takes neighbours times an array";
    }
  return flux.k < 0 ? "takes an array" : "";
}

std::string find_flux(const SystemProblem& p, FluxSystem& flux) {
  if (p.rank != 3) return "takes three axes";
  if (p.updates.size() != 1) return "takes one update of one state";
  const SystemProblem::Update& update = p.updates.front();
  if (update.low != kHere || update.high != p.extents) return "takes updates of the whole domain";
  flux.u = update.field, flux.k = -1;
  Products products;
  if (std::string why = take_terms(p, flux, products); !why.empty()) return why;
  const std::string other = "takes u + sum of w (k + k') (u' - u) over six neighbours";
  double sum = 0.0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t side = 0; side < 2; ++side) {
      Index3 there = kHere;
      there[axis] = side == 0 ? -1 : 1;
      const double w = flux.weight[axis][side] = products.at(kHere, there);
      sum += w;
      if (w == 0.0 || !same(products.at(there, there), w) || !same(products.at(there, kHere), -w)) return other;
    }
  constexpr std::size_t kProducts = 19;  // with k here: 7; with a neighbour's: 2 of each
  if (products.by_places.size() != kProducts || !same(products.at(kHere, kHere), -sum) || products.own != 1.0)
    return other;
  for (const int index : {flux.u, flux.k}) {
    const SystemProblem::Field& field = p.fields[std::size_t(index)];
    if (!p.is_packed(field)) return "takes packed fields of the system's type";
    if (!field.has_fixed_sides()) return "takes fixed sides";
  }
  return {};
}

}  // namespace

std::optional<FluxSystem> flux_of(const SystemProblem& problem, std::string& why_not) {
  FluxSystem flux{};
  why_not = find_flux(problem, flux);
  return why_not.empty() ? std::optional(flux) : std::nullopt;
}

}  // namespace tessera::cuda
