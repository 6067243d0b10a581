// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "recorder.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace tessera::perf {

namespace {

/// Google Benchmark renamed the field in 1.8.
template <class R>
bool has_error(const R& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred;
  else
    return bool(run.skipped);
}
template <class R>
std::string error_of(const R& run) {
  if constexpr (requires { run.error_message; })
    return run.error_message;
  else
    return run.skip_message;
}

std::string date() {
  const std::time_t t = std::time(nullptr);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", std::localtime(&t));
  return text;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

void add_times(benchmark::UserCounters& counters, const Statistics& time) {
  counters["min"] = time.min * 1e6;
  counters["max"] = time.max * 1e6;
  if (time.repetitions > 1) {
    counters["low"] = time.low * 1e6;
    counters["high"] = time.high * 1e6;
  }
  counters["spread"] = time.spread;
  counters["repetitions"] = double(time.repetitions);
  counters["batch"] = double(time.batch);
}

Recorder::Recorder(std::string path, const Facts& facts) : path_(std::move(path)) {
  context_["date"] = date();
  for (const auto& [key, value] : facts) context_[key] = value;
  if (path_.empty()) return;
  const std::string partial = path_ + ".partial";
  if (!std::ofstream(partial))
    throw std::runtime_error("--json: cannot write " + partial + ": " + std::strerror(errno));
  std::filesystem::remove(partial);
}

void Recorder::leave_out(const std::string& name, const std::string& reason) {
  if (numbers_.contains(name) || !left_out_names_.insert(name).second) return;
  left_out_.push_back({{"name", name}, {"reason", reason}});
}

void Recorder::fail(const std::string& name, const std::string& platform, const std::string& reason) {
  rows_.push_back({{"name", name},
                   {"run_name", name},
                   {"run_type", "iteration"},
                   {"place", platform},
                   {"error_occurred", true},
                   {"error_message", reason}});
  failed_ = true;
}

bool Recorder::ReportContext(const Context& context) {
  context_["executable"] = "tessera-perf";  // not where it lay, which says something of a machine
  context_["num_cpus"] = context.cpu_info.num_cpus;
  context_["mhz_per_cpu"] = int(context.cpu_info.cycles_per_second / 1e6);
  context_["library_build_type"] =
#if defined(NDEBUG)
      "release";
#else
      "debug";
#endif
  return true;
}

void Recorder::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const std::string error = has_error(run) ? error_of(run) : "";
    if (error.rfind(kLeftOut, 0) == 0) {
      leave_out(run.run_name.function_name, error.substr(std::strlen(kLeftOut)));
      continue;
    }
    nlohmann::ordered_json row;
    // Without the "/iterations:1/manual_time" that is the same everywhere.
    const std::string& base = run.run_name.function_name;
    row["name"] = run.run_type == Run::RT_Aggregate ? base + "_" + run.aggregate_name : base;
    row["run_name"] = base;
    row["run_type"] = run.run_type == Run::RT_Aggregate ? "aggregate" : "iteration";
    if (run.run_type == Run::RT_Aggregate) row["aggregate_name"] = run.aggregate_name;
    if (const auto platform = platforms_.find(base); platform != platforms_.end()) row["place"] = platform->second;
    row["threads"] = run.threads;
    if (has_error(run)) {
      row["error_occurred"] = true;
      row["error_message"] = error;
      failed_ = true;
    } else {
      row["iterations"] = run.iterations;
      row["real_time"] = run.GetAdjustedRealTime();
      row["cpu_time"] = run.GetAdjustedCPUTime();
      row["time_unit"] = benchmark::GetTimeUnitString(run.time_unit);
      for (const auto& [name, counter] : run.counters) row[name] = counter.value;
      row["label"] = run.report_label;
      if (const auto passes = passes_.find(base); passes != passes_.end()) row["passes"] = passes->second;
    }
    const auto [at, added] = numbers_.emplace(row["name"], rows_.size());
    added ? rows_.push_back(std::move(row)) : void(rows_[at->second] = std::move(row));
  }
  if (now() - written_ > 2.0) write();
}

void Recorder::write() {
  if (path_.empty()) return;
  const std::string partial = path_ + ".partial";
  std::ofstream file(partial);
  file << nlohmann::ordered_json{{"context", context_}, {"benchmarks", rows_}, {"left_out", left_out_}}.dump(1) << "\n";
  file.close();
  if (!file) throw std::runtime_error("--json: cannot write " + partial);
  std::filesystem::rename(partial, path_);
  written_ = now();
}

}  // namespace tessera::perf
