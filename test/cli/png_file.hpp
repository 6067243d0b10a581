// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// PNG files made without the code under test and without libpng: https://www.w3.org/TR/png-3/
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

enum class PngColour : int { grey = 0, rgb = 2, palette = 3, grey_alpha = 4, rgb_alpha = 6 };

struct PngHeader {
  std::uint32_t width, height;
  int depth = 8;
  PngColour colour = PngColour::grey;
  bool interlaced = false;
};

/// A chunk with its length and its check sum.
std::string png_chunk(const std::string& type, const std::string& data);
std::string png_header(const PngHeader& header);
/// The image data chunk, in blocks that are not compressed: `samples` are of `header.depth` bits, row by row, the
/// channels of a pixel side by side.
std::string png_data(const PngHeader& header, const std::vector<unsigned>& samples);
/// A whole file; `ancillary` lies before the image data.
std::string png_file(const PngHeader& header, const std::vector<unsigned>& samples, const std::string& ancillary = "");

}  // namespace tessera::test
