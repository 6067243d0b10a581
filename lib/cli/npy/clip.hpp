// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Texts of messages: of bounded length, whatever a user or a file says.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera::npy {

/// The text itself, or its beginning and "..." where it is longer than `most` bytes. Never cuts a UTF-8 character.
inline std::string clip(std::string_view text, std::size_t most = 80) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (text[most] & 0xc0) == 0x80) --most;
  return std::string(text.substr(0, most)) + "...";
}

/// Bytes of a file's name that a message shows: most systems take no longer ones.
inline constexpr std::size_t kShownName = 4096;

/// "a, b, c": what `text_of` says of each item.
template <class Items, class TextOf>
std::string joined(const Items& items, const char* separator, TextOf&& text_of) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : separator) + std::string(text_of(item));
  return text;
}

}  // namespace tessera::npy
