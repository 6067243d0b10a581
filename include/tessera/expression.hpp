// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Expressions of fields: what updates of stencil systems are made of.
#pragma once

#include <tessera/system.h>
#include <tessera/error.hpp>
#include <tessera/integer.hpp>
#include <tessera/taps.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// A sum of groups, each a product of values at the point itself times a sum of terms, each a coefficient times a
/// product of values. Up to four and three values in these products. Made by + - * of fields and numbers.
class Expression {
 public:
  /// The product of `factors`, at most four, each read at the point itself, times the sum of `terms`, at least one.
  struct Group {
    std::vector<tessera_factor> factors;
    std::vector<tessera_term> terms;
  };

  Expression(double value) : groups_{{{}, {{value, 0, {}}}}} {}
  explicit Expression(const tessera_factor& factor) : groups_{{{}, {{1.0, 1, {factor}}}}} {}

  const std::vector<Group>& groups() const { return groups_; }

  Expression& operator+=(const Expression& other) {
    for (const Group& group : std::vector<Group>(other.groups_)) {
      const auto same = std::find_if(groups_.begin(), groups_.end(),
                                     [&](const Group& own) { return equal(own.factors, group.factors); });
      if (same == groups_.end())
        groups_.push_back(group);
      else
        same->terms.insert(same->terms.end(), group.terms.begin(), group.terms.end());
    }
    return *this;
  }
  /// One of both is a number times up to three values. Throws invalid_argument where both are sums, and where a product
  /// has more than three values.
  Expression& operator*=(const Expression& other) {
    if (!other.is_product()) {
      if (!is_product()) refuse("two sums cannot be multiplied: multiply out, or store one of them in a field");
      return *this = Expression(other) *= *this;
    }
    const tessera_term factor = other.groups_[0].terms[0];
    const std::vector<tessera_factor> outer = other.groups_[0].factors;
    for (Group& group : groups_) {
      for (const tessera_factor& f : outer) group.factors.push_back(f);
      multiply(group, factor);
      if (group.factors.size() > TESSERA_MAX_GROUP_FACTORS)
        refuse("a group has at most four values in front of its sum");
    }
    return *this;
  }

  friend Expression operator+(Expression a, const Expression& b) { return a += b; }
  friend Expression operator-(Expression a, const Expression& b) { return a += -1.0 * b; }
  friend Expression operator-(const Expression& a) { return -1.0 * a; }
  friend Expression operator*(Expression a, const Expression& b) { return a *= b; }

 private:
  [[noreturn]] static void refuse(const char* why) {
    throw Error(ErrorCode::invalid_argument, std::string("expression: ") + why);
  }
  static bool equal(const tessera_factor& a, const tessera_factor& b) {
    return a.field == b.field && a.level == b.level && a.map == b.map && std::equal(a.offset, a.offset + 3, b.offset);
  }
  static bool equal(const std::vector<tessera_factor>& a, const std::vector<tessera_factor>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return equal(x, y); });
  }
  static bool pointwise(const tessera_factor& f) {
    return std::all_of(f.offset, f.offset + TESSERA_MAX_RANK, [](std::int64_t x) { return x == 0; });
  }
  bool is_product() const { return groups_.size() == 1 && groups_[0].terms.size() == 1; }

  /// Values at the point itself go in front of a sum, so that they are read once for all of its terms; and in front of
  /// a term that is full.
  static void multiply(Group& group, const tessera_term& factor) {
    for (tessera_term& term : group.terms) term.coefficient *= factor.coefficient;
    for (std::int64_t i = 0; i < factor.factor_count; ++i) {
      const bool full = group.terms.front().factor_count == TESSERA_MAX_FACTORS;
      if ((group.terms.size() > 1 || full) && pointwise(factor.factors[i])) {
        group.factors.push_back(factor.factors[i]);
        continue;
      }
      for (tessera_term& term : group.terms) {
        if (term.factor_count == TESSERA_MAX_FACTORS) refuse("a term has at most three values");
        term.factors[term.factor_count++] = factor.factors[i];
      }
    }
  }

  std::vector<Group> groups_;
};

/// A field of a system, as expressions read it: at a level of time, an offset, and through a map.
class SystemField {
 public:
  SystemField(std::int32_t index, int rank) : rank_(rank) { factor_.field = index; }

  operator Expression() const { return Expression(factor_); }
  /// The level: u[+1] is made by an earlier stage, u[-1] is the one before u.
  SystemField operator[](int level) const {
    SystemField other = *this;
    other.factor_.level = level;
    return other;
  }
  /// At a neighbour, an offset for each axis.
  SystemField at(const Integers& offset) const {
    if (offset.size() != std::size_t(rank_))
      throw Error(ErrorCode::invalid_argument,
                  "offset of " + std::to_string(offset.size()) + " axes: the system has " + std::to_string(rank_));
    SystemField other = *this;
    std::copy(offset.begin(), offset.end(), other.factor_.offset);
    return other;
  }
  SystemField through(tessera_map map) const {
    SystemField other = *this;
    other.factor_.map = map;
    return other;
  }
  /// sum of coefficient * field at offset. Throws where the ranks differ, or there are no taps.
  Expression under(const Taps& taps) const {
    if (taps.rank() != rank_)
      throw Error(ErrorCode::invalid_argument, "taps have rank " + std::to_string(taps.rank()) + ", the system has " +
                                                   std::to_string(rank_) + (rank_ == 1 ? " axis" : " axes"));
    if (taps.size() == 0) throw Error(ErrorCode::invalid_argument, "taps are empty: must be at least one");
    std::optional<Expression> sum;
    for (const Tap& tap : taps) {
      SystemField neighbour = *this;
      for (std::size_t axis = 0; axis < std::size_t(rank_); ++axis) neighbour.factor_.offset[axis] += tap.offset[axis];
      const Expression term = tap.coefficient * Expression(neighbour);
      sum = sum ? *sum + term : term;
    }
    return *sum;
  }
  std::int32_t index() const { return factor_.field; }

  friend Expression operator+(const SystemField& a, const SystemField& b) { return Expression(a) + Expression(b); }
  friend Expression operator-(const SystemField& a, const SystemField& b) { return Expression(a) - Expression(b); }
  friend Expression operator*(const SystemField& a, const SystemField& b) { return Expression(a) * Expression(b); }
  friend Expression operator+(const SystemField& a, double b) { return Expression(a) + Expression(b); }
  friend Expression operator+(double a, const SystemField& b) { return Expression(a) + Expression(b); }
  friend Expression operator-(const SystemField& a, double b) { return Expression(a) - Expression(b); }
  friend Expression operator-(double a, const SystemField& b) { return Expression(a) - Expression(b); }
  friend Expression operator*(const SystemField& a, double b) { return Expression(a) * Expression(b); }
  friend Expression operator*(double a, const SystemField& b) { return Expression(a) * Expression(b); }
  friend Expression operator-(const SystemField& a) { return -Expression(a); }

 private:
  int rank_;
  tessera_factor factor_{};
};

/// |x|.
inline SystemField abs(const SystemField& x) { return x.through(TESSERA_MAP_ABS); }
/// max(x, 0).
inline SystemField positive_part(const SystemField& x) { return x.through(TESSERA_MAP_POSITIVE_PART); }
/// min(x, 0).
inline SystemField negative_part(const SystemField& x) { return x.through(TESSERA_MAP_NEGATIVE_PART); }
/// 1 / x.
inline SystemField reciprocal(const SystemField& x) { return x.through(TESSERA_MAP_RECIPROCAL); }

}  // namespace tessera
