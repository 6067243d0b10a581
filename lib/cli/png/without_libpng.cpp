// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "png_image.hpp"

namespace tessera::png {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file) {
  throw npy::Error(file,
                   "is a PNG image, and this program was built without libpng >= 1.6: install it (libpng-dev) and "
                   "build again, or use a .npy file");
}

}  // namespace

bool available() { return false; }
Image read(const std::filesystem::path& file) { fail(file); }
std::vector<std::byte> encode(const std::filesystem::path& file, const Image&) { fail(file); }

}  // namespace tessera::png
