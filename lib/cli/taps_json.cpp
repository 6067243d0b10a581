// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "taps_spec.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace tessera::cli {
namespace {

using nlohmann::json;

constexpr const char* kForm = "expected [{\"offset\": [dy, dx], \"coefficient\": c}, ...]";
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 40;  // beyond any array; keeps sums of offsets in range

void add_tap(Taps& taps, const json& entry) {
  if (!entry.is_object() || entry.size() != 2 || !entry.contains("offset") || !entry.contains("coefficient"))
    throw std::runtime_error(kForm);
  const json& offsets = entry["offset"];
  if (!offsets.is_array() || offsets.size() != std::size_t(taps.rank()))
    throw std::runtime_error("offset is " + offsets.dump() + "; expected " + std::to_string(taps.rank()) +
                             " whole numbers, one for each axis of the array");
  std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
  for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
    const json& number = offsets[axis];
    if (!number.is_number_integer() || std::abs(number.get<double>()) > double(kMaxOffset))
      throw std::runtime_error("offset is " + offsets.dump() + "; expected whole numbers within +-2^40");
    offset[axis] = number.get<std::int64_t>();
  }
  const json& coefficient = entry["coefficient"];
  if (!coefficient.is_number() || !std::isfinite(coefficient.get<double>()))
    throw std::runtime_error("coefficient is " + coefficient.dump() + "; expected a number");
  taps.add(offset, coefficient.get<double>());
}

}  // namespace

Taps read_taps(const std::filesystem::path& file, int rank) {
  const auto fail = [&](const std::string& why) { return std::runtime_error(file.string() + ": " + why); };
  std::ifstream stream(file);
  if (!stream) throw fail(std::string("cannot be read: ") + std::strerror(errno));
  json list;
  try {
    list = json::parse(stream);
  } catch (const json::exception& error) {
    throw fail(std::string("is not JSON (") + error.what() + "); " + kForm);
  }
  if (!list.is_array() || list.empty()) throw fail(kForm);
  Taps taps(rank);
  for (std::size_t i = 0; i < list.size(); ++i) {
    try {
      add_tap(taps, list[i]);
    } catch (const std::exception& error) {
      throw fail("entry " + std::to_string(i) + ": " + error.what());
    }
  }
  return taps;
}

}  // namespace tessera::cli
