// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How the memory of a prepared operand is laid out.
#pragma once

#include <tessera/plugin/error.hpp>
#include <tessera/plugin/parameters.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// The form of a prepared operand: "matrix", rows that begin at multiples of 8 elements, or what an algorithm makes of
/// the operand, by its name and parameters, "packed:block_k=384".
class Form {
 public:
  static constexpr const char* kMatrix = "matrix";
  int operand;       ///< 0: A, 1: B
  bool matrix;       ///< whether the memory begins with the matrix, which every algorithm reads
  std::string name;  ///< of the algorithm, or kMatrix

  Form(int which, bool begins_with_matrix, std::string algorithm, const Parameters& parameters = {})
      : operand(which), matrix(begins_with_matrix), name(std::move(algorithm)), text_(parameters.text()) {}
  /// From a text that text() gave. `matrix` is to be set.
  Form(int which, std::string_view text) : operand(which), matrix(false), name(text.substr(0, text.find(':'))) {
    text_ = text.substr(name.size());
  }

  /// The value of a parameter that is there.
  std::int64_t at(std::string_view key) const {
    for (std::size_t begin = 1; begin < text_.size();) {
      const std::size_t end = (std::min)(text_.find(',', begin), text_.size());
      const std::string_view entry = std::string_view(text_).substr(begin, end - begin);
      std::int64_t value = 0;
      if (entry.substr(0, entry.find('=')) == key &&
          std::from_chars(entry.data() + key.size() + 1, entry.data() + entry.size(), value).ec == std::errc{})
        return value;
      begin = end + 1;
    }
    throw Error(TESSERA_INTERNAL, "the form '" + text() + "' lacks " + std::string(key));
  }
  /// "packed:block_k=384".
  std::string text() const { return name + text_; }

 private:
  std::string text_;  ///< of the parameters
};

}  // namespace tessera::plugin
