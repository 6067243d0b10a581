// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Any text as taps in JSON, as words of a command line, as a problem of a log that is to be tuned, and as a line of a
/// file of wisdom: an error of the kind that is promised, with a bounded message, or a value that obeys its invariants.
/// The first byte chooses what is read.

#include "memory_file.hpp"
#include "npy.hpp"
#include "spec/spec.hpp"
#include "wisdom/wisdom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

namespace {

using namespace tessera;
using test::require;

constexpr std::size_t kLongest = 2000, kShort = 600;  // bytes of a message; the longest lists all named taps

template <class Expected = std::invalid_argument, class Body>
void allow(Body&& body, std::size_t longest = kLongest) {
  test::allow<Expected>(longest, body);
}

void check(const Taps& taps, int rank) {
  require(taps.rank() == rank, "rank");
  for (const Tap& tap : taps)
    for (int axis = 0; axis < TESSERA_MAX_RANK; ++axis)
      require(std::abs(tap.offset[std::size_t(axis)]) <= (axis < rank ? TESSERA_MAX_RADIUS : 0), "radius");
  const auto not_before = [](const Tap& a, const Tap& b) { return a.offset >= b.offset; };
  require(std::adjacent_find(taps.begin(), taps.end(), not_before) == taps.end(), "order");
}

/// Sums by the merge and by single terms are the same, bit for bit but for NaN.
void check_sum(const Taps& a, const Taps& b) {
  std::map<std::array<std::int64_t, TESSERA_MAX_RANK>, double> expected;
  for (const Tap& tap : a) expected[tap.offset] = tap.coefficient;
  for (const Tap& tap : b) {
    const auto [at, added] = expected.emplace(tap.offset, tap.coefficient);
    if (!added) at->second += tap.coefficient;
  }
  const Taps sum = a + b;
  const auto same = [](const Tap& tap, const auto& one) {
    return tap.offset == one.first &&
           (tap.coefficient == one.second || (std::isnan(tap.coefficient) && std::isnan(one.second)));
  };
  require(std::equal(sum.begin(), sum.end(), expected.begin(), expected.end(), same), "sum");
}

void read_json(const std::string& text, int rank) {
  allow<npy::Error>([&] {
    const Taps taps = cli::read_taps(test::memory_file(std::as_bytes(std::span(text))), rank);
    require(taps.size() > 0, "no taps");
    check(taps, rank);
    check_sum(taps, taps::laplacian(rank));
    check_sum(taps::laplacian(rank), taps);
    check_sum(taps, taps);
  });
}

void read_named(const std::string& text, int rank) {
  allow([&] {
    const cli::NamedTaps named(text, std::nullopt);
    // A box and a Gaussian may have millions of points: what holds for one of them is seen with fewer.
    const auto digits = std::count_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (text.starts_with("box:") && text.size() > 5) return;
    if (text.starts_with("gaussian:") && rank > 1 && digits > 1) return;
    check(named.make(rank), rank);
  });
}

void read_boundaries(const std::string& text, std::optional<double> value) {
  allow([&] {
    const std::vector<BoundaryAxis> axes = cli::parse_boundaries(text, value);
    require(axes.size() == std::size_t(std::count(text.begin(), text.end(), ',')) + 1, "axes");
    for (const BoundaryAxis& axis : axes)
      for (const BoundarySide& side : {axis.low, axis.high}) {
        require(side.mode >= Boundary::fixed && side.mode <= Boundary::mirror, "mode");
        require(std::isfinite(side.value) && (side.mode == Boundary::constant || side.value == 0.0), "value");
      }
  });
}

void read_numbers(const std::string& text) {
  allow([&] {
    const double value = cli::parse_number(text, "number");
    require(std::isfinite(value) && value == std::strtod(text.c_str(), nullptr), "number");
  });
  allow([&] {
    const std::string count = std::to_string(cli::parse_count(text, "count"));
    require(count[0] != '-' && text.ends_with(count), "count");
  });
  allow([&] { require(cli::parse_product_size(text, "size").size() == 4, "sizes"); }, kShort);
  allow(
      [&] {
        const auto extents = cli::parse_extents(text, "extents");
        require(!extents.empty() && extents.size() <= TESSERA_MAX_RANK, "extents");
      },
      kShort);
}

/// What can be read can be written, and is read as the same but for digits of the times.
void read_wisdom(const std::string& text) {
  const auto entry = core::entry_of(text);
  if (!entry) return;
  require(entry->seconds > 0.0 && !entry->algorithm.empty(), "entry");
  const auto again = core::entry_of(core::line_of(*entry));
  require(again && again->problem == entry->problem && again->machine == entry->machine &&
              again->algorithm == entry->algorithm,
          "entry that was written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kKinds = 6;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int kind = data[0] % kKinds, rank = 1 + data[0] / kKinds % TESSERA_MAX_RANK;
  if (kind == 0) read_json(text, rank);
  if (kind == 1) read_named(text, rank);
  if (kind == 2) read_boundaries(text, std::nullopt), read_boundaries(text, 0.5);
  if (kind == 3) read_numbers(text);
  if (kind == 4) allow([&] { cli::parse_problem(text); }, kShort);
  if (kind == 5) read_wisdom(text);
  return 0;
}
