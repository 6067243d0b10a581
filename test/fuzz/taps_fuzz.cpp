// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Any text as taps in JSON, as named taps, boundaries and numbers of a command line: an error of the kind that is
/// promised, with a bounded message, or a value that obeys its invariants. The first byte chooses what is read.

#include "npy.hpp"
#include "numbers.hpp"
#include "taps_spec.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace tessera;

constexpr std::size_t kLongest = 2000;  // bytes of a message; the longest lists all named taps

void require(bool condition) {
  if (!condition) std::abort();
}

/// Runs `body`, which may throw an error that is derived from `Expected` or a tessera::Error.
template <class Expected, class Body>
void allow(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_argument && std::strlen(error.what()) < kLongest);
  } catch (const Expected& error) {
    require(std::strlen(error.what()) < kLongest);
  }
}

void check(const Taps& taps, int rank) {
  require(taps.rank() == rank);
  for (const Tap& tap : taps)
    for (int axis = 0; axis < TESSERA_MAX_RANK; ++axis)
      require(std::abs(tap.offset[std::size_t(axis)]) <= (axis < rank ? TESSERA_MAX_RADIUS : 0));
  const auto not_before = [](const Tap& a, const Tap& b) { return a.offset >= b.offset; };
  require(std::adjacent_find(taps.begin(), taps.end(), not_before) == taps.end());
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
  require(sum.size() == expected.size());
  auto at = expected.begin();
  for (const Tap& tap : sum) {
    require(tap.offset == at->first);
    require(tap.coefficient == at->second || (std::isnan(tap.coefficient) && std::isnan(at->second)));
    ++at;
  }
}

void read_json(const std::string& text, int rank) {
  static const int file = ::memfd_create("taps", MFD_CLOEXEC);
  require(file >= 0 && ::ftruncate(file, 0) == 0);
  require(::pwrite(file, text.data(), text.size(), 0) == ssize_t(text.size()));
  allow<npy::Error>([&] {
    const Taps taps = cli::read_taps("/proc/self/fd/" + std::to_string(file), rank);
    require(taps.size() > 0);
    check(taps, rank);
    check_sum(taps, taps::laplacian(rank));
    check_sum(taps::laplacian(rank), taps);
    check_sum(taps, taps);
  });
}

void read_named(const std::string& text, int rank) {
  allow<std::invalid_argument>([&] {
    const cli::NamedTaps named(text, std::nullopt);
    // A box may have millions of points: what holds for one of them is seen with fewer.
    if (text.starts_with("box:") && text.size() > 5) return;
    check(named.make(rank), rank);
  });
}

void read_boundaries(const std::string& text, std::optional<double> value) {
  allow<std::invalid_argument>([&] {
    const std::vector<BoundaryAxis> axes = cli::parse_boundaries(text, value);
    require(axes.size() == std::size_t(std::count(text.begin(), text.end(), ',')) + 1);
    for (const BoundaryAxis& axis : axes)
      for (const BoundarySide& side : {axis.low, axis.high}) {
        require(side.mode >= Boundary::fixed && side.mode <= Boundary::mirror);
        require(std::isfinite(side.value) && (side.mode == Boundary::constant || side.value == 0.0));
      }
  });
}

void read_numbers(const std::string& text) {
  allow<std::invalid_argument>([&] {
    const double value = cli::parse_number(text, "number");
    require(std::isfinite(value) && value == std::strtod(text.c_str(), nullptr));
  });
  allow<std::invalid_argument>([&] {
    const std::int64_t count = cli::parse_count(text, "count");
    require(count >= 0 && std::to_string(count) == text.substr(text.size() - std::to_string(count).size()));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int rank = 1 + data[0] / 4 % TESSERA_MAX_RANK;
  switch (data[0] % 4) {
    case 0:
      read_json(text, rank);
      break;
    case 1:
      read_named(text, rank);
      break;
    case 2:
      read_boundaries(text, std::nullopt);
      read_boundaries(text, 0.5);
      break;
    default:
      read_numbers(text);
  }
  return 0;
}
