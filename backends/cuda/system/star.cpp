// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "star.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::Index3;
using plugin::SystemProblem;

/// Thrown inside, with the reason.
struct NoStar {
  std::string why;
};

/// A sum of taps of states, times the same array, or none.
struct Part {
  std::map<std::pair<std::pair<int, int>, Index3>, double> taps;  ///< by (field, level) and offset
};

constexpr Index3 kHere{0, 0, 0};

class Finder {
 public:
  explicit Finder(const SystemProblem& problem) : p_(problem) {}

  StarSystem find() {
    check_updates();
    star_.centre[0] = star_.centre[1] = star_.other_coefficient = 0.0;
    const SystemProblem::Update& update = p_.updates.front();
    for (const SystemProblem::Group& group : update.groups)
      for (const SystemProblem::Term& term : group.terms) add(group.factors, term);
    star_.made = update.field;
    std::copy(profiles_.begin(), profiles_.end(), star_.profiles.begin());
    take_parts();
    check_fields();
    return star_;
  }

 private:
  const SystemProblem::Field& field(int index) const { return p_.fields[std::size_t(index)]; }

  void check_updates() const {
    if (p_.rank != 3) throw NoStar{"takes three axes"};
    if (p_.updates.size() != 1) throw NoStar{"takes one update of one state"};
    const SystemProblem::Update& update = p_.updates.front();
    if (update.low != kHere || update.high != p_.extents) throw NoStar{"takes updates of the whole domain"};
  }

  /// Sorts a term's values: at most an array, profiles, and a state at an offset.
  void add(const std::vector<SystemProblem::Factor>& outer, const SystemProblem::Term& term) {
    int array = -1;
    std::array<int, 3> profiles{-1, -1, -1};
    const SystemProblem::Factor* state = nullptr;
    const auto take = [&](const SystemProblem::Factor& f) {
      const SystemProblem::Field& read = field(f.field);
      if (f.map != TESSERA_MAP_IDENTITY) throw NoStar{"takes values as they are"};
      if (read.kind == TESSERA_FIELD_PROFILE) {
        int& place = profiles[std::size_t(read.axis)];
        if (place >= 0 || f.offset != kHere) throw NoStar{"takes a profile an axis, at the point itself"};
        place = f.field;
      } else if (read.kind == TESSERA_FIELD_ARRAY) {
        if (array >= 0 || f.offset != kHere) throw NoStar{"takes an array a term, at the point itself"};
        array = f.field;
      } else {
        if (state != nullptr) throw NoStar{"takes a state a term"};
        state = &f;
      }
    };
    for (const SystemProblem::Factor& f : outer) take(f);
    for (const SystemProblem::Factor& f : term.factors) take(f);
    if (state == nullptr) throw NoStar{"takes a state in each term"};
    if (!parts_.empty() && profiles != profiles_) throw NoStar{"takes the same profiles in front of all terms"};
    profiles_ = profiles;
    parts_[array].taps[{{state->field, state->level}, state->offset}] += term.coefficient;
  }

  /// The part with the star, and what stands in front of it.
  void take_parts() {
    const auto spreads = [](const Part& part) {
      return std::any_of(part.taps.begin(), part.taps.end(), [](const auto& tap) { return tap.first.second != kHere; });
    };
    const auto with_star = std::find_if(parts_.begin(), parts_.end(), [&](const auto& p) { return spreads(p.second); });
    if (with_star == parts_.end()) throw NoStar{"takes a star"};
    if (parts_.size() > 2) throw NoStar{"takes a star with an array, and one other sum"};
    take_star(with_star->second, with_star->first >= 0);
    star_.array = with_star->first;
    const Part* front = nullptr;
    for (const auto& [array, part] : parts_)
      if (array != star_.array) front = &part, star_.damping = array;
    if (front != nullptr) {
      if (star_.array < 0 || spreads(*front)) throw NoStar{"takes a star with an array behind values of the point itself"};
      for (const auto& [where, coefficient] : front->taps) take_own(where.first, coefficient, star_.centre[0]);
      if (star_.centre[0] == 0.0) throw NoStar{"takes the star's state in front of the star"};
    } else if (star_.array >= 0) {
      throw NoStar{"takes a star with an array behind the state itself"};
    }
    choose_form();
  }

