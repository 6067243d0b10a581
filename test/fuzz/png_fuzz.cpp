// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Any bytes as a PNG file, with the check sums of its chunks set right, since no search would find them: an
/// npy::Error, or an image of the size that it claims, which comes back equal when it is written and read again.

#include "png_image.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace {

namespace npy = tessera::npy;
namespace png = tessera::png;

void require(bool condition) {
  if (!condition) std::abort();
}

std::string file_of(std::span<const std::uint8_t> bytes) {
  static const int descriptor = ::memfd_create("png", MFD_CLOEXEC);
  require(descriptor >= 0 && ::ftruncate(descriptor, 0) == 0);
  require(::pwrite(descriptor, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size()));
  return "/proc/self/fd/" + std::to_string(descriptor);
}

std::uint32_t crc(std::span<const std::uint8_t> bytes) {
  std::uint32_t c = 0xffffffff;
  for (const std::uint8_t byte : bytes) {
    c ^= byte;
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
  }
  return ~c;
}

/// A chunk is its length, its type, so many bytes and the check sum of both.
void set_check_sums(std::vector<std::uint8_t>& file) {
  constexpr std::size_t kSignature = 8, kAround = 12;
  for (std::size_t at = kSignature; at + kAround <= file.size();) {
    std::size_t length = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) length = length << 8 | file[at + byte];
    if (length > file.size() - at - kAround) return;
    const std::uint32_t sum = crc(std::span(file).subspan(at + 4, 4 + length));
    for (std::size_t byte = 0; byte < 4; ++byte) file[at + 8 + length + byte] = std::uint8_t(sum >> (24 - 8 * byte));
    at += kAround + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> file(data, data + size);
  set_check_sums(file);
  png::Image image;
  try {
    image = png::read(file_of(file));
  } catch (const npy::Error& error) {
    require(std::strlen(error.what()) < 1000);
    return 0;
  }
  require(image.height > 0 && image.width > 0 && image.height * image.width <= png::kMaxPixels);
  require(image.channels >= 1 && image.channels <= 4);
  require(image.samples.size() == std::size_t(image.height * image.width * image.channels) * size_of(image.stored));
  const std::vector<std::byte> written = png::encode("out.png", image);
  const png::Image again = png::read(file_of({reinterpret_cast<const std::uint8_t*>(written.data()), written.size()}));
  require(again.height == image.height && again.width == image.width && again.channels == image.channels);
  require(again.stored == image.stored && again.samples == image.samples);
  return 0;
}
