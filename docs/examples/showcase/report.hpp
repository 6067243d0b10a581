// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The table that the showcase prints, and what its exit code comes from.
#pragma once

#include <string>

namespace showcase {

/// What a row is about.
struct Subject {
  std::string operation;
  std::string type;
  std::string backend;
  std::string algorithm;
};

class Report {
 public:
  void heading() const;
  /// A result that was compared; wrong when the largest error exceeds its bound. `rate` counts 1e9 a second.
  void compared(const Subject& subject, double seconds, double rate, const char* unit, double error_over_bound);
  /// Not done, for a reason that is no failure.
  void omitted(const Subject& subject, const std::string& why);
  void failed(const Subject& subject, const std::string& why);
  /// A failure that belongs to no row.
  void failed(const std::string& why);
  /// The last line. Returns the process's exit code: 0 when something was compared and nothing failed.
  int finish() const;

 private:
  int agreed_ = 0, omitted_ = 0, failed_ = 0;
};

}  // namespace showcase
