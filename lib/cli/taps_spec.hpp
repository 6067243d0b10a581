// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Taps and boundaries as a command line, a JSON file and a kernel in a .npy file spell them.
#pragma once

#include <tessera/stencil.hpp>
#include <tessera/taps.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

/// Taps by name, "heat:8:0.1"; the rank comes later, from the array.
class NamedTaps {
 public:
  /// Throws std::invalid_argument where the name, the number of parameters or a number is wrong.
  NamedTaps(const std::string& text, std::optional<double> spacing);
  /// Throws tessera::Error where the parameters do not suit.
  Taps make(int rank) const;
  /// One line for each name.
  static std::string help();
  /// For which factors many steps of heat do not grow, a line.
  static std::string stability();

 private:
  struct Family;
  static const Family kFamilies[];

  const Family* family_;
  std::vector<double> parameters_;
  double spacing_;
};

/// Reads [{"offset": [dy, dx], "coefficient": c}, ...]; throws std::runtime_error that names the file and the entry.
Taps read_taps(const std::filesystem::path& file, int rank);

/// Reads a dense kernel in a .npy file, an array of `rank` axes whose element at extent / 2 + origin on each axis is
/// the tap at the point itself, as in scipy.ndimage.correlate. Zeros are no taps. `origin`: a number for all axes, one
/// for each, or none, which is 0 where extents are odd and an error where one is even. Throws npy::Error.
Taps read_kernel(const std::filesystem::path& file, int rank, const std::vector<std::int64_t>& origin);

/// Parses "1" or "1,-1". Throws std::invalid_argument.
std::vector<std::int64_t> parse_origin(const std::string& text);

/// Parses "MODE" or "LOW/HIGH" for all axes or, separated by commas, for each; a mode is fixed, constant[:VALUE],
/// periodic, nearest, reflect or mirror. `value` is that of constant sides without one of their own, of which there
/// must be one then. Throws std::invalid_argument.
std::vector<BoundaryAxis> parse_boundaries(const std::string& text, std::optional<double> value);

/// The parts between separators, empty ones included.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace tessera::cli
