// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The ranks that measure together. What they agree on does not go through the library that is measured.
#pragma once

#include <tessera/distributed.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::perf {

/// A rank's hold on the group. All but the getters are collective.
class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int rank_on_host() const = 0;  ///< among the ranks that share this host's devices
  virtual const Comm& comm() const = 0;  ///< the library's own hold on the same ranks
  virtual void barrier() = 0;            ///< leaves the ranks as close together as can be
  /// So many bytes of each rank, in their order. A rank that waits leaves its processor to others.
  virtual void all_gather(const void* mine, void* all, std::size_t bytes) = 0;
  /// Of two ranks alone: host memory to the peer, and the peer's to here, at the same time.
  virtual void exchange(const void* sent, void* received, std::size_t bytes, int peer) = 0;

  double max(double mine) {
    std::vector<double> all(static_cast<std::size_t>(size()));
    all_gather(&mine, all.data(), sizeof mine);
    return *std::max_element(all.begin(), all.end());
  }
};

/// A failure of some rank, thrown on all of them.
struct RankFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `body` on each rank. Where it throws on one, all throw a RankFailure that says what the first of them said.
template <class Body>
void together(Group& group, Body&& body) {
  using Text = std::array<char, 400>;
  Text mine{};
  try {
    body();
  } catch (const std::exception& error) {
    std::snprintf(mine.data(), mine.size(), "rank %d: %s", group.rank(), error.what());
  }
  std::vector<Text> all(static_cast<std::size_t>(group.size()));
  group.all_gather(mine.data(), all.data(), mine.size());
  for (const Text& text : all)
    if (text[0] != 0) throw RankFailure(text.data());
}

}  // namespace tessera::perf
