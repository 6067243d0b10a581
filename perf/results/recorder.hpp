// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What was measured: kept, written as JSON while the run goes on, and printed as tables.
#pragma once

#include "measure.hpp"
#include "platform.hpp"

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera::perf {

/// What was measured of one subject, or why that failed.
struct Row {
  std::string name;                       ///< <op>/<case>/<dtype>/<cache>/<subject>
  std::string place;                      ///< "host" or "cuda": peers' names do not say
  Statistics time = {}, share = {};       ///< of an execution; of the ceiling that was measured beside each sample
  std::map<std::string, double> figures;  ///< "rate", "traffic" (10^9 a second), "ceiling" (a fraction) and the like
  std::string label;                      ///< the ceiling that binds, or what a plan says of itself
  std::string failure;                    ///< then nothing else counts
  std::string family = {};                ///< of problems, which a report sums up together

  std::string title() const { return name.substr(0, name.rfind('/')); }
  std::string subject() const { return name.substr(name.rfind('/') + 1); }
  bool has(const std::string& figure) const { return figures.contains(figure); }
  double figure(const std::string& key) const { return has(key) ? figures.at(key) : 0.0; }
};

class Recorder {
 public:
  /// `path`: JSON file, "" for none; checked at once so that nothing is measured in vain.
  Recorder(std::string path, const Facts& facts);

  /// A row of the same name, of an earlier pass, gives way.
  void add(Row row);
  void fail(const std::string& name, const std::string& place, const std::string& reason) {
    add({name, place, {}, {}, {}, "", reason});
  }
  /// What was not measured, which is no failure; nothing where there is a row.
  void leave_out(const std::string& name, const std::string& reason);
  bool failed() const { return failed_; }
  void write();  ///< the JSON, whole or not at all
  void print_tables(std::FILE* file) const;

 private:
  std::string path_;
  Facts facts_;
  LeftOut left_out_;
  std::vector<Row> rows_;
  std::map<std::string, std::size_t> numbers_;  ///< of the rows, by name
  std::set<std::string> left_out_names_;
  double written_ = 0.0;
  bool failed_ = false;
};

}  // namespace tessera::perf
