// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "image.hpp"

#include "data.hpp"
#include "png_image.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace showcase {
namespace {

Color mix(const Color& a, const Color& b, float t) {
  return {std::lerp(a.red, b.red, t), std::lerp(a.green, b.green, t), std::lerp(a.blue, b.blue, t)};
}

Color scaled(const Color& c, float factor) {
  return {std::min(1.0f, c.red * factor), std::min(1.0f, c.green * factor), std::min(1.0f, c.blue * factor)};
}

/// The colour at `position` (0..1) of a scale of equally spaced colours.
Color pick(std::span<const Color> scale, float position) {
  const float at = std::clamp(position, 0.0f, 1.0f) * float(scale.size() - 1);
  const std::size_t below = std::min(std::size_t(at), scale.size() - 2);
  return mix(scale[below], scale[below + 1], at - float(below));
}

constexpr Color kTints[] = {{0.30f, 0.52f, 0.36f}, {0.55f, 0.69f, 0.42f}, {0.86f, 0.83f, 0.57f},
                            {0.80f, 0.63f, 0.40f}, {0.60f, 0.44f, 0.33f}, {0.97f, 0.96f, 0.94f}};
constexpr Color kBlueToRed[] = {{0.02f, 0.19f, 0.38f}, {0.13f, 0.40f, 0.67f}, {0.57f, 0.77f, 0.87f},
                                {0.97f, 0.97f, 0.97f}, {0.96f, 0.65f, 0.51f}, {0.70f, 0.09f, 0.17f},
                                {0.40f, 0.00f, 0.12f}};

/// Lambert's cosine law for light from the north-west, 45 degrees high; 1 on level ground.
float shade(std::span<const float> z, std::int64_t height, std::int64_t width, std::int64_t y, std::int64_t x) {
  constexpr float kExaggeration = 2.0f;
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return kExaggeration * z[std::size_t(std::clamp<std::int64_t>(row, 0, height - 1) * width +
                                         std::clamp<std::int64_t>(column, 0, width - 1))];
  };
  const float east = (at(y, x + 1) - at(y, x - 1)) / float(2 * kTerrainDx);
  const float south = (at(y + 1, x) - at(y - 1, x)) / float(2 * kTerrainDy);
  const float cosine = (1.0f + (east + south) * std::sqrt(0.5f)) / std::sqrt(1.0f + east * east + south * south);
  return 0.35f + 0.65f * std::max(0.0f, cosine);
}

}  // namespace

Image relief(std::span<const float> elevation, std::int64_t height, std::int64_t width, float low, float high) {
  Image image{height, width, kTints, low, high, {}};
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const float position = (elevation[std::size_t(y * width + x)] - low) / (high - low);
      image.pixels.push_back(scaled(pick(kTints, position), shade(elevation, height, width, y, x)));
    }
  return image;
}

Image diverging(std::span<const float> values, std::int64_t height, std::int64_t width, float low, float high) {
  Image image{height, width, kBlueToRed, low, high, {}};
  for (const float value : values) image.pixels.push_back(pick(kBlueToRed, (value - low) / (high - low)));
  return image;
}

void write_png(const std::filesystem::path& file, const Image& image, std::int64_t scale) {
  const std::int64_t height = image.height * scale, width = image.width * scale;
  constexpr int kChannels = 3;
  tessera::png::Image rgb{height, width, kChannels, tessera::npy::Stored::u8, {}};
  rgb.samples.reserve(std::size_t(kChannels * height * width));
  const auto pixel = [&](std::int64_t y, std::int64_t x) {
    return image.pixels[std::size_t(std::min(y, image.height - 1) * image.width + std::min(x, image.width - 1))];
  };
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t row = y / scale, column = x / scale;
      const float down = float(y % scale) / float(scale), right = float(x % scale) / float(scale);
      const Color c = mix(mix(pixel(row, column), pixel(row, column + 1), right),
                          mix(pixel(row + 1, column), pixel(row + 1, column + 1), right), down);
      for (const float part : {c.red, c.green, c.blue}) rgb.samples.push_back(std::byte(std::lround(255.0f * part)));
    }
  tessera::npy::OutputFile output(file, {".png"});
  output.write_contents(tessera::png::encode(file, rgb));
  output.commit();
}

}  // namespace showcase
