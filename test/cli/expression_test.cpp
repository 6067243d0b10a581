// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Expressions as text: the same terms in the same order as in C++, and mistakes with their places.

#include "expression.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace tessera;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

namespace {

std::string text_of(const tessera_factor& f) {
  std::ostringstream text;
  text << " f" << f.field << "[" << f.level << "]map" << f.map;
  for (const auto x : f.offset) text << "," << x;
  return text.str();
}

/// Everything that an expression holds.
std::string text_of(const Expression& e) {
  std::ostringstream text;
  text.precision(17);
  for (const Expression::Group& group : e.groups()) {
    text << "group";
    for (const tessera_factor& f : group.factors) text << text_of(f);
    for (const tessera_term& term : group.terms) {
      text << "\n  " << term.coefficient;
      for (std::int64_t i = 0; i < term.factor_count; ++i) text << text_of(term.factors[i]);
    }
    text << "\n";
  }
  return text.str();
}

struct Names {
  StencilSystem system{{8, 8}};
  SystemField u = system.state("u", {.levels = 2}), v = system.state("v_1"), c = system.array("c2"),
              s = system.profile("s", 0);
  Taps upwind = Taps(2, {{{0, 0, 0}, 1}, {{-1, 0, 0}, -1}});
  cli::ExpressionNames names{2, {{"u", u}, {"v_1", v}, {"c2", c}, {"s", s}}, {{"upwind", upwind}}};

  Expression parse(const std::string& text) const { return cli::parse_expression(text, names); }
  void means(const std::string& text, const Expression& expected) const {
    CAPTURE(text);
    CHECK(text_of(parse(text)) == text_of(expected));
  }
  void refuses(const std::string& text, const std::string& message) const {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(parse(text), std::invalid_argument, MessageMatches(StartsWith(message)));
  }
};

}  // namespace

TEST_CASE("an expression means what it means in C++", "[expression]") {
  const Names n;
  const auto &u = n.u, &v = n.v, &c = n.c, &s = n.s;
  n.means("u", u);
  n.means("  2*u ", 2 * u);
  n.means("2 * u - u[-1] + c2 * laplacian(u, 8)", 2 * u - u[-1] + c * u.under(taps::laplacian(2, 8)));
  n.means("s * (2 * u - u[-1] + c2 * laplacian(u, 8))", s * (2 * u - u[-1] + c * u.under(taps::laplacian(2, 8))));
  n.means("u + 0.16*laplacian(u, 2) - u*v_1*v_1 + 0.04 - .04*u",
          u + 0.16 * u.under(taps::laplacian(2)) - u * v * v + 0.04 - 0.04 * u);
  n.means("u(1,0)", u.at({1, 0}));
  n.means("u[-1](0, -2) + u(+3,0)[+1]", u[-1].at({0, -2}) + u[+1].at({3, 0}));
  n.means("u[0]", u);
  n.means("abs(u) * positive_part(u[-1]) - negative_part(v_1(0,1)) * reciprocal(c2)",
          Expression(abs(u)) * positive_part(u[-1]) - Expression(negative_part(v.at({0, 1}))) * reciprocal(c));
  n.means("derivative(u, 1, 1, 4)", u.under(taps::derivative(2, 1, 1, 4)));
  n.means("derivative(u[-1], 0, 2, 2, 0.5)", u[-1].under(taps::derivative(2, 0, 2, 2, 0.5)));
  n.means("laplacian(abs(v_1), 4, 2)", abs(v).under(taps::laplacian(2, 4, 2)));
  n.means("upwind(u)", u.under(n.upwind));
  n.means("-u * v_1", -u * v);
  n.means("u - -2 * v_1", u - -2 * v);
  n.means("2 - (u - v_1)", 2 - (u - v));
  n.means("1/12*u", (1.0 / 12) * u);
  n.means("(u + v_1) / 4", (u + v) * 0.25);
  n.means("1e-3 * u\n + 2.5E2", 1e-3 * u + 250.0);
}

TEST_CASE("a mistake in an expression has its place, what was found and what is expected", "[expression]") {
  const Names n;
  n.refuses("", "column 1: found the end; expected a number, a field, a function or (");
  n.refuses("2 * ", "column 5: found the end; expected a number, a field");
  n.refuses("2 * w",
            "column 5: there is no field \"w\"; there are u, v_1, c2, s, the taps upwind, abs(), positive_part(), ");
  n.refuses("2u", "column 2: found \"u\"; expected +, -, *, / or the end");
  n.refuses("u + \x1b", "column 5: found \"\\u001b\"");
  n.refuses("(u + v_1", "column 9: found the end; expected +, -, *, / or )");
  n.refuses("u)", "column 2: found \")\"");
  n.refuses("u[-5]", "column 3: found \"-5\"; expected a level from -2 to 1");
  n.refuses("u[x]", "column 3: found \"x\"; expected a level from -2 to 1");
  n.refuses("u[-1", "column 5: found the end; expected ]");
  n.refuses("u(1)", "column 2: offset of 1 axes: the system has 2");
  n.refuses("u(1,0,0)", "column 2: offset of 3 axes");
  n.refuses("u(0.5,0)", "column 4: found \".\"; expected , or )");
  n.refuses("u(1,99999)", "column 5: found \"99999\"; expected an offset from -");
  n.refuses("u(1,99999999999999999999)", "column 5: found \"99999999999999999999\"; expected an offset");
  n.refuses("abs(u - v_1)", "column 7: found \"-\"; expected ): abs() takes a field, not an expression");
  n.refuses("abs(abs(u))", "column 5: there is no field \"abs\"");
  n.refuses("laplacian(u)", "column 1: expected laplacian(field, accuracy)");
  n.refuses("laplacian(u, 7)", "column 1: accuracy = 7: must be 2, 4, 6 or 8");
  n.refuses("laplacian(u, 2, 0)", "column 1: spacing = 0");
  n.refuses("laplacian(u + v_1, 2)", "column 13: found \"+\"; expected , or )");
  n.refuses("derivative(u, 2, 1, 2)", "column 1: axis = 2");
  n.refuses("upwind * u", "column 8: found \"*\"; expected ( and a field that the taps are applied to");
  n.refuses("(u + v_1) * (u - v_1)", "column 11: expression: two sums cannot be multiplied");
  n.refuses("u + u*u*u*u(1,0)", "column 10: expression: a term has at most three values");
  n.refuses("u / v_1", "column 3: only a number divides; multiply by the reciprocal");
  n.refuses("u / 0", "column 3: a division by 0");
  n.refuses("1e999 * u", "column 1: a number beyond the range of double");
  n.refuses("nan * u", "column 1: there is no field \"nan\"");
  n.refuses("u +\n  w", "line 2, column 3: there is no field");
  n.refuses(std::string(100, '(') + "u", "column 65: parentheses are nested more than 64 deep");
}
