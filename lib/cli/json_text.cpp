// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "json_text.hpp"

#include "clip.hpp"
#include "npy.hpp"
#include "regular_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tessera::cli {

std::string read_text(const std::filesystem::path& file, const std::string& what, std::uint64_t most) {
  npy::RegularFile reader(file);
  if (reader.left() > most)
    throw npy::Error(file, "has " + std::to_string(reader.left()) + " bytes; " + what +
                               " are read from files of at most " + std::to_string(most));
  std::string text(std::size_t(reader.left()), '\0');
  reader.read(text.data(), text.size());
  return text;
}

std::string place_in(std::string_view text, std::size_t position) {
  if (position > text.size()) return "its end";
  const std::string_view before = text.substr(0, position > 0 ? position - 1 : 0);
  const std::size_t start = before.rfind('\n') + 1;  // 0 where there is none
  return "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n')) + ", column " +
         std::to_string(before.size() - start + 1);
}

std::string in_quotes(std::string_view text) {
  using nlohmann::json;
  return json(npy::clip(text)).dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace tessera::cli
