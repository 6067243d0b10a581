// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "scanner.hpp"

#include "json_text.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace tessera::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

bool Scanner::is_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

char Scanner::next() {
  at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size());
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Scanner::begins_number() { return is_digit(next()) || next() == '.'; }
bool Scanner::begins_name() { return is_letter(next()); }

std::string_view Scanner::word() {
  const std::size_t start = at_;
  while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > start && is_digit(text_[at_])))) ++at_;
  return text_.substr(start, at_ - start);
}

void Scanner::expect(char c, const std::string& expected) {
  if (next() != c) unexpected(expected);
  ++at_;
}

double Scanner::number() {
  if (!begins_number()) unexpected("a number");
  double value = 0.0;
  const auto [behind, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) fail(at_, "a number beyond the range of double");
  if (error != std::errc()) unexpected("a number");
  at_ = std::size_t(behind - text_.data());
  return value;
}

double Scanner::signed_number() {
  const char sign = next();
  if (sign == '-' || sign == '+') ++at_;
  return sign == '-' ? -number() : number();
}

std::int64_t Scanner::whole(const std::string& what, std::int64_t low, std::int64_t high) {
  const std::string expected = what + " from " + std::to_string(low) + " to " + std::to_string(high);
  const bool plus = next() == '+';
  const std::size_t place = at_;
  if (plus) ++at_;
  std::int64_t value = 0;
  const auto [behind, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error == std::errc::invalid_argument || (plus && !is_digit(text_[at_]))) unexpected(expected);
  at_ = std::size_t(behind - text_.data());
  if (error != std::errc() || value < low || value > high)
    fail(place, "found " + in_quotes(text_.substr(place, at_ - place)) + "; expected " + expected);
  return value;
}

void Scanner::unexpected(const std::string& expected) {
  next();
  const std::size_t place = at_;
  if (place == text_.size()) fail(place, "found the end; expected " + expected);
  const std::string_view name = word();
  fail(place, "found " + in_quotes(name.empty() ? text_.substr(place, 1) : name) + "; expected " + expected);
}

void Scanner::fail(std::size_t place, const std::string& why) const {
  const std::string_view before = text_.substr(0, place);
  const std::size_t start = before.rfind('\n') + 1;  // 0 where there is none
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const bool lines = text_.find('\n') != std::string_view::npos;
  throw std::invalid_argument((lines ? "line " + std::to_string(line) + ", " : "") + "column " +
                              std::to_string(place - start + 1) + ": " + why);
}

}  // namespace tessera::cli
