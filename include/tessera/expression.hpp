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
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

namespace detail {

/// The name of a field of a system. Its address tells the field from all others: each that is added has its own, and
/// copies of a system share those that were there.
using FieldIdentity = std::shared_ptr<const std::string>;

/// A field's number, and which field it is; null where nobody knows.
struct KnownField {
  std::int32_t index;
  FieldIdentity identity;
};

/// "u, v, w", of many the first few.
template <class List, class TextOf>
std::string few_of(const List& list, const TextOf& text_of) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < kMost; ++i) text += std::string(i == 0 ? "" : ", ") + text_of(list[i]);
  if (list.size() > kMost) text += " and " + std::to_string(list.size() - kMost) + " more";
  return text;
}

/// The fields of a system, or of a plan of it, by their numbers.
class OwnFields {
 public:
  void add(FieldIdentity identity) { list_.push_back(std::move(identity)); }
  std::size_t size() const { return list_.size(); }
  const std::string& name(std::size_t index) const { return *list_[index]; }
  std::string names() const {
    return few_of(list_, [](const FieldIdentity& identity) { return *identity; });
  }
  /// Throws invalid_argument unless the field is one of these. `where`() says which argument it is.
  template <class Where>
  void require(const KnownField& field, const Where& where) const {
    const bool in_range = field.index >= 0 && std::size_t(field.index) < list_.size();
    if (in_range && (!field.identity || field.identity == list_[std::size_t(field.index)])) return;
    if (!field.identity)
      throw Error(ErrorCode::invalid_argument,
                  where() + "field " + std::to_string(field.index) + ", which is not one of this system's: " + names());
    throw Error(ErrorCode::invalid_argument,
                where() + "'" + *field.identity +
                    "' of another StencilSystem; must be a field of this one, as its state(), array(), profile() or "
                    "field() returned it: " +
                    (list_.empty() ? "none yet" : names()));
  }

 private:
  std::vector<FieldIdentity> list_;
};

}  // namespace detail

/// A sum of groups, each a product of values at the point itself times a sum of terms, each a coefficient times a
/// product of values. Up to four and three values in these products. Made by + - * of fields and numbers. It remembers
/// whose fields these are. What throws leaves both sides as they were.
class Expression {
 public:
  /// The product of `factors`, at most four, each read at the point itself, times the sum of `terms`, at least one.
  struct Group {
    std::vector<tessera_factor> factors;
    std::vector<tessera_term> terms;
  };

  Expression(double value) : groups_{{{}, {{value, 0, {}}}}} {}
  /// A value of the field of that number, whichever system the expression is given to.
  explicit Expression(const tessera_factor& factor)
      : groups_{{{}, {{1.0, 1, {factor}}}}}, fields_{{factor.field, nullptr}} {}

  const std::vector<Group>& groups() const { return groups_; }
  /// The fields that are read, each once.
  const std::vector<detail::KnownField>& fields() const { return fields_; }

  Expression& operator+=(const Expression& other) {
    Expression sum = *this;
    for (const Group& group : other.groups_) {
      const auto same = std::find_if(sum.groups_.begin(), sum.groups_.end(),
                                     [&](const Group& own) { return equal(own.factors, group.factors); });
      if (same == sum.groups_.end())
        sum.groups_.push_back(group);
      else
        same->terms.insert(same->terms.end(), group.terms.begin(), group.terms.end());
    }
    sum.add_fields(other);
    return *this = std::move(sum);
  }
  /// One of both is a number times up to three values. Throws invalid_argument where both are sums, and where a product
  /// has more than three values.
  Expression& operator*=(const Expression& other) {
    if (!other.is_product()) {
      if (!is_product()) refuse("two sums cannot be multiplied: multiply out, or store one of them in a field");
      return *this = Expression(other) *= *this;
    }
    const tessera_term factor = other.groups_[0].terms[0];
    const std::vector<tessera_factor>& outer = other.groups_[0].factors;
    Expression product = *this;
    for (Group& group : product.groups_) {
      for (const tessera_factor& f : outer) group.factors.push_back(f);
      multiply(group, factor);
      if (group.factors.size() > TESSERA_MAX_GROUP_FACTORS)
        refuse("a group has at most four values in front of its sum");
    }
    product.add_fields(other);
    return *this = std::move(product);
  }

  friend Expression operator+(Expression a, const Expression& b) { return a += b; }
  friend Expression operator-(Expression a, const Expression& b) { return a += -1.0 * b; }
  friend Expression operator-(const Expression& a) { return -1.0 * a; }
  friend Expression operator*(Expression a, const Expression& b) { return a *= b; }

 private:
  friend class SystemField;
  Expression(std::vector<tessera_term> terms, detail::KnownField field)
      : groups_{{{}, std::move(terms)}}, fields_{std::move(field)} {}

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
  void add_fields(const Expression& other) {
    for (const detail::KnownField& field : other.fields_) {
      const auto same = [&](const detail::KnownField& own) {
        return own.index == field.index && own.identity == field.identity;
      };
      if (std::none_of(fields_.begin(), fields_.end(), same)) fields_.push_back(field);
    }
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
  std::vector<detail::KnownField> fields_;
};

/// A field of a system, as expressions read it: at a level of time, an offset, and through a map. It is a field of the
/// system that made it, wherever that is moved to, and of each copy that is made of that system afterwards; every other
/// system refuses it, and so do plans of others.
class SystemField {
 public:
  /// The field of that number, whichever system it is given to.
  SystemField(std::int32_t index, int rank) : SystemField(index, rank, nullptr) {}

  operator Expression() const { return Expression({{1.0, 1, {factor_}}}, known()); }
  /// The level: u[+1] is made by an earlier stage, u[-1] is the one before u.
  SystemField operator[](int level) const {
    SystemField other = *this;
    other.factor_.level = level;
    return other;
  }
  /// At a neighbour, an offset for each axis.
  SystemField at(const Integers& offset) const {
    if (offset.size() != std::size_t(rank_))
      throw Error(ErrorCode::invalid_argument, "offset of " + std::to_string(offset.size()) + " axes: must be of " +
                                                   std::to_string(rank_) + ", as the system has");
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
                                                   std::to_string(rank_) + (rank_ == 1 ? " axis" : " axes") +
                                                   ": must be as many");
    if (taps.size() == 0) throw Error(ErrorCode::invalid_argument, "taps are empty: must be at least one");
    std::vector<tessera_term> terms;
    terms.reserve(taps.size());
    for (const Tap& tap : taps) {
      tessera_factor neighbour = factor_;
      for (std::size_t axis = 0; axis < std::size_t(rank_); ++axis) neighbour.offset[axis] += tap.offset[axis];
      terms.push_back({tap.coefficient, 1, {neighbour}});
    }
    return Expression(std::move(terms), known());
  }
  std::int32_t index() const { return factor_.field; }
  detail::KnownField known() const { return {factor_.field, identity_}; }
  /// As it was added; "field 3" where only the number is known.
  std::string name() const { return identity_ ? *identity_ : "field " + std::to_string(index()); }

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
  friend class StencilSystem;
  SystemField(std::int32_t index, int rank, detail::FieldIdentity identity)
      : rank_(rank), identity_(std::move(identity)) {
    factor_.field = index;
  }

  int rank_;
  tessera_factor factor_{};
  detail::FieldIdentity identity_;
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
