// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "staggered.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace tessera::cuda {
namespace {

using plugin::Index3;
using plugin::SystemProblem;

/// Thrown inside, with the reason.
struct NotStaggered {
  std::string why;
};

constexpr Index3 kHere{0, 0, 0};

/// Taps of one field's level by their offsets, of terms with the same factor.
using TapsOfFields = std::map<std::pair<int, int>, std::map<Index3, double>>;

/// The axis along which an offset lies; 3 for none.
int axis_of(const Index3& offset) {
  int axis = 3;
  for (int a = 0; a < 3; ++a)
    if (offset[std::size_t(a)] != 0) {
      if (axis != 3) throw NotStaggered{"takes differences along one axis"};
      axis = a;
    }
  return axis;
}

/// The same but for roundings.
bool same(const StaggeredStage::Difference& a, const StaggeredStage::Difference& b) {
  constexpr double kRoundings = 1e-15;
  if (a.field != b.field || a.level != b.level || a.axis != b.axis || a.first != b.first) return false;
  return std::equal(a.taps.begin(), a.taps.end(), b.taps.begin(), [](double x, double y) {
    return std::abs(x - y) <= 4.0 * kRoundings * std::max(std::abs(x), std::abs(y));
  });
}

class StageReader {
 public:
  StageReader(const SystemProblem& problem, int stage) : p_(problem) { s_.stage = stage; }

  StaggeredStage read() {
    for (const SystemProblem::Update& update : p_.updates)
      if (update.stage == s_.stage) s_.radius = std::max(s_.radius, radius_of(update));
    if (s_.radius > kMostStageRadius) throw NotStaggered{"takes differences of radius 1 and 2"};
    s_.radius = std::max(s_.radius, 1);
    for (const SystemProblem::Update& update : p_.updates)
      if (update.stage == s_.stage) add(update);
    check_limits();
    return std::move(s_);
  }

 private:
  const SystemProblem::Field& field(int index) const { return p_.fields[std::size_t(index)]; }
  bool made_here(int index) const {
    return std::any_of(p_.updates.begin(), p_.updates.end(),
                       [&](const auto& u) { return u.stage == s_.stage && u.field == index; });
  }

  static int radius_of(const SystemProblem::Update& update) {
    std::int64_t radius = 0;
    for (const auto& group : update.groups)
      for (const auto& term : group.terms)
        for (const auto& f : term.factors)
          for (const std::int64_t x : f.offset) radius = std::max(radius, x < 0 ? -x : x);
    return int(std::min<std::int64_t>(radius, 99));
  }

  void check_field(const SystemProblem::Field& f) const {
    if (!p_.is_packed(f)) throw NotStaggered{"takes packed fields of the system's type"};
  }

  void add(const SystemProblem::Update& update) {
    const SystemProblem::Field& made = field(update.field);
    check_field(made);
    if (made.apart || made.levels != 1) throw NotStaggered{"takes states of one level that are made in place"};
    for (const StaggeredStage::Made& other : s_.made)
      if (other.field == update.field) throw NotStaggered{"takes one update of each state"};
    StaggeredStage::Made m{update.field, 0.0, {}, {}, {}};
    for (std::size_t a = 0; a < 3; ++a) {
      m.low[a] = int(std::max(update.low[a], update.frozen[a][0]));
      m.high[a] = int(std::min(update.high[a], p_.extents[a] - update.frozen[a][1]));
    }
    std::map<int, TapsOfFields> by_factor;
    for (const auto& group : update.groups)
      for (const auto& term : group.terms) add_term(group.factors, term, m, by_factor);
    for (const auto& [factor, fields] : by_factor) add_groups(factor, fields, m);
    if (m.groups.empty()) throw NotStaggered{"takes differences of other fields"};
    s_.made.push_back(std::move(m));
  }

  /// A term is a factor, or none, times a tap; the state itself stands for itself.
  void add_term(const std::vector<SystemProblem::Factor>& outer, const SystemProblem::Term& term,
                StaggeredStage::Made& m, std::map<int, TapsOfFields>& by_factor) {
    const SystemProblem::Factor *tap = nullptr, *factor = nullptr;
    for (const auto* list : {&outer, &term.factors})
      for (const auto& f : *list) {
        const bool state = field(f.field).state();
        if (state ? tap != nullptr : factor != nullptr) throw NotStaggered{"takes a state times an array in each term"};
        (state ? tap : factor) = &f;
      }
    if (tap == nullptr || tap->map != TESSERA_MAP_IDENTITY) throw NotStaggered{"takes a state in each term, as it is"};
    if (tap->field == m.field) {
      if (tap->offset != kHere || tap->level != 0 || factor != nullptr)
        throw NotStaggered{"takes a state that is made at the point itself"};
      m.own += term.coefficient;
      return;
    }
    if (made_here(tap->field)) throw NotStaggered{"takes states that other stages make"};
    check_field(field(tap->field));
    check_sides(*tap);
    by_factor[factor == nullptr ? -1 : number_of(*factor)][{tap->field, tap->level}][tap->offset] += term.coefficient;
  }

