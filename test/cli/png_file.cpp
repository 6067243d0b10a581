// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "png_file.hpp"

#include <algorithm>

namespace tessera::test {
namespace {

std::string big_endian(std::uint32_t value, int bytes = 4) {
  std::string text;
  for (int byte = bytes - 1; byte >= 0; --byte) text += char(value >> (8 * byte) & 0xff);
  return text;
}

std::uint32_t crc(const std::string& text) {
  std::uint32_t c = 0xffffffff;
  for (const char character : text) {
    c ^= std::uint8_t(character);
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
  }
  return ~c;
}

std::uint32_t adler(const std::string& text) {
  std::uint32_t a = 1, b = 0;
  for (const char character : text) {
    a = (a + std::uint8_t(character)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

/// RFC 1950 and 1951: blocks that are stored.
std::string zlib(const std::string& text) {
  constexpr std::size_t kBlock = 65535;
  std::string stream = "\x78\x01";
  for (std::size_t at = 0; at < text.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, text.size() - at);
    stream += char(at + count == text.size());
    for (const std::size_t length : {count, ~count}) stream += {char(length & 0xff), char(length >> 8 & 0xff)};
    stream += text.substr(at, count);
  }
  return stream + big_endian(adler(text));
}

int channels(PngColour colour) {
  return colour == PngColour::rgb ? 3 : colour == PngColour::grey_alpha ? 2 : colour == PngColour::rgb_alpha ? 4 : 1;
}

/// The pixels from (y, x) on, at some distance: a line each row, of no filter.
std::string lines(const PngHeader& h, const std::vector<unsigned>& samples, std::uint32_t y0, std::uint32_t dy,
                  std::uint32_t x0, std::uint32_t dx) {
  std::string text;
  const std::size_t n = std::size_t(channels(h.colour));
  for (std::uint32_t y = y0; y < h.height && x0 < h.width; y += dy) {
    text += '\0';
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
  return text;
}

}  // namespace

std::string png_chunk(const std::string& type, const std::string& data) {
  return big_endian(std::uint32_t(data.size())) + type + data + big_endian(crc(type + data));
}

std::string png_header(const PngHeader& h) {
  return png_chunk("IHDR", big_endian(h.width) + big_endian(h.height) + big_endian(std::uint32_t(h.depth), 1) +
                               big_endian(std::uint32_t(h.colour), 1) + std::string(2, '\0') + char(h.interlaced));
}

std::string png_data(const PngHeader& h, const std::vector<unsigned>& samples) {
  if (!h.interlaced) return png_chunk("IDAT", zlib(lines(h, samples, 0, 1, 0, 1)));
  // Adam7: first row, distance of rows, first column, distance of columns.
  constexpr std::uint32_t kPasses[7][4] = {{0, 8, 0, 8}, {0, 8, 4, 8}, {4, 8, 0, 4}, {0, 4, 2, 4},
                                           {2, 4, 0, 2}, {0, 2, 1, 2}, {1, 2, 0, 1}};
  std::string text;
  for (const auto& pass : kPasses) text += lines(h, samples, pass[0], pass[1], pass[2], pass[3]);
  return png_chunk("IDAT", zlib(text));
}

std::string png_file(const PngHeader& h, const std::vector<unsigned>& samples, const std::string& ancillary) {
  return "\x89PNG\r\n\x1a\n" + png_header(h) + ancillary + png_data(h, samples) + png_chunk("IEND", "");
}

}  // namespace tessera::test
