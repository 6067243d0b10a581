// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Makes the n-th call of a family fail in a child process. The shim's file is the test's to name.
#pragma once

#include "faults.h"
#include "process.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tessera::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// The block that is shared with the shim. A sanitizer replaces the same functions as the shim does: skip where
/// kSanitized.
class Faults {
 public:
  explicit Faults(std::string shim);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// Call number `at` of a family or a function is hit; counts begin anew.
  void arm(const std::string& what, std::uint64_t at, tessera_fault_mode mode, bool no_tmpfile = false);
  std::uint64_t calls() const { return block_->calls; }
  std::uint64_t hits() const { return block_->hits; }
  /// What a child process needs.
  std::map<std::string, std::optional<std::string>> environment() const;

 private:
  TemporaryDirectory folder_;
  std::string shim_;
  tessera_faults* block_;
};

}  // namespace tessera::test
