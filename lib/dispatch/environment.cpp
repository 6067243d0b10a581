// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/environment.hpp"

#include <algorithm>
#include <tessera/plugin/epilogue.hpp>
#include <tessera/plugin/error.hpp>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace tessera::core {
namespace {

using plugin::Error;
using plugin::name_of_compute;

/// What the variables hold. Read as a whole: getenv beside another thread's setenv is a race that the C library
/// answers with a crash.
struct Variables {
  std::string backend, gemm_algorithm, stencil_algorithm, system_algorithm, gemm_compute, num_threads, verbose;
  std::string backend_path, plan_effort, wisdom, omp_num_threads, sm_limit;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::shared_ptr<const Variables> read_variables() {
  const char *path = secure_getenv("TESSERA_BACKEND_PATH"), *wisdom = secure_getenv("TESSERA_WISDOM");
  return std::make_shared<const Variables>(
      Variables{variable("TESSERA_BACKEND"), variable("TESSERA_GEMM_ALGORITHM"), variable("TESSERA_STENCIL_ALGORITHM"),
                variable("TESSERA_SYSTEM_ALGORITHM"), variable("TESSERA_GEMM_COMPUTE"), variable("TESSERA_NUM_THREADS"),
                variable("TESSERA_VERBOSE"), path == nullptr ? "" : path, variable("TESSERA_PLAN_EFFORT"),
                wisdom == nullptr ? "" : wisdom, variable("OMP_NUM_THREADS"), variable("TESSERA_SM_LIMIT")});
}

/// The variables in force, and their lock. Never destroyed: plans in static objects may be made at any time.
struct Snapshot {
  std::mutex mutex;
  std::shared_ptr<const Variables> variables;

