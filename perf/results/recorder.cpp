// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "recorder.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace tessera::perf {

namespace {

using Json = nlohmann::ordered_json;

std::string date() {
  const std::time_t t = std::time(nullptr);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", std::localtime(&t));
  return text;
}

/// The file's form is that of Google Benchmark, which wrote it once. Times are in microseconds.
Json json_of(const Row& row) {
  Json json{{"name", row.name}, {"run_name", row.name}, {"run_type", "iteration"}, {"place", row.place}};
  if (!row.failure.empty()) {
    json["error_occurred"] = true;
    json["error_message"] = row.failure;
    return json;
  }
  const Statistics& time = row.time;
  json["threads"] = json["iterations"] = 1;
  json["real_time"] = json["cpu_time"] = time.median * 1e6;
  json["time_unit"] = "us";
  std::map<std::string, double> figures = row.figures;
  figures.insert({{"min", time.min * 1e6}, {"max", time.max * 1e6}, {"spread", time.spread}});
  figures.insert({{"repetitions", double(time.repetitions)}, {"batch", double(time.batch)}});
  if (time.repetitions > 1) figures.insert({{"low", time.low * 1e6}, {"high", time.high * 1e6}});
  for (const auto& [key, value] : figures) json[key] = value;
  json["label"] = row.label;
  if (!row.family.empty()) json["family"] = row.family;
  if (time.passes.size() < 2) return json;
  for (const double seconds : time.passes) json["passes"]["real_time"].push_back(seconds * 1e6);
  if (!row.share.passes.empty()) json["passes"]["ceiling"] = row.share.passes;
  return json;
}

}  // namespace

Recorder::Recorder(std::string path, const Facts& facts) : path_(std::move(path)) {
  // The executable is not where it lay, which says something of a machine.
  facts_ = {{"date", date()}, {"executable", "tessera-perf"}};
  facts_.insert(facts_.end(), facts.begin(), facts.end());
  if (path_.empty()) return;
  const std::string partial = path_ + ".partial";
  if (!std::ofstream(partial))
    throw std::runtime_error("--json: cannot write " + partial + ": " + std::strerror(errno));
  std::filesystem::remove(partial);
}

void Recorder::add(Row row) {
  failed_ = failed_ || !row.failure.empty();
  const auto [at, added] = numbers_.emplace(row.name, rows_.size());
  if (added)
    rows_.push_back(std::move(row));
  else
    rows_[at->second] = std::move(row);
  if (steady_seconds() - written_ > 2.0) write();
}

void Recorder::leave_out(const std::string& name, const std::string& reason) {
  if (numbers_.contains(name) || !left_out_names_.insert(name).second) return;
  left_out_.emplace_back(name, reason);
}

void Recorder::write() {
  if (path_.empty()) return;
  Json context, rows = Json::array(), left_out = Json::array();
  for (const auto& [key, value] : facts_) {
    context[key] = value;
    if (key == "cpu_mhz_at_start") context["mhz_per_cpu"] = std::atoi(value.c_str());
  }
  context["num_cpus"] = std::thread::hardware_concurrency();
  for (const Row& row : rows_) rows.push_back(json_of(row));
  for (const auto& [name, reason] : left_out_) left_out.push_back({{"name", name}, {"reason", reason}});
  const std::string partial = path_ + ".partial";
  std::ofstream file(partial);
  file << Json{{"context", context}, {"benchmarks", rows}, {"left_out", left_out}}.dump(1) << "\n";
  file.close();
  if (!file) throw std::runtime_error("--json: cannot write " + partial);
  std::filesystem::rename(partial, path_);
  written_ = steady_seconds();
}

}  // namespace tessera::perf