  void take_own(std::pair<int, int> where, double coefficient, double& centre) {
    if (StarValue{where.first, where.second} == star_.u) {
      centre += coefficient;
      return;
    }
    if (star_.other.field >= 0) throw NoStar{"takes one value of the point itself beside the star's state"};
    star_.other = {where.first, where.second};
    star_.other_coefficient = coefficient;
  }

  void take_star(const Part& part, bool with_array) {
    for (const auto& [where, coefficient] : part.taps)
      if (where.second != kHere) star_.u = {where.first.first, where.first.second};
    std::set<Index3> offsets;
    int radius = 0;
    for (const auto& [where, coefficient] : part.taps) {
      if (where.second == kHere) {
        take_own(where.first, coefficient, star_.centre[1]);
        continue;
      }
      if (StarValue{where.first.first, where.first.second} != star_.u) throw NoStar{"takes one state at neighbours"};
      for (const std::int64_t x : where.second) radius = std::max(radius, int(std::min<std::int64_t>(x < 0 ? -x : x, 99)));
      offsets.insert(where.second);
    }
    if (radius > kMostStarRadius) throw NoStar{"takes stars of radius 1 to 4"};
    if (with_array && star_.other.field >= 0) throw NoStar{"takes no other value within a star with an array"};
    if (star_.centre[1] == 0.0 || offsets.size() != std::size_t(6 * radius)) throw NoStar{"takes full stars"};
    star_.radius = radius;
    for (const auto& [where, coefficient] : part.taps) {
      if (where.second == kHere) continue;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        Index3 rest = where.second;
        const std::int64_t x = std::exchange(rest[axis], 0);
        if (x != 0 && rest != kHere) throw NoStar{"takes stars"};
        if (x != 0) star_.taps[axis][x < 0 ? x + radius : x + radius - 1] = coefficient;
      }
    }
  }

  void choose_form() {
    const bool other = star_.other.field >= 0;
    if (star_.array < 0)
      star_.form = other ? StarForm::wave : StarForm::heat;
    else if (star_.damping < 0)
      star_.form = other ? StarForm::wave_medium : StarForm::heat_medium;
    else if (other)
      star_.form = StarForm::wave_damped;
    else
      throw NoStar{"takes two arrays where another value of the point itself is added"};
  }

  void check_fields() const {
    const Index3 packed{p_.extents[1] * p_.extents[2], p_.extents[2], 1};
    for (const int index : {star_.made, star_.u.field, star_.other.field, star_.array, star_.damping})
      if (index >= 0 && (field(index).strides != packed || field(index).dtype != p_.dtype))
        throw NoStar{"takes packed fields of the system's type"};
    for (const int index : star_.profiles)
      if (index >= 0 && (field(index).strides[std::size_t(field(index).axis)] != 1 || field(index).dtype != p_.dtype))
        throw NoStar{"takes packed profiles of the system's type"};
    for (const auto& sides : field(star_.u.field).mode)
      for (const tessera_boundary mode : sides)
        if (mode != TESSERA_BOUNDARY_FIXED) throw NoStar{"takes fixed sides"};
    if (star_.u != StarValue{star_.made, 0}) throw NoStar{"takes a star of the newest level of the state that it makes"};
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    if (p_.extents[0] * p_.extents[1] >= kMost || p_.extents[2] >= kMost / 2)
      throw NoStar{"takes planes and rows below 2^31"};
  }

  const SystemProblem& p_;
  std::map<int, Part> parts_;  ///< by their array
  std::array<int, 3> profiles_{-1, -1, -1};
  StarSystem star_{};
};

}  // namespace

std::optional<StarSystem> star_of(const SystemProblem& problem, std::string& why_not) {
  try {
    return Finder(problem).find();
  } catch (const NoStar& reason) {
    why_not = reason.why;
    return std::nullopt;
  }
}

}  // namespace tessera::cuda
