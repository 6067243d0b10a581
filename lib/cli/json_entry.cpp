// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "json_entry.hpp"

#include "clip.hpp"
#include "json_text.hpp"
#include "scanner.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace tessera::cli {
namespace {

using nlohmann::json;
using Kind = JsonValue::Kind;

/// Makes a value from the parser's events. nlohmann's own values take memory when they are destroyed, which must not
/// fail.
class Builder : public nlohmann::json_sax<json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}
  JsonValue& result() { return root_; }

  bool null() override { return add_text(Kind::null, "null"); }
  bool boolean(bool value) override { return add_text(Kind::boolean, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return add_whole(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= number_unsigned_t(std::numeric_limits<std::int64_t>::max())) return add_whole(std::int64_t(value));
    add(Kind::number, std::to_string(value)).number = double(value);
    return true;
  }
  bool number_float(number_float_t value, const string_t& text) override {
    add(Kind::number, text).number = value;
    return true;
  }
  bool string(string_t& value) override { return add_text(Kind::text, std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Kind::object); }
  bool start_array(std::size_t) override { return open(Kind::list); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    constexpr std::size_t kMostKeys = 1024;  // which are compared with each other
    if (open_.back()->parts.size() == kMostKeys)
      throw std::invalid_argument("has an object of more than " + std::to_string(kMostKeys) + " keys");
    for (const JsonValue& part : open_.back()->parts)
      if (part.key == name) throw std::invalid_argument("the key " + in_quotes(name) + " is there twice in an object");
    key_ = std::move(name);
    return true;
  }
  /// `position`: bytes read, the last of which is the one that does not fit.
  bool parse_error(std::size_t position, const std::string&, const json::exception& error) override {
    const bool too_large = dynamic_cast<const json::out_of_range*>(&error) != nullptr;
    throw std::invalid_argument((too_large ? "has a number beyond the range of double at " : "is not JSON at ") +
                                place_in(text_, position));
  }

 private:
  JsonValue& add(Kind kind, std::string text) {
    JsonValue& value = open_.empty() ? root_ : open_.back()->parts.emplace_back();
    value.kind = kind;
    value.key = std::move(key_);
    value.text = std::move(text);
    key_.clear();
    return value;
  }
  bool add_text(Kind kind, std::string text) {
    add(kind, std::move(text));
    return true;
  }
  bool add_whole(std::int64_t number) {
    JsonValue& value = add(Kind::whole, std::to_string(number));
    value.whole = number;
    value.number = double(number);
    return true;
  }
  bool open(Kind kind) {
    constexpr std::size_t kDeepest = 32;
    if (open_.size() == kDeepest)
      throw std::invalid_argument("has values nested more than " + std::to_string(kDeepest) + " deep");
    open_.push_back(&add(kind, ""));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  JsonValue root_;
  std::vector<JsonValue*> open_;  ///< lists and objects that have not ended, each a part of the one before
  std::string key_;               ///< of the next value
};

std::string joined(const std::vector<std::string>& texts) {
  std::string list;
  for (std::size_t i = 0; i < texts.size(); ++i)
    list += (i == 0 ? "" : i + 1 < texts.size() ? ", " : " or ") + in_quotes(texts[i]);
  return list;
}

}  // namespace

JsonValue parse_json(std::string_view text) {
  Builder builder(text);
  json::sax_parse(text, &builder);
  return std::move(builder.result());
}

std::string JsonEntry::text() const {
  if (value_->kind != Kind::text) unexpected("a text in quotes");
  return value_->text;
}

double JsonEntry::number() const {
  if (value_->kind != Kind::whole && value_->kind != Kind::number) unexpected("a finite number");
  return value_->number;
}

std::int64_t JsonEntry::whole(std::int64_t low, std::int64_t high) const {
  if (value_->kind != Kind::whole || value_->whole < low || value_->whole > high)
    unexpected("a whole number from " + std::to_string(low) + " to " +
               (high == std::numeric_limits<std::int64_t>::max() ? "2^63 - 1" : std::to_string(high)));
  return value_->whole;
}

std::size_t JsonEntry::one_of(const std::vector<std::string>& texts) const {
  const auto found = value_->kind == Kind::text ? std::find(texts.begin(), texts.end(), value_->text) : texts.end();
  if (found == texts.end()) unexpected(joined(texts));
  return std::size_t(found - texts.begin());
}

std::vector<JsonEntry> JsonEntry::list() const {
  if (!is_list()) unexpected("a list, [...]");
  std::vector<JsonEntry> entries;
  for (std::size_t i = 0; i < value_->parts.size(); ++i)
    entries.emplace_back(value_->parts[i], place_ + "[" + std::to_string(i) + "]");
  return entries;
}

std::vector<std::pair<std::string, JsonEntry>> JsonEntry::members() const {
  if (value_->kind != Kind::object) unexpected("an object, {...}");
  std::vector<std::pair<std::string, JsonEntry>> entries;
  for (const JsonValue& part : value_->parts)
    entries.emplace_back(part.key, JsonEntry(part, inner(Scanner::is_name(part.key) ? part.key : in_quotes(part.key))));
  return entries;
}

void JsonEntry::require_keys(std::initializer_list<const char*> known) const {
  if (value_->kind != Kind::object) unexpected("an object, {...}");
  for (const JsonValue& part : value_->parts)
    if (std::find(known.begin(), known.end(), part.key) == known.end())
      fail("the key " + in_quotes(part.key) + " is unknown; there are " + joined({known.begin(), known.end()}));
}

std::optional<JsonEntry> JsonEntry::find(const char* key) const {
  for (const JsonValue& part : value_->parts)
    if (part.key == key) return JsonEntry(part, inner(key));
  return std::nullopt;
}

JsonEntry JsonEntry::at(const char* key) const {
  const std::optional<JsonEntry> found = find(key);
  if (!found) fail("the key " + in_quotes(key) + " is missing");
  return *found;
}

void JsonEntry::fail(const std::string& why) const {
  throw std::invalid_argument(place_.empty() ? why : place_ + ": " + why);
}

void JsonEntry::unexpected(const std::string& expected) const {
  const std::string found = value_->kind == Kind::object ? "an object"
                            : is_list()                  ? "a list"
                            : value_->kind == Kind::text ? in_quotes(value_->text)
                                                         : npy::clip(value_->text);
  throw std::invalid_argument((place_.empty() ? "the file" : place_) + " is " + found + "; expected " + expected);
}

}  // namespace tessera::cli
