// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// PNG images as numbers. Format: https://www.w3.org/TR/png-3/
#pragma once

#include "npy.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace tessera::png {

/// The samples of an image as the file has them: gamma and colour space are left alone, and are not kept.
struct Image {
  std::int64_t height = 0, width = 0;
  int channels = 1;                      ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha
  npy::Stored stored = npy::Stored::u8;  ///< u8 or u16, in this machine's byte order
  std::vector<std::byte> samples;        ///< row by row, the channels of a pixel side by side

  bool has_alpha() const { return channels % 2 == 0; }
};

/// Pixels that an image may have.
inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;

/// Whether this program was built with libpng. Without it read() and encode() throw npy::Error, which says so.
bool available();
/// Whether a regular file begins as PNG images do. Throws npy::Error where it cannot be read.
inline bool is_png(const std::filesystem::path& file) { return npy::begins_with(file, "\x89PNG\r\n\x1a\n"); }

/// Reads a regular file. Samples of fewer than 8 bits are scaled to 8, colours of a palette are looked up, a
/// transparent colour becomes alpha. Memory is taken only for what the compressed data may hold. Throws npy::Error.
Image read(const std::filesystem::path& file);
/// The whole contents of a PNG file. Throws npy::Error, of the file that they are meant for.
std::vector<std::byte> encode(const std::filesystem::path& file, const Image& image);

}  // namespace tessera::png
