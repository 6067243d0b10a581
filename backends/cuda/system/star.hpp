// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Systems that step one state by a star: waves and diffusion. Host and device share it.
#pragma once

#include <tessera/plugin/system_problem.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace tessera::cuda {

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
inline constexpr int kStarForms = 5;

constexpr bool has_other(StarForm form) {
  return form == StarForm::wave || form == StarForm::wave_medium || form == StarForm::wave_damped;
}
constexpr bool has_array(StarForm form) { return form >= StarForm::heat_medium; }
constexpr bool has_damping(StarForm form) { return form == StarForm::wave_damped; }
/// Arrays that are read at the point itself.
constexpr int streams_of(StarForm form) {
  return int(has_other(form)) + int(has_array(form)) + int(has_damping(form));
}

/// Where the value at a point of a level is read.
struct StarValue {
  int field = -1, level = 0;
  bool operator==(const StarValue&) const = default;
};

/// A system of that kind, with its coefficients.
struct StarSystem {
  StarForm form;
  int radius;
  int made;                      ///< the state whose next level is made
  StarValue u, other;            ///< the star's state; v
  int array = -1, damping = -1;  ///< fields a and b
  std::array<int, 3> profiles{-1, -1, -1};  ///< fields, by axis
  double centre[2];  ///< of u: in front of the star, in the star
  double other_coefficient;
  double taps[3][2 * kMostStarRadius];  ///< by axis; offsets -radius to -1, 1 to radius
};

/// The star of a system, or none with the reason why not.
std::optional<StarSystem> star_of(const plugin::SystemProblem& problem, std::string& why_not);

}  // namespace tessera::cuda
