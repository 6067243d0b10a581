// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Wisdom: what plans have measured, in this process and in files.
#pragma once

#include <tessera/error.hpp>

#include <string>
#include <vector>

namespace tessera::wisdom {

/// Reads a file into the process; lines that this version cannot read are left out. Plans of the plan cache stay as
/// they are. Throws Error (invalid_argument) where the file cannot be read.
inline void load(const std::string& path) { detail::call(tessera_wisdom_load, path.c_str()); }

/// Adds the process's wisdom to a file, which need not exist: what else is in it stays, and several processes may do so
/// at a time. Throws Error (invalid_argument) where it cannot be written; it is then as it was.
inline void save(const std::string& path) { detail::call(tessera_wisdom_save, path.c_str()); }

/// What a line of a file says.
struct Entry {
  std::string problem;       ///< canonical text
  std::string machine;       ///< the same of the backend, its device and all else that the choice depends on
  std::string algorithm;     ///< with all parameters; of a choice among backends "cuda:0"
  double seconds;            ///< of one execution
  double estimated_seconds;  ///< the same of what the model of time would have taken
};

/// What is in a file.
struct File {
  std::vector<Entry> entries;
  std::vector<std::string> unreadable;  ///< lines that this version cannot read
};

/// Reads a file, and leaves the process's wisdom alone. Throws Error (invalid_argument) where it cannot be read.
inline File read(const std::string& path) {
  using Lines = detail::Collected<File>;
  const auto visit = [](void* data, const tessera_wisdom_entry* e) {
    Lines::take(data, [e](File& file) {
      if (e->unreadable != nullptr)
        file.unreadable.emplace_back(e->unreadable);
      else
        file.entries.push_back({e->problem, e->machine, e->algorithm, e->seconds, e->estimated_seconds});
    });
  };
  Lines lines;
  detail::call(tessera_wisdom_visit, path.c_str(), static_cast<tessera_wisdom_visitor>(visit),
               static_cast<void*>(&lines));
  return lines.get();
}

/// Forgets the process's wisdom, and clears the plan cache.
inline void forget() { detail::call(tessera_wisdom_forget); }

}  // namespace tessera::wisdom
