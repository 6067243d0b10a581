// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Where plans measure and remember, on the emulated device: of its algorithms `plain` is predicted to be the fastest,
/// and made slow.
#pragma once

#include "../plugins/message_of.hpp"
#include "empty_cache.hpp"
#include "process.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// No wisdom before and after, and the lines that are printed.
class Scene {
 public:
  Scene() : slow_("TESSERA_FAKE_PLAIN", "slow"), verbose_("TESSERA_VERBOSE", "1") {
    wisdom::forget();
    tessera_set_verbose_callback(
        [](const char* line, void* lines) { static_cast<std::vector<std::string>*>(lines)->emplace_back(line); },
        &lines_);
  }
  ~Scene() {
    tessera_set_verbose_callback(nullptr, nullptr);
    wisdom::forget();
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// Whether a line with this text was printed since the last question.
  bool said(const std::string& text) {
    const auto lines = std::exchange(lines_, {});
    return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }
  std::string path(const char* name = "wisdom") const { return directory_.path() / name; }
  Context& context() { return context_; }

 private:
  TemporaryDirectory directory_;
  EmptyCache cache_;
  ScopedVariable slow_, verbose_;
  std::vector<std::string> lines_;
  Context context_ = fake();
};

}  // namespace tessera::test
