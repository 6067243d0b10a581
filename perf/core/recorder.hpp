// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What was measured: kept, written as JSON in Google Benchmark's format while the run goes on, and printed as tables.
#pragma once

#include "measure.hpp"
#include "platform.hpp"

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera::perf {

/// What a row tells of its time, in microseconds.
void add_times(benchmark::UserCounters& counters, const Statistics& time);

class Recorder : public benchmark::BenchmarkReporter {
 public:
  /// `path`: JSON file, "" for none; checked at once so that nothing is measured in vain.
  Recorder(std::string path, const Facts& facts);

  void leave_out(const std::string& name, const std::string& reason);
  /// Tells where the row of that name is measured: peers' names do not say.
  void locate(const std::string& name, const std::string& platform) { platforms_[name] = platform; }
  /// Each pass's median of some of its values, for the row of that name.
  void passes(const std::string& name, nlohmann::ordered_json medians) { passes_[name] = std::move(medians); }
  /// A row that says why it has no figures.
  void fail(const std::string& name, const std::string& platform, const std::string& reason);
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
  std::map<std::string, std::string> platforms_;  ///< of the rows, by name
  std::map<std::string, nlohmann::ordered_json> passes_;
  std::map<std::string, std::size_t> numbers_;  ///< of the rows; a later pass brings a row anew
  std::set<std::string> left_out_names_;
  double written_ = 0.0;
  bool failed_ = false;
};

/// How rows say that they were not measured, which is no failure.
inline constexpr const char* kLeftOut = "left out: ";

}  // namespace tessera::perf
