// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "expression.hpp"

#include "functions.hpp"
#include "json_text.hpp"
#include "scanner.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace tessera::cli {
namespace {

class Parser : Scanner {
 public:
  Parser(std::string_view text, const ExpressionNames& names) : Scanner(text), names_(names) {}

  Expression all() {
    Expression value = sum();
    if (!at_end()) unexpected("+, -, *, / or the end");
    return value;
  }

 private:
  /// What the library refuses is a mistake at that place.
  template <class Make>
  auto checked(std::size_t place, Make&& make) const {
    try {
      return make();
    } catch (const Error& error) {
      fail(place, error.what());
    }
  }

  Expression sum() {
    constexpr int kDeepest = 64;
    if (++depth_ > kDeepest) fail(at_, "parentheses are nested more than " + std::to_string(kDeepest) + " deep");
    Expression value = product();
    while (next() == '+' || next() == '-') {
      const bool minus = text_[at_++] == '-';
      value = minus ? std::move(value) - product() : std::move(value) + product();
    }
    --depth_;
    return value;
  }

  Expression product() {
    Expression value = factor();
    while (next() == '*' || next() == '/') {
      const std::size_t place = at_;
      const bool divides = text_[at_++] == '/';
      const Expression right = factor();
      if (divides)
        divide(place, value, right);
      else
        checked(place, [&] { value *= right; });
    }
    return value;
  }

  void divide(std::size_t place, Expression& value, const Expression& right) const {
    if (!is_number(right)) fail(place, "only a number divides; multiply by the reciprocal of a field, reciprocal(u)");
    const double divisor = right.groups()[0].terms[0].coefficient;
    if (divisor == 0.0) fail(place, "a division by 0");
    if (is_number(value))
      value = value.groups()[0].terms[0].coefficient / divisor;
    else
      value *= 1.0 / divisor;
  }
  static bool is_number(const Expression& e) {
    return e.groups().size() == 1 && e.groups()[0].factors.empty() && e.groups()[0].terms.size() == 1 &&
           e.groups()[0].terms[0].factor_count == 0;
  }

  Expression factor() {
    bool minus = false;
    for (; next() == '+' || next() == '-'; ++at_) minus ^= text_[at_] == '-';
    const Expression value = unsigned_factor();
    return minus ? -value : value;
  }

  Expression unsigned_factor() {
    if (begins_number()) return number();
    if (next() == '(') {
      ++at_;
      Expression value = sum();
      expect(')', "+, -, *, / or )");
      return value;
    }
    if (!begins_name()) unexpected("a number, a field, a function or (");
    const std::size_t place = at_;
    const std::string_view name = word();
    if (const DerivedTaps* const function = named(kDerivedTaps, name)) return under(place, *function);
    if (const Taps* const taps = named(names_.taps, name)) {
      expect('(', "( and a field that the taps are applied to");
      const SystemField operand = value();
      expect(')', ")");
      return checked(place, [&] { return operand.under(*taps); });
    }
    at_ = place;
    return value();
  }

  /// A field, perhaps through a map.
  SystemField value() {
    next();
    const std::size_t place = at_;
    const std::string_view name = word();
    const tessera_map* const map = named(kMaps, name);
    if (map == nullptr) return field(place, name);
    expect('(', "( and a field");
    next();
    const std::size_t inner = at_;
    const std::string_view of = word();
    const SystemField operand = field(inner, of).through(*map);
    expect(')', "): " + std::string(name) + "() takes a field, not an expression");
    return operand;
  }

  SystemField field(std::size_t place, std::string_view name) {
    if (name.empty()) unexpected("a field; there are " + fields());
    const SystemField* const found = named(names_.fields, name);
    if (found == nullptr) unknown(place, name);
    SystemField value = *found;
    for (bool level = false, offset = false;;) {
      if (!level && next() == '[') {
        level = true, ++at_;
        value = value[int(whole("a level", 1 - TESSERA_MAX_LEVELS, 1))];
        expect(']', "]");
      } else if (!offset && next() == '(') {
        const std::size_t open = at_;
        offset = true;
        Integers offsets;
        do {
          ++at_;
          offsets.push_back(whole("an offset", -TESSERA_MAX_RADIUS, TESSERA_MAX_RADIUS));
        } while (next() == ',');
        expect(')', ", or )");
        value = checked(open, [&] { return value.at(offsets); });
      } else {
        return value;
      }
    }
  }

  Expression under(std::size_t place, const DerivedTaps& function) {
    expect('(', std::string("( as in ") + function.form);
    const SystemField operand = value();
    std::vector<double> numbers;
    while (next() == ',') {
      ++at_;
      const bool is_whole = numbers.size() < function.whole;
      numbers.push_back(is_whole ? double(whole("a number", INT16_MIN, INT16_MAX)) : signed_number());
    }
    expect(')', ", or )");
    if (numbers.size() != function.whole && numbers.size() != function.whole + 1)
      fail(place, std::string("expected ") + function.form);
    const double spacing = numbers.size() > function.whole ? numbers.back() : 1.0;
    return checked(place, [&] { return operand.under(function.make(names_.rank, numbers, spacing)); });
  }

  std::string fields() const {
    std::string list;
    for (const auto& [name, field] : names_.fields) list += (list.empty() ? "" : ", ") + name;
    return list;
  }
  [[noreturn]] void unknown(std::size_t place, std::string_view name) const {
    std::string text = "there is no field " + in_quotes(name) + "; there are " + fields();
    for (const auto& [taps, list] : names_.taps) text += ", the taps " + taps;
    for (const auto& [map, number] : kMaps) text += std::string(", ") + map + "()";
    for (const auto& [function, form] : kDerivedTaps) text += std::string(", ") + function + "()";
    fail(place, text);
  }

  const ExpressionNames& names_;
  int depth_ = 0;
};

}  // namespace

Expression parse_expression(std::string_view text, const ExpressionNames& names) { return Parser(text, names).all(); }

}  // namespace tessera::cli
