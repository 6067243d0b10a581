// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The ranks that MPI has started, and what they tell each other beside the library's messages.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::cli {

/// A failure that all ranks know of.
struct KnownFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Those of MPI_COMM_WORLD. MPI itself ends the program where it fails.
class Ranks {
 public:
  Ranks();

  bool is_first() const { return rank_ == 0; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// This rank's number among those of its host.
  int on_host() const { return on_host_; }

  /// Collective: runs `body`. Where it throws on one rank or more, all throw KnownFailure with the text of the first of
  /// them. What `body` does collectively must end on all ranks or fail on all.
  void together(const std::function<void()>& body) const;
  /// Collective: the numbers that rank 0 has.
  std::vector<std::int64_t> from_first(std::vector<std::int64_t> numbers) const;
  /// Collective: the largest of the numbers.
  double largest(double number) const;

 private:
  int rank_ = 0, size_ = 1, on_host_ = 0;
};

}  // namespace tessera::cli
