// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The showcase's pictures and what they show.
#pragma once

#include "image.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace showcase {

/// What an axis counts, from its left or upper end to the other one.
struct Axis {
  std::string label;
  double low, high;
};

/// Plain text without quotation marks.
struct Caption {
  std::string file;   ///< "shot.png"
  std::string shows;  ///< a line
  Axis x, y;
  std::string colors;           ///< what they count
  bool axes_are_alike = false;  ///< a unit is as long on both
};

class Pictures {
 public:
  /// Makes the folder. Throws std::runtime_error.
  explicit Pictures(std::filesystem::path folder);
  /// Writes a picture, each point of it as scale x scale pixels. Throws std::runtime_error.
  void add(const Caption& caption, const Image& image, std::int64_t scale);
  /// Prints a line for each picture, and has figures.py draw titles, axes and scales: plain pictures remain where
  /// Python or matplotlib is missing, which a line says. Throws std::runtime_error.
  void finish() const;

 private:
  std::filesystem::path folder_;
  std::vector<Caption> captions_;
  std::string descriptions_;  ///< JSON objects, what figures.py reads
};

}  // namespace showcase
