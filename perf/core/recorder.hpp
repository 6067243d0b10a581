// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What was measured: kept, written as JSON in Google Benchmark's format while the run goes on, and printed as tables.
#pragma once

#include "place.hpp"

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace tessera::perf {

class Recorder : public benchmark::BenchmarkReporter {
 public:
  /// `path`: JSON file, "" for none; checked at once so that nothing is measured in vain.
  Recorder(std::string path, const Facts& facts);

  void leave_out(const std::string& name, const std::string& reason);
  /// Tells where the row of that name is measured: peers' names do not say.
  void locate(const std::string& name, const std::string& place) { places_[name] = place; }
  bool failed() const { return failed_; }
  std::size_t size() const { return rows_.size(); }
  void write();  ///< the JSON, whole or not at all
  void print_tables(std::FILE* file) const;

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override { write(); }

 private:
  std::string path_;
  nlohmann::ordered_json context_, rows_ = nlohmann::ordered_json::array(), left_out_ = nlohmann::ordered_json::array();
  std::map<std::string, std::string> places_;  ///< of the rows, by name
  double written_ = 0.0;
  bool failed_ = false;
};

/// How rows say that they were not measured, which is no failure.
inline constexpr const char* kLeftOut = "left out: ";

}  // namespace tessera::perf
