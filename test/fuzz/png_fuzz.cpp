// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Any bytes as a PNG file, with the check sums of its chunks set right, since no search would find them: an
/// npy::Error, or an image of the size that it claims, which comes back equal when it is written and read again.

#include "memory_file.hpp"
#include "png_image.hpp"

#include <vector>

namespace {

using namespace tessera;
using test::require;

/// A chunk is its length, its type, so many bytes and the check sum of both.
void set_check_sums(std::vector<std::uint8_t>& file) {
  constexpr std::size_t kSignature = 8, kAround = 12;
  for (std::size_t at = kSignature; at + kAround <= file.size();) {
    std::size_t length = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) length = length << 8 | file[at + byte];
    if (length > file.size() - at - kAround) return;
    std::uint32_t crc = 0xffffffff;
    for (std::size_t i = at + 4; i < at + 8 + length; ++i) {
      crc ^= file[i];
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    for (std::size_t byte = 0; byte < 4; ++byte) file[at + 8 + length + byte] = std::uint8_t(~crc >> (24 - 8 * byte));
    at += kAround + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> file(data, data + size);
  set_check_sums(file);
  png::Image image;
  const std::string name = test::memory_file(std::as_bytes(std::span(file)));
  if (!test::allow<npy::Error>(1000, [&] { image = png::read(name); })) return 0;
  require(image.height > 0 && image.width > 0 && image.height * image.width <= png::kMaxPixels, "size");
  require(image.channels >= 1 && image.channels <= 4, "channels");
  require(image.samples.size() == std::size_t(image.height * image.width * image.channels) * size_of(image.stored),
          "samples");
  const png::Image again = png::read(test::memory_file(png::encode("out.png", image)));
  require(again.height == image.height && again.width == image.width && again.channels == image.channels, "form");
  require(again.stored == image.stored && again.samples == image.samples, "samples that were written");
  return 0;
}
