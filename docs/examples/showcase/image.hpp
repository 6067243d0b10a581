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
  std::vector<Color> pixels;
};

/// Elevation tints between `low` and `high` metres, under light from the north-west.
Image relief(std::span<const float> elevation, std::int64_t height, std::int64_t width, float low, float high);

/// Blue below 0, pale at 0, red above; saturates at +-limit.
Image diverging(std::span<const float> values, std::int64_t height, std::int64_t width, float limit);

/// Throws std::runtime_error that names the file. Each point becomes scale x scale pixels, interpolated in between.
void write_png(const std::filesystem::path& file, const Image& image, std::int64_t scale);

}  // namespace showcase
