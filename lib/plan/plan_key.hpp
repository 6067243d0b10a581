// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What tells one plan of the cache from another.
#pragma once

#include "plan/context.hpp"
#include "plan/options.hpp"

#include <tessera/descriptors.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::core {

/// Context, options and every field of a descriptor that matters, as words: two plans are the same where the words are.
/// A descriptor that says the same in other words (a leading dimension given, or packed) is another one. Nothing is
/// validated but what must be right for the descriptor to be read. Takes memory for many taps alone.
class PlanKey {
 public:
  /// Throws what making the plan would throw where the descriptor cannot be read.
  PlanKey(const Context* context, const tessera_desc* desc, const PlanOptions& options);
  PlanKey(const PlanKey&) = delete;
  PlanKey& operator=(const PlanKey&) = delete;

  std::span<const std::uint64_t> words() const { return {begin_, size_}; }
  std::uint64_t hash() const;

 private:
  void add(std::uint64_t word) { add(&word, sizeof word); }
  /// The last word is filled up with zeros.
  void add(const void* bytes, std::size_t size);
  void add_gemm(const tessera_desc* desc);
  void add_stencil(const tessera_desc* desc);

  std::array<std::uint64_t, 160> room_;  // of a product, or of a stencil with 25 taps
  std::vector<std::uint64_t> more_;
  std::uint64_t* begin_ = room_.data();
  std::size_t size_ = 0;
};

}  // namespace tessera::core
