// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The parameters of an algorithm: those of a plan, and those that a caller fixed.
#pragma once

#include <tessera/plugin/abi.h>
#include <tessera/plugin/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// What a plan is made with: keys and whole numbers, in the order in which they are printed.
class Parameters {
 public:
  /// `key` is a string literal: it is not copied.
  struct Entry {
    const char* key;
    std::int64_t value;
  };

  Parameters() = default;
  Parameters(std::initializer_list<Entry> entries) : entries_(entries) {}

  /// One more.
  void add(const Entry& entry) { entries_.push_back(entry); }

  /// The value of a parameter that is there.
  std::int64_t at(std::string_view key) const {
    for (const Entry& entry : entries_)
      if (key == entry.key) return entry.value;
    throw Error(TESSERA_INTERNAL, "a plan without the parameter " + std::string(key));
  }

  /// ":tile=32,stages=3", or "" where there are none.
  std::string text() const {
    std::string text;
    for (const Entry& entry : entries_)
      text.append(text.empty() ? ":" : ",").append(entry.key).append("=").append(std::to_string(entry.value));
    return text;
  }

 private:
  std::vector<Entry> entries_;
};

/// The parameters that a caller fixed. An algorithm asks here for every parameter that it has, with the values that it
/// would try; it gets them back, or the caller's value alone.
class GivenParameters {
 public:
  GivenParameters() = default;
  GivenParameters(const tessera_parameter* parameters, std::uint64_t element_size, std::uint64_t count) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(parameters);
    for (std::uint64_t i = 0; i < count; ++i) {
      tessera_parameter p{};
      std::memcpy(&p, bytes + i * element_size, (std::min)(sizeof p, std::size_t(element_size)));
      given_.push_back({p.key, p.value, false});
    }
  }

  bool has(std::string_view key) const { return find(key) != nullptr; }

  /// `candidates`, or the given value, which must be one of `allowed`.
  std::vector<std::int64_t> one_of(const char* key, std::span<const std::int64_t> candidates,
                                   std::span<const std::int64_t> allowed) const {
    const Given* given = ask(key);
    if (given == nullptr) return {candidates.begin(), candidates.end()};
    if (std::find(allowed.begin(), allowed.end(), given->value) == allowed.end()) {
      std::string list;
      for (const std::int64_t a : allowed) list += (list.empty() ? "" : ", ") + std::to_string(a);
      refuse(*given, "must be one of " + list);
    }
    return {given->value};
  }

  /// The same where all that is allowed is tried.
  std::vector<std::int64_t> one_of(const char* key, std::span<const std::int64_t> allowed) const {
    return one_of(key, allowed, allowed);
  }

  /// `candidates`, or the given value, which must lie in [low, high].
  std::vector<std::int64_t> in_range(const char* key, std::span<const std::int64_t> candidates, std::int64_t low,
                                     std::int64_t high) const {
    const Given* given = ask(key);
    if (given == nullptr) return {candidates.begin(), candidates.end()};
    if (given->value < low || given->value > high)
      refuse(*given, "must lie in [" + std::to_string(low) + ", " + std::to_string(high) + "]");
    return {given->value};
  }

  /// One candidate: `automatic`, or the given value, which must lie in [low, high].
  std::int64_t in_range(const char* key, std::int64_t automatic, std::int64_t low, std::int64_t high) const {
    return in_range(key, std::span(&automatic, 1), low, high).front();
  }

  /// Throws for a given parameter that the algorithm did not ask for.
  void require_all_known(const std::string& algorithm) const {
    for (const Given& given : given_) {
      if (given.known) continue;
      std::string names;
      for (const std::string& name : asked_) names += (names.empty() ? "" : ", ") + name;
      throw Error(TESSERA_INVALID_ARGUMENT, "algorithm " + algorithm + " has no parameter " + given.key +
                                                (names.empty() ? "; it has none" : "; it has " + names));
    }
  }

 private:
  struct Given {
    std::string key;
    std::int64_t value;
    mutable bool known;
  };

  const Given* find(std::string_view key) const {
    for (const Given& given : given_)
      if (given.key == key) return &given;
    return nullptr;
  }

  const Given* ask(const char* key) const {
    if (given_.empty()) return nullptr;  // nobody will want to know what there is
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
    const Given* given = find(key);
    if (given != nullptr) given->known = true;
    return given;
  }

  [[noreturn]] static void refuse(const Given& given, const std::string& bound) {
    throw Error(TESSERA_INVALID_ARGUMENT,
                "parameter " + given.key + " = " + std::to_string(given.value) + ": " + bound);
  }

  std::vector<Given> given_;
  mutable std::vector<std::string> asked_;
};

}  // namespace tessera::plugin
