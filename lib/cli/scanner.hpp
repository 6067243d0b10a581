// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Names and numbers of a text, with the place of what does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::cli {

/// Mistakes are std::invalid_argument, which begins with the place, "column 7: ", counted in bytes from 1, or "line 2,
/// column 7: " where the text has lines.
class Scanner {
 public:
  /// Whether the text is a letter or _, then letters, digits and _.
  static bool is_name(std::string_view text);

 protected:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// The next character behind spaces; 0 at the end.
  char next();
  bool at_end() { return next() == '\0' && at_ == text_.size(); }
  /// Whether a number or a name comes next.
  bool begins_number();
  bool begins_name();
  /// A name, which may be empty.
  std::string_view word();
  void expect(char c, const std::string& expected);

  double number();
  double signed_number();
  /// A whole number with or without a sign.
  std::int64_t whole(const std::string& what, std::int64_t low, std::int64_t high);

  [[noreturn]] void unexpected(const std::string& expected);
  [[noreturn]] void fail(std::size_t place, const std::string& why) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace tessera::cli
