// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "subject.hpp"

#include "random.hpp"
#include "required.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace tessera::test {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool begins_with_word(const std::string& text, const std::string& word, char separator) {
  return text == word || text.starts_with(word + separator);
}

std::string spec_of_this_run() {
  const std::string spec = variable("TESSERA_TEST_BACKEND");
  if (spec.empty()) FAIL("TESSERA_TEST_BACKEND must name the backend to test, for example cpu-v3");
  return spec;
}

Context open(const std::string& spec, int threads) {
  try {
    ContextOptions options;
    options.threads = threads;
    return Context(spec, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::backend_unavailable || is_required(spec)) FAIL(spec << ": " << error.what());
    SKIP(spec << " is not available: " << error.what());
  }
  throw std::logic_error("not reached: FAIL and SKIP leave by an exception");
}

std::int64_t registry_index(const std::string& spec) {
  for (std::int64_t i = 0; i < tessera_backend_count(); ++i) {
    tessera_backend_info info{};
    info.struct_size = sizeof info;
    REQUIRE(tessera_get_backend_info(i, &info, nullptr) == TESSERA_OK);
    if (begins_with_word(spec, info.name, '-') || std::string(info.name).starts_with(spec + "-")) return i;
  }
  FAIL("the registry does not list " << spec);
  return -1;
}

std::size_t sample_wanted() {
  const std::string text = variable("TESSERA_TEST_ALL") == "1" ? "" : variable("TESSERA_TEST_SAMPLE");
  const std::size_t each = text.empty() ? 1 : std::stoul(text);
  if (each == 0) FAIL("TESSERA_TEST_SAMPLE is 0: it must be 1 or more, or not set");
  return each;
}

/// Whether so few cases are drawn that an algorithm for some kinds of them may have none.
bool is_thin_sample() { return sample_wanted() >= 20; }

}  // namespace

std::size_t short_list() {
  const std::string text = variable("TESSERA_TEST_SHORT");
  return text.empty() ? 0 : std::stoul(text);
}

std::size_t sample_of() {
  const std::size_t each = sample_wanted();
  if (each > 1)
    std::cout << "One of each " << each << " cases; the same ones again with TESSERA_TEST_SEED=" << seed() << "\n";
  return each;
}

Subject::Subject(int threads)
    : spec_(spec_of_this_run()), index_(registry_index(spec_)), context_(open(spec_, threads)) {
  if (!begins_with_word(context_.backend(), spec_, '-')) FAIL("asked for " << spec_ << ", got " << context_.backend());
}

std::vector<std::string> Subject::algorithms(tessera_op op) const {
  std::vector<std::string> names;
  while (const char* name = tessera_algorithm_name(index_, op, std::int64_t(names.size()))) names.emplace_back(name);
  if (names.empty() && op != TESSERA_OP_SYSTEM) FAIL(spec_ << " lists no algorithm for operation " << op);
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) FAIL(spec_ << " lists a name twice");
  return names;
}

std::vector<std::string> Subject::tested(tessera_op op, Part part) const {
  std::vector<std::string> names = algorithms(op);
  if (part == Part::whole) std::erase(names, "triangles");  // which computes nothing else
  std::erase(names, "doubled");                             // of complex products, which have tests of their own
  const std::string one = variable("TESSERA_TEST_ALGORITHM");
  if (one.empty()) return names;
  std::erase_if(names, [&](const std::string& name) { return name != one; });
  bool known = false;
  for (const tessera_op any : {TESSERA_OP_GEMM, TESSERA_OP_STENCIL, TESSERA_OP_SYSTEM})
    known |= std::ranges::count(algorithms(any), one) != 0;
  if (!known) FAIL(spec_ << " has no algorithm " << one);
  return names;
}

bool Subject::is_complete() const {
  constexpr const char* kComplete[] = {"cpu"};
  return std::ranges::any_of(kComplete, [&](const char* name) { return begins_with_word(spec_, name, '-'); });
}

std::uint64_t Subject::device_memory_bytes() const {
  tessera_device_info info{};
  info.struct_size = sizeof info;
  REQUIRE(tessera_get_device_info(index_, context_.device(), &info, nullptr) == TESSERA_OK);
  return info.memory_bytes;
}

void Subject::check_forced(const Plan& plan, const std::string& algorithm) const {
  if (!begins_with_word(plan.backend(), spec_, '-'))
    FAIL("forced backend " << spec_ << ", but the plan runs on " << plan.backend());
  if (!begins_with_word(plan.algorithm(), algorithm, ':'))
    FAIL("forced algorithm " << algorithm << ", but the plan runs " << plan.algorithm());
}

void report(const std::string& what, const Tally& tally, bool may_refuse_all) {
  std::cout << what << ": " << tally.run << " runs, " << tally.failed << " failed\n";
  for (const auto& [reason, count] : tally.refused)
    std::cout << "    " << count << " not supported: " << reason << "\n";
  std::cout.flush();
  INFO(what);
  CHECK((tally.run > 0 || ((may_refuse_all || is_thin_sample()) && !tally.refused.empty())));
}

bool is_for_some_products(const std::string& algorithm) {
  return algorithm.starts_with("warpgroup") || algorithm == "skinny_parts" || algorithm == "elementwise" ||
         algorithm == "chains";
}

std::vector<std::string> neighbours(const std::string& text) {
  std::vector<std::string> result;
  const auto colon = text.find(':');
  if (colon == std::string::npos) return result;
  std::stringstream parameters(text.substr(colon + 1));
  for (std::string entry; std::getline(parameters, entry, ',');) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos) FAIL("the plan prints its algorithm as " << text << ": no key=value");
    const std::int64_t value = std::stoll(entry.substr(equals + 1));
    for (const std::int64_t other : std::set<std::int64_t>{1, 2, 3, 4, 8, value / 2, value - 1, value + 1, value * 2})
      if (other != value)
        result.push_back(text.substr(0, colon + 1) + entry.substr(0, equals + 1) + std::to_string(other));
  }
  return result;
}

}  // namespace tessera::test
