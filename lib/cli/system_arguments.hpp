// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a command line says of a system's arrays.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tessera::cli {

/// "u=now.npy", "u[-1]=before.npy".
struct NamedFile {
  std::string field;
  std::optional<int> level;  ///< 0, -1 or -2
  std::string file;

  /// "u", "u[-1]".
  std::string name() const;
};

/// Parses NAME=FILE or NAME[LEVEL]=FILE; `option` is what messages name. Throws std::invalid_argument.
NamedFile parse_named_file(const std::string& text, const std::string& option);

/// The newest levels first: NAME=FILE[,FILE...], and NAME[LEVEL]=FILE, whose file may have a comma. Throws
/// std::invalid_argument, also where a level is named twice.
std::vector<NamedFile> parse_inputs(const std::vector<std::string>& texts);

/// The same for NAME=FILE and NAME[LEVEL]=FILE. No two outputs, nor any of `others`, may be one file.
std::vector<NamedFile> parse_outputs(const std::vector<std::string>& texts, const std::vector<std::string>& others);

}  // namespace tessera::cli
