// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The operands of one problem on one device, and what its result must be: shared by all that compete on it.
#pragma once

#include "check.hpp"
#include "platform.hpp"
#include "system_fixture.hpp"

#include <memory>
#include <optional>

namespace tessera::perf {

class Fixture {
 public:
  Fixture(Device& device, const Problem& problem, std::uint64_t seed);
  ~Fixture();
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  /// Bytes that it takes. One operand set where it is far larger than the cache, else as many as are.
  static double bytes(const Device& device, const Problem& problem);

  /// The i-th execution: on its own operands, or always on the first ones where they shall be hot.
  void execute(const Execute& function, std::int64_t i, bool hot) const;
  /// Poisons the output, executes, and compares. Also the time of that execution.
  Verdict check(const Execute& function, double& seconds, Rounding rounding = Rounding::once);
  /// Whether check() has something to compare with; else chain() makes it.
  bool has_reference() { return system_ ? system_->has_reference() : reference().complete(); }
  /// Checks an execution of the problem's part, and makes the reference of the whole from many of them in a row.
  Verdict chain(const Execute& part);

  Device& device() const { return *device_; }
  const Problem& problem() const { return problem_; }

 private:
  static std::int64_t sets(const Device& device, const Problem& problem);
  Reference& reference();  ///< made when first asked for: later passes do not ask
  Device* device_;
  Problem problem_;
  std::uint64_t seed_;
  std::int64_t sets_;
  static constexpr std::size_t kOut = 3;    ///< the operand behind the inputs
  std::array<std::int64_t, 4> distance_{};  ///< bytes between the sets of each operand
  std::array<char*, 4> memory_{};
  std::optional<Reference> reference_;
  std::unique_ptr<SystemFixture> system_;  ///< of a system, which has none of the above
};

}  // namespace tessera::perf
