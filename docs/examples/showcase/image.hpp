// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Pictures of fields, written as PNG.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace showcase {

struct Color {
  float red, green, blue;  ///< 0..1
};

struct Image {
  std::int64_t height, width;
  std::span<const Color> scale;  ///< equally spaced colours, from that of `low` to that of `high`
  float low, high;
  std::vector<Color> pixels;
};

/// Elevation tints between `low` and `high` metres, under light from the north-west.
Image relief(std::span<const float> elevation, std::int64_t height, std::int64_t width, float low, float high);

/// From blue at `low` by a pale middle to red at `high`, beyond which it saturates.
Image diverging(std::span<const float> values, std::int64_t height, std::int64_t width, float low, float high);

/// Throws std::runtime_error that names the file. Each point becomes scale x scale pixels, interpolated in between.
void write_png(const std::filesystem::path& file, const Image& image, std::int64_t scale);

}  // namespace showcase
