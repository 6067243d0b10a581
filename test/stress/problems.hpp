// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Small random problems with their results.
#pragma once

#include <tessera/tessera.hpp>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tessera::test {

inline std::size_t pick(std::mt19937& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

/// Whose a trial's plan is.
enum class Plans { own, borrowed };

/// A plan with operands of its own.
class Trial {
 public:
  class Implementation {
   public:
    virtual ~Implementation() = default;
    /// Executes the plan; whether the result has the expected bits.
    virtual bool run() = 0;
    virtual std::string name() const = 0;
  };

  Trial() = default;
  explicit Trial(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
  explicit operator bool() const { return implementation_ != nullptr; }
  bool run() { return implementation_->run(); }
  std::string name() const { return implementation_->name(); }

 private:
  std::unique_ptr<Implementation> implementation_;
};

struct Problem {
  std::function<Trial(Context&, Plans)> make;  ///< callable from any thread
};

/// All alike, with two threads: so that the bits are.
Context make_context(const std::string& backend);

/// Some of each algorithm and of the automatic choice; computes what is expected of them.
std::vector<Problem> make_problems(const std::string& backend, unsigned seed);

}  // namespace tessera::test
