// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Systems that step one state by a star: waves and diffusion, which backends have fast ways for.
#pragma once

#include <tessera/plugin/system_problem.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// Largest radius of a star, in points.
inline constexpr int kMostStarRadius = 4;

/// What a step computes of a state u, another one v at the point itself, arrays a and b, and taps of a full star:
/// each times up to three profiles.
enum class StarForm {
  heat,         ///< star(u)
  wave,         ///< star(u) + v
  heat_medium,  ///< u + a star(u)
  wave_medium,  ///< u + v + a star(u)
  wave_damped   ///< b (u + v) + a star(u)
};
/// Number of forms.
inline constexpr int kStarForms = 5;

/// Whether the form adds v, another state at the point itself.
constexpr bool has_other(StarForm form) {
  return form == StarForm::wave || form == StarForm::wave_medium || form == StarForm::wave_damped;
}
/// Whether the form multiplies the star by an array a.
constexpr bool has_array(StarForm form) { return form >= StarForm::heat_medium; }
/// Whether the form multiplies u + v by an array b.
constexpr bool has_damping(StarForm form) { return form == StarForm::wave_damped; }
/// Arrays that are read at the point itself.
constexpr int streams_of(StarForm form) { return int(has_other(form)) + int(has_array(form)) + int(has_damping(form)); }

/// Where the value at a point of a level is read.
struct StarValue {
  int field = -1, level = 0;
  bool operator==(const StarValue&) const = default;
};

/// A system of that kind, with its coefficients.
struct StarSystem {
  StarForm form;
  int radius;
  int made;                                 ///< the state whose next level is made
  StarValue u, other;                       ///< the star's state; v
  int array = -1, damping = -1;             ///< fields a and b
  std::array<int, 3> profiles{-1, -1, -1};  ///< fields, by axis
  double centre[2];                         ///< of u: in front of the star, in the star
  double other_coefficient;
  double taps[3][2 * kMostStarRadius];  ///< by axis; offsets -radius to -1, 1 to radius
};

namespace detail {

/// Thrown inside, with the reason.
struct NoStar {
  std::string why;
};

/// A sum of taps of states, times the same array, or none.
struct StarPart {
  std::map<std::pair<std::pair<int, int>, Index3>, double> taps;  ///< by (field, level) and offset
};

class StarFinder {
 public:
  explicit StarFinder(const SystemProblem& problem) : p_(problem) {}

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
    check_coefficients();
    return star_;
  }

 private:
  static constexpr Index3 kHere{0, 0, 0};
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
    const auto spreads = [](const StarPart& part) {
      return std::any_of(part.taps.begin(), part.taps.end(), [](const auto& tap) { return tap.first.second != kHere; });
    };
    const auto with_star = std::find_if(parts_.begin(), parts_.end(), [&](const auto& p) { return spreads(p.second); });
    if (with_star == parts_.end()) throw NoStar{"takes a star"};
    if (parts_.size() > 2) throw NoStar{"takes a star with an array, and one other sum"};
    take_star(with_star->second, with_star->first >= 0);
    star_.array = with_star->first;
    const StarPart* front = nullptr;
    for (const auto& [array, part] : parts_)
      if (array != star_.array) front = &part, star_.damping = array;
    if (front != nullptr) {
      if (star_.array < 0 || spreads(*front))
        throw NoStar{"takes a star with an array behind values of the point itself"};
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

  void take_star(const StarPart& part, bool with_array) {
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
      for (const std::int64_t x : where.second)
        radius = (std::max)(radius, int(std::min<std::int64_t>(x < 0 ? -x : x, 99)));
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

  /// Sums of coefficients, which nobody has checked.
  void check_coefficients() const {
    const auto check = [this](double coefficient) {
      const bool finite = with_types<WideTypes>(
          p_.dtype, [&]<class T>(std::type_identity<T>) { return T(coefficient) - T(coefficient) == T(0); });
      if (!finite) throw NoStar{"takes coefficients whose sums are finite"};
    };
    check(star_.centre[0]), check(star_.centre[1]), check(star_.other_coefficient);
    for (const auto& taps : star_.taps)
      for (const double tap : taps) check(tap);
  }

  void check_fields() const {
    for (const int index : {star_.made, star_.u.field, star_.other.field, star_.array, star_.damping})
      if (index >= 0 && !p_.is_packed(field(index))) throw NoStar{"takes packed fields of the system's type"};
    for (const int index : star_.profiles)
      if (index >= 0 && (field(index).strides[std::size_t(field(index).axis)] != 1 || field(index).dtype != p_.dtype))
        throw NoStar{"takes packed profiles of the system's type"};
    if (!field(star_.u.field).has_fixed_sides()) throw NoStar{"takes fixed sides"};
    if (star_.u != StarValue{star_.made, 0})
      throw NoStar{"takes a star of the newest level of the state that it makes"};
  }

  const SystemProblem& p_;
  std::map<int, StarPart> parts_;  ///< by their array
  std::array<int, 3> profiles_{-1, -1, -1};
  StarSystem star_{};
};

}  // namespace detail

/// The star of a system, or none with the reason why not.
inline std::optional<StarSystem> star_of(const SystemProblem& problem, std::string& why_not) {
  try {
    return detail::StarFinder(problem).find();
  } catch (const detail::NoStar& reason) {
    why_not = reason.why;
    return std::nullopt;
  }
}

}  // namespace tessera::plugin
