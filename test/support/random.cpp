// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "random.hpp"

#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>

namespace tessera::test {

namespace {

std::uint64_t choose_seed() {
  const char* given = std::getenv("TESSERA_TEST_SEED");
  if (given == nullptr || *given == '\0') return std::random_device{}();
  std::size_t read = 0;
  const std::uint64_t value = std::stoull(given, &read, 0);
  if (given[read] != '\0') throw std::invalid_argument("TESSERA_TEST_SEED is not a number: " + std::string(given));
  return value;
}

}  // namespace

std::uint64_t seed() {
  static const std::uint64_t value = choose_seed();
  return value;
}

Random::Random(std::string_view stream) : state_(seed() ^ 0xcbf29ce484222325u) {
  for (const char c : stream)
    state_ = (state_ ^ std::uint64_t(static_cast<unsigned char>(c))) * 0x100000001b3u;  // FNV-1a
  bits();
}

}  // namespace tessera::test
