// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "png_image.hpp"
#include "regular_file.hpp"

#include <array>
#include <string_view>

namespace tessera::png {

bool is_png(const std::filesystem::path& file) {
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
  npy::RegularFile reader(file);
  std::array<char, kSignature.size()> start{};
  if (reader.left() < start.size()) return false;
  reader.read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == kSignature;
}

}  // namespace tessera::png
