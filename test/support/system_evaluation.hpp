// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What an update of a system of fields means at a point, in long double, and how far what is computed in the system's
/// types may be from it. Knows nothing of the library but its C structs.
#pragma once

#include "beyond.hpp"
#include "element_numbers.hpp"

#include <tessera/system.h>
#include <tessera/dtype.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tessera::test {

using Place = std::array<std::int64_t, TESSERA_MAX_RANK>;

/// A value, and how far what is computed in the system's types may be from it.
struct Number {
  long double value = 0.0L, error = 0.0L;
  long double largest() const { return std::abs(value) + error; }
};

inline Number operator*(const Number& a, const Number& b) {
  return {a.value * b.value, a.largest() * b.largest() - std::abs(a.value) * std::abs(b.value)};
}

inline Number mapped(tessera_map map, const Number& x) {
  switch (map) {
    case TESSERA_MAP_ABS:
      return {std::abs(x.value), x.error};
    case TESSERA_MAP_POSITIVE_PART:
      return {x.value < 0 ? 0 : x.value, x.error};
    case TESSERA_MAP_NEGATIVE_PART:
      return {x.value > 0 ? 0 : x.value, x.error};
    case TESSERA_MAP_RECIPROCAL: {
      const long double least = std::abs(x.value) - x.error;
      const long double far = least > 0 ? 1 / least - 1 / std::abs(x.value) : std::numeric_limits<long double>::max();
      return {1 / x.value, x.error > 0 ? far : 0.0L};
    }
    default:
      return x;
  }
}

/// Half the distance of two numbers of a type around 1, and the least number.
inline long double roundoff(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return std::ldexp(1.0L, -Numbers<T>::kDigits); });
}
inline long double least(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return (long double)(Numbers<T>::kLeast); });
}

/// Evaluates updates. `at(field, level, place)` gives the Number of a place in the domain.
template <class At>
struct SystemEvaluation {
  const tessera_system_desc& system;
  Place extents;
  long double unit, least;  ///< of the system's type; 0 where no errors are wanted
  At at;

  /// The new value at a point; false where a read leaves across a fixed side, so that the point keeps its own. Each
  /// rounding, in whichever order sums are made, is at most that of the sum of absolute values; a term meets at most as
  /// many as there are operations.
  bool update(const tessera_update& u, const Place& place, Number& sum) const {
    sum = {};
    long double magnitude = 0.0L, operations = 1.0L;
    bool free = true;
    for (std::int64_t g = 0; g < u.group_count; ++g) {
      const tessera_group& group = u.groups[g];
      Number terms, outer{1.0L, 0.0L};
      long double of_terms = 0.0L;
      for (std::int64_t t = 0; t < group.term_count; ++t) {
        Number term{group.terms[t].coefficient, 0.0L};
        free &= multiply(group.terms[t].factors, group.terms[t].factor_count, place, term);
        terms.value += term.value, terms.error += term.error;
        of_terms += term.largest();
        operations += 2.0L + (long double)(2 * group.terms[t].factor_count);  // reciprocals round, too
      }
      free &= multiply(group.factors, group.factor_count, place, outer);
      const Number product = outer * terms;
      sum.value += product.value, sum.error += product.error;
      magnitude += outer.largest() * of_terms;
      operations += 2.0L + (long double)(2 * group.factor_count);
    }
    constexpr long double kSecondOrder = 1.01L;
    sum.error += kSecondOrder * operations * (unit * magnitude + least);
    return free;
  }

  /// A value that is read at a point; false where the point keeps its own.
  bool read(const tessera_factor& f, const Place& place, Number& value) const {
    const tessera_field& field = system.fields[f.field];
    Place p{0, 0, 0};
    bool constant = false;
    long double outside = 0.0L;
    for (int axis = 0; axis < system.rank; ++axis) {
      p[std::size_t(axis)] = place[std::size_t(axis)] + f.offset[axis];
      const std::int64_t n = extents[std::size_t(axis)], i = p[std::size_t(axis)];
      if (i >= 0 && i < n) continue;
      const int side = i < 0 ? 0 : 1;
      const tessera_boundary mode = field.boundary[axis][side];
      if (mode == TESSERA_BOUNDARY_FIXED) return false;
      if (mode == TESSERA_BOUNDARY_CONSTANT && !constant) constant = true, outside = field.boundary_value[axis][side];
      p[std::size_t(axis)] = mode == TESSERA_BOUNDARY_CONSTANT ? i : source_of(Boundary(mode), i, n);
    }
    value = mapped(f.map, constant ? Number{outside, unit * std::abs(outside)} : at(f.field, f.level, p));
    return true;
  }
  bool multiply(const tessera_factor* factors, std::int64_t count, const Place& place, Number& value) const {
    bool free = true;
    for (std::int64_t i = 0; i < count; ++i) {
      Number factor;
      free &= read(factors[i], place, factor);
      value = value * factor;
    }
    return free;
  }
};
/// Clang 16 deduces no arguments of aggregates by itself.
template <class At>
SystemEvaluation(const tessera_system_desc&, Place, long double, long double, At) -> SystemEvaluation<At>;

}  // namespace tessera::test