  void check_sides(const SystemProblem::Factor& tap) const {
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t x = tap.offset[a];
      if (x != 0 && field(tap.field).mode[a][x < 0 ? 0 : 1] != TESSERA_BOUNDARY_FIXED)
        throw NotStaggered{"takes fixed sides"};
    }
  }

  int number_of(const SystemProblem::Factor& f) {
    const bool reciprocal = f.map == TESSERA_MAP_RECIPROCAL;
    if (field(f.field).kind != TESSERA_FIELD_ARRAY || f.offset != kHere ||
        (f.map != TESSERA_MAP_IDENTITY && !reciprocal))
      throw NotStaggered{"takes arrays at the point itself, and their reciprocals"};
    check_field(field(f.field));
    const StaggeredStage::Factor factor{f.field, reciprocal};
    const auto known = std::find(s_.factors.begin(), s_.factors.end(), factor);
    if (known != s_.factors.end()) return int(known - s_.factors.begin());
    s_.factors.push_back(factor);
    return int(s_.factors.size()) - 1;
  }

  /// Cuts the taps of each field into differences along the axes, and these into groups of one scale.
  void add_groups(int factor, const TapsOfFields& fields, StaggeredStage::Made& m) {
    const std::size_t first = m.groups.size();
    for (const auto& [where, taps] : fields) {
      std::map<int, std::map<std::int64_t, double>> by_axis;
      for (const auto& [offset, coefficient] : taps) {
        const int axis = axis_of(offset);
        if (axis < 3) by_axis[axis][offset[std::size_t(axis)]] = coefficient;
      }
      const auto own = taps.find(kHere);  // belongs to any of the differences
      if (own != taps.end()) by_axis[by_axis.empty() ? 3 : by_axis.begin()->first][0] = own->second;
      for (const auto& [axis, along] : by_axis) {
        double scale = 1.0;
        const int number = difference(where.first, where.second, axis, along, scale);
        const auto group = std::find_if(m.groups.begin() + std::ptrdiff_t(first), m.groups.end(),
                                        [&](const auto& g) { return std::abs(g.scale - scale) <= 4e-15 * scale; });
        if (group != m.groups.end())
          group->differences.push_back(number);
        else
          m.groups.push_back({scale, factor, {number}});
      }
    }
  }

  /// The difference whose largest tap is 1, which several states may share; the rest is its scale.
  int difference(int of, int level, int axis, const std::map<std::int64_t, double>& along, double& scale) {
    const int r = s_.radius;
    scale = 0.0;
    for (const auto& [x, coefficient] : along) scale = std::max(scale, std::abs(coefficient));
    if (scale == 0.0) scale = 1.0;
    const bool behind = along.begin()->first == -r;
    StaggeredStage::Difference d{of, level, axis, axis == 3 ? 0 : behind ? -r : -r + 1, {}};
    for (const auto& [x, coefficient] : along) {
      const std::int64_t t = x - d.first;
      if (t < 0 || t >= 2 * r) throw NotStaggered{"takes differences of neighbours on a staggered grid"};
      d.taps[std::size_t(t)] = coefficient / scale;
    }
    // A tap that is not there must not be read: what is not finite would spread by 0 * x.
    if (axis < 3 && along.size() != std::size_t(2 * r)) throw NotStaggered{"takes differences with all their taps"};
    for (std::size_t i = 0; i < s_.differences.size(); ++i)
      if (same(s_.differences[i], d)) return int(i);
    s_.differences.push_back(d);
    return int(s_.differences.size()) - 1;
  }

  void check_limits() const {
    std::size_t groups = 0, list = 0;
    for (const StaggeredStage::Made& m : s_.made) {
      groups += m.groups.size();
      for (const StaggeredStage::Group& g : m.groups) list += g.differences.size();
    }
    if (s_.made.size() > std::size_t(kMostStageMade) || groups > std::size_t(kMostStageGroups) ||
        s_.factors.size() > std::size_t(kMostStageFactors) || list > std::size_t(kMostStageList) ||
        s_.differences.size() > std::size_t(kMostStageDifferences))
      throw NotStaggered{"takes stages of up to 6 states, 12 differences and 4 arrays"};
  }

  const SystemProblem& p_;
  StaggeredStage s_{};
};

}  // namespace

std::vector<StaggeredStage> staggered_of(const SystemProblem& problem, std::string& why_not) {
  std::vector<StaggeredStage> stages;
  try {
    if (problem.rank != 3) throw NotStaggered{"takes three axes"};
    for (const int stage : problem.stages)
      if (std::any_of(problem.updates.begin(), problem.updates.end(), [&](const auto& u) { return u.stage == stage; }))
        stages.push_back(StageReader(problem, stage).read());
  } catch (const NotStaggered& reason) {
    why_not = reason.why;
    stages.clear();
  }
  return stages;
}

}  // namespace tessera::cuda
