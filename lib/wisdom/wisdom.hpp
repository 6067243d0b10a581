// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What was measured: which algorithm was the fastest for a problem on a machine. In the process, and in files.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::core {

/// A measured choice. Problem and machine are canonical texts, which are compared as a whole.
struct WisdomEntry {
  std::string problem, machine;
  std::string algorithm;           ///< with all parameters
  double seconds = 0.0;            ///< of one execution
  double estimated_seconds = 0.0;  ///< the same of the algorithm that the model would have taken

  bool operator==(const WisdomEntry&) const = default;
};

/// The line of a file that says it, without its end: a JSON object.
std::string line_of(const WisdomEntry& entry);
/// Nothing where the line is no entry of this version: whatever else it is, nobody is harmed.
std::optional<WisdomEntry> entry_of(std::string_view line);

/// The process's. Any thread may use it.
class Wisdom {
 public:
  /// Never destroyed: plans in static objects may be made at any time.
  static Wisdom& instance();
  /// Whether there is an entry. Takes no lock.
  bool any() const { return any_.load(std::memory_order_acquire); }

  struct Found {
    std::optional<WisdomEntry> entry;
    std::string remark;  ///< what is wrong with the file, once
  };
  /// `file`, where not empty, is read before, unless it is as it was read last. Throws nothing for what is in it.
  Found find(const std::string& problem, const std::string& machine, const std::string& file);
  void add(const WisdomEntry& entry);
  /// Reads a file into it. Throws plugin::Error where it cannot be read.
  void load(const std::string& path);
  /// Adds it to a file. Throws plugin::Error where that cannot be written, which is then as it was.
  void save(const std::string& path) const;
  /// The file that TESSERA_WISDOM names is read again by the next plan.
  void forget();

 private:
  using Key = std::pair<std::string, std::string>;
  std::string refresh(const std::string& file);
  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::map<Key, WisdomEntry> entries_;
  std::set<Key> own_;  ///< that were added, not read
  std::string seen_;   ///< the file that was read last, and its state then
};

}  // namespace tessera::core
