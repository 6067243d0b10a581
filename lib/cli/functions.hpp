// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The functions of expressions.
#pragma once

#include <tessera/system.h>
#include <tessera/taps.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::cli {

inline constexpr std::pair<const char*, tessera_map> kMaps[] = {{"abs", TESSERA_MAP_ABS},
                                                                {"positive_part", TESSERA_MAP_POSITIVE_PART},
                                                                {"negative_part", TESSERA_MAP_NEGATIVE_PART},
                                                                {"reciprocal", TESSERA_MAP_RECIPROCAL}};

/// Taps that a function makes of numbers, so many whole ones and then perhaps a spacing.
struct DerivedTaps {
  const char* form;
  std::size_t whole;
  Taps (*make)(int rank, const std::vector<double>& p, double spacing);
};
inline constexpr std::pair<const char*, DerivedTaps> kDerivedTaps[] = {
    {"laplacian",
     {"laplacian(field, accuracy) or laplacian(field, accuracy, spacing)", 1,
      [](int rank, const std::vector<double>& p, double h) { return taps::laplacian(rank, int(p[0]), h); }}},
    {"derivative",
     {"derivative(field, axis, order, accuracy) or derivative(field, axis, order, accuracy, spacing)", 3,
      [](int rank, const std::vector<double>& p, double h) {
        return taps::derivative(rank, int(p[0]), int(p[1]), int(p[2]), h);
      }}}};

/// What a list of pairs has under a name; null where that is nothing.
template <class List>
auto* named(const List& list, std::string_view name) {
  const auto found =
      std::find_if(std::begin(list), std::end(list), [name](const auto& entry) { return entry.first == name; });
  return found == std::end(list) ? nullptr : &found->second;
}

}  // namespace tessera::cli
