// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "numbers.hpp"

#include <cstdint>
#include <stdexcept>

namespace tessera::cli {
namespace {

/// What is no number is a mistake of usage.
template <class Value, class Parse>
CLI::Option* add(CLI::App& command, const std::string& name, Value& value, const std::string& description,
                 Parse parse) {
  const auto read = [&value, name, parse](const std::string& text) {
    value = usage([&] { return parse(text, name); });
  };
  return command.add_option_function<std::string>(name, read, description);
}

}  // namespace

CLI::Option* add_number(CLI::App& command, const std::string& name, std::optional<double>& value,
                        const std::string& description) {
  return add(command, name, value, description, parse_number)->type_name("X");
}

CLI::Option* add_number(CLI::App& command, const std::string& name, double& value, const std::string& description) {
  return add(command, name, value, description, parse_number)->type_name("X");
}

CLI::Option* add_count(CLI::App& command, const std::string& name, std::int64_t& value,
                       const std::string& description) {
  return add(command, name, value, description, parse_count)->type_name("N");
}

}  // namespace tessera::cli
