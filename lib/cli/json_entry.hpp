// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Values of a JSON file with their places in it.
#pragma once

#include <tessera/error.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::cli {

/// A value of a JSON file. Objects keep the order of the file.
struct JsonValue {
  enum class Kind { null, boolean, whole, number, text, list, object };

  Kind kind = Kind::null;
  std::string key;   ///< in the object that it is a part of
  std::string text;  ///< the text itself; of a number as the file or a message spells it
  std::int64_t whole = 0;
  double number = 0.0;  ///< of whole numbers, too
  std::vector<JsonValue> parts;
};

/// The text as JSON. Throws std::invalid_argument where it is not, where an object has a key twice, and where values
/// are nested more than 32 deep.
JsonValue parse_json(std::string_view text);

/// A value and its place, "updates[0].stage"; "" is the whole file. Mistakes are std::invalid_argument, which begins
/// with the place.
class JsonEntry {
 public:
  JsonEntry(const JsonValue& value, std::string place) : value_(&value), place_(std::move(place)) {}

  bool is_list() const { return value_->kind == JsonValue::Kind::list; }
  std::string text() const;
  double number() const;
  std::int64_t whole(std::int64_t low, std::int64_t high) const;
  /// Which of the texts it is, counted from 0.
  std::size_t one_of(const std::vector<std::string>& texts) const;

  std::vector<JsonEntry> list() const;
  std::vector<std::pair<std::string, JsonEntry>> members() const;
  /// Refuses what is no object, and any key but those.
  void require_keys(std::initializer_list<const char*> known) const;
  std::optional<JsonEntry> find(const char* key) const;
  JsonEntry at(const char* key) const;

  [[noreturn]] void fail(const std::string& why) const;
  /// What `make` returns; what it refuses is a mistake here.
  template <class Make>
  auto checked(Make&& make) const {
    try {
      return make();
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    } catch (const Error& error) {
      fail(error.what());
    }
  }

 private:
  [[noreturn]] void unexpected(const std::string& expected) const;
  std::string inner(const std::string& name) const { return place_.empty() ? name : place_ + "." + name; }

  const JsonValue* value_;
  std::string place_;
};

}  // namespace tessera::cli