  static Snapshot& instance() {
    static auto* snapshot = new Snapshot;
    return *snapshot;
  }
};

std::shared_ptr<const Variables> variables() {
  Snapshot& snapshot = Snapshot::instance();
  const std::lock_guard lock(snapshot.mutex);
  if (snapshot.variables == nullptr) snapshot.variables = read_variables();
  return snapshot.variables;
}

[[noreturn]] void malformed(std::string_view source, std::string_view text, const std::string& remedy) {
  throw Error(TESSERA_INVALID_ARGUMENT, std::string(source) + " = '" + std::string(text) + "': " + remedy);
}

bool is_name(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_' && c != '-')
      return false;
  return true;
}

template <class Integer>
bool parse_integer(std::string_view text, Integer& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

BackendSpec parse_backend(std::string_view text, std::string_view source) {
  static constexpr const char* kForm = "must be 'auto', 'name' or 'name:device'";
  BackendSpec spec{std::string(source), "", -1};
  if (text.empty() || text == "auto") return spec;
  const auto colon = text.find(':');
  spec.name = text.substr(0, colon);
  if (!is_name(spec.name)) malformed(source, text, kForm);
  if (colon != std::string_view::npos && (!parse_integer(text.substr(colon + 1), spec.device) || spec.device < 0))
    malformed(source, text, kForm);
  if (spec.name == "auto") malformed(source, text, "a device needs a backend's name before it");
  return spec;
}

AlgorithmSpec parse_algorithm(std::string_view text, std::string_view source, bool from_code) {
  static constexpr const char* kForm = "must be '[backend/]name[:key=value,...]' with whole numbers as values";
  AlgorithmSpec spec{std::string(source), from_code, "", "", {}};
  if (text.empty()) return spec;
  const auto colon = std::size_t(std::find(text.begin(), text.end(), ':') - text.begin());
  std::string_view head = text.substr(0, colon);
  if (const auto slash = head.find('/'); slash != std::string_view::npos) {
    spec.backend = head.substr(0, slash);
    if (!is_name(spec.backend)) malformed(source, text, kForm);
    head = head.substr(slash + 1);
  }
  spec.name = head;
  if (!is_name(spec.name)) malformed(source, text, kForm);
  if (colon == text.size()) return spec;
  std::string_view rest = text.substr(colon + 1);
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    const std::string_view entry = rest.substr(0, comma);
    const auto equals = entry.find('=');
    std::int64_t value = 0;
    if (equals == std::string_view::npos || !is_name(entry.substr(0, equals)) ||
        !parse_integer(entry.substr(equals + 1), value))
      malformed(source, text, kForm);
    const std::string key(entry.substr(0, equals));
    for (const auto& [given, unused] : spec.parameters)
      if (given == key) malformed(source, text, "parameter " + key + " is given twice");
    spec.parameters.emplace_back(key, value);
    more = comma != std::string_view::npos;
    if (more) rest = rest.substr(comma + 1);
  }
  return spec;
}

tessera_compute parse_compute(std::string_view text, std::string_view source) {
  if (text.empty()) return TESSERA_COMPUTE_STRICT;
  std::string known;
  for (tessera_compute mode = TESSERA_COMPUTE_STRICT; mode <= TESSERA_COMPUTE_TF32; ++mode) {
    if (text == name_of_compute(mode)) return mode;
    known += (known.empty() ? "" : ", ") + std::string(name_of_compute(mode));
  }
  malformed(source, text, "must be one of " + known);
}

tessera_effort parse_effort(std::string_view text, std::string_view source) {
  if (text.empty() || text == "estimate") return TESSERA_EFFORT_ESTIMATE;
  if (text == "measure") return TESSERA_EFFORT_MEASURE;
  malformed(source, text, "must be one of estimate, measure");
}

std::string parse_wisdom(std::string_view text, std::string_view source) {
  if (!text.empty() && text.front() != '/') malformed(source, text, "must be an absolute path");
  return std::string(text);
}

int parse_number(std::string_view text, std::string_view source, int low, int high, int absent) {
  if (text.empty()) return absent;
  int value = 0;
  if (!parse_integer(text, value) || value < low || value > high)
    malformed(source, text, "must be a whole number in [" + std::to_string(low) + ", " + std::to_string(high) + "]");
  return value;
}

std::vector<std::string> parse_path(std::string_view text) {
  std::vector<std::string> entries;
  while (!text.empty()) {
    const auto colon = text.find(':');
    if (colon != 0) entries.emplace_back(text.substr(0, colon));
    text = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  }
  return entries;
}

void reload_environment() {
  Snapshot& snapshot = Snapshot::instance();
  const std::lock_guard lock(snapshot.mutex);
  snapshot.variables = read_variables();
}

BackendSpec environment_backend() { return parse_backend(variables()->backend, "TESSERA_BACKEND"); }

AlgorithmSpec environment_algorithm(std::int32_t op) {
  const auto v = variables();
  if (op == TESSERA_OP_GEMM) return parse_algorithm(v->gemm_algorithm, "TESSERA_GEMM_ALGORITHM", false);
  if (op == TESSERA_OP_STENCIL) return parse_algorithm(v->stencil_algorithm, "TESSERA_STENCIL_ALGORITHM", false);
  return parse_algorithm(v->system_algorithm, "TESSERA_SYSTEM_ALGORITHM", false);
}

tessera_compute environment_compute() { return parse_compute(variables()->gemm_compute, "TESSERA_GEMM_COMPUTE"); }

int environment_threads() { return parse_number(variables()->num_threads, "TESSERA_NUM_THREADS", 1, 1024, 0); }

int environment_verbose() { return parse_number(variables()->verbose, "TESSERA_VERBOSE", 0, 2, 0); }

tessera_effort environment_effort() { return parse_effort(variables()->plan_effort, "TESSERA_PLAN_EFFORT"); }

int environment_sm_limit() { return parse_number(variables()->sm_limit, "TESSERA_SM_LIMIT", 0, INT32_MAX, 0); }

std::string environment_wisdom() { return parse_wisdom(variables()->wisdom, "TESSERA_WISDOM"); }

std::string environment_omp_threads() { return variables()->omp_num_threads; }

std::vector<std::string> environment_backend_path() { return parse_path(variables()->backend_path); }

}  // namespace tessera::core
