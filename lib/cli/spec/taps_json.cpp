// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "npy.hpp"
#include "spec.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tessera::cli {
namespace {

using nlohmann::json;

constexpr const char* kForm = "expected [{\"offset\": [dy, dx], \"coefficient\": c}, ...]";
constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 28;  // bytes; a tap takes some 50

std::string read_text(const std::filesystem::path& file) {
  npy::RegularFile reader(file);
  if (reader.left() > kMaxFile)
    throw npy::Error(file, "has " + std::to_string(reader.left()) + " bytes; taps are read from files of at most " +
                               std::to_string(kMaxFile));
  std::string text(std::size_t(reader.left()), '\0');
  reader.read(text.data(), text.size());
  return text;
}

/// "line 2, column 7" of the byte before `position`, counted in bytes from 1; "its end" behind the text.
std::string place_in(std::string_view text, std::size_t position) {
  if (position > text.size()) return "its end";
  const std::string_view before = text.substr(0, position > 0 ? position - 1 : 0);
  const std::size_t start = before.rfind('\n') + 1;  // 0 where there is none
  return "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n')) + ", column " +
         std::to_string(before.size() - start + 1);
}

/// As JSON writes it, in ASCII and clipped: a message shows nothing that a terminal would obey.
std::string in_quotes(std::string_view text) {
  return json(npy::clip(text)).dump(-1, ' ', true, json::error_handler_t::replace);
}

/// Takes taps from the parser's events. Only their form is ever stored, so depth and size of anything else cost
/// nothing.
class TapReader : public nlohmann::json_sax<json> {
 public:
  TapReader(const std::filesystem::path& file, int rank, std::string_view text)
      : file_(file), rank_(std::size_t(rank)), text_(text) {}

  /// In the file's order.
  std::vector<Tap>& taps() { return taps_; }

  bool null() override { unexpected("null"); }
  bool boolean(bool value) override { unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return number(double(value), std::to_string(value), true); }
  bool number_unsigned(number_unsigned_t value) override { return number(double(value), std::to_string(value), true); }
  bool number_float(number_float_t value, const string_t& text) override { return number(value, text, false); }
  bool string(string_t& value) override { unexpected(in_quotes(value)); }
  bool binary(binary_t&) override { fail(kForm); }

  bool start_array(std::size_t) override {
    if (place_ == Place::file) return go_to(Place::list);
    if (place_ != Place::offset) unexpected("an array");
    return go_to(Place::axes);
  }
  bool end_array() override {
    if (place_ == Place::list) return go_to(Place::file);
    if (axis_ != rank_) fail_axes(std::to_string(axis_));
    return go_to(Place::entry);
  }
  bool start_object(std::size_t) override {
    if (place_ != Place::list) unexpected("an object");
    taps_.push_back({});
    axis_ = 0;
    has_offset_ = has_coefficient_ = false;
    return go_to(Place::entry);
  }
  bool key(string_t& name) override {
    bool* const seen = name == "offset" ? &has_offset_ : name == "coefficient" ? &has_coefficient_ : nullptr;
    if (seen == nullptr || *seen)
      fail_entry("key " + in_quotes(name) + (seen == nullptr ? " is unknown; " : " is there twice; ") + kForm);
    *seen = true;
    return go_to(seen == &has_offset_ ? Place::offset : Place::coefficient);
  }
  bool end_object() override {
    if (!has_offset_ || !has_coefficient_) fail_entry(kForm);
    return go_to(Place::list);
  }
  /// `position`: bytes read, the last of which is the one that does not fit.
  bool parse_error(std::size_t position, const std::string&, const json::exception& error) override {
    const bool too_large = dynamic_cast<const json::out_of_range*>(&error) != nullptr;
    fail((too_large ? "has a number beyond the range of double at " : "is not JSON at ") + place_in(text_, position) +
         "; " + kForm);
  }

 private:
  enum class Place { file, list, entry, offset, axes, coefficient };  // what the next value is part of

  bool go_to(Place place) {
    place_ = place;
    return true;
  }
  [[noreturn]] void fail(const std::string& why) const { throw npy::Error(file_, why); }
  [[noreturn]] void fail_entry(const std::string& why) const {
    fail("entry " + std::to_string(taps_.size() - 1) + ": " + why);
  }
  [[noreturn]] void fail_axes(const std::string& count) const {
    fail_entry("offset has " + count + " numbers; expected " + std::to_string(rank_) +
               ", one for each axis of the array");
  }
  [[noreturn]] void unexpected(const std::string& what) const {
    if (place_ == Place::file) fail(kForm);
    if (place_ == Place::list) fail("entry " + std::to_string(taps_.size()) + " is " + what + "; " + kForm);
    if (place_ == Place::coefficient) fail_entry("coefficient is " + what + "; expected a finite number");
    if (place_ == Place::offset)
      fail_entry("offset is " + what + "; expected an array of " + std::to_string(rank_) + " whole numbers");
    fail_entry("offset[" + std::to_string(axis_) + "] is " + what + "; expected a whole number within +-" +
               std::to_string(TESSERA_MAX_RADIUS));
  }
  bool number(double value, const std::string& text, bool whole) {
    if (place_ == Place::coefficient && std::isfinite(value)) {
      taps_.back().coefficient = value;
      return go_to(Place::entry);
    }
    if (place_ != Place::axes || !whole || std::abs(value) > TESSERA_MAX_RADIUS) unexpected(npy::clip(text));
    if (axis_ == rank_) fail_axes(std::to_string(rank_ + 1) + " or more");
    taps_.back().offset[axis_++] = std::int64_t(value);
    return true;
  }

  const std::filesystem::path& file_;
  std::size_t rank_;
  std::string_view text_;
  std::vector<Tap> taps_;
  Place place_ = Place::file;
  std::size_t axis_ = 0;
  bool has_offset_ = false, has_coefficient_ = false;
};

}  // namespace

Taps read_taps(const std::filesystem::path& file, int rank) {
  const std::string text = read_text(file);
  TapReader reader(file, rank, text);
  json::sax_parse(text, &reader);
  if (reader.taps().empty()) throw npy::Error(file, kForm);
  // Sorted first, since a term in the middle of many is slow to add; stable, so that sums keep the file's order.
  std::stable_sort(reader.taps().begin(), reader.taps().end(),
                   [](const Tap& a, const Tap& b) { return a.offset < b.offset; });
  Taps taps(rank);
  for (const Tap& tap : reader.taps()) taps.add(tap.offset, tap.coefficient);
  return taps;
}

}  // namespace tessera::cli
