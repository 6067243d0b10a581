// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Child processes, temporary directories and the environment.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::test {

struct Outcome {
  int exit_code = -1;  ///< -1 when a signal ended it
  int signal = 0;
  std::string output;  ///< of stdout
  std::string errors;  ///< of stderr
};

/// Runs a program (argv[0] is its path) with variables set on top of this environment; an empty optional unsets one.
Outcome run(const std::vector<std::string>& argv,
            const std::map<std::string, std::optional<std::string>>& environment = {});

/// A new empty directory, removed with all it holds.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Sets (or, with nothing, unsets) a variable, tells the library, and puts the old value back.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, std::optional<std::string> value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void change(const std::optional<std::string>& value);

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace tessera::test
