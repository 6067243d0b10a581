// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "json_entry.hpp"

#include "json_text.hpp"
#include "scanner.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace tessera::cli {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string list;
  for (std::size_t i = 0; i < texts.size(); ++i)
    list += (i == 0 ? "" : i + 1 < texts.size() ? ", " : " or ") + in_quotes(texts[i]);
  return list;
}

}  // namespace

Json parse_json(std::string_view text) {
  std::vector<std::set<std::string>> seen;  // keys of each object that is open
  const auto refuse_twice = [&seen](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) seen.emplace_back();
    if (event == Json::parse_event_t::object_end) seen.pop_back();
    if (event == Json::parse_event_t::key && !seen.back().insert(parsed.get<std::string>()).second)
      throw std::invalid_argument("the key " + in_quotes(parsed.get<std::string>()) + " is there twice in an object");
    return true;
  };
  try {
    return Json::parse(text, refuse_twice);
  } catch (const Json::parse_error& error) {
    throw std::invalid_argument("is not JSON at " + place_in(text, error.byte));
  } catch (const Json::out_of_range&) {
    throw std::invalid_argument("has a number beyond the range of double");
  }
}

std::string JsonEntry::text() const {
  if (!value_->is_string()) unexpected("a text in quotes");
  return value_->get<std::string>();
}

double JsonEntry::number() const {
  if (!value_->is_number()) unexpected("a finite number");
  return value_->get<double>();
}

std::int64_t JsonEntry::whole(std::int64_t low, std::int64_t high) const {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const bool fits =
      value_->is_number_integer() && !(value_->is_number_unsigned() && value_->get<std::uint64_t>() > kMost);
  if (!fits || value_->get<std::int64_t>() < low || value_->get<std::int64_t>() > high)
    unexpected("a whole number from " + std::to_string(low) + " to " +
               (high == kMost ? "2^63 - 1" : std::to_string(high)));
  return value_->get<std::int64_t>();
}

std::size_t JsonEntry::one_of(const std::vector<std::string>& texts) const {
  const auto found =
      value_->is_string() ? std::find(texts.begin(), texts.end(), value_->get<std::string>()) : texts.end();
  if (found == texts.end()) unexpected(joined(texts));
  return std::size_t(found - texts.begin());
}

std::vector<JsonEntry> JsonEntry::list() const {
  if (!value_->is_array()) unexpected("a list, [...]");
  std::vector<JsonEntry> entries;
  for (std::size_t i = 0; i < value_->size(); ++i)
    entries.emplace_back((*value_)[i], place_ + "[" + std::to_string(i) + "]");
  return entries;
}

std::vector<std::pair<std::string, JsonEntry>> JsonEntry::members() const {
  if (!value_->is_object()) unexpected("an object, {...}");
  std::vector<std::pair<std::string, JsonEntry>> entries;
  for (const auto& [key, value] : value_->items())
    entries.emplace_back(key, JsonEntry(value, inner(Scanner::is_name(key) ? key : in_quotes(key))));
  return entries;
}

void JsonEntry::require_keys(std::initializer_list<const char*> known) const {
  for (const auto& [key, entry] : members())
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail("the key " + in_quotes(key) + " is unknown; there are " + joined({known.begin(), known.end()}));
}

std::optional<JsonEntry> JsonEntry::find(const char* key) const {
  const auto found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return JsonEntry(*found, inner(key));
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
  const std::string found = value_->is_object()   ? "an object"
                            : value_->is_array()  ? "a list"
                            : value_->is_string() ? in_quotes(value_->get_ref<const std::string&>())
                                                  : value_->dump();
  throw std::invalid_argument((place_.empty() ? "the file" : place_) + " is " + found + "; expected " + expected);
}

}  // namespace tessera::cli
