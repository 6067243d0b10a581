// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "wisdom/wisdom.hpp"

#include "check.hpp"
#include "wisdom/wisdom_file.hpp"

#include <charconv>
#include <cmath>

namespace tessera::core {
namespace {

constexpr int kVersion = 1;
constexpr double kMostSeconds = 1e9;  // of an execution that somebody waited for
constexpr const char* kVersionKey = "tessera_wisdom";

/// As JSON has it. The texts that we write have none of the characters that need more than a backslash.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + "\"";
}

std::string number(double value) {
  std::array<char, 32> text{};
  char* const end = text.data() + text.size();
  return {text.data(), std::to_chars(text.data(), end, value, std::chars_format::general, 4).ptr};  // in any locale
}

/// Reads a JSON object of strings and numbers.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  /// Whether the next thing is this character, which is passed then.
  bool take(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool string(std::string& value) {
    if (!take('"')) return false;
    value.clear();
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (c == '"') {
        rest_.remove_prefix(i + 1);
        return true;
      }
      if (static_cast<unsigned char>(c) < ' ') return false;
      if (c == '\\' && (++i == rest_.size() || (rest_[i] != '"' && rest_[i] != '\\'))) return false;
      value += rest_[i];
    }
    return false;
  }
  bool number(double& value) {
    skip();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || !std::isfinite(value)) return false;
    rest_.remove_prefix(std::size_t(end - rest_.data()));
    return true;
  }
  bool at_end() {
    skip();
    return rest_.empty();
  }

 private:
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

}  // namespace

std::string line_of(const WisdomEntry& e) {
  return std::string("{\"") + kVersionKey + "\": " + std::to_string(kVersion) + ", \"problem\": " + quoted(e.problem) +
         ", \"machine\": " + quoted(e.machine) + ", \"algorithm\": " + quoted(e.algorithm) +
         ", \"seconds\": " + number(e.seconds) + ", \"estimated_seconds\": " + number(e.estimated_seconds) + "}";
}

std::optional<WisdomEntry> entry_of(std::string_view line) {
  WisdomEntry entry;
  double version = 0.0;
  const std::pair<std::string_view, std::string*> strings[] = {
      {"problem", &entry.problem}, {"machine", &entry.machine}, {"algorithm", &entry.algorithm}};
  const std::pair<std::string_view, double*> numbers[] = {
      {kVersionKey, &version}, {"seconds", &entry.seconds}, {"estimated_seconds", &entry.estimated_seconds}};
  unsigned found = 0;
  Scanner scanner(line);
  if (!scanner.take('{')) return {};
  do {
    std::string key;
    if (!scanner.string(key) || !scanner.take(':')) return {};
    unsigned bit = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (key == strings[i].first && scanner.string(*strings[i].second)) bit = 1u << i;
      if (key == numbers[i].first && scanner.number(*numbers[i].second)) bit = 8u << i;
    }
    if (bit == 0 || (found & bit) != 0) return {};
    found |= bit;
  } while (scanner.take(','));
  constexpr unsigned kAll = 63;
  const bool complete = scanner.take('}') && scanner.at_end() && found == kAll && version == kVersion;
  const auto is_time = [](double seconds) { return seconds > 0.0 && seconds < kMostSeconds; };
  if (!complete || !is_time(entry.seconds) || !is_time(entry.estimated_seconds) || entry.algorithm.empty()) return {};
  return entry;
}

Wisdom& Wisdom::instance() {
  static auto* const wisdom = new Wisdom;
  return *wisdom;
}

Wisdom::Found Wisdom::find(const std::string& problem, const std::string& machine, const std::string& file) {
  const std::lock_guard lock(mutex_);
  Found found;
  if (!file.empty()) found.remark = refresh(file), any_ = !entries_.empty();
  const auto known = entries_.find({problem, machine});
  if (known != entries_.end()) found.entry = known->second;
  return found;
}

void Wisdom::add(const WisdomEntry& entry) {
  const std::lock_guard lock(mutex_);
  entries_[{entry.problem, entry.machine}] = entry;
  own_.insert({entry.problem, entry.machine});
  any_ = true;
}

void Wisdom::load(const std::string& path) {
  const WisdomFile file = read_wisdom_file(path);
  const std::lock_guard lock(mutex_);
  for (const WisdomEntry& entry : file.entries) entries_[{entry.problem, entry.machine}] = entry;
  any_ = !entries_.empty();
}

void Wisdom::save(const std::string& path) const {
  std::vector<WisdomEntry> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_) all.push_back(entry);
  }
  merge_into_wisdom_file(path, all);
}

void Wisdom::forget() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  any_ = false;
  own_.clear();
  seen_.clear();
}

/// What the process measured itself stays: its plans have the same bits whatever others write.
std::string Wisdom::refresh(const std::string& file) {
  const std::string state = file + ":" + state_of_file(file);
  if (state == seen_) return {};
  seen_ = state;
  if (state.back() == ':') return {};  // there is none yet
  try {
    const WisdomFile read = read_wisdom_file(file);
    for (const WisdomEntry& entry : read.entries)
      if (!own_.contains({entry.problem, entry.machine})) entries_[{entry.problem, entry.machine}] = entry;
    if (read.others.empty()) return {};
    return "wisdom file '" + file +
           "': ignored are lines that this version cannot read: " + std::to_string(read.others.size());
  } catch (const Error& error) {
    return std::string("ignored: ") + error.what();
  }
}

}  // namespace tessera::core
