// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// An option that takes one of some names.
#pragma once

#include "clip.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tessera::cli {

template <class Value>
CLI::Option* add_named_value(CLI::App& command, const std::string& name, Value& value,
                             const std::vector<std::pair<const char*, Value>>& known, const std::string& description) {
  std::string names;
  for (const auto& [text, unused] : known) names += (names.empty() ? "" : "|") + std::string(text);
  const auto read = [&value, name, known, names](const std::string& text) {
    for (const auto& [known_text, known_value] : known)
      if (text == known_text) return void(value = known_value);
    throw CLI::ValidationError(name + ": '" + npy::clip(text) + "' is unknown; there are " + names);
  };
  return command.add_option_function<std::string>(name, read, description)->type_name(names);
}

}  // namespace tessera::cli
