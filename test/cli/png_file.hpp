// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// PNG files made without the code under test and without libpng: https://www.w3.org/TR/png-3/
#pragma once

#include <algorithm>
#include <array>
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

inline int channels_of(PngColour colour) {
  return colour == PngColour::rgb ? 3 : colour == PngColour::grey_alpha ? 2 : colour == PngColour::rgb_alpha ? 4 : 1;
}

inline std::string big_endian(std::uint32_t value, int bytes = 4) {
  std::string text;
  for (int byte = bytes - 1; byte >= 0; --byte) text += char(value >> (8 * byte) & 0xff);
  return text;
}

/// A chunk with its length and its check sum.
inline std::string png_chunk(const std::string& type, const std::string& data) {
  std::uint32_t crc = 0xffffffff;
  for (const char character : type + data) {
    crc ^= std::uint8_t(character);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return big_endian(std::uint32_t(data.size())) + type + data + big_endian(~crc);
}

inline std::string png_header(const PngHeader& h) {
  return png_chunk("IHDR", big_endian(h.width) + big_endian(h.height) + big_endian(std::uint32_t(h.depth), 1) +
                               big_endian(std::uint32_t(h.colour), 1) + std::string(2, '\0') + char(h.interlaced));
}

/// RFC 1950 and 1951: blocks that are stored.
inline std::string zlib(const std::string& text) {
  constexpr std::size_t kBlock = 65535;
  std::string stream = "\x78\x01";
  for (std::size_t at = 0; at < text.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, text.size() - at);
    stream += char(at + count == text.size());
    for (const std::size_t length : {count, ~count}) stream += {char(length & 0xff), char(length >> 8 & 0xff)};
    stream += text.substr(at, count);
  }
  std::uint32_t a = 1, b = 0;
  for (const char character : text) b = (b + (a = (a + std::uint8_t(character)) % 65521)) % 65521;
  return stream + big_endian(b << 16 | a);
}

/// The image data chunk, in blocks that are not compressed: `samples` are of `h.depth` bits, row by row, the channels
/// of a pixel side by side.
inline std::string png_data(const PngHeader& h, const std::vector<unsigned>& samples) {
  // First row, distance of rows, first column, distance of columns: of all, and of Adam7's passes.
  using Pass = std::array<std::uint32_t, 4>;
  const std::vector<Pass> whole{{0, 1, 0, 1}},
      adam7{{0, 8, 0, 8}, {0, 8, 4, 8}, {4, 8, 0, 4}, {0, 4, 2, 4}, {2, 4, 0, 2}, {0, 2, 1, 2}, {1, 2, 0, 1}};
  const std::size_t n = std::size_t(channels_of(h.colour));
  std::string text;
  for (const auto& [y0, dy, x0, dx] : h.interlaced ? adam7 : whole)
    for (std::uint32_t y = y0; y < h.height && x0 < h.width; y += dy) {
      text += '\0';  // no filter
      unsigned bits = 0;
      int held = 0;
      for (std::uint32_t x = x0; x < h.width; x += dx)
        for (std::size_t c = 0; c < n; ++c) {
          const unsigned sample = samples.at((std::size_t(y) * h.width + x) * n + c);
          if (h.depth == 16) text += char(sample >> 8);
          bits = bits << (h.depth % 16 == 0 ? 8 : h.depth) | (h.depth == 16 ? sample & 0xff : sample);
          held += std::min(h.depth, 8);
          if (held == 8) text += char(bits);
          held %= 8;
        }
      if (held > 0) text += char(bits << (8 - held));
    }
  return png_chunk("IDAT", zlib(text));
}

/// A whole file; `ancillary` lies before the image data.
inline std::string png_file(const PngHeader& h, const std::vector<unsigned>& samples,
                            const std::string& ancillary = "") {
  return "\x89PNG\r\n\x1a\n" + png_header(h) + ancillary + png_data(h, samples) + png_chunk("IEND", "");
}

}  // namespace tessera::test
