// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Any text as a problem of a log that is to be tuned, as a size on a command line, and as a line of a file of wisdom:
/// an error of the kind that is promised, with a bounded message, or a value. The first byte chooses what is read.

#include "tuned_problem.hpp"
#include "wisdom/wisdom.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

using namespace tessera;

constexpr std::size_t kLongest = 600;  // bytes of a message

void require(bool condition) {
  if (!condition) std::abort();
}

template <class Body>
void allow(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_argument && std::strlen(error.what()) < kLongest);
  } catch (const std::invalid_argument& error) {
    require(std::strlen(error.what()) < kLongest);
  }
}

void read_sizes(const std::string& text) {
  allow([&] { require(cli::parse_product_size(text).size() == 4); });
  allow([&] {
    const auto extents = cli::parse_extents(text);
    require(!extents.empty() && extents.size() <= TESSERA_MAX_RANK);
  });
}

/// What can be read can be written, and is read as the same but for digits of the times.
void read_wisdom(const std::string& text) {
  const auto entry = core::entry_of(text);
  if (!entry) return;
  require(entry->seconds > 0.0 && !entry->algorithm.empty());
  const auto again = core::entry_of(core::line_of(*entry));
  require(again && again->problem == entry->problem && again->machine == entry->machine &&
          again->algorithm == entry->algorithm);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      allow([&] { cli::parse_problem(text); });
      break;
    case 1:
      read_sizes(text);
      break;
    default:
      read_wisdom(text);
  }
  return 0;
}
