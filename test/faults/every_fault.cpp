// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "every_fault.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace tessera::test {
namespace {

/// Without memory of its own, as it is filled while there is none.
struct Verdict {
  bool hit = false;
  std::optional<ErrorCode> code;
  std::array<char, 512> problem{};
};

Verdict attempt(Family family, Extent extent, std::int64_t nth, const std::function<void()>& work) {
  Verdict verdict;
  const auto problem = [&](const char* what, const char* detail) {
    std::snprintf(verdict.problem.data(), verdict.problem.size(), "%s%s", what, detail);
  };
  const Injection injection(family, extent, nth);
  try {
    work();
  } catch (const Error& error) {
    verdict.code = error.code();
    if (error.what()[0] == '\0') problem("an error without a message", "");
    if (family == Family::none) problem(error.what(), "");
  } catch (const std::bad_alloc&) {  // the C++ headers had no memory for the message
    verdict.code = ErrorCode::out_of_memory;
  } catch (const std::exception& error) {
    problem("not an error of the library: ", error.what());
  }
  verdict.hit = injection.hit();
  return verdict;
}

bool fits(Family family, ErrorCode code) {
  if (code == ErrorCode::out_of_memory) return family == Family::memory || family == Family::device;
  return family != Family::memory && (code == ErrorCode::device_error || code == ErrorCode::backend_unavailable);
}

/// False when `work` ended before the n-th call.
bool one_fault(Family family, Extent extent, std::int64_t nth, const std::function<void()>& work, Counted counted) {
  const auto live = [&] { return live_device_objects() + (counted == Counted::all ? live_blocks() : 0); };
  const std::int64_t before = live();
  const Verdict faulty = attempt(family, extent, nth, work);
  const Verdict sound = attempt(Family::none, extent, 1, work);  // which waits for what a failed execution had queued
  std::int64_t left = live() - before;
  if (left != 0) {  // a leak leaves something each time; what a runtime takes at its first error, it takes once
    const std::int64_t again = live();
    attempt(family, extent, nth, work);
    attempt(Family::none, extent, 1, work);
    left = live() - again;
  }
  INFO("call " << nth << (extent == Extent::once ? " failed once" : " failed, and all after it"));
  if (faulty.problem[0] != '\0') FAIL_CHECK(faulty.problem.data());
  if (faulty.code && !fits(family, *faulty.code)) FAIL_CHECK("an error of code " << std::int32_t(*faulty.code));
  if (sound.code || sound.problem[0] != '\0') FAIL_CHECK("it fails afterwards, too: " << sound.problem.data());
  if (left != 0) FAIL_CHECK(left << " blocks or objects more than before");
  return faulty.hit;
}

}  // namespace

void every_fault(Family family, const std::function<void()>& work, Counted counted) {
  for (int warm = 0; warm < 2; ++warm) work();
  for (const Extent extent : {Extent::once, Extent::for_good}) {
    alarm(60);  // ends a test that hangs
    std::int64_t nth = 1;
    while (one_fault(family, extent, nth, work, counted)) ++nth;
    alarm(0);
  }
}

}  // namespace tessera::test
