// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The subcommands of tessera-mpi. Rank 0 reads and writes the files; every rank computes.
#pragma once

#include "commands.hpp"
#include "ranks.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::cli {

/// As add_gemm() and add_stencil(); `run` is collective, throws KnownFailure and expects `ranks` to live as long.
void add_mpi_gemm(CLI::App& app, Run& run, const Ranks& ranks);
void add_mpi_stencil(CLI::App& app, Run& run, const Ranks& ranks);

/// "2x1x4": so many numbers between x, each of 31 bits at most; `what` is the option. Throws std::invalid_argument.
std::vector<std::int64_t> parse_counts(const std::string& text, const std::string& what, std::size_t least,
                                       std::size_t most);
/// The number of 31 bits. Throws std::invalid_argument.
int short_count(std::int64_t count, const std::string& what);

/// Numbers one by one, as Ranks::from_first() brings them.
class Numbers {
 public:
  explicit Numbers(std::vector<std::int64_t> numbers) : numbers_(std::move(numbers)) {}
  std::int64_t whole() { return numbers_.at(at_++); }
  template <class Enumeration>
  Enumeration named() {
    return Enumeration(whole());
  }
  double real() { return std::bit_cast<double>(whole()); }

 private:
  std::vector<std::int64_t> numbers_;
  std::size_t at_ = 0;
};
inline std::int64_t bits_of(double value) { return std::bit_cast<std::int64_t>(value); }

}  // namespace tessera::cli
